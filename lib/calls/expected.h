/* expected.h - what each piece of work in the newest steps would have taken, had it been like the others at
 * its place.
 *
 * From all of these steps at once, so that the first one is known as well as the last.  A place's level is
 * the mean of its pieces, drawn towards that of the same place of its role's other ranks, and this towards
 * the mean of the places of its class and role, by as much as chance lets them differ (James & Stein 1961;
 * Efron & Morris 1975).  What all ranks do more of in a step is taken class by class, and is the same in all
 * steps that chance cannot tell apart. Pure; memory 40 bytes a place, 48 a seat, 4 a step and class. */
#ifndef SYNCGUARD_CALLS_EXPECTED_H
#define SYNCGUARD_CALLS_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

struct expected;

struct expected *expected_new(void);
void expected_free(struct expected *e); /* NULL is fine */

/* Look at the graph's newest steps; what was known of others is forgotten.  Nothing is known after it of
 * programs that do too many different things: some thousand pairs of calls in 32 steps, 64 in 256.  Pieces
 * that leave_out() says true of, with arg, are no example for others; NULL: all are. */
void expected_take(struct expected *e, const struct graph *g, uint32_t steps,
                   bool (*leave_out)(const struct graph_op *op, const struct graph_step *s, void *arg),
                   void *arg);
/* The most of the newest steps of which something is known after it, for as many calls as there are. */
uint32_t expected_steps_max(const struct graph *g);
/* Seconds that this piece of such a step would have taken; NaN: not known. */
double expected_s(struct expected *e, const struct graph *g, const struct graph_op *op,
                  const struct graph_step *s);
/* The same of a step that was not looked at, of which it is known what all ranks did more of (factor). */
double expected_elsewhere_s(const struct expected *e, const struct graph_op *op, double factor);
/* Times that by which a piece may be longer by chance: one that is longer yet has paused. */
double expected_most(const struct expected *e);
/* Standard error of what all pieces together would have taken, over it. */
double expected_error(const struct expected *e);

#endif
