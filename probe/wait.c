/* wait.c - wrappers of the calls that complete requests (MPI_Wait, MPI_Test and their variants) and of those
 * that start persistent ones.
 *
 * A wait that completes a collective is recorded in that collective's event; any other wait counts as time in
 * point-to-point.  Messages have events of their own, with the wait that completed them.  The call's results show which
 * requests completed, or the handles where the call failed.  A test costs one load while no request is in progress,
 * and records nothing when nothing completed; a request that it finds incomplete keeps the time of the first such test,
 * because the rank may be held in a loop of tests. */
#include "probe/message.h"
#include "probe/p2p.h"
#include "probe/request.h"

#define STATUSES_OWN 64u /* in the caller's frame */
#define STATUSES_LEND \
    16384u /* lent to one thread at a time; with more requests messages are counted as missed */

static struct status lendable[STATUSES_LEND]; /* 384 KiB of zero pages, resident only where used */
static atomic_flag lent = ATOMIC_FLAG_INIT;

struct waiting {
    struct p2p m;
    struct request_list list; /* the known operations among the requests */
    bool ours, test, lent;
    unsigned flags;       /* added to the events of those that complete here */
    const void *statuses; /* the program's or ours; NULL: none */
    struct status own[STATUSES_OWN];
};

/* The call is wanted.  w->ours becomes false when it goes straight to the library.  enter: when it began; 0: now. */
static void waiting_begin_at(struct waiting *w, const void *requests, int n, struct entry e, uint64_t enter)
{
    const struct request *q;

    w->ours = false;
    w->m.ring = call_ring();
    if (w->m.ring) {
        w->m.enter = enter ? enter : clock_read(w->m.ring->clock); /* first, see p2p_begin() */
        nested_begin(w->m.ring, e.frame);
    }
    if (request_any())
        request_take(&w->list, requests, n);
    else
        w->list = (struct request_list){ .first = REQUEST_NONE };
    w->flags = 0;
    w->test = w->lent = false;
    if (!w->m.ring && w->list.first == REQUEST_NONE)
        return;
    w->ours = true;
    call_entered(e, NULL);
    if (!w->m.ring)
        return;
    q = w->list.collective;
    if (q)
        hot_enter(w->m.ring, &(struct ring_event){ .enter = w->m.enter,
                                                   .comm = q->event.comm,
                                                   .bytes = q->event.bytes,
                                                   .seq = q->event.seq,
                                                   .root = -1,
                                                   .op = RING_OP_WAIT,
                                                   .flags = q->event.flags });
    else
        hot_enter(w->m.ring, &(struct ring_event){ .enter = w->m.enter, .root = -1, .op = RING_OP_WAIT });
}

static void waiting_begin(struct waiting *w, const void *requests, int n, struct entry e)
{
    w->ours = false;
    if (call_wanted(e, NULL))
        waiting_begin_at(w, requests, n, e, 0);
}

/* The same for a test, which is only recorded if a known operation is among the requests. */
static void testing_begin(struct waiting *w, const void *requests, int n, struct entry e)
{
    w->ours = false;
    if (!request_any() || !call_wanted(e, NULL))
        return;
    request_take(&w->list, requests, n);
    if (w->list.first == REQUEST_NONE)
        return;
    w->ours = w->test = true;
    w->lent = false;
    w->flags = RING_EVENT_UNWAITED;
    w->m.ring = call_ring();
    w->m.enter = w->m.ring && !w->list.polled ? clock_read(w->m.ring->clock) : 0;
    if (w->m.ring)
        nested_begin(w->m.ring, e.frame);
    call_entered(e, NULL);
}

/* Where the library is to write statuses: ours where the program ignores them and a message is received. */
static void *waiting_statuses(struct waiting *w, void *statuses, int n)
{
    w->statuses = statuses;
    if (!w->ours || !status_ignored(statuses))
        return statuses;
    w->statuses = NULL;
    if (!w->list.receive)
        return statuses;
    if (n <= (int)STATUSES_OWN)
        return (void *)(w->statuses = w->own);
    if (n > (int)STATUSES_LEND || atomic_flag_test_and_set_explicit(&lent, memory_order_acquire))
        return statuses;
    w->lent = true;
    return (void *)(w->statuses = lendable);
}

/* Whether a message that was taken is complete by its request alone, or by the bytes in its status. */
HOT bool message_plain(const struct request *q, const void *status)
{
    return q->event.op == RING_OP_SEND || (status && !message_wild(&q->event) && !status_cancelled(status));
}

/* Its event where it is not, or where the place of the event in the ring was taken. */
static void message_complete(struct ring_event *e, const struct request *q, uint64_t now, const void *status)
{
    *e = q->event;
    e->leave = now;
    if (e->op != RING_OP_RECV)
        return;
    if (status_cancelled(status))
        message_undo(e);
    message_status(e, q->comm, status);
}

/* ---- one message, waited for alone ---- */

/* The most frequent case of a wait. */
struct single {
    struct p2p m;
    struct request *q;
};

