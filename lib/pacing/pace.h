/* pace.h - what an early rank does before it enters a collective: how long it sleeps, and whether it yields
 * its core.
 *
 * Pure: state in, a delay or a permission out; no clock, no I/O, no memory of its own.  The probe in
 * a job and the simulator call the same functions.
 *
 * A delay is a bounded share of the time that the rank is reliably early by: the mean of its waits less
 * PACE_DEVIATIONS mean deviations (the estimator of Jacobson 1988 for round trips).  A rank whose wait varies
 * as much as it lasts is never delayed.  Sleeping counts as waiting, and where the delay made it the last
 * arriver the sum is shorter than expected, so the estimate falls: delays cannot ratchet up. */
#ifndef SYNCGUARD_PACING_PACE_H
#define SYNCGUARD_PACING_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_GAIN       0.125 /* weight of the newest wait */
#define PACE_DEVIATIONS 2.0
#define PACE_LEARN      8u /* waits to be observed before the first delay */

struct pace_params {
    double max_delay_s; /* maximum delay */
    double share;       /* of the time that the rank is reliably early by, 0 to 1 */
};

/* Estimates of a rank's waits at one collective of the step.  All zero: none yet. */
struct pace_state {
    double wait_s, deviation_s;
    uint32_t n;
};

/* The rank slept slept_s (0: it did not), then waited waited_s for the last arriver. */
void pace_learn(struct pace_state *s, double slept_s, double waited_s);

/* The same from stays only, for callers that do not see arrivals: the shortest recent stay is that of a last
 * arriver, and the excess of a stay over it is waiting.  All zero: none yet. */
struct pace_stays {
    double least_s;
    struct pace_state early;
};

/* Add the stay of a collective that was entered without a lever.  The minimum slowly rises, so that an
 * exceptionally short stay is forgotten. */
void pace_stayed(struct pace_stays *s, double stay_s);

/* How long to sleep before entering; 0: enter at once. */
double pace_delay_s(const struct pace_state *s, const struct pace_params *p);

/* Ranks of a node that share an uplink and enter at the same time fill its queue.  The index-th of n enters
 * later by its part of p's share of the time that the transfer takes alone: in a row, they take no longer. */
double pace_stagger_s(uint32_t index, uint32_t n, double transfer_s, const struct pace_params *p);

/* Should a waiting rank yield its core?  Yes while the ranks of its node outnumber the cores they share and
 * one of them still computes; ranks with a core each would only lose the time to wake up. */
bool pace_gives_core(uint32_t ranks, uint32_t cores, uint32_t arrived);

#endif
