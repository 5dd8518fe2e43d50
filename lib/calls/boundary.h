/* boundary.h - where the program's step ends in each rank's calls, found from how these repeat (cycle.h).
 *
 * A step ends with a collective of the largest communicator that the rank's cycle has; where a cycle has
 * several of them, with the one that nothing is begun before and completed after, and that the longest work
 * follows.  Programs without collectives, and those that repeat the same between two collectives on all ranks
 * (an exchange of halos with a reduction now and then), count on a message; where ranks without collectives
 * repeat different things, on the messages of a round (rounds.h).  Ends have numbers that are the
 * same on all ranks, also where calls are missing, because they come from the numbers of collectives and
 * messages.
 *
 * Half of the ranks must be seen to repeat, and of each communicator that ends steps one. */
#ifndef SYNCGUARD_CALLS_BOUNDARY_H
#define SYNCGUARD_CALLS_BOUNDARY_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

struct boundary;

/* members: of a communicator; 0: not known. */
struct boundary *boundary_new(uint32_t (*members)(uint64_t comm, void *arg), void *arg);
void boundary_free(struct boundary *b);          /* NULL is fine */
size_t boundary_bytes(const struct boundary *b); /* that it holds; looks at all ranks */
/* Before the rank's first call. */
void boundary_rank(struct boundary *b, uint32_t rank);

struct boundary_at {
    bool moved;      /* steps end elsewhere from now on: numbers of earlier ends do not count */
    bool ends;       /* this call ends the rank's step `number` */
    uint32_t number; /* increases */
};
/* It makes no more calls. */
void boundary_rank_end(struct boundary *b, uint32_t rank);
/* The next call of a rank that was given to boundary_rank(), in the order in which it left them.  series: as
 * graph_call() takes it. */
struct boundary_at boundary_call(struct boundary *b, const struct call *c, uint64_t series);
/* Calls of a step that its end is counted by: 1 for a message; 0: not known yet. */
uint32_t boundary_period(const struct boundary *b);
bool boundary_on_messages(const struct boundary *b); /* it is counted by messages */

#endif
