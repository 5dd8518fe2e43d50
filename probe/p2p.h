/* p2p.h - point-to-point: single messages make no events, their time is summed up to the next collective. */
#ifndef SYNCGUARD_PROBE_P2P_H
#define SYNCGUARD_PROBE_P2P_H

#include "probe/comm.h"

struct p2p {
    struct ring *ring; /* NULL: not recorded */
    uint64_t enter;
    bool live;
};

/* comm NULL: unknown. */
static inline bool p2p_wanted(struct p2p *m, void *frame)
{
    m->ring = call_wanted(frame) ? call_ring() : NULL;
    return m->ring != NULL;
}

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

static inline uint64_t p2p_leave(struct p2p *m)
{
    uint64_t now = clock_read(m->ring->clock);

    if (m->live)
        ring_leave(m->ring, now);
    self.frame = NULL;
    return now;
}

#endif
