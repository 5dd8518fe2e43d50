/* request.h - nonblocking and persistent collectives and messages in progress: maps a request's handle to what was
 * posted.
 *
 * A fixed table without locks: a handle is kept in one of WINDOW neighbouring slots.  One thread may post and
 * another wait; as in MPI, only one thread may complete a request.  When all slots of a window are taken the
 * operation is counted as missed. */
#ifndef SYNCGUARD_PROBE_REQUEST_H
#define SYNCGUARD_PROBE_REQUEST_H

#include "probe/comm.h"

#define REQUEST_NONE UINT32_MAX

struct request {
    struct ring_event event;
    struct comm *comm;    /* of a persistent request: each start takes a number on it; of a message */
    uint64_t polled;      /* ticks: the first test that found it incomplete; 0: none, or not recorded */
    handle at;            /* set while the request is waited for */
    uint32_t next, index; /* in a list from request_take(): the next slot, the place in the array */
    bool persistent;
    bool active;    /* posted or started */
    bool live;      /* active and recorded */
    bool displaced; /* not in its home slot */
};

extern atomic_uint request_count; /* nonblocking ones in progress, and persistent ones made */

/* Whether the table holds any request. */
static inline bool request_any(void)
{
    return atomic_load_explicit(&request_count, memory_order_relaxed) != 0;
}

#define REQUEST_SLOTS 4096u /* a power of two */
extern struct request request_slots[REQUEST_SLOTS];

static inline struct request *request_get(uint32_t slot)
{
    return &request_slots[slot];
}

static inline bool request_is_message(const struct request *q)
{
    return ring_op_is_message(q->event.op);
}

/* A nonblocking operation was posted.  Its event goes to r at once when it has already completed.  r NULL: it is not
 * recorded; only of a receive with a wildcard the request is kept then.  c: its communicator, needed for messages. */
void request_posted(struct ring *r, handle h, const struct ring_event *e, struct comm *c);
/* A persistent request was made; the event has the fields that are the same at each start.  Or a message was matched by
 * a probe: h is its handle, for request_matched(). */
void request_made(handle h, struct comm *c, const struct ring_event *e);
/* A request starts at time now.  True when it is a persistent collective, which is then counted, and recorded
 * unless r is NULL. */
bool request_started(struct ring *r, handle h, uint64_t now);
/* The program frees a request. */
void request_freed(struct ring *r, handle h);
/* Take a message that a probe matched.  Returns its communicator; NULL: unknown. */
struct comm *request_matched(handle h, struct ring_event *e);

/* Take the operations known among n requests out of the table before the program waits for them, as a list in the
 * order of the array; REQUEST_NONE: there are none.  They leave the table because the library may reuse a
 * handle, for another thread, as soon as the request completes.  Each element of the list must then be passed
 * to request_done() or request_keep(). */
uint32_t request_take(const void *array, int n);
/* The request completed; flags are added to those of its event.  r NULL: do not record it.  status: of a receive;
 * NULL: not known. */
void request_done(struct ring *r, struct request *q, uint64_t wait, uint64_t leave, unsigned flags,
                  const void *status);
/* The request did not complete: put it back into the table. */
void request_keep(struct request *q);

#endif
