/* hot.h - the writer's end of a ring as inline functions, for the most frequent calls; private to ring/ and the probe.
 * ring_emit(), ring_enter() and ring_leave() of ring.h consist of them.
 *
 * They are fast (tests/bench/hook.sh) because they are inline, keep struct call in registers, prefetch the line of a
 * later event, and store nothing that a reader does not need. */
#ifndef SYNCGUARD_RING_HOT_H
#define SYNCGUARD_RING_HOT_H

#include "ring/layout.h"

#define HOT static inline __attribute__((always_inline))

/* A counter with one writer: a locked addition would cost ten times as much. */
static inline void hot_add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* The cache lines of events that the reader took are in its core's cache.  Fetching one back takes longer than the rest
 * of an event, so lines are prefetched. */
#define HOT_AHEAD 16u /* events; with 8 the line still comes too late when the calls do nothing */

/* Copies member by member, as they were set: a wider load of what was stored in parts waits until the parts have left the
 * store buffer, which doubles the cost of the whole hook. */
HOT void hot_store(struct ring_event *to, const struct ring_event *e, uint64_t p2p_ticks, uint32_t p2p_calls)
{
    __atomic_store_n(&to->enter, e->enter, __ATOMIC_RELAXED);
    __atomic_store_n(&to->leave, e->leave, __ATOMIC_RELAXED);
    __atomic_store_n(&to->wait, e->wait, __ATOMIC_RELAXED);
    __atomic_store_n(&to->comm, e->comm, __ATOMIC_RELAXED);
    __atomic_store_n(&to->bytes, e->bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&to->p2p, p2p_ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&to->seq, e->seq, __ATOMIC_RELAXED);
    __atomic_store_n(&to->root, e->root, __ATOMIC_RELAXED);
    __atomic_store_n(&to->p2p_calls, p2p_calls, __ATOMIC_RELAXED);
    __atomic_store_n(&to->op, e->op, __ATOMIC_RELAXED);
    __atomic_store_n(&to->flags, e->flags, __ATOMIC_RELAXED);
    __atomic_store_n(&to->reserved, e->reserved, __ATOMIC_RELAXED);
}

/* False when more than room events have not been taken. */
HOT bool hot_room(struct ring *r, uint64_t room)
{
    if (__builtin_expect(r->head - r->tail > room, 0)) {
        r->tail = atomic_load_explicit(&r->file->tail, memory_order_acquire);
        return r->head - r->tail <= room;
    }
    return true;
}

HOT void hot_put(struct ring *r, const struct ring_event *e, uint64_t p2p_ticks, uint32_t p2p_calls)
{
    uint64_t head = r->head;

    hot_store(&r->events[head & r->mask], e, p2p_ticks, p2p_calls);
    r->head = head + 1;
    atomic_store_explicit(&r->file->head, head + 1, memory_order_release);
    __builtin_prefetch(&r->events[(head + HOT_AHEAD) & r->mask], 1);
}

HOT void hot_emit(struct ring *r, const struct ring_event *e)
{
    if (!hot_room(r, r->mask)) {
        hot_add(&r->file->dropped, 1);
        return;
    }
    hot_put(r, e, r->p2p_ticks, r->p2p_calls);
    if (r->p2p_calls) {
        r->p2p_ticks = 0;
        r->p2p_calls = 0;
    }
}

/* Messages can be much more frequent than collectives, and leave a quarter of the ring to these. */
HOT void hot_message(struct ring *r, const struct ring_event *e)
{
    if (hot_room(r, r->mask - r->mask / 4))
        hot_put(r, e, 0, (uint32_t)e->tag);
    else
        atomic_fetch_add_explicit(&r->file->messages_missed, 1, memory_order_relaxed);
}

/* Release stores throughout, no fences: a reader that sees one new word then sees the odd version too.  They
 * are plain stores on x86, and the thread sanitizer understands them. */
HOT void hot_live(struct ring_header *h, uint64_t comm, uint64_t enter, uint64_t bytes, uint64_t what)
{
    uint64_t version = atomic_load_explicit(&h->live_version, memory_order_relaxed);

    atomic_store_explicit(&h->live_version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&h->live_comm, comm, memory_order_release);
    atomic_store_explicit(&h->live_enter, enter, memory_order_release);
    atomic_store_explicit(&h->live_bytes, bytes, memory_order_release);
    atomic_store_explicit(&h->live_what, what, memory_order_release);
    atomic_store_explicit(&h->live_version, version + 2, memory_order_release);
}

HOT void hot_enter(struct ring *r, const struct ring_live *live)
{
    hot_live(r->file, live->comm, live->enter, live->bytes,
             live->seq | (uint64_t)live->op << 32 | (uint64_t)live->flags << 48);
}

/* A message or a wait is entered.  Outside of calls a reader sees the last collective: remember it while another
 * call is shown. */
HOT void hot_enter_message(struct ring *r, const struct ring_live *live)
{
    uint64_t what = atomic_load_explicit(&r->file->live_what, memory_order_relaxed);

    if ((uint16_t)(what >> 32) != RING_OP_POINT_TO_POINT && (uint16_t)(what >> 32) != RING_OP_WAIT) {
        r->last_comm = atomic_load_explicit(&r->file->live_comm, memory_order_relaxed);
        r->last_seq = (uint32_t)what;
    }
    hot_enter(r, live);
}

HOT void hot_leave_message(struct ring *r, uint64_t now)
{
    hot_live(r->file, r->last_comm, now, 0, r->last_seq);
}

/* Add a point-to-point call: its duration in ticks, and the bytes it sent. */
HOT void hot_p2p(struct ring *r, uint64_t bytes, uint64_t ticks)
{
    r->p2p_ticks += ticks;
    r->p2p_calls++;
    hot_add(&r->file->p2p_calls, 1);
    hot_add(&r->file->p2p_bytes, bytes);
    hot_add(&r->file->p2p_ticks, ticks);
}

/* Leave a collective.  Its communicator has been in place since it was entered, and readers ignore the bytes outside of
 * calls. */
HOT void hot_leave(struct ring *r, uint32_t seq, uint64_t now)
{
    struct ring_header *h = r->file;
    uint64_t version = atomic_load_explicit(&h->live_version, memory_order_relaxed);

    atomic_store_explicit(&h->live_version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&h->live_enter, now, memory_order_release);
    atomic_store_explicit(&h->live_what, seq, memory_order_release);
    atomic_store_explicit(&h->live_version, version + 2, memory_order_release);
}

#endif