/* The call is wanted.  False: it waits for anything else. */
HOT bool single_begin(struct single *s, const void *requests, struct entry e)
{
    handle h;

    s->m.enter = 0;
    if (!request_any())
        return false;
    h = handle_at(requests, 0);
    s->m.ring = call_ring();
    if (!s->m.ring || request_shared(h))
        return false;
    s->m.enter = clock_read(s->m.ring->clock); /* first, see p2p_begin() */
    s->q = request_take_message(h);
    if (!s->q)
        return false;
    nested_begin(s->m.ring, e.frame);
    call_entered(e, NULL);
    s->m.at = hot_enter_message(s->m.ring, s->m.enter, true, hot_message_get(&s->q->event));
    return true;
}

/* The wait failed, or its message is not plain. */
static __attribute__((noinline)) void single_end_rare(struct ring *r, uint64_t enter, uint64_t now,
                                                      struct request *q, int rc, const void *requests,
                                                      const void *status)
{
    struct ring_event e;

    if (rc) {
        hot_left(r, now);
        if (handle_at(requests, 0) == q->at)
            request_keep(q);
        else
            request_done(r, q, enter, now, RING_EVENT_FAILED, NULL);
        return;
    }
    message_complete(&e, q, now, status);
    e.wait = enter;
    request_complete(q);
    if (e.op == RING_OP_NONE || !hot_message(r, &e))
        hot_left(r, now);
}

HOT void single_end(struct single *s, int rc, const void *requests, const void *status)
{
    struct ring *r = s->m.ring;
    struct request *q = s->q;
    uint64_t now = p2p_leave(&s->m, 0);
    bool received = q->event.op == RING_OP_RECV;

    if (__builtin_expect(rc || !message_plain(q, status) || !hot_is_shown(r, s->m.at, s->m.enter), 0)) {
        single_end_rare(r, s->m.enter, now, q, rc, requests, status);
        return;
    }
    if (!hot_leave_wait(r, s->m.at, &q->event, received, received ? status_bytes(status) : 0, now))
        hot_left(r, now);
    request_complete(q);
}

/* ---- which requests completed ---- */

/* Place of a request in an array of n indices; -1: it is not there. */
static int listed(int index, const int *indices, int n)
{
    for (int i = 0; i < n; i++)
        if (indices[i] == index)
            return i;
    return -1;
}

/* The request completed at time now, and the rank began to wait for it at time wait. */
HOT void waiting_done(struct ring *r, struct request *q, uint64_t wait, uint64_t now, unsigned flags,
                      const void *status)
{
    uint64_t enter = q->event.enter;
    struct hot_message m;

    if (__builtin_expect(!r || !q->is.live || !request_is_message(q) || !message_plain(q, status), 0)) {
        request_done(r, q, wait, now, flags, status);
        return;
    }
    m = hot_message_get(&q->event);
    m.tag_op |= HOT_FLAGS(flags);
    if (q->event.op == RING_OP_RECV)
        m.bytes = status_bytes(status);
    request_complete(q);
    hot_message_add(r, enter, wait, now, m);
}

/* The library returned rc.  The requests at the n indices have completed, or all of them where indices is NULL; an index
 * or n below zero is MPI_UNDEFINED.  done false: none has.  After an error those whose handle changed have completed,
 * and their messages are not recorded. */
static int waiting_end(struct waiting *w, int rc, const void *requests, bool done, const int *indices, int n)
{
    const void *statuses = rc ? NULL : w->statuses;
    struct ring *r = w->m.ring;
    uint64_t now = 0, enter = w->m.enter;
    unsigned flags = w->flags | (rc ? RING_EVENT_FAILED : 0);
    bool test = w->test;

    if (!w->ours)
        return rc;
    if (r && (!test || done || rc))
        now = clock_read(r->clock);
    if (r && !test) {
        hot_left(r, now);
        if (!w->list.collective)
            hot_p2p(r, 0, now - enter);
    }
    call_over();
    for (uint32_t at = w->list.first, next; at != REQUEST_NONE; at = next) {
        struct request *q = request_get(at);
        int place = (int)q->index;

        next = q->next;
        if (indices && !rc)
            place = listed(place, indices, n);
        if (rc ? handle_at(requests, place) == q->at : !done || place < 0) { /* it stays */
            if (test && !q->polled)
                q->polled = enter;
            request_keep(q);
        } else if (test && q->polled) {
            waiting_done(r, q, q->polled, now, flags & ~(unsigned)RING_EVENT_UNWAITED,
                         statuses ? status_at(statuses, place) : NULL);
        } else {
            waiting_done(r, q, enter, now, flags, statuses ? status_at(statuses, place) : NULL);
        }
    }
    if (w->lent)
        atomic_flag_clear_explicit(&lent, memory_order_release);
    return rc;
}

/* begin: waiting_begin or testing_begin; n_statuses: as many as the library may write; the others as in waiting_end(),
 * read only where the call succeeded. */
