/* variation.h - how the own work of a job's ranks varies: by how much, in which distribution, and which part
 * the ranks of a node or switch have in common.
 *
 * A rank's own work in a step is the job's mean, times a factor that all ranks have in common in that step
 * (for which nobody waits), times 1 + the sum of six parts: of its switch, its node and the rank, each with a
 * lasting part (the same in all steps: a slower device) and a passing part (independent in every step). Their
 * variances are estimated by moments from a nested random-effects design (analysis of variance with unequal
 * groups: Searle, "Linear Models", 1971, ch. 11; Searle, Casella & McCulloch, "Variance Components", 1992,
 * ch. 5). Their uncertainty is sampled by generalised inference (Weerahandi 1993): every mean square over its
 * own chi squared, with negative differences set to 0. With few nodes that overestimates their variance, so
 * "a node or switch adds nothing" is a hypothesis of its own, weighted by the Bayesian information criterion
 * (Schwarz 1978; with the groups for a sample: Pauler, Biometrika 85, 1998).
 *
 * Excluded before that, so that they do not add to the variances: ranks that are lastingly slower than all
 * others (robust z beyond 6), and a tail of rare long delays (beyond 6 robust standard deviations: peaks over
 * a threshold, Pickands 1975, with exponential excesses).
 *
 * Shape of the passing part: normal or lognormal by Vuong's test (Econometrica 57, 1989), or undecided.
 *
 * Pure, no allocation. Parts are shares of the mean own work. Intervals hold 90 %. */
#ifndef SYNCGUARD_MODEL_VARIATION_H
#define SYNCGUARD_MODEL_VARIATION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/last.h"

#define VARIATION_STEPS_MIN 16u

enum variation_level { VARIATION_RANK, VARIATION_NODE, VARIATION_SWITCH, VARIATION_LEVELS };
enum variation_shape { VARIATION_UNDECIDED, VARIATION_NORMAL, VARIATION_LOGNORMAL };

/* A nested analysis of variance: a mean square is expected to be the sum of c times the variances. */
struct variation_squares {
    /* df 0: the level cannot be separated from the one below */
    double ms[VARIATION_LEVELS], df[VARIATION_LEVELS];
    double none[VARIATION_LEVELS]; /* probability that the level adds nothing to those below */
    double c_node, c_node_of_switch, c_switch;
};

struct variation_part {
    double sd, low, high; /* NaN: the level cannot be separated from the one below, or has one member */
};

struct variation {
    uint32_t ranks, nodes, switches, steps; /* switches 0: not known */
    double ranks_per_node, nodes_per_switch;
    double mean_s, mean_error; /* own work of a rank in a step; standard error as a share of it */
    double cv;                 /* of one rank's own work, all parts together */
    double common_cv;          /* of the factor common to all ranks, from step to step */
    struct variation_part lasting[VARIATION_LEVELS], passing[VARIATION_LEVELS];
    struct variation_squares lasting_squares, passing_squares;
    enum variation_shape shape;
    double shape_z;                         /* Vuong's: above 0 for lognormal */
    double tail_rate, tail_from, tail_mean; /* as in struct last */
    uint32_t tail_n;
    unsigned apart; /* ranks excluded; index and mean excess of at most LAST_APART_MAX are kept */
    uint32_t apart_rank[LAST_APART_MAX];
    double apart_mean[LAST_APART_MAX];
    double behind, behind_error; /* of a step's last rank, behind the mean of all, and standard error */
};

/* own_s[steps][ranks]: seconds of own work, NaN not known; overwritten. Ranks are ordered by switch, then by
 * node; node[ranks] and switch_id[ranks] are their numbers (all switches equal: not known). scratch: 2 *
 * ranks doubles.  false: too few steps or ranks. */
bool variation_fit(struct variation *out, float *own_s, uint32_t steps, uint32_t ranks, const uint32_t *node,
                   const uint32_t *switch_id, double *scratch);

/* One sample of the standard deviations by level, lasting and passing, that are compatible with the data.
 * state: see deviate_uniform(). */
struct variation_sample {
    double lasting[VARIATION_LEVELS], passing[VARIATION_LEVELS];
};
void variation_sample(const struct variation *n, uint64_t *state, struct variation_sample *d);
/* The estimate itself. */
void variation_estimate(const struct variation *n, struct variation_sample *d);

/* Ranks of a job that is `factor` times as large, for last_mean(); d: from variation_sample() or
 * variation_estimate(). */
struct last variation_last(const struct variation *n, const struct variation_sample *d, double factor,
                           bool lognormal);

extern const char *const variation_shapes[]; /* "undecided", "normal", "lognormal" */

#endif
