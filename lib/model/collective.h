/* collective.h - the expected time of a collective by the model of Hockney (1994): a message of m bytes takes
 * latency + m / bandwidth, without contention.
 *
 * Pure.  Seconds, bytes, bytes per second.  Every cost is a fixed part and a part per byte, so that the size
 * at which two algorithms cost the same follows directly.  An operation that the algorithm cannot do costs
 * NaN. */
#ifndef SYNCGUARD_MODEL_COLLECTIVE_H
#define SYNCGUARD_MODEL_COLLECTIVE_H

#include <stdbool.h>

enum collective_op {
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_ALLGATHER,      /* bytes: of the whole vector, after it */
    COLLECTIVE_REDUCE_SCATTER, /* bytes: of the whole vector, before it */
    COLLECTIVE_ALLTOALL,       /* bytes: all that one rank sends, its own part included */
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    /* All ranks push and pull bytes at servers of the same bandwidth; latency is not counted. */
    COLLECTIVE_PARAMETER_SERVER,
    COLLECTIVE_OPS,
};

enum collective_algo {
    COLLECTIVE_RING,
    COLLECTIVE_TREE,         /* binomial, not pipelined */
    COLLECTIVE_HALVING,      /* recursive halving and doubling */
    COLLECTIVE_HIERARCHICAL, /* a ring inside the nodes, rings of one rank a node between them */
    COLLECTIVE_ALGOS,
};

extern const char *const collective_ops[], *const collective_algos[]; /* names, then NULL */
enum collective_op collective_op_find(const char *name);              /* COLLECTIVE_OPS: no such name */

/* Can the operation use this algorithm?  All-to-all and parameter server have but one, and ignore algo. */
bool collective_has(enum collective_op op, enum collective_algo algo);

struct collective_link {
    double latency_s, bytes_per_s;
};

struct collective {
    enum collective_op op;
    enum collective_algo algo;
    double ranks;
    struct collective_link link;  /* between nodes, or between all ranks */
    struct collective_link intra; /* inside a node: hierarchical only */
    double slowest_bytes_per_s;   /* of one link slower than the others; infinity: none */
    double ranks_per_node, rails; /* hierarchical only; ranks is a multiple of the former */
    double shards;                /* of the parameter server */
    double skew;                  /* all-to-all: what the busiest rank sends or receives over the mean */
};

struct collective_cost {
    double fixed_s, s_per_byte;
};

/* Ring: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69 (2009).  Tree, halving: Thakur, Rabenseifner &
 * Gropp, Int. J. High Perform. Comput. Appl. 19 (2005); log2 of the ranks is not rounded up for trees,
 * halving folds ranks beyond a power of two first.  One slow link delays all ranks: every algorithm here has
 * a step that waits for it. */
struct collective_cost collective_cost(const struct collective *c);
double collective_time_s(const struct collective *c, double bytes);

/* What the busiest rank sends, in bytes of a vector of `bytes`. */
double collective_sent_bytes(const struct collective *c, double bytes);

/* The size at which both cost the same; NaN when one is cheaper at every size. */
double collective_crossover_bytes(const struct collective *a, const struct collective *b);

#endif
