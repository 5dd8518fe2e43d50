/* arrivals.h - the first collectives of all ranks of a run, one by one: who came last to each, and how long
 * the others waited for that rank alone.
 *
 * What was recorded of a few steps is too little for the detectors, which learn first how much work varies.
 * What happened in it can be told all the same and, where the same collectives come again, how sure it is
 * that it goes on like that: the waiting for one rank in each repetition, as a mean with Student's interval.
 * What nobody else would have waited for, had the rank come with the next to last one, is counted, so that
 * two late ranks do not count twice.
 *
 * Pure.  A run of more than ARRIVALS_MAX of them is not one of few steps: all are forgotten.  Units: seconds.
 */
#ifndef SYNCGUARD_VIEW_ARRIVALS_H
#define SYNCGUARD_VIEW_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/join.h"

#define ARRIVALS_MAX 1024u

struct arrivals { /* all zero: none */
    struct arrival *list;
    size_t n, cap;
    uint32_t size; /* of the communicator that they are of */
    bool many;     /* there were more */
};

void arrivals_forget(struct arrivals *a); /* and what it holds; another run begins */
/* A collective of the largest communicator so far, or of one of several as large, was joined.  Those of a
 * smaller one are forgotten. */
void arrivals_take(struct arrivals *a, const struct joined *j);

/* The rank that the others of a communicator waited for longest. */
struct arrivals_latest {
    uint32_t rank;
    uint32_t last, of;    /* it came last to so many of so many collectives of that communicator */
    double waited_s;      /* in all, for it alone */
    uint32_t period;      /* the same so many collectives come again and again, ... */
    uint32_t times;       /* ... so often; 0: they do not */
    double each_s;        /* waited for it in each repetition, the mean; NaN: they do not come again */
    double low_s, high_s; /* its 90 % interval */
};
/* False: there is none, or the run was not one of few steps. */
bool arrivals_latest(const struct arrivals *a, struct arrivals_latest *out);

#endif
