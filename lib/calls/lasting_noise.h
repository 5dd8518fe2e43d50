/* lasting_noise.h - what a machine's own noise adds to a rank's whole step, beside work that is uneven from
 * piece to piece.
 *
 * Noise that lasts as long as a step (a lower clock, a neighbour on the node) does not average out over its
 * pieces, and would be there if they were even.  It shows in pieces of one step of a rank that are off to the
 * same side: their mean product is its variance, whatever else each varies by (a U-statistic: Hoeffding,
 * "A class of statistics with asymptotically normal distribution", Annals of Mathematical Statistics 19,
 * 1948).  What chance explains counts as nothing, and what is more than ordinary for a machine as the work's
 * own.  Pure; memory 8 bytes a step and rank. */
#ifndef SYNCGUARD_CALLS_LASTING_NOISE_H
#define SYNCGUARD_CALLS_LASTING_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/expected.h"
#include "graph/graph.h"

struct lasting_noise;

struct lasting_noise *lasting_noise_new(void);
void lasting_noise_free(struct lasting_noise *l); /* NULL is fine */

/* Look at the graph's newest steps, as expected_take() did; what was known of others is forgotten.  Pieces
 * that leave_out() says true of, with arg, are not looked at. */
void lasting_noise_take(struct lasting_noise *l, struct expected *e, const struct graph *g, uint32_t steps,
                        bool (*leave_out)(const struct graph_op *op, const struct graph_step *s, void *arg),
                        void *arg);
/* What the steps of a rank vary by because of it: its standard deviation over their work, and the most that
 * it may be. 0: none was seen, or a step has but one piece. */
double lasting_noise_sigma(const struct lasting_noise *l);
double lasting_noise_most(const struct lasting_noise *l);
/* How much longer the pieces of a rank are in a step than they should be, in standard deviations of that: as
 * noise that lasts would be, whose standard deviation is another.  0: not known. */
double lasting_noise_off(struct lasting_noise *l, uint32_t rank, uint32_t number);

#endif
