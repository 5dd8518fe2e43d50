/* pricing.h - what stragglers cost, and the two ways to find it out.
 *
 * By work: a step ends with its last rank, so that what stragglers cost in it is the longest own work less
 * the longest there would be without them. By replays: where a step is more than one meeting of all ranks,
 * whoever has the graph of its calls replays it without them (calls/call_steps.c). view/view.c chooses: by
 * work until ranks pass messages, overlap or use a second communicator, then by replays until another program
 * begins. All that differs is in struct pricing_method.
 *
 * Units: seconds, steps. */
#ifndef SYNCGUARD_DETECT_PRICING_H
#define SYNCGUARD_DETECT_PRICING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/interval.h"

/* steps that an interval stands on; it is looked at again when there are twice as many */
#define PRICING_DOUBT_MIN 4u
/* in place of a number of steps: none of them is remembered */
#define PRICING_FORGOTTEN (-1.0)

struct diagnosis;
struct straggler;
struct work;

struct price {
    double of_s, saved_s; /* what some steps took; what they would be shorter */
};

/* Of the steps from one on, as far as they are remembered, and of the recent ones among them. */
struct prices {
    struct price all, recent;
};

/* Replays of the remembered steps without any of list[n], from number `from` (work_step.seq) on. */
struct replays {
    struct prices (*all)(void *arg, const struct straggler *list, size_t n, uint32_t from, uint32_t recent);
    /* Step by step, as price_steps() of calls/price.h. */
    uint32_t (*each)(void *arg, const struct straggler *list, size_t n, uint32_t from, double *saved_s,
                     double *more);
    /* In how many steps before number `from` it was there, too (calls/already.h); NULL: that is not known. */
    double (*earlier)(void *arg, const struct straggler *straggler, uint32_t from);
    void *arg;
};

struct pricing {
    const struct pricing_method *method;
    const struct work *work;
    struct replays replays; /* for the method that needs them */
};

/* What a finding cost since its onset, in steps that are no longer remembered or were not seen, too; and in
 * the recent ones. */
struct cost {
    double saved_s;
    struct price recent;
    double alone_s; /* the recent ones would be shorter by that, were it mended and all others stayed */
};

struct pricing_method {
    /* The newest steps (at least one, at most as many as are kept) without any of list[n]. */
    struct price (*newest)(const struct pricing *p, const struct straggler *list, size_t n, uint32_t steps);
    /* What each step since the onset of list[0], as far as they are remembered, would be shorter without any
     * of list[n], oldest first; and how much work it had compared with others. Both arrays are of WORK_STEPS;
     * returns how many. */
    uint32_t (*each)(const struct pricing *p, const struct straggler *list, size_t n, double *saved_s,
                     double *more);

    /* Finding `at`, a straggler that stands; recent: steps, all of them since its onset. */
    struct cost (*cost)(struct diagnosis *d, size_t at, uint32_t recent);
    /* The factor of its cost for what this method does not see. */
    struct interval (*unseen)(const struct diagnosis *d, size_t at);
    /* What findings at[n], whose costs were taken, have cost together since the earliest began. */
    double (*together_s)(struct diagnosis *d, const size_t *at, size_t n);
    /* Before the newest step overwrites the oldest.  NULL: nothing is to be kept of it. */
    void (*expire)(struct diagnosis *d);
    /* A price that was taken of `steps` steps is taken again after this many more; NULL: after each. */
    uint32_t (*again)(uint32_t steps);
    bool prices_others; /* than stragglers and oscillations; false: they come by diagnosis_other() */
};

/* The same of replays: an eighth of the steps is new then. */
static inline uint32_t pricing_again(uint32_t steps)
{
    return steps / 8;
}

#endif
