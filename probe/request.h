/* request.h - collectives under way: from a request's handle to what was posted.
 *
 * A fixed table without locks: a handle may lie in one of WINDOW neighbouring slots.  One thread posts,
 * another may wait; MPI lets only one thread complete a request, and so does this.  When all slots of a
 * window are taken the collective is counted as missed. */
#ifndef SYNCGUARD_PROBE_REQUEST_H
#define SYNCGUARD_PROBE_REQUEST_H

#include "probe/comm.h"

#define REQUEST_NONE UINT32_MAX

struct request {
    struct ring_event event;
    struct comm *comm;     /* persistent: what to count on at each start */
    handle at;             /* while it is waited for */
    uint32_t next, index;  /* in a list of those waited for together: the next slot, the place in the array */
    bool persistent, live; /* live: posted and recorded */
};

/* Are any under way? */
static inline bool request_any(void);
struct request *request_get(uint32_t slot);

/* A nonblocking collective was posted. */
void request_posted(struct ring *r, handle h, const struct ring_event *e);
/* A persistent one was made; event holds what does not change. */
void request_made(handle h, struct comm *c, const struct ring_event *e);
/* A request starts: when it is a persistent collective (true), count it, and record it when r is there. */
bool request_started(struct ring *r, handle h, uint64_t now);
/* A request is freed by the program. */
void request_freed(handle h);

/* The collectives among n requests that are about to be waited for, as a list in the order of the array;
 * REQUEST_NONE: no such.  They are out of the table meanwhile: the library may give a handle out again, to
 * another thread, as soon as the request is done and before we hear of it.  Each of the list must then be
 * done or kept. */
uint32_t request_take(const void *array, int n);
/* It is done; flags are added to the event's.  r NULL: forget it without recording. */
void request_done(struct ring *r, struct request *q, uint64_t wait, uint64_t leave, unsigned flags);
/* It is not. */
void request_keep(struct request *q);

extern atomic_uint request_count; /* nonblocking ones under way, and persistent ones made */

static inline bool request_any(void)
{
    return atomic_load_explicit(&request_count, memory_order_relaxed) != 0;
}

#endif
