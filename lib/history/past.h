/* past.h - compares a run with similar earlier runs: whether it is unusually slow, unsteady, or uses
 * unusually much energy.
 *
 * A figure is unusual if its robust z (distance from the median over 1.4826 times the median absolute
 * deviation, of logarithms: Iglewicz & Hoaglin 1993, "How to detect and handle outliers") exceeds what one in
 * a hundred normal runs reaches. With few earlier runs that limit is wider, since the deviation itself is
 * uncertain; with fewer than PAST_RUNS_MIN there is no judgement.
 *
 * Pure. Seconds, joules, ratios; unknown is NaN. */
#ifndef SYNCGUARD_HISTORY_PAST_H
#define SYNCGUARD_HISTORY_PAST_H

#include <stdbool.h>
#include <stddef.h>

#define PAST_RUNS_MAX 64u /* at most this many of the newest runs are compared */
#define PAST_RUNS_MIN 4u  /* least number of runs for a judgement */
/* a smaller ratio is never unusual, however steady the earlier runs were */
#define PAST_RATIO_MIN 1.05

struct past_run {
    double step_p50_s, step_cv, energy_j_per_step;
};

/* One figure of this run compared with the similar runs. */
struct past_figure {
    double median; /* of the similar runs */
    double ratio;  /* of this run's figure to the median */
    /* robust standard deviation of the similar runs over their median; NaN for fewer than two */
    double spread;
    double z; /* NaN: fewer than PAST_RUNS_MIN have the figure */
    bool unusual;
};

struct past {
    size_t runs; /* similar runs with a known step time */
    struct past_figure step, cv, energy;
    size_t reruns, starts;    /* number of re-runs among the newest starts, including this one */
    double energy_j_per_step; /* of this run */
    bool more_reruns;         /* significantly more of them in the newer half (past_chance() below 0.01) */
    char text[400];           /* one sentence */
};

/* Compare now with n similar earlier runs. rerun: whether each of the newest n_starts starts was a re-run,
 * this run first; at most PAST_RUNS_MAX are used. false: there are no earlier runs, and out is unchanged. */
bool past_compare(const struct past_run *now, const struct past_run *earlier, size_t n, const bool *rerun,
                  size_t n_starts, struct past *out);

/* Whether any figure is unusual, or re-runs have become more frequent. */
bool past_unusual(const struct past *p);

/* The |z| that one in a hundred normal values exceeds when median and deviation are those of n others. */
double past_limit_z(size_t n);

/* Probability that by chance at least `recent` of all recent + before events are among the n_recent newer
 * trials: Fisher's exact test, one-sided. */
double past_chance(size_t recent, size_t n_recent, size_t before, size_t n_before);

#endif
