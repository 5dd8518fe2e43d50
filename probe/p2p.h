/* p2p.h - point-to-point calls: their time and bytes, added up until the next collective, and the call in
 * progress. */
#ifndef SYNCGUARD_PROBE_P2P_H
#define SYNCGUARD_PROBE_P2P_H

#include "probe/comm.h"
#include "probe/nested.h"

struct p2p {
    struct ring *ring;     /* NULL: not recorded */
    struct comm *comm;     /* NULL: unknown */
    uint64_t enter;        /* ticks of the ring's clock */
    struct ring_event *at; /* where the call is shown as in progress */
};

/* False when the call goes straight to the library; else p2p_leave() must follow, or p2p_posted() where the
 * call only posts.  comm NULL: not known.
 *
 * The clock is read first: reading it waits for all that the processor has under way, and what follows goes
 * on beside the library's own work. */
HOT bool p2p_begin(struct p2p *p, handle comm, struct entry e)
{
    if (!call_wanted(e, comm))
        return false;
    call_entered(e, comm);
    p->ring = call_ring();
    p->enter = p->ring ? clock_read(p->ring->clock) : 0;
    if (p->ring)
        nested_begin(p->ring, e.frame);
    p->comm = __builtin_constant_p(comm) && !comm ? NULL : comm_get(comm);
    p->at = NULL;
    return true;
}

/* The call may block: show it.  bytes: sent. */
HOT void p2p_show(struct p2p *p, uint64_t bytes)
{
    if (p->ring)
        p->at = hot_enter(p->ring, &(struct ring_event){ .comm = p->comm ? p->comm->name : 0,
                                                         .enter = p->enter,
                                                         .bytes = bytes,
                                                         .root = -1,
                                                         .op = RING_OP_POINT_TO_POINT });
}

/* The same for a call with a message. */
HOT void p2p_show_message(struct p2p *p, const struct ring_event *e)
{
    if (p->ring && __builtin_expect(e->op != RING_OP_NONE, 1))
        p->at = hot_enter_message(p->ring, p->enter, false, hot_message_new(e));
    else
        p2p_show(p, e->bytes);
}

/* Returns the time in ticks of the ring's clock; 0 where nothing is recorded.  The call is shown until it has
 * an event, or until p2p_over(). */
HOT uint64_t p2p_leave(struct p2p *p, uint64_t bytes)
{
    uint64_t now = 0;

    if (p->ring) {
        now = clock_read(p->ring->clock);
        hot_p2p(p->ring, bytes, now - p->enter);
    }
    call_over();
    return now;
}

/* A call that was left at time now has no event. */
HOT void p2p_over(const struct p2p *p, uint64_t now)
{
    if (p->ring)
        hot_left(p->ring, now);
}

/* After a call that only posts.  Its duration is not taken: it is the rank's own work, and mostly shorter
 * than reading the clock. */
HOT void p2p_posted(struct p2p *p, uint64_t bytes)
{
    if (p->ring)
        hot_p2p_posted(p->ring, bytes);
    call_over();
}

/* A call that is shown, and has no event:
 *  SHOWN(symbol, communicator, bytes, parameters, arguments)
 * bytes: sent; the type is looked at once the library has accepted it. */
#define SHOWN(symbol, comm_used, bytes, params, args)             \
    EXPORTED(int symbol params)                                   \
    {                                                             \
        static struct next next = { #symbol, NULL };              \
        struct p2p p;                                             \
        int rc;                                                   \
                                                                  \
        if (!p2p_begin(&p, comm_used, ENTRY(symbol)))             \
            return ((int(*) params)next_get(&next))args;          \
        p2p_show(&p, 0);                                          \
        rc = ((int(*) params)next_get(&next))args;                \
        p2p_over(&p, p2p_leave(&p, rc || !p.ring ? 0 : (bytes))); \
        return rc;                                                \
    }

#endif
