/* past.h - a run beside the earlier runs like it: is it slower, less steady, hungrier than is usual?
 *
 * "Outside what is usual" is a robust z (distance from the median over 1.4826 times the median absolute
 * deviation, of logarithms: Iglewicz & Hoaglin 1993, "How to detect and handle outliers") beyond what one in
 * a hundred normal runs reaches. With few earlier runs that limit is wider, since the deviation itself is
 * uncertain, and below PAST_RUNS_MIN nothing is said.
 *
 * Pure. Seconds, joules, ratios; unknown is NaN. */
#ifndef SYNCGUARD_HISTORY_PAST_H
#define SYNCGUARD_HISTORY_PAST_H

#include <stdbool.h>
#include <stddef.h>

#define PAST_RUNS_MAX  64u  /* the newest so many are looked at */
#define PAST_RUNS_MIN  4u   /* fewer tell nothing about what is usual */
#define PAST_RATIO_MIN 1.05 /* a smaller difference is not worth a word, however steady the runs were */

struct past_run {
    double step_p50_s, step_cv, energy_j_per_step;
};

/* One figure of this run over the like runs' median. */
struct past_figure {
    double median, ratio;
    double spread; /* of the like runs, robust standard deviation over the median; NaN below two */
    double z;      /* NaN: fewer than PAST_RUNS_MIN know the figure */
    bool unusual;
};

struct past {
    size_t runs; /* like runs whose step time is known */
    struct past_figure step, cv, energy;
    size_t reruns, starts;    /* of the newest starts so many were re-runs, this one among them */
    double energy_j_per_step; /* of this run */
    bool more_reruns;         /* than there used to be, beyond what one in a hundred halves would show */
    char text[400];           /* one sentence */
};

/* now against the earlier runs like it. rerun: of the newest n_starts starts (PAST_RUNS_MAX are looked at),
 * this run first, whether each was a re-run. false: there are no earlier runs, out is as it was. */
bool past_compare(const struct past_run *now, const struct past_run *earlier, size_t n, const bool *rerun,
                  size_t n_starts, struct past *out);

/* Any of it is outside what is usual. */
bool past_unusual(const struct past *p);

/* The |z| that one in a hundred normal values reaches when median and deviation come from n others. */
double past_limit_z(size_t n);

/* How likely at least `recent` of n are in the newer half when the total is spread by chance: Fisher's exact
 * test, one-sided. */
double past_chance(size_t recent, size_t n_recent, size_t before, size_t n_before);

#endif
