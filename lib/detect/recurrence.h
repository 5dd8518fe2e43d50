/* recurrence.h - who is late again and again, but not always: the steps in which somebody was late far beyond
 * the noise, and the place at which they gather.
 *
 * A late step is one that took longer because its last rank came far later than it mostly does (a detour:
 * variability.h).  Were it chance who is late, k - 1 or more of the K - 1 others would be at the place of the
 * newest, with a share q of the ranks, with the probability of a binomial tail, whichever place that is. Late
 * steps in a row are one to that test, but all of them to the price.
 *
 * Of a rank, its node and their switch it is the smallest without which most of the time would not be lost.
 *
 * Units: steps counted as work.steps is, ratios of the typical work. Memory: RECURRENCE_STEPS entries. */
#ifndef SYNCGUARD_DETECT_RECURRENCE_H
#define SYNCGUARD_DETECT_RECURRENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/finding.h"
#include "detect/work.h"

#define RECURRENCE_STEPS 128u /* late ones that are remembered, none of them older than WORK_STEPS */

struct recurrence {
    struct late_step {
        uint64_t step; /* counted from 0 */
        uint32_t rank; /* the last */
        bool told;     /* by a finding that is over: it is no evidence for another one */
        float excess;  /* over what it mostly has */
        /* what the step would be shorter by, were the rank, its node, its switch as late as they mostly are
         */
        float saved_s[SCOPE_NONE];
    } late[RECURRENCE_STEPS];
    uint64_t n; /* ever; the newest is late[(n - 1) % RECURRENCE_STEPS] */
};

struct recurring {
    enum finding_scope scope;
    uint32_t place;
    uint64_t onset;  /* step; 0: from the beginning, as far as is known */
    uint64_t last;   /* the newest late step */
    double share;    /* of the steps since the onset in which it is late */
    uint32_t period; /* steps from one to the next, where that is always the same; 0: it is not */
    double excess;   /* mean of the late steps, over what it mostly has */
    double before;   /* what it mostly has */
    double late_min; /* an excess over that which makes a step a late one */
    double z;        /* evidence, as a normal deviate */
};

/* Look at the newest step, after work_take(). true: it is a late one. */
bool recurrence_step(struct recurrence *c, const struct work *w);

/* The place at which late steps gather that had the newest one; false: they don't, or too few are known. */
bool recurrence_find(const struct recurrence *c, const struct work *w, struct recurring *found);

/* Do they gather at that place, which is there to be looked at for another reason?  The test-th such question
 * of a run, from 1. */
bool recurrence_gathers(const struct recurrence *c, const struct work *w, enum finding_scope scope,
                        uint32_t place, uint32_t test);

/* What is known of that place now, without a test. false: it has no late step any more. */
bool recurrence_of(const struct recurrence *c, const struct work *w, enum finding_scope scope, uint32_t place,
                   struct recurring *found);

/* What was found at that place is over: none of its late steps is to be told again. */
void recurrence_forget(struct recurrence *c, const struct work *w, enum finding_scope scope, uint32_t place);

#endif
