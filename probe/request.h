/* request.h - nonblocking and persistent collectives and messages in progress: maps a request's handle to
 * what was posted.
 *
 * A table without locks: a handle is kept in one of WINDOW neighbouring slots.  Where all are taken, further
 * tables are made, each twice as large as the one before (TABLES_MAX); what does not fit these is counted as
 * missed.  One thread may post and another wait; as in MPI, only one thread may complete a request.  An entry
 * stays while the program waits.  As soon as the library has freed the request, another thread may get its
 * handle for a new one: so a thread that waits beside others holds the entry itself, which becomes an orphan
 * then, known to that thread alone. */
#ifndef SYNCGUARD_PROBE_REQUEST_H
#define SYNCGUARD_PROBE_REQUEST_H

#include "probe/comm.h"

union request_state {
    struct {
        bool persistent;
        bool active;      /* posted or started */
        bool live;        /* active and recorded */
        bool displaced;   /* not in its home slot */
        bool partitioned; /* a message in parts */
        bool given_back;  /* a receive that was cancelled: the next one has its number */
    };
    uint64_t all;
};
#define REQUEST_POSTED 0x00010100u /* active and live */

struct request {
    _Alignas(128) struct ring_event event; /* the slot of a number is found by a shift */
    struct comm *comm; /* of a persistent request: each start takes a number on it; of a message */
    uint64_t polled;   /* ticks: the first test that found it incomplete; 0: none, or not recorded */
    union request_state is;
    atomic_bool
        held; /* until it is free, by a thread that waits, where several may call MPI at the same time */
};

/* Number of nonblocking ones in progress, and of persistent ones made. */
extern atomic_uint request_count __attribute__((visibility("hidden")));
extern atomic_uint request_collectives __attribute__((visibility("hidden"))); /* of them: no messages */

/* Whether the table holds any request. */
static inline bool request_any(void)
{
    return atomic_load_explicit(&request_count, memory_order_relaxed) != 0;
}

#define REQUEST_SLOTS 4096u /* a power of two */
extern struct request request_slots[REQUEST_SLOTS] __attribute__((visibility("hidden")));
extern _Atomic uint64_t request_keys[REQUEST_SLOTS] __attribute__((visibility("hidden")));

/* Keys that are no handle's. */
#define REQUEST_FREE   0u
#define REQUEST_BUSY   1u                  /* being filled in */
#define REQUEST_ORPHAN ((uint64_t)1 << 63) /* added to the handle's: of an orphan */

/* Number of handles that are not in their home slot, because another was there: mostly none. */
extern atomic_uint request_displaced __attribute__((visibility("hidden")));

static inline uint64_t request_key(handle h)
{
    return (uint64_t)(uintptr_t)h;
}

static inline size_t request_home(uint64_t key)
{
    return key * 0x9e3779b97f4a7c15u >> 52;
}
_Static_assert(REQUEST_SLOTS == 1u << (64 - 52), "the hash has as many values as there are slots");

/* Whether h is one of the handles that libraries return for every operation that completed at once. */
static inline bool request_shared(handle h)
{
    if (probe.abi.small_requests && (uintptr_t)h >> 30 == 1)
        return true;
    return h == probe.abi.empty_request || h == probe.abi.null_request;
}

static inline bool request_is_message(const struct request *q)
{
    return ring_op_is_message(q->event.op);
}

/* A nonblocking operation was posted.  Its event goes to r at once when it has already completed.  r NULL: it
 * is not recorded; only of a receive with a wildcard the request is kept then.  c: its communicator, needed
 * for messages. */
void request_posted(struct ring *r, handle h, const struct ring_event *e, struct comm *c);
/* The count of requests where no other thread may be at work. */
HOT void request_count_add(unsigned n)
{
    atomic_store_explicit(&request_count, atomic_load_explicit(&request_count, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* request_posted() for a message; the words of a struct hot_message, so that it need not be in memory. */
void request_posted_message(struct ring *r, handle h, struct comm *c, uint64_t enter, uint64_t comm,
                            uint64_t bytes, uint64_t number_partner, uint64_t tag_op);

/* The same, inline where it is recorded, no other thread may be at work and h's home slot is free, or where a
 * send is complete already. */
HOT void request_post_message(struct ring *r, handle h, uint64_t enter, struct hot_message m, struct comm *c)
{
    size_t at = request_home(request_key(h));
    struct request *q = &request_slots[at];
    bool shared = request_shared(h);

    if (r && shared && hot_message_op(m) == RING_OP_SEND) {
        m.tag_op |= HOT_FLAGS(RING_EVENT_UNWAITED);
        hot_message_add(r, enter, 0, enter, m);
        return;
    }
    if (__builtin_expect(!r || shared || probe.concurrent ||
                             atomic_load_explicit(&request_displaced, memory_order_relaxed) ||
                             atomic_load_explicit(&request_keys[at], memory_order_relaxed) != REQUEST_FREE,
                         0)) {
        request_posted_message(r, h, c, enter, m.comm, m.bytes, m.number_partner, m.tag_op);
        return;
    }
    hot_message_set(&q->event, enter, &m);
    q->comm = c;
    q->polled = 0;
    q->is.all = REQUEST_POSTED;
    request_count_add(1);
    atomic_store_explicit(&request_keys[at], request_key(h), memory_order_release);
}

/* A message that is recorded and in its home slot.  NULL: it is none of these. */
HOT struct request *request_message(handle h)
{
    size_t at = request_home(request_key(h));
    struct request *q = &request_slots[at];

    if (atomic_load_explicit(&request_keys[at], memory_order_acquire) != request_key(h) || !q->is.live ||
        !request_is_message(q))
        return NULL;
    return q;
}

/* Its entry is free again. */
void request_over(struct request *q);

/* A request has completed, and its event is written. */
HOT void request_complete(struct request *q)
{
    if (q->is.persistent) {
        q->is.active = q->is.live = false;
        atomic_store_explicit(&q->held, false, memory_order_relaxed);
    } else if (__builtin_expect(probe.concurrent || q->is.displaced, 0)) {
        request_over(q);
    } else {
        request_count_add(-1u);
        atomic_store_explicit(&request_keys[q - request_slots], REQUEST_FREE, memory_order_release);
    }
}

/* A persistent request was made; the event has the fields that are the same at each start.  Or a message was
 * matched by a probe: h is its handle, for request_matched(). */
void request_made(handle h, struct comm *c, const struct ring_event *e, bool partitioned);
/* A request starts at time now.  True when it is a persistent collective, which is then counted, and recorded
 * unless r is NULL. */
bool request_started(struct ring *r, handle h, uint64_t now);
/* The library refused to start it at that time. */
void request_not_started(handle h, uint64_t now);
/* The program frees a request: once the library has done so, another thread may get its handle.  NULL: it is
 * not known.  Then request_freed(), or request_stays() where the library has refused it. */
struct request *request_freeing(handle h);
void request_freed(struct ring *r, struct request *q);
void request_stays(struct request *q);
/* The program has cancelled a request.  status: of a request that is complete; NULL: it is not. */
void request_cancelled(handle h, const void *status);
/* Take a message that a probe matched.  Returns its communicator; NULL: unknown. */
struct comm *request_matched(handle h, struct ring_event *e);

/* What is known of a request that is in progress, or that the library has just completed.  NULL: nothing. */
struct request *request_find(handle h);
/* The request completed; flags are added to those of its event.  r NULL: do not record it.  status: of a
 * receive; NULL: not known. */
void request_done(struct ring *r, struct request *q, uint64_t wait, uint64_t leave, unsigned flags,
                  const void *status);

#endif
