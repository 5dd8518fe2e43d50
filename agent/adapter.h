/* adapter.h - how fast the node's adapters to the network are, out of /sys.
 *
 * RDMA ports that are active; where there are none, network interfaces of a device that are up. Those of the
 * highest rate are what jobs use: slower ones are for management and storage. */
#ifndef SYNCGUARD_AGENT_ADAPTER_H
#define SYNCGUARD_AGENT_ADAPTER_H

struct adapter {
    double bytes_per_s; /* of each, as the link says; 0: not known */
    unsigned number;
};

/* root: put before every path; "" but in tests. */
struct adapter adapter_read(const char *root);

#endif
