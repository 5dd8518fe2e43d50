/* straggler.h - who does its own work slower than the others: a rank, a node, the nodes of a switch; since
 * when, whether it grows.
 *
 * The place (places.h) with the strongest evidence is the culprit: if a node is slow, the mean of its ranks
 * stands out more than each of them; where not all of its parts are late it gives way to the part that is. Of
 * two halves the slower one is. Named after two steps in a row above the limit, if it costs enough, and let
 * go well below.
 *
 * Since when, and whether it grows, and the steps' time with it: onset.h. Who is late in some steps only:
 * recurrence.h. */
#ifndef SYNCGUARD_DETECT_STRAGGLER_H
#define SYNCGUARD_DETECT_STRAGGLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/places.h"
#include "detect/pricing.h"
#include "detect/work.h"

#define STRAGGLERS_MAX 8u /* culprits at a time */

struct straggler {
    uint32_t id; /* of the finding: stays when scope or shape are seen better */
    enum finding_scope scope;
    uint32_t place; /* a rank, or the number of a node or a switch */
    uint32_t ranks; /* that belong to it */
    uint64_t onset; /* step, counted as work.steps is */
    bool drift;
    uint64_t ramp_end; /* drift: the step at which it stopped growing, or the newest */
    double excess;     /* over the others and its own past, now (drift: as the ramp stands) */
    double before;     /* what it had before the onset */
    double z;          /* evidence, in standard errors */
    /* Standard deviation of the mean excess since the onset, relative to it, and its degrees of freedom: from
     * the noise of its steps before and since then, or where there is no before, of the spread between
     * healthy places. NaN: not known. */
    double error, freedom;
    double onset_error;             /* steps, as a standard deviation */
    bool fading;                    /* the newest steps show less of it: it may be over ... */
    uint64_t over;                  /* ... and if so, since this step; 0: it stands */
    uint64_t away[WORK_STEPS / 64]; /* a bit a step, by its slot: the steps that did not show it */
    /* It is late in some steps only (recurrence.h): an excess over that makes it late in a step, 0: it is in
     * all; the share of the steps; how many from one to the next, 0: as it comes. */
    double late_min, late_share;
    uint32_t period;
};

struct stragglers;

struct stragglers *stragglers_new(void);
void stragglers_free(struct stragglers *s); /* NULL is fine */
void stragglers_reset(struct stragglers *s);

/* Judge after work_take(). A culprit must cost so much (ratio of the step time, e.g. 1.01) to be named. */
void stragglers_step(struct stragglers *s, const struct work *w, const struct pricing *pricing,
                     double min_slowdown);

/* Those that are named now; lent until the next step. */
size_t stragglers_get(const struct stragglers *s, const struct straggler **list);

/* Is this rank one of its? */
bool straggler_has(const struct straggler *straggler, const struct work *w, uint32_t rank);
/* The same where a function asks rank by rank; ranks: struct straggler_ranks. */
struct straggler_ranks {
    const struct straggler *straggler;
    const struct work *work;
};
bool straggler_is_one(uint32_t rank, const void *ranks);
/* Is one of them on this node? */
bool straggler_is_on(const struct straggler *straggler, const struct work *w, uint32_t node);
/* Was it away in some of the remembered steps since its onset; in that one? */
bool straggler_is_sometimes_away(const struct straggler *straggler);
bool straggler_is_away(const struct straggler *straggler, uint64_t step);
/* The excess that was its in step `step`. */
double straggler_excess(const struct straggler *straggler, uint64_t step);
/* The excess that was its in the step in that slot, number `step`. */
double straggler_excess_in(const struct straggler *straggler, const struct work *w, uint32_t slot,
                           uint64_t step);
/* How much longer than without it the step in that slot (number `step`) took, in seconds; 0 before its onset.
 * Several at a time (list[n]): without any of them. */
double straggler_saved_s(const struct straggler *list, size_t n, const struct work *w, uint32_t slot,
                         uint64_t step);
/* What the first of them has of that: a step is as long as its longest, so that what the longest alone is
 * longer by is its own, and what several are longer by is shared by these (Littlechild & Owen 1973, Shapley's
 * value of such a cost).  The shares add up. */
double straggler_share_s(const struct straggler *list, size_t n, const struct work *w, uint32_t slot,
                         uint64_t step);
/* Did one of its ranks have the longest work in that slot? */
bool straggler_was_last(const struct straggler *straggler, const struct work *w, uint32_t slot);

/* The smallest excess of one rank that could be named now, given the noise; NaN while that is not known. */
double stragglers_limit(const struct stragglers *s, const struct work *w);
/* The same of one that has been so since the first step. */
double stragglers_limit_from_start(const struct stragglers *s, const struct work *w);

#endif
