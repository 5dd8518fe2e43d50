/* hot.h - the writer's end of a ring as inline functions, for the most frequent calls; private to ring/, the
 * probe, gloo/ and nccl/.  ring_emit() and ring_leave() of ring.h consist of them.
 *
 * They are fast (tests/bench/hook.sh) because they are inline, keep the call in registers, prefetch the
 * line of a later event, write the event where readers look for the call in progress, and store nothing that
 * a reader does not need. */
#ifndef SYNCGUARD_RING_HOT_H
#define SYNCGUARD_RING_HOT_H

#include <stddef.h>

#include "ring/layout.h"

#define HOT static inline __attribute__((always_inline))

/* ---- rare cases, in writer.c ---- */

/* The newest event is a blocking collective that the header does not name yet: it is no longer the newest. */
void ring_keep_last(struct ring *r);
/* A collective that was entered ended at this time, and the ring is full. */
void ring_drop(struct ring *r, uint64_t now);
/* Look how far the reader came.  full: r's member for the kind of event at hand.  Whether one fits now. */
bool ring_room(struct ring *r, const uint64_t *full);

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
    return r->place;
}

/* Whether another event fits.  Messages can be much more frequent than collectives, and leave a quarter of
 * the ring to these: full is &r->full or &r->full_of_message. */
HOT bool hot_room(struct ring *r, const uint64_t *full)
{
    return __builtin_expect(r->head < *full, 1) || ring_room(r, full);
}

/* What is known of an event when its call is entered.  Copied member by member, as the members were set: a
 * wider load of what was stored in parts waits until the parts have left the store buffer, which doubles the
 * cost of the whole hook.  Release stores, no fences: a reader that sees one of the other members then sees
 * the new enter too, and one that sees the new enter sees what became of the header's `entered` before.  They
 * are plain stores on x86, and the thread sanitizer understands them. */
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

/* The cache lines of events that the reader took are in its core's cache.  Fetching one back takes longer
 * than the rest of an event, so lines are prefetched, for writing; but not those at the beginning of the
 * ring, to save the masking. gcc would need -mprfchw for the instruction, which every 64-bit x86 has or
 * ignores. */
/* events; with 8 the line still comes too late when the calls do nothing */
#define HOT_AHEAD 16u

