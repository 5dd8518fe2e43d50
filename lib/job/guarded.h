/* guarded.h - a job's figures under the guard, each as a ratio to the best unguarded reference that the job
 * offers.
 *
 * References; each figure uses the first one that has a value for it:
 *   hold-out  the epochs in which pacing leaves the ranks alone; they alternate with the paced ones, so that
 *             nothing else differs
 *   before    the job's own steps before the first action.  Actions are decided when a job is slow, and a job
 *             that is slow by chance recovers without them, so an unknown part of this ratio is regression to
 *             the mean.  It is marked (guarded_selected) and never called "faster"
 *   runs      similar earlier runs; they may have been guarded, too, and the cluster has changed since
 *
 * Every known ratio names its reference.  Its interval, if there is one, is of 90 % (hold-out: 95 %, valid at
 * all times at once). Pure. Values are ratios; NaN is unknown. */
#ifndef SYNCGUARD_JOB_GUARDED_H
#define SYNCGUARD_JOB_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report_past.h"

/* least number of columns before, and after, that are compared */
#define GUARDED_COLUMNS_MIN 5u

enum guarded_reference { GUARDED_NONE, GUARDED_HOLDOUT, GUARDED_BEFORE, GUARDED_RUNS };
/* "hold-out", ...: the values that the protocol uses. */
const char *guarded_reference_name(enum guarded_reference r);
/* Whether it depends on how slow the job was, so that regression to the mean is part of the ratio. */
bool guarded_selected(enum guarded_reference r);

struct guarded_ratio {
    double value, low, high; /* low and high NaN: no interval */
    enum guarded_reference reference;
};

/* A lever in force on a node: time with it over time without it. */
struct guarded_lever {
    double ranks, ratio, low, high;
};

/* Columns of a job's history before and since the first action, oldest first; NaN: no value. */
struct guarded_series {
    const double *value;
    size_t n, before; /* number of columns, and of those before the first action; before 0: no action yet */
};

struct guarded_runs {
    double runs, spread;     /* number of earlier runs, and their relative spread */
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
    char text[320]; /* one or two sentences */
};

/* Compute every ratio and the text. */
void guarded_compare(const struct guarded_input *in, struct guarded *out);

#endif
