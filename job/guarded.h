/* guarded.h - what a job does under the guard, over what it does without: each figure as a ratio to the best
 * reference that the job itself offers.
 *
 * References, in this order, each figure by the first that knows it:
 *   hold-out  the epochs in which pacing leaves the ranks alone; measured side by side: nothing else differs
 *   before    the job's own steps before the first action; that is decided when the job is slow, and a job that
 *             is slow by chance recovers by itself: some of the ratio is regression to the mean, how much cannot be
 *             known. It is marked (guarded_selected) and never taken for "faster"
 *   runs      earlier runs like it; they may have been guarded, too, and the cluster has changed since
 *
 * A ratio is known only with what it stands on; the interval holds 90 % where there is one (hold-out: 95 %,
 * at all times at once). Pure. Ratios, NaN is unknown. */
#ifndef SYNCGUARD_JOB_GUARDED_H
#define SYNCGUARD_JOB_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

#define GUARDED_COLUMNS_MIN 5u /* before and after; fewer tell nothing */

enum guarded_figure {
    GUARDED_STEP, /* time of a step */
    GUARDED_THROUGHPUT,
    GUARDED_CV, /* of the step time */
    GUARDED_SYNCHRONISATION,
    GUARDED_SKEW,
    GUARDED_ENERGY, /* a step */
    GUARDED_FIGURES
};
enum guarded_reference { GUARDED_NONE, GUARDED_HOLDOUT, GUARDED_BEFORE, GUARDED_RUNS };
/* "step", "hold-out", ...: the words of the protocol. */
const char *guarded_figure_name(enum guarded_figure f);
const char *guarded_reference_name(enum guarded_reference r);
/* The reference was chosen by how the job fared: regression to the mean is part of the ratio. */
bool guarded_selected(enum guarded_reference r);

struct guarded_ratio {
    double value, low, high; /* low and high NaN: no interval */
    enum guarded_reference reference;
};

/* A lever that is in force on a node: time with it over the time without. */
struct guarded_lever {
    double ranks, ratio, low, high;
};

/* Columns of a job's history, oldest first, those before and those since the first action; NaN: nothing. */
struct guarded_series {
    const double *value;
    size_t n, before; /* the first `before` of them are before it; 0: nothing was done yet */
};

struct guarded_runs {
    double runs, spread;     /* earlier ones; their spread, relative */
    double step, cv, energy; /* ratios to their median */
};

struct guarded_input {
    const struct guarded_lever *lever;
    size_t n_levers;
    struct guarded_series series[GUARDED_FIGURES]; /* n 0: not known */
    struct guarded_runs runs;
};

struct guarded {
    struct guarded_ratio ratio[GUARDED_FIGURES];
    char text[320]; /* one sentence, or two */
};

void guarded_compare(const struct guarded_input *in, struct guarded *out);

#endif
