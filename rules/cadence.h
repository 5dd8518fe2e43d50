/* cadence.h - is it time for a checkpoint?
 *
 * Pure: figures in, a decision with its reason out; no clock, no memory.  The interval is the exact optimum
 * for exponential failures (model/cadence.h) at the posterior mean of the failure rate: the expected waste
 * is, to first order, linear in the rate, so the mean is what minimises it however unsure the rate is. Bounds
 * (least and most interval, the step, the time limit, a notice that the job will be ended) go before the
 * optimum.
 *
 * Units: seconds; NaN is unknown, INFINITY never. */
#ifndef SYNCGUARD_RULES_CADENCE_H
#define SYNCGUARD_RULES_CADENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/failure.h"

/* ---- what a checkpoint costs ---- */

#define CADENCE_WRITES 64u /* the newest that count */

struct cadence_cost {
    double s[CADENCE_WRITES];
    size_t n; /* ever taken; all zero: none */
};
void cadence_cost_add(struct cadence_cost *c, double write_s); /* what is no time is passed over */

struct cadence_estimate {
    double s, low_s, high_s; /* the mean, and what holds it 90 times in 100; of one write: half to double */
    double longest_s;        /* what nearly every single write stays below */
};
/* Writes beyond five robust deviations from the median count as that far off (Huber 1964): one that hung does
 * not set the cadence for hours.  guess_s while there is none (low and high are then a tenth and tenfold). */
struct cadence_estimate cadence_cost_get(const struct cadence_cost *c, double guess_s);

/* ---- how often the job fails ---- */

/* 6.50 failures in 1000 node-days: a research cluster over 11 months (Kokolis et al., HPCA 2025). */
#define CADENCE_PUBLISHED_RATE (6.50 / (1000 * 86400.0))
/* A history counts for no more failures: jobs differ, and a job's own must be able to speak. */
#define CADENCE_PRIOR_FAILURES 20.0

/* The prior: what a history of so many failures in so many node-seconds says, mixed with one failure's worth
 * of the published rate (so broad: 90 % between 0.05 and 3 times the mean).  node_s 0: no history. */
struct failure_rate cadence_prior(double failures, double node_s);

/* ---- the decision ---- */

enum cadence_reason {
    CADENCE_NONE,    /* not due */
    CADENCE_OPTIMUM, /* the interval is over */
    CADENCE_MAXIMUM, /* the longest interval that is allowed is over */
    CADENCE_LIMIT,   /* the time limit comes near */
    CADENCE_NOTICE,  /* the job will be ended: preemption */
    CADENCE_REQUEST, /* somebody asked for one */
};
const char *cadence_reason_name(enum cadence_reason r); /* "none", "optimum" ... */

struct cadence_bounds {
    double least_s, most_s; /* interval */
};

struct cadence_figures {
    struct cadence_estimate write;
    struct failure_rate rate; /* posterior, per node-second */
    double nodes;
    double step_s;         /* NaN: not known */
    double delivery_s;     /* from asking until all ranks can hear it, beside the wait for the step's end */
    double restart_s;      /* from a failure until work goes on; NaN: not known */
    double since_s;        /* since the last finished checkpoint, or since work began */
    double writing_s;      /* one is being written, for so long; NaN: none */
    double left_s;         /* until the job ends by its limit; INFINITY: none, NaN: not known */
    double notice_s;       /* until it is ended after a notice; NaN: no notice */
    double since_notice_s; /* since the notice; NaN: none */
    bool asked;            /* by somebody, and not done yet */
};

struct cadence_decision {
    bool due;
    enum cadence_reason reason; /* of the one that is due, or of the next one */
    double optimal_s;           /* of work between two, unbounded; NaN: not known */
    double interval_s;          /* inside the bounds */
    double next_s;              /* until the next one is due; 0: now; INFINITY: none will be */
    double mtbf_s;              /* of the whole job */
    double goodput;             /* expected share of time with work that stays, at that interval; NaN
                                 * where it, or the time of a restart, is not known */
    double goodput_most;        /* the same if a restart took no time: it is no more; NaN */
    double lost_s;              /* what a failure now would cost: work since the last checkpoint */
    bool too_late;              /* the end comes before a checkpoint can be written */
};

struct cadence_decision cadence_decide(const struct cadence_figures *f, const struct cadence_bounds *b);

/* ---- the call at which all ranks can hear it ---- */

/* The first call that no rank will have come to before margin_s from now: the foremost rank has made `calls`,
 * the newest age_s ago, and needs least_step_s or more for each.  0: not known. */
uint64_t cadence_call(uint64_t calls, double age_s, double least_step_s, double margin_s);

#endif
