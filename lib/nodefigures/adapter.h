/* adapter.h - number and speed of the node's network adapters, from /sys.
 *
 * Counts active RDMA ports or, without RDMA, the network interfaces of devices that are up.  Only the fastest
 * count: jobs use these, and slower ones serve management and storage. */
#ifndef SYNCGUARD_NODEFIGURES_ADAPTER_H
#define SYNCGUARD_NODEFIGURES_ADAPTER_H

struct adapter {
    double bytes_per_s; /* rate of each link; 0: not known */
    unsigned number;
};

/* root: prefix of every path, "" except in tests. */
struct adapter adapter_read(const char *root);

#endif
