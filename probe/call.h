/* call.h - what a wrapper does before and after a collective call.  The steps are the same for every
 * collective; collective.c and create.c supply the arguments.
 *
 * Blocking collectives inline these functions: with struct call in registers the whole hook costs a third
 * less.  The struct stays in registers only while its address is not taken, so pacing works on a copy.  All
 * other wrappers call the functions whose names end in _shared, because two hundred inline copies would
 * double the size of the probe. */
#ifndef SYNCGUARD_PROBE_CALL_H
#define SYNCGUARD_PROBE_CALL_H

#include "probe/comm.h"
#include "probe/nested.h"
#include "probe/pace.h"
#include "probe/request.h"

/* Start a call on comm.  True when the call is recorded, and the caller must evaluate its arguments and call call_enter(). */
HOT bool call_begin(struct call *k, handle comm, struct entry e)
{
    k->comm = NULL;
    k->ring = NULL;
    k->paced_ns = 0;
    if (!call_wanted(e, comm))
        return false;
    k->comm = comm_get(comm);
    if (!k->comm)
        return false;
    call_entered(e, comm);
    k->ring = call_ring();
    if (!k->ring)
        return false;
    nested_begin(k->ring, e.frame);
    return true;
}

/* Read the clock and show the call as the one in progress.  bytes: this rank's contribution; root < 0: none. */
HOT void call_enter(struct call *k, enum ring_op op, unsigned flags, uint64_t bytes, int root)
{
    struct ring_event *e = &k->event;

    e->enter = clock_read(k->ring->clock);
    e->op = (uint8_t)op;
    e->flags = (uint8_t)(flags | k->comm->flags);
    e->bytes = bytes;
    e->root = root < 0 ? -1 : root;
    e->comm = k->comm->name;
    /* Every member posts its collectives in the same order, so equal numbers mean the same collective.  Taken
     * before the library is called: another thread may post on the same communicator while this call is in
     * progress. */
    e->seq = comm_next_seq(k->comm);
    e->wait = 0;
    k->at = hot_enter(k->ring, e);
}

/* Instead of call_enter() where call_begin() returned false: recording may be off, but the number counts. */
HOT void call_skip(struct call *k)
{
    if (!k->comm)
        return;
    k->event.comm = k->comm->name;
    k->event.seq = comm_next_seq(k->comm);
}

/* Apply pacing, after call_enter() and before the library is called.  posted: the call only posts the operation,
 * so it never waits. */
HOT void call_pace(struct call *k, bool posted)
{
    if (pace_asked(k->event.enter)) {
        struct call paced = *k; /* k itself stays in registers */

        pace_enter(&paced, posted);
        k->paced_ns = paced.paced_ns;
        k->lever = paced.lever;
    }
}

/* Another call took the place of this one's event: one that a callback made, or that the library switched stacks to (MPICH with
 * threads in user space). */
static __attribute__((noinline, unused)) void call_leave_nested(struct ring *r, uint64_t enter, uint64_t now,
                                                                int rc)
{
    struct ring_event e;

    if (!nested_take(enter, &e)) {
        ring_missed(r);
        return;
    }
    e.leave = now;
    if (rc)
        e.flags |= RING_EVENT_FAILED;
    ring_emit(r, &e);
}

/* Record a blocking call that was entered and returned rc.  Its event has been in the ring since it was entered. */
HOT void call_leave(struct call *k, int rc)
{
    uint64_t now = clock_read(k->ring->clock);

    if (__builtin_expect(k->at->enter != k->event.enter, 0)) {
        call_leave_nested(k->ring, k->event.enter, now, rc);
        call_over();
        return;
    }
    if (__builtin_expect(k->paced_ns != 0, 0)) {
        struct call paced = { k->comm, k->ring, *k->at, k->at, k->paced_ns, k->lever };

        pace_leave(&paced);
    }
    hot_leave(k->ring, k->at, now, rc != 0);
    call_over();
}

/* After a call that was skipped. */
HOT void call_unwind(struct call *k)
{
    if (k->comm)
        call_over();
}

/* ---- out of line ---- */

#define SHARED static __attribute__((noinline, unused))

SHARED bool call_begin_shared(struct call *k, handle comm, struct entry e)
{
    return call_begin(k, comm, e);
}

SHARED void call_enter_shared(struct call *k, enum ring_op op, unsigned flags, uint64_t bytes, int root)
{
    call_enter(k, op, flags, bytes, root);
}

SHARED void call_leave_shared(struct call *k, int rc)
{
    if (k->ring)
        call_leave(k, rc);
    else
        call_unwind(k);
}

SHARED void call_pace_shared(struct call *k, bool posted)
{
    call_pace(k, posted);
}

/* Leave a call that posted a nonblocking operation; its event is written when the request completes. */
SHARED void call_posted(struct call *k, int rc, const void *request)
{
    if (!k->comm)
        return;
    if (k->ring) {
        uint64_t now = clock_read(k->ring->clock);

        ring_leave(k->ring, now);
        k->event.leave = now;
        if (rc) {
            k->event.flags |= RING_EVENT_FAILED;
            ring_emit(k->ring, &k->event);
        } else {
            request_posted(k->ring, handle_at(request, 0), &k->event, k->comm);
        }
    }
    call_over();
}

#endif
