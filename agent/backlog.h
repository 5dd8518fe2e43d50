/* backlog.h - numbered batches, kept until the controller acknowledges them, and for a while after that,
 * because a controller that restarts has lost them.
 *
 * Bounded in bytes: when it is full the oldest batches are dropped, and counted as lost if they were never
 * acknowledged.  Pure: times, in seconds, come from the caller. */
#ifndef SYNCGUARD_AGENT_BACKLOG_H
#define SYNCGUARD_AGENT_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

struct backlog;

struct backlog_state {
    uint64_t first;       /* number of the oldest batch that is held; `next` when there is none */
    uint64_t next;        /* of the next batch */
    uint64_t acked;       /* last number acknowledged */
    uint64_t lost;        /* batches dropped before they were acknowledged */
    size_t waiting_bytes; /* not acknowledged */
};

/* first: number of the first batch, at least 1; keep_s: how long a batch stays after it was acknowledged. */
struct backlog *backlog_new(uint64_t first, size_t bytes_max, double keep_s);
void backlog_free(struct backlog *b); /* NULL is fine */

const struct backlog_state *backlog_state_get(const struct backlog *b);

/* Add a copy of the batch under the number `next`. */
void backlog_add(struct backlog *b, const void *data, size_t bytes, double now_s);
/* The controller has acknowledged every batch up to this one.  Numbers that were never used are ignored. */
void backlog_ack(struct backlog *b, uint64_t batch, double now_s);
/* Lends a batch; NULL when it is not in the backlog. */
const void *backlog_get(const struct backlog *b, uint64_t batch, size_t *bytes);
/* Drop all batches up to this number. */
void backlog_drop(struct backlog *b, uint64_t batch);

#endif
