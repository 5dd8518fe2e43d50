/* traffic.h - the time of a step's collectives, and their time over more ranks.
 *
 * For a collective over all ranks, the growth of the fixed part and of the part per byte depends on the
 * algorithm. MPI does not report which one it uses, so all are hypotheses (ring: Patarasuk & Yuan 2009;
 * halving-doubling and pipelined trees: Thakur, Rabenseifner & Gropp 2005; two-level ring; tree without
 * pipeline; a library that takes the fastest one). Each of them, with each possible split of a time into a
 * fixed part and a part per byte, implies a network, and is weighted by the likelihood of that network:
 *
 * - the latency of a hop: in nine of ten cases 1.3 to 19 microseconds;
 * - the rate: at most, and close to, the rate that the nodes' adapters report; where none is reported, in
 *   nine of ten cases 1.4 to 72 GB/s. A tree that sends everything log2 n times takes the same time as a ring
 *   on a network slower by that factor, so at one number of ranks only the rate distinguishes them;
 * - the time of the same operation and size in earlier runs over another number of ranks (runs differ by a
 *   tenth).
 *
 * The time of collectives inside groups that do not grow stays constant.
 *
 * Pure, no allocation. Seconds, bytes. NaN is unknown. */
#ifndef SYNCGUARD_MODEL_TRAFFIC_H
#define SYNCGUARD_MODEL_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>

#include "model/collective.h"

#define TRAFFIC_LINKS   16u
#define TRAFFIC_EARLIER 64u
#define TRAFFIC_CASES   48 /* possible sizes of the fixed part of a time */

enum traffic_algorithm {
    TRAFFIC_RING,
    TRAFFIC_HALVING,
    TRAFFIC_TWO_LEVEL,
    TRAFFIC_TREE,
    /* of ring and pipelined tree, as libraries choose it for each size and number of ranks */
    TRAFFIC_QUICKEST,
    TRAFFIC_ALGORITHMS
};
const char *traffic_algorithm_name(enum traffic_algorithm a);
enum traffic_algorithm traffic_algorithm_find(const char *name); /* TRAFFIC_ALGORITHMS: none of them */

/* Collectives of one operation and size in a step. */
struct traffic_link {
    enum collective_op op; /* bytes are of the whole vector, whose size does not depend on ranks */
    double ranks;          /* that take part in one */
    bool grows;            /* over all ranks; else over a group of constant size */
    double per_step;       /* collectives per step */
    double bytes;
    double time_s;              /* mean transfer of one */
    double time_error;          /* its standard error, relative */
    double fixed_s, fixed_sd_s; /* part of time_s that does not depend on bytes; NaN: only the sum is known */
};

/* Collectives of one operation and size over another number of ranks, in an earlier run. */
struct traffic_earlier {
    enum collective_op op;
    double ranks, ranks_per_node, bytes, time_s, time_error;
};

/* The rate that each of a node's network adapters reports, and their number. */
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
    /* Set by traffic_weigh(): the probability of each hypothesis, and given it, of each size of a link's
     * fixed part. */
    double weight[TRAFFIC_ALGORITHMS], cases[TRAFFIC_ALGORITHMS][TRAFFIC_LINKS][TRAFFIC_CASES];
};

/* Converts the collectives of one operation, with their fit, to links; steps: the number of steps they cover.
 * Returns their number, at most max. */
struct linkfit;
struct linkfit_result;
size_t traffic_links(const struct linkfit *l, const struct linkfit_result *fit, double steps,
                     enum collective_op op, double ranks, bool grows, struct traffic_link *out, size_t max);

/* Computes the weights; false: no collective grows, so there are none. */
bool traffic_weigh(struct traffic *t);

/* The hypothesis at p, 0 to 1, of the cumulative weights; a uniform p samples one. */
enum traffic_algorithm traffic_algorithm_at(const struct traffic *t, double p);
/* Seconds per step over n ranks: of the collectives that grow, with the fixed parts at p of their cumulative
 * weights; and of all others. */
double traffic_grown_s(const struct traffic *t, enum traffic_algorithm a, double n, double p);
double traffic_steady_s(const struct traffic *t);

/* One possible network: the algorithm in use, and the part of each link's time that is latency. */
struct traffic_wire {
    enum traffic_algorithm algorithm;
    double fixed_s[TRAFFIC_LINKS];
};

/* Fills in n equally likely networks, by the weights of traffic_weigh(). known: the algorithm in use, or
 * TRAFFIC_ALGORITHMS if it is not known. */
void traffic_wires(const struct traffic *t, enum traffic_algorithm known, struct traffic_wire *out, size_t n);

#endif
