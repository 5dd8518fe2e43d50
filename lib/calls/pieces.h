/* pieces.h - how much single pieces of work vary: each against what it usually is at its place of the step.
 *
 * What lengths of sequences do to a program, or any data that differ from piece to piece.  What all ranks do
 * more of in a step is taken away first.  Pure; memory fixed. */
#ifndef SYNCGUARD_CALLS_PIECES_H
#define SYNCGUARD_CALLS_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

/* standard deviation of a piece of work on dedicated cores, over its mean: at most, and on the mean half of
 * it (decision 0085) */
#define PIECES_ORDINARY 0.025
#define PIECES_NARROW   0.06 /* below this it is ordinary, too */

struct pieces {
    double sigma;          /* standard deviation of a piece over its usual length; NaN: not known */
    uint32_t steps, since; /* taken; since: with a wide one, in a row */
    bool wide;
    uint32_t from; /* number of the first wide step */
};

/* Is the work before this operation long enough to be compared?  longest_s: the usual length of the longest
 * in the step. */
bool pieces_shows(const struct graph_op *op, float longest_s);

/* Take a step; all zero is nothing taken. */
void pieces_step(struct pieces *p, const struct graph *g, const struct graph_step *s);

#endif
