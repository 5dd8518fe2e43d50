/* hot.h - the writer's end of a ring as inline functions, for the most frequent calls; private to ring/ and the probe.
 * ring_emit(), ring_enter() and ring_p2p() of ring.h consist of them.
 *
 * They are fast (tests/bench/hook.sh) because they are inline, keep struct call in registers, prefetch the line of a
 * later event, write the event where readers look for the call in progress, and store nothing that a reader does not
 * need. */
#ifndef SYNCGUARD_RING_HOT_H
#define SYNCGUARD_RING_HOT_H

#include "ring/layout.h"

#define HOT static inline __attribute__((always_inline))

/* ---- rare cases, in writer.c ---- */

/* The newest event is a blocking collective that the header does not name yet: it is no longer the newest. */
void ring_keep_last(struct ring *r);
/* A collective that was entered ended at this time, and the ring is full. */
void ring_drop(struct ring *r, uint64_t now);

/* ---- the parts ---- */

/* A counter with one writer: a locked addition would cost ten times as much. */
static inline void hot_add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* The place of the next event, which is that of the call in progress. */
HOT struct ring_event *hot_place(const struct ring *r)
{
    return &r->events[r->head & r->mask];
}

/* Whether another event fits, where at most room events may wait for the reader. */
HOT bool hot_room(struct ring *r, uint64_t room)
{
    if (__builtin_expect(r->head - r->tail >= room, 0)) {
        r->tail = atomic_load_explicit(&r->file->tail, memory_order_acquire);
        return r->head - r->tail < room;
    }
    return true;
}

HOT bool hot_room_collective(struct ring *r)
{
    return hot_room(r, r->mask);
}

/* Messages can be much more frequent than collectives, and leave a quarter of the ring to these. */
HOT bool hot_room_message(struct ring *r)
{
    return hot_room(r, r->mask - r->mask / 4);
}

/* What is known of an event when its call is entered.
 * Copied member by member, as the members were set: a wider load of what was stored in parts waits until the parts have
 * left the store buffer, which doubles the cost of the whole hook.  Release stores, no fences: a reader that sees one of
 * the other members then sees the new enter too, and one that sees the new enter sees what became of the header's
 * `entered` before.  They are plain stores on x86, and the thread sanitizer understands them. */
HOT void hot_begin(struct ring_event *at, const struct ring_event *e)
{
    __atomic_store_n(&at->enter, e->enter, __ATOMIC_RELEASE);
    __atomic_store_n(&at->comm, e->comm, __ATOMIC_RELEASE);
    __atomic_store_n(&at->bytes, e->bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&at->seq, e->seq, __ATOMIC_RELEASE);
    __atomic_store_n(&at->root, e->root, __ATOMIC_RELEASE);
    __atomic_store_n(&at->op, e->op, __ATOMIC_RELEASE);
    __atomic_store_n(&at->flags, e->flags, __ATOMIC_RELEASE);
}

/* The rest of a collective's event. */
HOT void hot_end(struct ring *r, struct ring_event *at, uint64_t wait, uint64_t leave)
{
    uint64_t calls = atomic_load_explicit(&r->file->p2p_calls, memory_order_relaxed) - r->p2p_calls,
             ticks = 0;

    if (__builtin_expect(calls != 0, 0)) {
        ticks = atomic_load_explicit(&r->file->p2p_ticks, memory_order_relaxed) - r->p2p_ticks;
        r->p2p_ticks += ticks;
        r->p2p_calls += calls;
    }
    __atomic_store_n(&at->leave, leave, __ATOMIC_RELAXED);
    __atomic_store_n(&at->wait, wait, __ATOMIC_RELAXED);
    __atomic_store_n(&at->p2p, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&at->p2p_calls, (uint32_t)calls, __ATOMIC_RELAXED);
}

/* The cache lines of events that the reader took are in its core's cache.  Fetching one back takes longer than the rest
 * of an event, so lines are prefetched, for writing; but not those at the beginning of the ring, to save the masking.
 * gcc would need -mprfchw for the instruction, which every 64-bit x86 has or ignores. */
#define HOT_AHEAD 16u /* events; with 8 the line still comes too late when the calls do nothing */

