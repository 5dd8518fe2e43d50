/* traffic.h - what the collectives of a step take, and would take over more ranks.
 *
 * Of a collective over all ranks the fixed part and the part by the byte grow as the algorithm has it. Which
 * one it is nobody tells, so all are hypotheses (ring: Patarasuk & Yuan 2009; halving-doubling and pipelined
 * trees: Thakur, Rabenseifner & Gropp 2005; two-level ring; tree without pipeline; a library that takes what
 * is quickest). Each of them implies a network, with each way that a time can be a fixed part
 * and one by the byte, and is weighed by how likely that network is:
 *
 * - the latency of a hop: usual are 1.3 to 19 microseconds, nine times in ten;
 * - the rate: what the nodes' adapters say that they can is not passed, and is missed by little; where nobody
 *   told it, usual are 1.4 to 72 GB/s, nine times in ten. A tree that sends everything log2 n times has the
 *   same times as a ring on a network that much slower, so nothing tells them apart at one number of ranks
 * but the rate;
 * - what the same operation and size took in earlier runs over another number of ranks (a run differs from
 *   another by a tenth).
 *
 * Collectives inside groups that do not grow stay as they are.
 *
 * Pure, no allocation. Seconds, bytes. NaN is unknown. */
#ifndef SYNCGUARD_MODEL_TRAFFIC_H
#define SYNCGUARD_MODEL_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>

#include "model/collective.h"

#define TRAFFIC_LINKS   16u
#define TRAFFIC_EARLIER 64u
#define TRAFFIC_CASES   48 /* of how much of a time is the fixed part */

enum traffic_algorithm {
    TRAFFIC_RING,
    TRAFFIC_HALVING,
    TRAFFIC_TWO_LEVEL,
    TRAFFIC_TREE,
    TRAFFIC_QUICKEST, /* of ring and pipelined tree, for each size and number of ranks: libraries choose */
    TRAFFIC_ALGORITHMS
};
const char *traffic_algorithm_name(enum traffic_algorithm a);

/* Collectives of one operation and size in a step. */
struct traffic_link {
    enum collective_op op; /* bytes are of the whole vector, which stays as large over more ranks */
    double ranks;          /* that take part in one */
    bool grows;            /* over all ranks; else over a group that stays as it is */
    double per_step;       /* how many of them */
    double bytes;
    double time_s;              /* mean transfer of one */
    double time_error;          /* its standard error, relative */
    double fixed_s, fixed_sd_s; /* of time_s, what does not depend on bytes; NaN: only the sum is known */
};

/* Collectives of one operation and size over another number of ranks, in an earlier run. */
struct traffic_earlier {
    enum collective_op op;
    double ranks, ranks_per_node, bytes, time_s, time_error;
};

/* What a node's adapters to the network can send, as they say: each, and how many. */
struct traffic_adapter {
    double bytes_per_s; /* NaN: not known */
    unsigned number;
};

struct traffic {
    double ranks, nodes, ranks_per_node; /* of the job */
    struct traffic_adapter adapter;
    struct traffic_link link[TRAFFIC_LINKS];
    size_t n_links;
    struct traffic_earlier earlier[TRAFFIC_EARLIER];
    size_t n_earlier;
    /* By traffic_weigh(): how likely each hypothesis is, and of it each case of a link's fixed part. */
    double weight[TRAFFIC_ALGORITHMS], cases[TRAFFIC_ALGORITHMS][TRAFFIC_LINKS][TRAFFIC_CASES];
};

/* The collectives of one operation as links, what was fitted of them beside; steps: over which they were told
 * of. Returns how many, at most max. */
struct linkfit;
struct linkfit_result;
size_t traffic_links(const struct linkfit *l, const struct linkfit_result *fit, double steps,
                     enum collective_op op, double ranks, bool grows, struct traffic_link *out, size_t max);

/* Fills in the weights; false: no collective grows, and there are none. */
bool traffic_weigh(struct traffic *t);

/* A hypothesis drawn by its weight, p from 0 to 1. */
enum traffic_algorithm traffic_algorithm_at(const struct traffic *t, double p);
/* Seconds a step over n ranks: of what grows, with fixed parts drawn by their weight; of all
 * else. */
double traffic_grown_s(const struct traffic *t, enum traffic_algorithm a, double n, double p);
double traffic_steady_s(const struct traffic *t);

/* One possibility of all that may be: which algorithm is in use now, and what of a link's time is latency. */
struct traffic_wire {
    enum traffic_algorithm algorithm;
    double fixed_s[TRAFFIC_LINKS];
};

/* n of them, each as likely as another, of what traffic_weigh() found true of. known: the algorithm in use,
 * where somebody knows it; TRAFFIC_ALGORITHMS: nobody does. */
void traffic_wires(const struct traffic *t, enum traffic_algorithm known, struct traffic_wire *out, size_t n);

#endif
