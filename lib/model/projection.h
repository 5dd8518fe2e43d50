/* projection.h - predicts a job's step at other numbers of ranks, from what was fitted at one.
 *
 * A step is the ranks' own work, what they wait for the last of them, and the collectives' transfer:
 *
 *     step(n) = compute + synchronisation(n) + communication(n)
 *
 * - Compute stays constant (weak scaling: the same work per rank) or is divided by the ranks (strong
 *   scaling).
 * - Synchronisation is the expected maximum over the ranks of the fitted noise (variation.h, last.h), ranks
 *   grouped by node and switch as they are now, times what the job waits beyond that now (more than one
 *   collective a step).
 * - Communication: the collectives' times scaled by each possible algorithm, weighted by the likelihood of
 *   the network that it implies (traffic.h).
 *
 * - The tail of the step (its 99th percentile over its median) and its variation: the distribution of the
 *   maximum of the ranks' passing noise, of F^n with what nodes and switches have in common (last.h), and of
 *   the factor that all ranks have in common.  Lasting differences are left out, as they are the same in
 *   every step.  What the measured steps have beyond that at their own number of ranks is added unchanged;
 *   where they have less, all is smaller in proportion.
 *
 * The band contains 90 % of the samples of all unknowns: mean squares over their chi squared, shape of the
 * noise, algorithm, fixed part, growth of contention (a factor with 1.5 % per doubling), and which ranks a
 * job gets. factor is the extent of a point's extrapolation; there are no points beyond
 * PROJECTION_FACTOR_MAX.
 *
 * Pure, no allocation. Seconds, bytes. NaN is unknown. */
#ifndef SYNCGUARD_MODEL_PROJECTION_H
#define SYNCGUARD_MODEL_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "model/regime.h"
#include "model/traffic.h"
#include "model/variation.h"

#define PROJECTION_POINTS     5u /* 1, 2, 4, 8 and 16 times as many ranks */
#define PROJECTION_FACTOR_MAX 64.0

/* Measurements of an earlier run of the same job over another number of ranks. */
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
    double step_s; /* mean, as measured */
    double spread; /* of the same steps: robust standard deviation over median */
    /* of the same steps: 99th percentile over median, standard deviation over mean; NaN, 0: unknown */
    double p99_ratio, cv;
    double other_s; /* of it, neither own work nor collectives (point to point): constant */
    const struct variation *noise;
    struct traffic traffic; /* links, adapter; the rest is filled in */
    struct projection_run run[PROJECTION_RUNS];
    size_t n_runs;
};

struct projection_range {
    double p5, p50, p95;
};
struct projection_range projection_range_of(float *v, size_t n); /* reorders v */

struct projection_point {
    double ranks, factor;                                 /* factor: times the ranks that were measured */
    double compute_s, communication_s, synchronisation_s; /* parts of step_s.p50 */
    struct projection_range step_s, throughput_ratio;     /* throughput: over the measured one */
    /* 99th percentile of the step over its median; NaN where it was not measured */
    struct projection_range p99_ratio;
    double cv;          /* of the step, from step to step */
    double ideal_ratio; /* of throughput, if it grew with the ranks */
    enum regime regime;
    double regime_share; /* share of the samples with this regime */
};

enum projection_wall {
    PROJECTION_WALL_NONE, /* up to PROJECTION_FACTOR_MAX */
    PROJECTION_WALL_SYNC_OVER_COMMUNICATION,
    PROJECTION_WALL_COMMUNICATION_OVER_SYNC,
    PROJECTION_WALL_SYNC_OVER_COMPUTE,
    PROJECTION_WALL_COMMUNICATION_OVER_COMPUTE,
    PROJECTION_WALL_SYNC_REGIME, /* synchronisation becomes the regime */
};

/* "none", "synchronisation over communication", ... */
const char *projection_wall_name(enum projection_wall w);

struct projection {
    double ranks, step_s;
    struct projection_point point[PROJECTION_POINTS];
    double algorithm[TRAFFIC_ALGORITHMS]; /* weights; all NaN when no collective grows */
    bool rate_known;                      /* the nodes reported the rates of their adapters */
    bool fixed_known;                     /* of every collective that grows, the fixed part was fitted */
    bool between_nodes; /* false: one node, so the network between nodes was never observed */
    bool between_switches;
    enum projection_wall wall;
    double wall_ranks; /* NaN without a wall */
    char text[192];    /* "synchronisation overtakes communication at about 96 ranks (3 times as many)" */
};

/* This run's measurements, for projections of later runs. */
void projection_run_of(const struct projection_input *in, struct projection_run *out);

/* The input's traffic with the ranks and nodes of its noise, weighed; false: no collective grows. */
bool projection_traffic(const struct projection_input *in, struct traffic *out);

/* false: too little is known. */
bool projection_make(const struct projection_input *in, struct projection *out);

#endif