HOT void hot_prefetch(const struct ring_event *at)
{
    const char *line = (const char *)at + HOT_AHEAD * sizeof(*at);

#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Publish the event that is complete in its place. */
HOT void hot_publish(struct ring *r, const struct ring_event *at)
{
    uint64_t head = r->head + 1;

    r->head = head;
    atomic_store_explicit(&r->file->head, head, memory_order_release);
    hot_prefetch(at);
}

/* ---- calls ---- */

/* Show a call that is entered: its event, as far as it is known. Returns its place. */
HOT struct ring_event *hot_enter(struct ring *r, const struct ring_event *e)
{
    struct ring_event *at = hot_place(r);

    hot_begin(at, e);
    atomic_store_explicit(&r->file->entered, e->enter, memory_order_release);
    return at;
}

/* Leave a blocking collective.  Its event takes its place among the others, and readers see by it that the call is
 * over. */
HOT void hot_leave(struct ring *r, struct ring_event *at, uint64_t now, bool failed)
{
    if (__builtin_expect(!hot_room_collective(r), 0)) {
        ring_drop(r, now);
        return;
    }
    if (__builtin_expect(failed, 0))
        __atomic_store_n(&at->flags, at->flags | RING_EVENT_FAILED, __ATOMIC_RELAXED);
    hot_end(r, at, 0, now);
    hot_publish(r, at);
}

/* What is known of a message before it completed, but for enter, op and flags. */
HOT void hot_message_begin(struct ring_event *at, const struct ring_event *e)
{
    __atomic_store_n(&at->comm, e->comm, __ATOMIC_RELEASE);
    __atomic_store_n(&at->bytes, e->bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&at->seq, e->seq, __ATOMIC_RELEASE);
    __atomic_store_n(&at->root, e->root, __ATOMIC_RELEASE);
    __atomic_store_n(&at->wait, e->wait, __ATOMIC_RELEASE);
    __atomic_store_n(&at->p2p, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&at->tag, e->tag, __ATOMIC_RELEASE);
}

/* Show a call that was entered to pass message e, or to wait for it alone: op is RING_OP_WAIT then, with no flags, and a
 * reader takes the op and the time alone.  The rest of the event is written here and not when the call ends, because the
 * processor does this beside what the library does. Returns its place. */
HOT struct ring_event *hot_enter_message(struct ring *r, enum ring_op op, unsigned flags, uint64_t enter,
                                         const struct ring_event *e)
{
    struct ring_event *at = hot_place(r);

    __atomic_store_n(&at->enter, enter, __ATOMIC_RELEASE);
    hot_message_begin(at, e);
    __atomic_store_n(&at->op, (uint8_t)op, __ATOMIC_RELEASE);
    __atomic_store_n(&at->flags, (uint8_t)flags, __ATOMIC_RELEASE);
    atomic_store_explicit(&r->file->entered, enter, memory_order_release);
    return at;
}

/* A call ended without an event of its own. */
HOT void hot_left(struct ring *r, uint64_t now)
{
    if (__builtin_expect(r->kept != r->head, 0))
        ring_keep_last(r);
    atomic_store_explicit(&r->file->left, now, memory_order_release);
    atomic_store_explicit(&r->file->entered, 0, memory_order_release);
}

HOT bool hot_fits_message(struct ring *r)
{
    if (__builtin_expect(!hot_room_message(r), 0)) {
        ring_message_missed(r);
        return false;
    }
    return true;
}

HOT void hot_message_publish(struct ring *r, struct ring_event *at, uint64_t leave)
{
    if (__builtin_expect(r->kept != r->head, 0))
        ring_keep_last(r);
    __atomic_store_n(&at->leave, leave, __ATOMIC_RELAXED);
    hot_publish(r, at);
    r->kept = r->head;
}

/* A message.  False: there is no room. */
HOT bool hot_message(struct ring *r, const struct ring_event *e)
{
    struct ring_event *at = hot_place(r);

    if (!hot_fits_message(r))
        return false;
    __atomic_store_n(&at->enter, e->enter, __ATOMIC_RELEASE);
    __atomic_store_n(&at->op, e->op, __ATOMIC_RELEASE);
    __atomic_store_n(&at->flags, e->flags, __ATOMIC_RELEASE);
    hot_message_begin(at, e);
    hot_message_publish(r, at, e->leave);
    return true;
}

/* The message of a call that hot_enter_message() showed, unless the library switched stacks meanwhile.  waited: as
 * RING_OP_WAIT; wild: its status changed more than its bytes. */
HOT bool hot_leave_message(struct ring *r, struct ring_event *at, uint64_t enter, const struct ring_event *e,
                           bool waited, bool wild)
{
    if (__builtin_expect(at != hot_place(r) || at->enter != enter || wild, 0))
        return hot_message(r, e);
    if (!hot_fits_message(r))
        return false;
    if (waited) {
        __atomic_store_n(&at->enter, e->enter, __ATOMIC_RELEASE);
        __atomic_store_n(&at->op, e->op, __ATOMIC_RELEASE);
        __atomic_store_n(&at->flags, e->flags, __ATOMIC_RELEASE);
    }
    if (e->op == RING_OP_RECV)
        __atomic_store_n(&at->bytes, e->bytes, __ATOMIC_RELEASE);
    hot_message_publish(r, at, e->leave);
    return true;
}

/* Add a point-to-point call: its duration in ticks, and the bytes it sent. */
HOT void hot_p2p(struct ring *r, uint64_t bytes, uint64_t ticks)
{
    hot_add(&r->file->p2p_calls, 1);
    hot_add(&r->file->p2p_ticks, ticks);
    if (bytes)
        hot_add(&r->file->p2p_bytes, bytes);
}

#endif
