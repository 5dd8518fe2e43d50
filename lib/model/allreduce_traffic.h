/* allreduce_traffic.h - what an all-reduce sends over the links of the nodes its ranks are placed on: the
 * number of messages one after another, and the bytes over the link of the busiest node, added up over the
 * rounds.
 *
 *     time = hops * latency + bytes * m / bandwidth, and the same for rounds inside of nodes
 *
 * for a vector of m bytes. Unlike collective.h it knows where each rank sits: ranks of a node share its link,
 * so a ring whose ranks are distributed round-robin over the nodes loads each link once per rank of the node.
 * Algorithms as in collective.h; links between switches are not modelled. Pure. */
#ifndef SYNCGUARD_MODEL_ALLREDUCE_TRAFFIC_H
#define SYNCGUARD_MODEL_ALLREDUCE_TRAFFIC_H

#include <stdint.h>

enum allreduce_algo {
    ALLREDUCE_RING,
    ALLREDUCE_TREE,
    ALLREDUCE_HALVING,
    ALLREDUCE_HIERARCHICAL,
    ALLREDUCE_SERVER
};

struct allreduce_place {
    uint32_t ranks, nodes;
    const uint32_t *node; /* by rank, below nodes */
};

struct allreduce_traffic {
    double hops, bytes;             /* bytes: over m */
    double inner_hops, inner_bytes; /* of rounds in which no message leaves its node */
};

/* servers: shards of ALLREDUCE_SERVER, on every ranks/servers-th rank. Hierarchical: ranks are taken as
 * evenly spread over the nodes and next to each other there. scratch: 2 * nodes doubles. */
struct allreduce_traffic allreduce_traffic(enum allreduce_algo algo, const struct allreduce_place *p,
                                           double servers, double *scratch);

/* Seconds. */
struct allreduce_cost {
    double hop_s, s_per_byte, inner_hop_s, inner_s_per_byte;
};
double allreduce_traffic_s(const struct allreduce_traffic *c, const struct allreduce_cost *w, double bytes);

#endif
