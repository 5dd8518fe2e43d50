/* backlog.h - batches, kept by number until the controller has them, and a while longer for a controller that
 * starts anew with nothing.
 *
 * Bounded in bytes: when it is full the oldest give way, and those that the controller never had are counted
 * as lost.  Pure: times come from the caller. */
#ifndef SYNCGUARD_AGENT_BACKLOG_H
#define SYNCGUARD_AGENT_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

struct backlog;

/* first: the number of the first batch, at least 1; keep_s: how long a batch stays after it was acknowledged.
 */
struct backlog *backlog_new(uint64_t first, size_t bytes_max, double keep_s);
void backlog_free(struct backlog *b); /* NULL is fine */

uint64_t backlog_next(const struct backlog *b);  /* the number that the next batch will have */
uint64_t backlog_first(const struct backlog *b); /* the oldest that is there; backlog_next() when none is */

/* Copy the batch with the number backlog_next(). */
void backlog_add(struct backlog *b, const void *data, size_t bytes, double now_s);
/* The controller has every batch up to this one; numbers it cannot have are ignored. */
void backlog_ack(struct backlog *b, uint64_t batch, double now_s);
/* Lends the batch; NULL when it is not there (any more). */
const void *backlog_get(const struct backlog *b, uint64_t batch, size_t *bytes);
/* Give up the oldest batches until the first one's number is above this. */
void backlog_drop(struct backlog *b, uint64_t batch);

uint64_t backlog_acked(const struct backlog *b);
uint64_t backlog_lost(const struct backlog *b);        /* batches given up before they were acknowledged */
size_t backlog_waiting_bytes(const struct backlog *b); /* not acknowledged yet */
size_t backlog_bytes(const struct backlog *b);         /* all of it */

#endif
