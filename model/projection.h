/* projection.h - what a job would be at other numbers of ranks, from how it was fitted at one.
 *
 * A step is the ranks' own work, what they wait for the last of them, and the collectives' transfer:
 *
 *     step(n) = compute + synchronisation(n) + communication(n)
 *
 * - Compute stays (weak scaling: each rank has as much to do) or is divided by the ranks (strong scaling).
 * - Synchronisation is the expected maximum over the ranks of the fitted noise (variation.h, last.h), ranks
 * grouped by node and switch as they are now, times what the job waits beyond that now (more than one
 * collective a step).
 * - Communication: of a collective over all ranks the fixed part and the part by the byte grow as the
 * algorithm has it. Which one it is nobody tells, so all are hypotheses (ring: Patarasuk & Yuan 2009;
 * halving-doubling and pipelined trees: Thakur, Rabenseifner & Gropp 2005; two-level ring; tree without
 * pipeline; a library that takes what is quickest), weighed by how likely a network makes them: the latency
 * of one hop that each implies (usual: 1.3 to 19 microseconds), and by what was measured at other sizes where
 * that is known. Collectives inside groups that do not grow stay as they are.
 *
 * The band holds 90 %: of draws of everything that is not known - mean squares over their chi squared, shape
 * of the noise, algorithm, fixed part, growth of contention (a factor with 2 % a doubling), which ranks one
 * happens to get. factor says how far a point extrapolates; nothing is said beyond PROJECTION_FACTOR_MAX.
 *
 * Pure, no allocation. Seconds, bytes. NaN is unknown. */
#ifndef SYNCGUARD_MODEL_PROJECTION_H
#define SYNCGUARD_MODEL_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/collective.h"
#include "model/variation.h"

#define PROJECTION_LINKS      16u
#define PROJECTION_POINTS     5u /* 1, 2, 4, 8 and 16 times as many ranks */
#define PROJECTION_EARLIER    8u
#define PROJECTION_FACTOR_MAX 64.0

enum projection_regime {
    PROJECTION_COMPUTE,
    PROJECTION_COMMUNICATION,
    PROJECTION_SYNCHRONISATION,
    PROJECTION_REGIMES
};
const char *projection_regime_name(enum projection_regime r);
/* As a view's: waiting from a tenth of the step on names it when communication is no more than that; else
 * communication or compute, what is more. */
enum projection_regime projection_regime(double compute_s, double communication_s, double synchronisation_s);

enum projection_algorithm {
    PROJECTION_RING,
    PROJECTION_HALVING,
    PROJECTION_TWO_LEVEL,
    PROJECTION_TREE,
    PROJECTION_QUICKEST, /* of ring and pipelined tree, for each size at each number of ranks: libraries
                            choose */
    PROJECTION_ALGORITHMS
};
const char *projection_algorithm_name(enum projection_algorithm a);

/* Collectives of one operation and size in a step. */
struct projection_link {
    enum collective_op op; /* bytes are of the whole vector, which stays as large over more ranks */
    double ranks;          /* that take part in one */
    bool grows;            /* over all ranks; else over a group that stays as it is */
    double per_step;       /* how many of them */
    double bytes;
    double time_s;     /* mean transfer of one */
    double time_error; /* its standard error, relative */
    double fixed_s,
        fixed_sd_s; /* of time_s, what does not depend on bytes; NaN: not known, only the sum is */
};

/* What was measured of the same job at another number of ranks. */
struct projection_earlier {
    double ranks, communication_s; /* a step */
};

struct projection_input {
    bool strong;
    double step_s;  /* mean, as measured */
    double other_s; /* of it, neither own work nor collectives (point to point): stays as it is */
    const struct variation *noise;
    struct projection_link link[PROJECTION_LINKS];
    size_t n_links;
    struct projection_earlier earlier[PROJECTION_EARLIER];
    size_t n_earlier;
};

struct projection_range {
    double p5, p50, p95;
};

struct projection_point {
    double ranks, factor;                                 /* factor: times the ranks that were measured */
    double compute_s, communication_s, synchronisation_s; /* parts of step_s.p50 */
    struct projection_range step_s, throughput_ratio;     /* throughput: over the measured one */
    double ideal_ratio;                                   /* of throughput, if it grew with the ranks */
    enum projection_regime regime;
    double regime_share; /* of the draws that have this regime */
};

enum projection_wall {
    PROJECTION_WALL_NONE, /* up to PROJECTION_FACTOR_MAX */
    PROJECTION_WALL_SYNC_OVER_COMMUNICATION,
    PROJECTION_WALL_COMMUNICATION_OVER_SYNC,
    PROJECTION_WALL_SYNC_OVER_COMPUTE,
    PROJECTION_WALL_COMMUNICATION_OVER_COMPUTE,
    PROJECTION_WALL_SYNC_REGIME, /* waiting becomes the regime */
};

/* "none", "synchronisation over communication", ... */
const char *projection_wall_name(enum projection_wall w);

struct projection {
    double ranks, step_s;
    struct projection_point point[PROJECTION_POINTS];
    double algorithm[PROJECTION_ALGORITHMS]; /* weights; all NaN when no collective grows */
    bool fixed_known;                        /* of every collective that grows, the fixed part was fitted */
    bool between_nodes; /* false: one node, what a network between nodes adds was never seen */
    bool between_switches;
    enum projection_wall wall;
    double wall_ranks; /* NaN without a wall */
    char text[192];    /* "synchronisation overtakes communication at about 96 ranks (3 times as many)" */
};

/* The collectives of one operation as links, what was fitted of them beside; steps: over which they were told
 * of. Returns how many, at most max. */
struct linkfit;
struct linkfit_result;
size_t projection_links(const struct linkfit *l, const struct linkfit_result *fit, double steps,
                        enum collective_op op, double ranks, bool grows, struct projection_link *out,
                        size_t max);

/* One possibility of all that may be: which algorithm is in use now, and what of a link's time is latency. */
struct projection_wire {
    enum projection_algorithm algorithm;
    double fixed_s[PROJECTION_LINKS];
};

/* n of them, each as likely as another. known: the algorithm in use, where somebody knows it;
 * PROJECTION_ALGORITHMS: nobody does. Returns how many: 0 when no collective grows. */
size_t projection_wires(const struct projection_input *in, enum projection_algorithm known,
                        struct projection_wire *out, size_t n);

/* false: too little is known. */
bool projection_make(const struct projection_input *in, struct projection *out);

#endif