HOT void hot_prefetch(const struct ring_event *at)
{
    const char *line = (const char *)at + HOT_AHEAD * sizeof(*at);

#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Publish the event that is complete in its place.  Each by itself: a reader that peeks takes all places but
 * one for events. */
HOT void hot_publish(struct ring *r, struct ring_event *at)
{
    uint64_t head = r->head + 1;

    r->head = head;
    r->place = &r->events[head & r->mask];
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

/* Leave a blocking collective.  Its event takes its place among the others, and readers see by it that the
 * call is over. */
HOT void hot_leave(struct ring *r, struct ring_event *at, uint64_t now)
{
    if (__builtin_expect(!hot_room(r, &r->full), 0)) {
        ring_drop(r, now);
        return;
    }
    hot_end(r, at, 0, now);
    r->unnamed = true;
    hot_publish(r, at);
}

/* A collective that is over.  A nonblocking one was left when it was posted.  False: there is no room. */
HOT bool hot_collective(struct ring *r, const struct ring_event *e)
{
    struct ring_event *at = hot_place(r);
    bool nonblocking = e->flags & RING_EVENT_NONBLOCKING;

    if (__builtin_expect(!hot_room(r, &r->full), 0)) {
        hot_add(&r->file->dropped, 1);
        return false;
    }
    if (nonblocking && r->unnamed)
        ring_keep_last(r);
    hot_begin(at, e);
    hot_end(r, at, e->wait, e->leave);
    hot_publish(r, at);
    r->unnamed = !nonblocking;
    return true;
}

/* ---- messages ---- */

/* Fields of an event that lie together are stored as one word, and where an event is copied, loaded as
 * one. */
typedef uint64_t __attribute__((may_alias)) hot_word;
_Static_assert(offsetof(struct ring_event, root) == offsetof(struct ring_event, seq) + 4 &&
                   offsetof(struct ring_event, seq) % 8 == 0,
               "number and partner are a word");
_Static_assert(offsetof(struct ring_event, op) == offsetof(struct ring_event, tag) + 4 &&
                   offsetof(struct ring_event, flags) == offsetof(struct ring_event, tag) + 5 &&
                   offsetof(struct ring_event, awaits) == offsetof(struct ring_event, tag) + 6 &&
                   offsetof(struct ring_event, tag) % 8 == 0,
               "tag, op, flags and awaits are a word");

/* A message without its times. */
struct hot_message {
    uint64_t comm, bytes;
    uint64_t number_partner, tag_op; /* two words of its event */
};

#define HOT_OP(op)       ((uint64_t)(op) << 32)
#define HOT_FLAGS(flags) ((uint64_t)(flags) << 40)
#define HOT_AWAITS       16         /* bits from op to awaits */
#define HOT_TAG          UINT32_MAX /* the tag's bits */

HOT unsigned hot_message_op(struct hot_message m)
{
    return (uint8_t)(m.tag_op >> 32);
}

/* A receive whose partner or tag is known only when it completes. */
HOT bool hot_message_wild(struct hot_message m)
{
    return (int64_t)m.number_partner < 0 || (int32_t)m.tag_op < 0;
}

/* Of an event that is in registers. */
HOT struct hot_message hot_message_new(const struct ring_event *e)
{
    return (struct hot_message){ .comm = e->comm,
                                 .bytes = e->bytes,
                                 .number_partner = (uint64_t)(uint32_t)e->root << 32 | e->seq,
                                 .tag_op = HOT_FLAGS(e->flags) | HOT_OP(e->op) | (uint32_t)e->tag };
}

/* Of an event that hot_message_set() has written. */
HOT struct hot_message hot_message_get(const struct ring_event *at)
{
    return (struct hot_message){ .comm = at->comm,
                                 .bytes = at->bytes,
                                 .number_partner = *(const hot_word *)&at->seq,
                                 .tag_op = *(const hot_word *)&at->tag };
}

/* All but wait, leave and p2p.  The order of the stores as in hot_begin(). */
HOT void hot_message_set(struct ring_event *at, uint64_t enter, const struct hot_message *m)
{
    __atomic_store_n(&at->enter, enter, __ATOMIC_RELEASE);
    __atomic_store_n(&at->comm, m->comm, __ATOMIC_RELEASE);
    __atomic_store_n(&at->bytes, m->bytes, __ATOMIC_RELEASE);
    __atomic_store_n((hot_word *)&at->seq, m->number_partner, __ATOMIC_RELEASE);
    __atomic_store_n((hot_word *)&at->tag, m->tag_op, __ATOMIC_RELEASE);
}

/* Set the number of a message that hot_message_set() has written. */
HOT void hot_message_number(struct ring_event *at, uint32_t number)
{
    hot_word *word = (hot_word *)&at->seq;

    *word = (*word & ~(uint64_t)UINT32_MAX) | number;
}

/* Show a call that was entered to pass message m, or to wait for it alone: then its op is shown as
 * RING_OP_WAIT with no flags and as awaited, and a reader takes the time, the partner and the tag.  The rest
 * of the event is written here and not when the call ends, because the processor does this beside what the
 * library does. Returns its place. */
HOT struct ring_event *hot_enter_message(struct ring *r, uint64_t enter, bool waits, struct hot_message m)
{
    struct ring_event *at = hot_place(r);

    if (waits)
        m.tag_op = (m.tag_op & HOT_TAG) | (m.tag_op & HOT_OP(UINT8_MAX)) << HOT_AWAITS | HOT_OP(RING_OP_WAIT);
    hot_message_set(at, enter, &m);
    __atomic_store_n(&at->wait, waits ? enter : 0, __ATOMIC_RELEASE);
    __atomic_store_n(&at->p2p, 0, __ATOMIC_RELEASE);
    atomic_store_explicit(&r->file->entered, enter, memory_order_release);
    return at;
}

/* A call ended without an event of its own. */
HOT void hot_left(struct ring *r, uint64_t now)
{
    if (__builtin_expect(r->unnamed, 0))
        ring_keep_last(r);
    atomic_store_explicit(&r->file->left, now, memory_order_release);
    atomic_store_explicit(&r->file->entered, 0, memory_order_release);
}

HOT bool hot_fits_message(struct ring *r)
{
    if (__builtin_expect(!hot_room(r, &r->full_of_message), 0)) {
        ring_message_missed(r);
        return false;
    }
    return true;
}

/* The message's event is complete at the ring's place, but for leave. */
HOT void hot_message_end(struct ring *r, struct ring_event *at, uint64_t leave)
{
    if (__builtin_expect(r->unnamed, 0))
        ring_keep_last(r);
    __atomic_store_n(&at->leave, leave, __ATOMIC_RELAXED);
    hot_publish(r, at);
}

/* A message that is not shown.  False: there is no room. */
HOT bool hot_message_add(struct ring *r, uint64_t enter, uint64_t wait, uint64_t leave, struct hot_message m)
{
    struct ring_event *at = hot_place(r);

    if (!hot_fits_message(r))
        return false;
    hot_message_set(at, enter, &m);
    __atomic_store_n(&at->wait, wait, __ATOMIC_RELEASE);
    __atomic_store_n(&at->p2p, 0, __ATOMIC_RELEASE);
    hot_message_end(r, at, leave);
    return true;
}

HOT bool hot_message(struct ring *r, const struct ring_event *e)
{
    return hot_message_add(r, e->enter, e->wait, e->leave, hot_message_new(e));
}

/* A one-sided access, which leaves as much room to collectives as messages do.  False: there is no room. */
HOT bool hot_access(struct ring *r, const struct ring_event *e)
{
    struct ring_event *at = hot_place(r);
    struct hot_message m = hot_message_new(e);

    if (!hot_fits_message(r))
        return false;
    hot_message_set(at, e->enter, &m);
    __atomic_store_n(&at->wait, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&at->read_bytes, e->read_bytes, __ATOMIC_RELEASE);
    hot_message_end(r, at, e->leave);
    return true;
}

/* Whether hot_enter_message() showed a call at this place, and the library has not switched stacks
 * meanwhile. */
HOT bool hot_is_shown(const struct ring *r, const struct ring_event *at, uint64_t enter)
{
    return __builtin_expect(at == hot_place(r) && at->enter == enter, 1);
}

/* The message of a call that is shown ended: its bytes and its number are known by now. */
HOT bool hot_leave_message(struct ring *r, struct ring_event *at, uint32_t number, uint64_t bytes,
                           uint64_t leave)
{
    if (!hot_fits_message(r))
        return false;
    __atomic_store_n(&at->bytes, bytes, __ATOMIC_RELEASE);
    __atomic_store_n(&at->seq, number, __ATOMIC_RELEASE);
    hot_message_end(r, at, leave);
    return true;
}

/* The same where the call waited for it: posted is what hot_message_set() has written. */
HOT bool hot_leave_wait(struct ring *r, struct ring_event *at, const struct ring_event *posted, bool received,
                        uint64_t bytes, uint64_t leave)
{
    if (!hot_fits_message(r))
        return false;
    __atomic_store_n(&at->enter, posted->enter, __ATOMIC_RELEASE);
    __atomic_store_n((hot_word *)&at->tag, *(const hot_word *)&posted->tag, __ATOMIC_RELEASE);
    if (received)
        __atomic_store_n(&at->bytes, bytes, __ATOMIC_RELEASE);
    hot_message_end(r, at, leave);
    return true;
}

/* Add a point-to-point call that only posted, and the bytes it sent. */
HOT void hot_p2p_posted(struct ring *r, uint64_t bytes)
{
    struct ring_header *file = r->file;

    hot_add(&file->p2p_calls, 1);
    if (__builtin_expect(bytes != 0, 1))
        hot_add(&file->p2p_bytes, bytes);
}

/* Add a point-to-point call: its duration in ticks, and the bytes it sent. */
HOT void hot_p2p(struct ring *r, uint64_t bytes, uint64_t ticks)
{
    hot_p2p_posted(r, bytes);
    hot_add(&r->file->p2p_ticks, ticks);
}

#endif
