/* noise.h - how the own work of a job's ranks varies: how much, in what shape, and what ranks of a node or of
 * a switch have in common.
 *
 * A rank's own work in a step is the job's mean, times what all ranks have in common in that step (which
 * nobody waits for), times 1 + the sum of six parts: of its switch, its node and itself, each once lasting
 * (the same in all steps: a slower device) and once passing (drawn anew in every step). Their variances are
 * estimated by moments from a nested random-effects design (analysis of variance with unequal groups: Searle,
 * "Linear Models", 1971, ch. 11; Searle, Casella & McCulloch, "Variance Components", 1992, ch. 5). Their
 * uncertainty is drawn as generalised inference does (Weerahandi 1993): every mean square over its own chi
 * squared, differences below zero are none.
 *
 * Set apart before that, so that no variance is made of them: ranks that are lastingly slower than all others
 * (robust z beyond 6), and a tail of rare long delays (beyond 6 robust standard deviations: peaks over a
 * threshold, Pickands 1975, with exponential excesses).
 *
 * Shape of the passing part: normal or lognormal by Vuong's test (Econometrica 57, 1989), or undecided.
 *
 * Pure, no allocation. Parts are shares of the mean own work. Intervals hold 90 %. */
#ifndef SYNCGUARD_MODEL_NOISE_H
#define SYNCGUARD_MODEL_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/last.h"

#define NOISE_STEPS_MIN 16u

enum noise_level { NOISE_RANK, NOISE_NODE, NOISE_SWITCH, NOISE_LEVELS };
enum noise_shape { NOISE_UNDECIDED, NOISE_NORMAL, NOISE_LOGNORMAL };

/* A nested analysis of variance: a mean square is expected to be the sum of c times the variances. */
struct noise_squares {
    double ms[NOISE_LEVELS], df[NOISE_LEVELS]; /* df 0: the level cannot be told from the one below */
    double c_node, c_node_of_switch, c_switch;
};

struct noise_part {
    double sd, low, high; /* NaN: the level cannot be told from the one below, or there is but one of it */
};

struct noise {
    uint32_t ranks, nodes, switches, steps; /* switches 0: not known */
    double ranks_per_node, nodes_per_switch;
    double mean_s, mean_error; /* own work of a rank in a step; standard error as a share of it */
    double cv;                 /* of one rank's own work, all in all */
    double common_cv;          /* of what all ranks have in common, from step to step */
    struct noise_part lasting[NOISE_LEVELS], passing[NOISE_LEVELS];
    struct noise_squares lasting_squares, passing_squares;
    enum noise_shape shape;
    double shape_z;                         /* Vuong's: above 0 for lognormal */
    double tail_rate, tail_from, tail_mean; /* as in struct last */
    uint32_t tail_n;
    unsigned apart; /* ranks set apart, at most LAST_APART_MAX are kept: index and mean excess */
    uint32_t apart_rank[LAST_APART_MAX];
    double apart_mean[LAST_APART_MAX];
    double behind,
        behind_error; /* what the last rank of a step was behind the mean of all, and standard error */
};

/* own_s[steps][ranks]: seconds of own work, NaN not known; overwritten. Ranks stand in the order of their
 * switch, then of their node; node[ranks], leaf[ranks] number them (leaf all the same: not known). scratch: 2
 * * ranks doubles. false: too few steps or ranks, nothing is said. */
bool noise_fit(struct noise *out, float *own_s, uint32_t steps, uint32_t ranks, const uint32_t *node,
               const uint32_t *leaf, double *scratch);

/* Standard deviations by level that the data could have come from as well, lasting and passing. draws: see
 * deviate_draw. */
struct noise_draw {
    double lasting[NOISE_LEVELS], passing[NOISE_LEVELS];
};
void noise_draw(const struct noise *n, uint64_t *draws, struct noise_draw *d);
/* The estimate itself. */
void noise_estimate(const struct noise *n, struct noise_draw *d);

/* Ranks of a job that is `factor` times as large, for last_mean(); d: from noise_draw or noise_estimate. */
struct last noise_last(const struct noise *n, const struct noise_draw *d, double factor, bool lognormal);

const char *noise_shape_name(enum noise_shape s);

#endif
