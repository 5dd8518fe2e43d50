/* course.h - what an all-reduce moves when its ranks sit on nodes: messages one after another, and bytes over
 * the link of the node that has most to send or to receive, added up over the rounds.
 *
 *     time = hops * latency + bytes * m / bandwidth, and the same for rounds inside of nodes
 *
 * for a vector of m bytes. Unlike collective.h it knows where each rank sits: ranks of a node share its link,
 * so that a ring whose ranks are dealt out over the nodes loads each link as often as ranks are on it.
 * Algorithms as in collective.h; links between switches are not looked at. Pure. */
#ifndef SYNCGUARD_MODEL_COURSE_H
#define SYNCGUARD_MODEL_COURSE_H

#include <stdint.h>

enum course_algo { COURSE_RING, COURSE_TREE, COURSE_HALVING, COURSE_HIERARCHICAL, COURSE_SERVER };

struct course_place {
    uint32_t ranks, nodes;
    const uint32_t *node; /* by rank, below nodes */
};

struct course {
    double hops, bytes;             /* bytes: over m */
    double inner_hops, inner_bytes; /* of rounds in which no message leaves its node */
};

/* servers: shards of COURSE_SERVER, on every ranks/servers-th rank. Hierarchical: ranks are taken as evenly
 * spread over the nodes and next to each other there. scratch: 2 * nodes doubles. */
struct course course_of(enum course_algo algo, const struct course_place *p, double servers, double *scratch);

/* Seconds. */
struct course_cost {
    double hop_s, s_per_byte, inner_hop_s, inner_s_per_byte;
};
double course_time_s(const struct course *c, const struct course_cost *w, double bytes);

#endif
