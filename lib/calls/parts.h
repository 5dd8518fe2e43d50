/* parts.h - what the ranks of a part of a program have more to do than the others of it, piece by piece.
 *
 * A role is a part where other ranks make the same calls and are of another role (graph_part()).  A piece is
 * then compared with those of the same number in the others' steps.  Pure. */
#ifndef SYNCGUARD_CALLS_PARTS_H
#define SYNCGUARD_CALLS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

bool parts_is_one(const struct graph *g, uint32_t role, uint32_t ranks);
/* By place, the excess of a piece of work over the mean of all ranks of the program, times `times`: without
 * it all of them share the work.  It is below 0 where the others have less than the mean, and 0 at places of
 * other programs.  by_place is of graph_places(); ranks is how many the graph has.  false: the role is no
 * part, or calls are missing in the newest step. */
bool parts_excess(const struct graph *g, uint32_t role, uint32_t ranks, double times, float *by_place);

#endif
