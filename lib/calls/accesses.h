/* accesses.h - what several ranks do one-sidedly in the memory of one, brought into the order of their ends.
 *
 * Each rank's accesses come in order, those of different ranks anyhow.  One is known to be the next when each
 * of the ranks has ended a later one, or when ACCESSES_WAITING wait for a rank that may do nothing any more.
 * Ranks of several clocks have no order: of their accesses none is the next.
 *
 * Pure.  Memory: 64 bytes for an access that waits.  Times are nanoseconds of the ranks' one clock. */
#ifndef SYNCGUARD_CALLS_ACCESSES_H
#define SYNCGUARD_CALLS_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/call.h"

#define ACCESSES_WAITING 512u

struct accesses;

struct accesses *accesses_new(void);
void accesses_free(struct accesses *a); /* NULL is fine */
size_t accesses_bytes(const struct accesses *a);

/* One more, of a rank with this clock.  False: it ended before one that was the next, and is not taken; or
 * the ranks have several clocks. */
bool accesses_add(struct accesses *a, const struct call *c, uint32_t clock);
/* Takes the next one.  False: which that is, is not known yet. */
bool accesses_next(struct accesses *a, struct call *c);

#endif
