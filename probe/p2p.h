/* p2p.h - point-to-point calls.  They write no events; their time and bytes are added up until the next
 * collective. */
#ifndef SYNCGUARD_PROBE_P2P_H
#define SYNCGUARD_PROBE_P2P_H

#include "probe/comm.h"

struct p2p {
    struct ring *ring; /* NULL: not recorded */
    uint64_t enter;    /* ticks of the ring's clock */
    bool live;         /* shown in the live slot, because the call may block */
};

/* Whether to record the call; sets m->ring. */
static inline bool p2p_wanted(struct p2p *m, void *frame)
{
    m->ring = call_wanted(frame) ? call_ring() : NULL;
    return m->ring != NULL;
}

/* comm NULL: unknown. */
static inline void p2p_enter(struct p2p *m, enum ring_op op, handle comm, uint64_t bytes, bool live,
                             void *frame)
{
    struct comm *c = live && comm ? comm_find(comm) : NULL;

    self.frame = frame;
    m->live = live;
    m->enter = clock_read(m->ring->clock);
    if (live)
        ring_enter(m->ring,
                   &(struct ring_live){
                       .comm = c ? c->name : 0, .enter = m->enter, .bytes = bytes, .op = (uint16_t)op });
}

/* Returns the time, in ticks of the ring's clock. */
static inline uint64_t p2p_leave(struct p2p *m)
{
    uint64_t now = clock_read(m->ring->clock);

    if (m->live)
        ring_leave(m->ring, now);
    self.frame = NULL;
    return now;
}

#endif
