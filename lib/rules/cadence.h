/* cadence.h - decides whether a checkpoint is due.
 *
 * Pure: no clock, no state.  The interval is the exact optimum for exponential failures (model/cadence.h) at
 * the posterior mean of the failure rate: the expected waste is, to first order, linear in the rate, so that
 * its mean minimises it however uncertain the rate is. Bounds (shortest and longest interval, the step, the
 * time limit, a notice that the job will be ended) have precedence over the optimum.
 *
 * Units: seconds; NaN is unknown, INFINITY never. */
#ifndef SYNCGUARD_RULES_CADENCE_H
#define SYNCGUARD_RULES_CADENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/failure.h"

/* ---- cost of a checkpoint ---- */

#define CADENCE_WRITES 64u /* at most this many of the newest writes are used */

struct cadence_cost {
    double s[CADENCE_WRITES];
    size_t n; /* number of writes so far; initially zero */
};
void cadence_cost_add(struct cadence_cost *c, double write_s); /* ignored unless a positive finite time */

struct cadence_estimate {
    double s, low_s, high_s; /* the mean with its 90 % interval; after one write: half to double */
    double longest_s;        /* nearly every single write is shorter */
};
/* Writes beyond five robust deviations from the median are clipped there (Huber 1964), so that one that hung
 * does not determine the interval for hours.  Without a write: guess_s, with an interval from a tenth to
 * tenfold. */
struct cadence_estimate cadence_cost_get(const struct cadence_cost *c, double guess_s);

/* ---- failure rate ---- */

/* 6.50 failures in 1000 node-days: a research cluster over 11 months (Kokolis et al., HPCA 2025). */
#define CADENCE_PUBLISHED_RATE (6.50 / (1000 * 86400.0))
/* A history counts for at most this many failures, so that a job's own failures can outweigh it. */
#define CADENCE_PRIOR_FAILURES 20.0

/* The prior: the failures of a history in its node-seconds, combined with one failure at the published rate
 * (which alone has 90 % between 0.05 and 3 times the mean).  node_s 0: no history. */
struct failure_rate cadence_prior(double failures, double node_s);

/* ---- the decision ---- */

enum cadence_reason {
    CADENCE_OPTIMUM, /* the interval is over */
    CADENCE_MAXIMUM, /* the longest allowed interval is over */
    CADENCE_LIMIT,   /* the time limit is near */
    CADENCE_NOTICE,  /* the job will be ended: preemption */
};
const char *cadence_reason_name(enum cadence_reason r); /* "optimum", ... */

struct cadence_bounds {
    double min_s, max_s; /* interval */
};

struct cadence_figures {
    struct cadence_estimate write;
    struct failure_rate rate; /* posterior, per node-second */
    double nodes;
    double step_s; /* NaN: not known */
    /* from a request until all ranks can receive it, without the wait for the step's end */
    double delivery_s;
    double since_s;        /* since the last finished checkpoint, or since work began */
    bool writing;          /* a checkpoint is being written */
    double left_s;         /* until the job ends by its limit; INFINITY: none, NaN: not known */
    double notice_s;       /* until it is ended after a notice; NaN: no notice */
    double since_notice_s; /* since the notice; NaN: none */
};

struct cadence_decision {
    bool due;
    enum cadence_reason reason; /* why a checkpoint is due, or why the next one will be */
    double optimal_s;           /* optimal work between two checkpoints, without bounds; NaN: not known */
    double interval_s;          /* optimal_s within the bounds */
    double next_s;              /* until the next one is due; 0: now; INFINITY: never */
    double mtbf_s;              /* of the whole job */
    /* upper bound of the expected share of time with work that is not lost, at that interval: that of a
     * restart that takes no time; NaN: not known */
    double goodput_most;
    bool too_late; /* the end comes before a checkpoint can be written */
};

struct cadence_decision cadence_decide(const struct cadence_figures *f, const struct cadence_bounds *b);

/* ---- the call at which all ranks can receive a request ---- */

/* The first call that no rank can reach within margin_s seconds: the foremost rank has made `calls`, the
 * newest age_s ago, and needs step_min_s for each at least.  0: not known. */
uint64_t cadence_call(uint64_t calls, double age_s, double step_min_s, double margin_s);

#endif
