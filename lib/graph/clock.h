/* clock.h - aligns the clocks of nodes from the calls themselves.
 *
 * A blocking collective ends on all its nodes at about the same moment, so that the differences of the ends
 * show how two clocks lie to each other, and how they drift apart.  For each pair of nodes that meet, a line
 * through the newest differences (Theil 1950, Sen 1968: medians, so that single late ends don't matter); the
 * others are reached through chains of pairs, the shortest first.
 *
 * A message is received after it was sent: those of both ways bound how two clocks lie to each other, and the
 * line half way between the bounds (Cristian 1989) aligns nodes that no collective does.  Ends may be late on
 * the same nodes every time, as they are beyond a slow link; where they contradict the bounds, messages come
 * first.
 *
 * Units: nanoseconds of each node's clock, seconds of the common time, which is node 0's or, of nodes that
 * never meet it, the first one's of those who meet each other. */
#ifndef SYNCGUARD_GRAPH_CLOCK_H
#define SYNCGUARD_GRAPH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct graph_clock;

struct graph_clock *graph_clock_new(void);
void graph_clock_free(struct graph_clock *c); /* NULL is fine */

/* The node exists, and its clock showed this; before anything else of it. */
void graph_clock_see(struct graph_clock *c, uint32_t node, uint64_t ns);
/* A collective ended on both nodes at these moments. */
void graph_clock_meet(struct graph_clock *c, uint32_t a, uint64_t a_ns, uint32_t b, uint64_t b_ns);
/* What the one clock shows since its first moment, less what the other does. */
double graph_clock_apart_s(struct graph_clock *c, uint32_t node, uint64_t ns, uint32_t other,
                           uint64_t other_ns);
/* A message was sent and received at these moments.  One of a step's is enough each way: the one that shows
 * the smallest difference. */
void graph_clock_message(struct graph_clock *c, uint32_t from, uint64_t from_ns, uint32_t to, uint64_t to_ns);
/* Work out how the clocks lie, from what was taken so far. */
void graph_clock_align(struct graph_clock *c, uint32_t nodes);
/* Can moments on the two nodes be compared? */
bool graph_clock_comparable(const struct graph_clock *c, uint32_t a, uint32_t b);
/* Standard deviation of the difference of two moments that are the newest on these nodes (seconds): of each
 * pair's line where it ends, added up along the chain of pairs.  INFINITY: they can't be compared, or fewer
 * than three collectives show it. */
double graph_clock_error_s(const struct graph_clock *c, uint32_t a, uint32_t b);
/* A moment of that node's clock in the common time. */
double graph_clock_s(const struct graph_clock *c, uint32_t node, uint64_t ns);

#endif
