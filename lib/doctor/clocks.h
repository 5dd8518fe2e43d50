/* clocks.h - sgctl doctor --probe: the wall clocks of nodes against each other, from round trips that carry
 * the partner's time.
 *
 * A partner reads its clock between the sending and the receiving of a round trip.  So it is ahead by what it
 * read less the middle of the two, give or take half of the round trip: the shortest of many tells most, on a
 * network some 10 us.
 *
 * A node's clock is compared with the median of its partners'.  The median of lower bounds is a lower bound
 * of the median, and that of upper bounds an upper one, so what is said of a node is as certain as the single
 * round trip; and a minority of wrong clocks moves nothing. Which clock is true time nobody here knows.
 *
 * Never aborts and never prints, but for clocks_judge().  Seconds; NaN is not known. */
#ifndef SYNCGUARD_DOCTOR_CLOCKS_H
#define SYNCGUARD_DOCTOR_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "doctor/findings.h"

/* Of how much one clock is ahead of another. */
struct clock_bound {
    double low_s, high_s;
};

struct clocks;

/* Of n nodes, nothing known.  NULL: no memory. */
struct clocks *clocks_new(size_t n);
void clocks_free(struct clocks *c); /* NULL is fine */
/* b's clock is ahead of a's by so much, give or take half of the round trip.  The narrowest bound of a pair
 * counts: clocks drift from one to the next.  NaN: not known now. */
void clocks_add(struct clocks *c, uint32_t a, uint32_t b, double ahead_s, double rtt_s);
/* Ahead of the median of those that it was compared with; of a single one nobody knows which of both is
 * wrong.  NaN: not known. */
struct clock_bound clocks_of(struct clocks *c, uint32_t node);

/* A fault for each node that is beyond the limit for certain, or else what they all are within.  Leaves the
 * figures of each node in f->clocks. 1 s is a good limit: a clock that ntpd or chronyd looks after is right
 * to milliseconds, and the lines of two nodes' logs, in whole seconds, do not sort where one is off by more.
 * Slurm itself and munge bear 300 s, lateness any. */
void clocks_judge(struct clocks *c, const char *const *name, double limit_s, struct findings *f);

#endif
