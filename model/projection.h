/* projection.h - what a job would be at other numbers of ranks, from how it was fitted at one.
 *
 * A step is the ranks' own work, what they wait for the last of them, and the collectives' transfer:
 *
 *     step(n) = compute + synchronisation(n) + communication(n)
 *
 * - Compute stays (weak scaling: each rank has as much to do) or is divided by the ranks (strong scaling).
 * - Synchronisation is the expected maximum over the ranks of the fitted noise (variation.h, last.h), ranks
 *   grouped by node and switch as they are now, times what the job waits beyond that now (more than one
 *   collective a step).
 * - Communication: the collectives' times grown by each algorithm that there may be, weighed by how likely a
 *   network makes what was measured (traffic.h).
 *
 * The band holds 90 %: of draws of everything that is not known - mean squares over their chi squared, shape
 * of the noise, algorithm, fixed part, growth of contention (a factor with 1.5 % a doubling), which ranks one
 * happens to get. factor says how far a point extrapolates; nothing is said beyond PROJECTION_FACTOR_MAX.
 *
 * Pure, no allocation. Seconds, bytes. NaN is unknown. */
#ifndef SYNCGUARD_MODEL_PROJECTION_H
#define SYNCGUARD_MODEL_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/traffic.h"
#include "model/variation.h"

#define PROJECTION_POINTS     5u /* 1, 2, 4, 8 and 16 times as many ranks */
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

/* What an earlier run of the same job showed over another number of ranks. */
#define PROJECTION_RUNS  8u
#define PROJECTION_TIMES 8u
struct projection_time {
    enum collective_op op;
    double bytes, time_s, time_error;
};
struct projection_run {
    double ranks, ranks_per_node;
    double step_s, compute_s, cv, behind, behind_error; /* as in struct variation */
    struct projection_time time[PROJECTION_TIMES];      /* of collectives over all ranks */
    size_t n_times;
};

struct projection_input {
    bool strong;
    double step_s;  /* mean, as measured */
    double other_s; /* of it, neither own work nor collectives (point to point): stays as it is */
    const struct variation *noise;
    struct traffic traffic; /* links, adapter; the rest is filled in */
    struct projection_run run[PROJECTION_RUNS];
    size_t n_runs;
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
    double algorithm[TRAFFIC_ALGORITHMS]; /* weights; all NaN when no collective grows */
    bool rate_known;                      /* the nodes told what their adapters can */
    bool fixed_known;                     /* of every collective that grows, the fixed part was fitted */
    bool between_nodes; /* false: one node, what a network between nodes adds was never seen */
    bool between_switches;
    enum projection_wall wall;
    double wall_ranks; /* NaN without a wall */
    char text[192];    /* "synchronisation overtakes communication at about 96 ranks (3 times as many)" */
};

/* What this run shows, for later ones. */
void projection_run_of(const struct projection_input *in, struct projection_run *out);

/* The input's traffic with the ranks and nodes of its noise, weighed; false: no collective grows. */
bool projection_traffic(const struct projection_input *in, struct traffic *out);

/* false: too little is known. */
bool projection_make(const struct projection_input *in, struct projection *out);

#endif
