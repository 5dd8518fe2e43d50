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
/* By place, what is to be taken away from pieces of work so that all ranks of the program share what the
 * part has too much, `times` over: excess over what all do there on the mean, of the part, and of the others,
 * where it is below 0. 0: at places of other programs.  by_place is of graph_places(); ranks is how many the
 * graph has.  false: the role is no part, or calls are missing in the newest step. */
bool parts_excess(const struct graph *g, uint32_t role, uint32_t ranks, double times, float *by_place);

#endif
