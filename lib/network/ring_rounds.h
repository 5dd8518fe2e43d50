/* ring_rounds.h - all rounds of a ring at once: when each place leaves, without walking rounds x places
 * messages.
 *
 * In every round each place sends to the next one; the message from place i takes cost_s[i], and starts when
 * both ends are ready.  A place continues when the messages that it sends and receives are complete.
 *
 * That is a recursion in (max, +), and t_i(rounds) is the heaviest walk of that many steps that ends at i: a
 * step crosses a hop, or stays next to one, at its cost.  Given the slowest hop of a walk, staying there as
 * long as possible is optimal; the loss on the way is the sum of (slowest cost - cost of the hop) over the
 * hops crossed.  So two passes along the ring suffice for all places, for each distinct cost, from the
 * largest down, among the hops not slower; one ends when the next cost can no longer reach anybody's time.
 * O(places x costs tried), mostly O(places). (Max-plus spectral theory: Baccelli, Cohen, Olsder, Quadrat,
 * "Synchronization and Linearity", 1992, 3.7.)
 *
 * Pure; scratch memory is the caller's. */
#ifndef SYNCGUARD_NETWORK_RING_ROUNDS_H
#define SYNCGUARD_NETWORK_RING_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#define RING_ROUNDS_SCRATCH 3u /* doubles a place */

/* leave_s may be arrive_s.  false: not computed (leave_s is unchanged), because a walk would need more steps
 * than there are rounds, or there are too many relevant costs; use ring_rounds_walk() then. */
bool ring_rounds_closed(uint32_t places, uint64_t rounds, const double *cost_s, const double *arrive_s,
                        double *leave_s, double *scratch);

/* The same, round by round. */
void ring_rounds_walk(uint32_t places, uint64_t rounds, const double *cost_s, double *time_s,
                      double *scratch);

#endif
