/* rounds.h - steps of programs that exchange messages alone, found from how these repeat on each rank.
 *
 * Each rank's messages repeat after a cycle of its own, with the other rank as a part of what repeats
 * (cycle.h).  What one sends in some cycles another receives in some of its own: a round is the fewest whole
 * cycles of every rank of which that is true for all pairs.  Stages of a pipeline, which do different things,
 * have rounds in common, and so have a master and workers that it gives tasks to in a fixed order.
 *
 * Nothing is found before each rank has made ROUNDS_CALLS of them: what repeats before a program's first
 * collective may be less than its step.  Nor where a rank's messages do not repeat, where some ranks never
 * hear of the others, even through third ones, or where messages are missing.
 *
 * Memory: 4 bytes a message until it is found, 64 KB a rank at most. */
#ifndef SYNCGUARD_CALLS_ROUNDS_H
#define SYNCGUARD_CALLS_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/call.h"

#define ROUNDS_CALLS 2048u

struct rounds;

struct rounds *rounds_new(void);
void rounds_free(struct rounds *r); /* NULL is fine */
size_t rounds_bytes(const struct rounds *r);
/* A message of a rank, in the order in which it left them. */
void rounds_call(struct rounds *r, const struct call *c);
/* The rank takes no part any more. */
void rounds_end_rank(struct rounds *r, uint32_t rank);

/* The messages of a rank that its rounds are counted by: on that communicator, with that rank and tag, sent
 * or received (enum call_side), of which a round has so many. */
struct round {
    uint64_t comm;
    uint32_t peer;
    int32_t tag;
    uint8_t side;
    uint32_t messages;
};
/* Are the rounds known?  Looks at all ranks when it is asked for first after ROUNDS_CALLS more messages. */
bool rounds_found(struct rounds *r);
/* false: the rank has none, or they are not known. */
bool rounds_of(const struct rounds *r, uint32_t rank, struct round *out);

#endif
