/* straggler.h - who does its own work slower than the others, since when, and at what price.
 *
 * Fed with one vector a step: each rank's own work (time outside of collectives). The step time itself says
 * nothing (it already contains the maximum); each rank is held against the median of the ranks in the same
 * step, so that what slows all does not count. Evidence is the mean excess over windows of 8 to 64 steps in
 * units of its own standard error, clipped so that a single spike proves nothing; onset is where a CUSUM
 * (Page 1954) last left zero. A rank is named after two steps in a row above the limit and let go well below
 * it.
 *
 * Price (what-if, after Ousterhout 2015 and Lin 2025): the step time over the step time if the named ranks
 * had finished with the last of the others, step by step. */
#ifndef SYNCGUARD_ANALYSIS_STRAGGLER_H
#define SYNCGUARD_ANALYSIS_STRAGGLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRAGGLER_STEPS      64u /* remembered */
#define STRAGGLER_PLACE_NONE UINT32_MAX

struct straggler;

struct straggler *straggler_new(void);
void straggler_free(struct straggler *s);  /* NULL is fine */
void straggler_reset(struct straggler *s); /* another program: forget all */

/* Where rank sits: numbers of its node and switch (STRAGGLER_PLACE_NONE: not known). */
void straggler_place(struct straggler *s, uint32_t rank, uint32_t node, uint32_t leaf);

/* The next step: work_s[n] by rank, NaN where not known; duration_s of the whole step (enter to enter). */
void straggler_step(struct straggler *s, uint64_t step, const float *work_s, uint32_t n, double duration_s);

enum straggler_scope { STRAGGLER_RANK, STRAGGLER_NODE, STRAGGLER_SWITCH, STRAGGLER_SCOPES };
#define STRAGGLER_CULPRITS_MAX 16u

struct straggler_finding {
    enum straggler_scope scope;
    uint32_t culprit[STRAGGLER_CULPRITS_MAX]; /* ranks, or numbers of nodes or switches */
    uint32_t n_culprits;                      /* named; more may be affected */
    uint32_t ranks;                           /* affected */
    double slowdown;                          /* price, >= 1 */
    double excess_ratio;                      /* mean own work over that of the others, minus 1 */
    double last_ratio; /* share of the steps in which one of them had the longest work */
    double z;          /* evidence, in standard errors */
    uint64_t since_step;
};

/* Findings now, most costly first; at most one a scope.  min_slowdown: cheaper ones are left out (half of the
 * excess keeps one that stands). */
size_t straggler_find(struct straggler *s, double min_slowdown,
                      struct straggler_finding out[STRAGGLER_SCOPES]);

/* The smallest slowdown that could be named now, given the noise; NaN while that is not known. */
double straggler_mds(const struct straggler *s);
/* rank's mean own work over the median, minus 1, over the last steps (NaN: not known). */
double straggler_excess(const struct straggler *s, uint32_t rank);

#endif
