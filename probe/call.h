/* call.h - what a wrapper does before and after a collective call.  The steps are the same for every
 * collective; collective.c and create.c supply the arguments.
 *
 * Blocking collectives inline these functions: with struct collective in registers the whole hook costs a
 * third less.  The struct stays in registers only while its address is not taken, so pacing works on a copy.
 * All other wrappers call the functions whose names end in _shared, because two hundred inline copies would
 * double the size of the probe. */
#ifndef SYNCGUARD_PROBE_CALL_H
#define SYNCGUARD_PROBE_CALL_H

#include "probe/comm.h"
#include "probe/nested.h"
#include "probe/pace.h"
#include "probe/request.h"

/* Start a call on comm.  True when the call is recorded, and the caller must evaluate its arguments and call
 * call_enter(). */
HOT bool call_begin(struct collective *k, handle comm, struct entry e)
{
    k->comm = NULL;
    k->ring = NULL;
    k->paced_ns = 0;
    if (!call_wanted(e, comm))
        return false;
    k->comm = comm_get(comm);
    if (!k->comm)
        return false;
    k->event.comm = k->comm->name;
    call_entered(e, comm);
    k->ring = call_ring();
    if (!k->ring)
        return false;
    nested_begin(k->ring, e.frame);
    return true;
}

/* Read the clock and show the call as the one in progress.  bytes: this rank's contribution, as far as it is
 * known; root < 0: none. */
HOT void call_enter(struct collective *k, enum ring_op op, unsigned flags, uint64_t bytes, int root)
{
    struct ring_event *e = &k->event;

    e->enter = clock_read(k->ring->clock);
    e->op = (uint8_t)op;
    e->flags = (uint8_t)(flags | k->comm->flags);
    e->bytes = bytes;
    e->root = root < 0 ? -1 : root;
    e->seq = comm_seq(k->comm);
    e->wait = 0;
    k->at = hot_enter(k->ring, e);
}

/* The call took part: it has the next number.  Every member posts its collectives in the same order, so equal
 * numbers mean the same collective.  A callback may have freed the communicator, whose entry may be another's
 * by now. */
HOT uint32_t call_number(struct collective *k)
{
    if (__builtin_expect(k->comm->name != k->event.comm, 0))
        return k->event.seq;
    return k->event.seq = comm_next_seq(k->comm);
}

/* Apply pacing, after call_enter() and before the library is called.  posted: the call only posts the
 * operation, so it never waits. */
HOT void call_pace(struct collective *k, bool posted)
{
    if (pace_asked(k->event.enter)) {
        struct collective paced = *k; /* k itself stays in registers */

        pace_enter(&paced, posted);
        k->paced_ns = paced.paced_ns;
        k->lever = paced.lever;
    }
}

/* A call failed, or another one took the place of its event: one that a callback made, or that the library
 * switched stacks to (MPICH with threads in user space). */
static __attribute__((noinline, unused)) void call_leave_rare(struct collective *k, uint64_t now, int rc,
                                                              uint64_t bytes)
{
    bool shown = k->at->enter == k->event.enter;
    struct ring_event e = *k->at;

    if (rc && !call_took_part(rc)) {
        if (shown)
            hot_left(k->ring, now);
        else
            nested_take(k->event.enter, &e);
        return;
    }
    if (!shown && !nested_take(k->event.enter, &e)) {
        ring_missed(k->ring);
        call_number(k);
        return;
    }
    e.seq = call_number(k);
    e.leave = now;
    e.bytes = bytes;
    if (rc)
        e.flags |= RING_EVENT_FAILED;
    ring_emit(k->ring, &e);
}

/* Record a blocking call that was entered and returned rc, with this rank's contribution.  Its event has been
 * in the ring since it was entered. */
HOT void call_leave(struct collective *k, int rc, uint64_t bytes)
{
    uint64_t now = clock_read(k->ring->clock);

    call_over();
    if (__builtin_expect(rc || k->at->enter != k->event.enter, 0)) {
        struct collective rare = *k; /* k itself stays in registers */

        call_leave_rare(&rare, now, rc, bytes);
        k->event.seq = rare.event.seq;
        return;
    }
    __atomic_store_n(&k->at->seq, call_number(k), __ATOMIC_RELAXED);
    if (__builtin_expect(k->paced_ns != 0, 0)) {
        struct collective paced = { k->comm, k->ring, *k->at, k->at, k->paced_ns, k->lever };

        pace_leave(&paced); /* by the bytes that were known when it was entered */
    }
    __atomic_store_n(&k->at->bytes, bytes, __ATOMIC_RELAXED);
    hot_leave(k->ring, k->at, now);
}

/* Instead of call_leave() where call_begin() returned false: recording may be off, but the number counts.
 * Returns whether it does. */
HOT bool call_unwind(struct collective *k, int rc)
{
    bool took_part;

    if (!k->comm)
        return false;
    call_over();
    took_part = __builtin_expect(!rc, 1) || call_took_part(rc);
    if (took_part)
        call_number(k);
    return took_part;
}

/* ---- out of line ---- */

#define SHARED static __attribute__((noinline, unused))

SHARED bool call_begin_shared(struct collective *k, handle comm, struct entry e)
{
    return call_begin(k, comm, e);
}

SHARED void call_enter_shared(struct collective *k, enum ring_op op, unsigned flags, uint64_t bytes, int root)
{
    call_enter(k, op, flags, bytes, root);
}

SHARED void call_leave_shared(struct collective *k, int rc)
{
    if (k->ring)
        call_leave(k, rc, 0);
    else
        call_unwind(k, rc);
}

SHARED void call_pace_shared(struct collective *k, bool posted)
{
    call_pace(k, posted);
}

/* Leave a call that posted a nonblocking operation with this rank's contribution; its event is written when
 * the request completes. */
SHARED void call_posted(struct collective *k, int rc, uint64_t bytes, const void *request)
{
    bool took_part = call_unwind(k, rc);
    uint64_t now;

    if (!k->ring)
        return;
    now = clock_read(k->ring->clock);
    if (__builtin_expect(k->at->enter == k->event.enter, 1))
        ring_leave(k->ring, now);
    if (!took_part)
        return;
    k->event.leave = now;
    k->event.bytes = bytes;
    if (rc) {
        k->event.flags |= RING_EVENT_FAILED;
        ring_emit(k->ring, &k->event);
    } else {
        request_posted(k->ring, handle_at(request, 0), &k->event, k->comm);
    }
}

#endif
