/* pace.h - what a rank that is early does before it enters a collective: how long it sleeps, and whether it
 * gives its core away.
 *
 * Pure: state in, a delay or a permission out; no clock, no I/O, no memory of its own.  Whoever paces (the
 * probe in a job, the simulator) calls these very functions.
 *
 * A delay is a bounded part of what the rank is reliably early by: the mean of its waits less PACE_DEVIATIONS
 * mean deviations (the estimator of Jacobson 1988 for round trips).  A rank whose wait varies as much as it
 * lasts is never delayed.  What it slept counts as waited, and where the delay made it the last arriver the
 * sum is shorter than what was expected, so the estimate falls: there is no ratchet. */
#ifndef SYNCGUARD_PACING_PACE_H
#define SYNCGUARD_PACING_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_GAIN       0.125 /* weight of the newest wait */
#define PACE_DEVIATIONS 2.0
#define PACE_LEARN      8u /* waits that must be known before the first delay */

struct pace_params {
    double max_delay_s; /* never more than that */
    double share;       /* of what the rank is reliably early by, 0 to 1 */
};

/* What is known of a rank's waits at one collective of the step.  All zero: nothing yet. */
struct pace_state {
    double wait_s, deviation_s;
    uint32_t n;
};

/* The rank slept slept_s (0: it did not), then waited waited_s for the last arriver. */
void pace_learn(struct pace_state *s, double slept_s, double waited_s);

/* The same from stays alone, for who does not see arrivals: the shortest stay of late is that of a rank that
 * nobody has to wait for, what a stay is longer was waited.  All zero: none yet. */
struct pace_stays {
    double least_s;
    struct pace_state early;
};

/* Of a collective that was entered without a lever.  The least creeps upwards, so that a lucky one is
 * forgotten. */
void pace_stayed(struct pace_stays *s, double stay_s);

/* How long to sleep before entering; 0: enter at once. */
double pace_delay_s(const struct pace_state *s, const struct pace_params *p);

/* Ranks of a node that share an uplink and enter together fill its queue.  The index-th of n enters later by
 * its part of p's share of the time that the transfer takes alone: in a row, they take no longer. */
double pace_stagger_s(uint32_t index, uint32_t n, double transfer_s, const struct pace_params *p);

/* Should a rank that waits give its core away?  Yes while ranks of its node outnumber the cores they share
 * and one of them still computes; ranks that have a core each only lose the time to wake up. */
bool pace_gives_core(uint32_t ranks, uint32_t cores, uint32_t arrived);

#endif
