/* p2p.h - point-to-point calls: their time and bytes, added up until the next collective, and the call in progress. */
#ifndef SYNCGUARD_PROBE_P2P_H
#define SYNCGUARD_PROBE_P2P_H

#include "probe/comm.h"

struct p2p {
    struct ring *ring; /* NULL: not recorded */
    struct comm *comm; /* NULL: unknown */
    uint64_t enter;    /* ticks of the ring's clock */
    bool live;         /* shown as in progress, because the call may block */
};

/* False when the call goes straight to the library; else p2p_leave() must follow.  comm NULL: not known. */
HOT bool p2p_begin(struct p2p *p, handle comm, void *frame)
{
    if (!call_wanted(frame))
        return false;
    self.frame = frame;
    p->ring = call_ring();
    p->comm = comm ? comm_get(comm) : NULL;
    p->enter = 0;
    p->live = false;
    return true;
}

/* bytes: sent; blocks: the call may block. */
HOT void p2p_enter(struct p2p *p, uint64_t bytes, bool blocks)
{
    if (!p->ring)
        return;
    p->live = blocks;
    p->enter = clock_read(p->ring->clock);
    if (blocks)
        hot_enter(p->ring, &(struct ring_event){ .comm = p->comm ? p->comm->name : 0,
                                                 .enter = p->enter,
                                                 .bytes = bytes,
                                                 .root = -1,
                                                 .op = RING_OP_POINT_TO_POINT });
}

/* Returns the time in ticks of the ring's clock; 0 where nothing is recorded.  The call is shown until it has an event, or
 * until p2p_over(). */
HOT uint64_t p2p_leave(struct p2p *p, uint64_t bytes)
{
    uint64_t now = 0;

    if (p->ring) {
        now = clock_read(p->ring->clock);
        hot_p2p(p->ring, bytes, now - p->enter);
    }
    self.frame = NULL;
    return now;
}

/* The same after posting a receive, whose time is not taken: it takes no longer than reading the clock. */
HOT uint64_t p2p_leave_receive(struct p2p *p)
{
    if (p->ring)
        hot_p2p(p->ring, 0, 0);
    self.frame = NULL;
    return p->enter;
}

/* A call that was left at time now has no event. */
HOT void p2p_over(const struct p2p *p, uint64_t now)
{
    if (p->ring && p->live)
        hot_left(p->ring, now);
}

#endif