#define COMPLETE(symbol, begin, params, args, count, n_statuses, done, indices, n_indices)  \
    EXPORT int symbol params;                                                               \
    int symbol params                                                                       \
    {                                                                                       \
        static struct next next = { #symbol, NULL };                                        \
        struct waiting w;                                                                   \
        int rc;                                                                             \
                                                                                            \
        begin(&w, requests, count, ENTRY(symbol));                                          \
        status = waiting_statuses(&w, status, n_statuses);                                  \
        rc = ((int(*) params)next_get(&next))args;                                          \
        return waiting_end(&w, rc, requests, !rc && (done), indices, rc ? 0 : (n_indices)); \
    }

/* The call is wanted.  enter: when it began; 0: not known. */
static int wait_any(int (*next)(void *, void *), void *requests, void *status, struct entry e, uint64_t enter)
{
    struct waiting w;
    int rc;

    if (request_shared(handle_at(requests, 0))) { /* complete already: there is nothing to time */
        p2p_begin_untimed(&w.m, e);
        rc = next(requests, status);
        p2p_posted(&w.m, 0);
        return rc;
    }
    waiting_begin_at(&w, requests, 1, e, enter);
    status = waiting_statuses(&w, status, 1);
    rc = next(requests, status);
    return waiting_end(&w, rc, requests, !rc, NULL, 0);
}

#define WAIT(symbol, params)                                          \
    EXPORT int symbol params;                                         \
    int symbol params                                                 \
    {                                                                 \
        static struct next next = { #symbol, NULL };                  \
        int(*library) params = (int(*) params)next_get(&next);        \
        struct entry e = ENTRY(symbol);                               \
        struct status own;                                            \
        struct single s;                                              \
        int rc;                                                       \
                                                                      \
        if (!call_wanted(e, NULL))                                    \
            return library(requests, status);                         \
        if (!single_begin(&s, requests, e))                           \
            return wait_any(library, requests, status, e, s.m.enter); \
        status = status_wanted(status, &own);                         \
        rc = library(requests, status);                               \
        single_end(&s, rc, requests, status);                         \
        return rc;                                                    \
    }
BOTH(WAIT, Wait, (void *requests, void *status))
BOTH(COMPLETE, Waitany, waiting_begin, (int n, void *requests, int *index, void *status),
     (n, requests, index, status), n, 1, true, index, 1)
BOTH(COMPLETE, Waitsome, waiting_begin, (int n, void *requests, int *done, int *indices, void *status),
     (n, requests, done, indices, status), n, n, true, indices, *done)
BOTH(COMPLETE, Waitall, waiting_begin, (int n, void *requests, void *status), (n, requests, status), n, n,
     true, NULL, 0)
BOTH(COMPLETE, Test, testing_begin, (void *requests, int *flag, void *status), (requests, flag, status), 1, 1,
     *flag, NULL, 0)
BOTH(COMPLETE, Testany, testing_begin, (int n, void *requests, int *index, int *flag, void *status),
     (n, requests, index, flag, status), n, 1, *flag, index, 1)
BOTH(COMPLETE, Testsome, testing_begin, (int n, void *requests, int *done, int *indices, void *status),
     (n, requests, done, indices, status), n, n, true, indices, *done)
BOTH(COMPLETE, Testall, testing_begin, (int n, void *requests, int *flag, void *status),
     (n, requests, flag, status), n, n, *flag, NULL, 0)

/* ---- starting and freeing requests ---- */

struct starting {
    struct p2p m;
    bool ours;
    int messages; /* number of requests that are not known collectives */
};

/* Take sequence numbers before the library is called, in the order of the array: another thread may complete a
 * request as soon as it is started. */
HOT void starting_begin(struct starting *s, const void *requests, int n, struct entry e)
{
    s->ours = call_wanted(e, NULL);
    if (!s->ours)
        return;
    call_entered(e, NULL);
    s->m.ring = call_ring();
    s->m.enter = s->m.ring ? clock_read(s->m.ring->clock) : 0;
    s->messages = n;
    for (int i = 0; request_any() && i < n; i++)
        s->messages -= request_started(s->m.ring, handle_at(requests, i), s->m.enter);
}

HOT void starting_leave(struct starting *s)
{
    if (!s->ours)
        return;
    if (s->m.ring && s->messages > 0)
        hot_p2p_posted(s->m.ring, 0);
    call_over();
}

#define START(symbol, params, args, count)                  \
    EXPORT int symbol params;                               \
    int symbol params                                       \
    {                                                       \
        static struct next next = { #symbol, NULL };        \
        struct starting s;                                  \
        int rc;                                             \
                                                            \
        starting_begin(&s, requests, count, ENTRY(symbol)); \
        rc = ((int(*) params)next_get(&next))args;          \
        starting_leave(&s);                                 \
        return rc;                                          \
    }
#define FREE(symbol)                                           \
    EXPORT int symbol(void *request);                          \
    int symbol(void *request)                                  \
    {                                                          \
        static struct next next = { #symbol, NULL };           \
                                                               \
        if (request_any() && call_wanted(ENTRY(symbol), NULL)) \
            request_freed(call_ring(), handle_at(request, 0)); \
        return ((int (*)(void *))next_get(&next))(request);    \
    }

BOTH(START, Start, (void *requests), (requests), 1)
BOTH(START, Startall, (int n, void *requests), (n, requests), n)
BOTH(FREE, Request_free)
