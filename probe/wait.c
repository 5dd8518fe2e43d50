/* wait.c - wrappers of the calls that complete requests (MPI_Wait, MPI_Test and their variants) and of those
 * that start persistent ones.
 *
 * A wait that completes a collective is recorded in that collective's event; any other wait counts as time in
 * point-to-point.  The call's results show which requests completed, or the handles where the call failed;
 * statuses are never read.  A test costs one load while no collective is in progress, and records nothing when
 * nothing completed. */
#include "probe/p2p.h"
#include "probe/request.h"

struct waiting {
    struct p2p m;
    uint32_t first; /* list of the collectives among the requests, from request_take() */
    bool ours;
    unsigned flags; /* added to the events of those that complete here */
};

/* w->ours becomes false when the call goes straight to the library. */
static void waiting_begin(struct waiting *w, const void *requests, int n, void *frame)
{
    struct ring_live live = { .op = RING_OP_WAIT };

    w->ours = false;
    if (!call_wanted(frame))
        return;
    w->first = request_any() ? request_take(requests, n) : REQUEST_NONE;
    w->m.ring = call_ring();
    w->flags = 0;
    if (!w->m.ring && w->first == REQUEST_NONE)
        return;
    w->ours = true;
    self.frame = frame;
    if (!w->m.ring)
        return;
    w->m.live = true;
    w->m.enter = live.enter = clock_read(w->m.ring->clock);
    if (w->first != REQUEST_NONE) {
        const struct ring_event *e = &request_get(w->first)->event;

        live.comm = e->comm;
        live.seq = e->seq;
        live.bytes = e->bytes;
        live.flags = e->flags;
    }
    ring_enter(w->m.ring, &live);
}

/* The same for a test, which is only recorded if a collective is among the requests. */
static void testing_begin(struct waiting *w, const void *requests, int n, void *frame)
{
    w->ours = false;
    if (!request_any() || !call_wanted(frame))
        return;
    w->first = request_take(requests, n);
    if (w->first == REQUEST_NONE)
        return;
    w->ours = true;
    w->flags = RING_EVENT_UNWAITED;
    w->m.ring = call_ring();
    w->m.live = false;
    w->m.enter = w->m.ring ? clock_read(w->m.ring->clock) : 0;
    self.frame = frame;
}

/* ---- which requests completed ---- */

static bool listed(int index, const int *indices, int n)
{
    for (int i = 0; i < n; i++)
        if (indices[i] == index)
            return true;
    return false;
}

/* The library returned rc.  The requests at the n indices have completed, or all of them where indices is NULL; an index
 * or n below zero is MPI_UNDEFINED.  done false: none has.  After an error those whose handle changed have completed. */
static int waiting_end(struct waiting *w, int rc, const void *requests, bool done, const int *indices, int n)
{
    uint64_t now = 0;

    if (!w->ours)
        return rc;
    if (w->m.ring)
        now = p2p_leave(&w->m);
    if (w->m.ring && w->first == REQUEST_NONE)
        ring_p2p(w->m.ring, 0, now - w->m.enter);
    self.frame = NULL;
    w->flags |= rc ? RING_EVENT_FAILED : 0;
    for (uint32_t at = w->first, next; at != REQUEST_NONE; at = next) {
        struct request *q = request_get(at);

        next = q->next;
        if (rc ? handle_at(requests, (int)q->index) != q->at
               : done && (!indices || listed((int)q->index, indices, n)))
            request_done(w->m.ring, q, w->m.enter, now, w->flags);
        else
            request_keep(q);
    }
    return rc;
}

/* begin: waiting_begin or testing_begin; the others as in waiting_end(), read only where the call succeeded. */
#define COMPLETE(symbol, begin, params, args, count, done, indices, n_indices)              \
    EXPORT int symbol params;                                                               \
    int symbol params                                                                       \
    {                                                                                       \
        static struct next next = { #symbol, NULL };                                        \
        struct waiting w;                                                                   \
        int rc;                                                                             \
                                                                                            \
        begin(&w, requests, count, __builtin_frame_address(0));                             \
        rc = ((int(*) params)next_get(&next))args;                                          \
        return waiting_end(&w, rc, requests, !rc && (done), indices, rc ? 0 : (n_indices)); \
    }

BOTH(COMPLETE, Wait, waiting_begin, (void *requests, void *status), (requests, status), 1, true, NULL, 0)
BOTH(COMPLETE, Waitany, waiting_begin, (int n, void *requests, int *index, void *status),
     (n, requests, index, status), n, true, index, 1)
BOTH(COMPLETE, Waitsome, waiting_begin, (int n, void *requests, int *done, int *indices, void *statuses),
     (n, requests, done, indices, statuses), n, true, indices, *done)
BOTH(COMPLETE, Waitall, waiting_begin, (int n, void *requests, void *statuses), (n, requests, statuses), n,
     true, NULL, 0)
BOTH(COMPLETE, Test, testing_begin, (void *requests, int *flag, void *status), (requests, flag, status), 1,
     *flag, NULL, 0)
BOTH(COMPLETE, Testany, testing_begin, (int n, void *requests, int *index, int *flag, void *status),
     (n, requests, index, flag, status), n, *flag, index, 1)
BOTH(COMPLETE, Testsome, testing_begin, (int n, void *requests, int *done, int *indices, void *statuses),
     (n, requests, done, indices, statuses), n, true, indices, *done)
BOTH(COMPLETE, Testall, testing_begin, (int n, void *requests, int *flag, void *statuses),
     (n, requests, flag, statuses), n, *flag, NULL, 0)

/* ---- starting and freeing requests ---- */

struct starting {
    struct p2p m;
    bool ours;
    int messages; /* number of requests that are not known collectives */
};

/* Take sequence numbers before the library is called, in the order of the array: another thread may complete a
 * request as soon as it is started. */
static void starting_begin(struct starting *s, const void *requests, int n, void *frame)
{
    s->ours = call_wanted(frame);
    if (!s->ours)
        return;
    s->m.ring = call_ring();
    s->m.live = false;
    s->m.enter = s->m.ring ? clock_read(s->m.ring->clock) : 0;
    s->messages = n;
    self.frame = frame;
    for (int i = 0; request_any() && i < n; i++)
        s->messages -= request_started(s->m.ring, handle_at(requests, i), s->m.enter);
}

static void starting_leave(struct starting *s)
{
    if (!s->ours)
        return;
    if (s->m.ring && s->messages > 0)
        ring_p2p(s->m.ring, 0, clock_read(s->m.ring->clock) - s->m.enter);
    self.frame = NULL;
}

#define START(symbol, params, args, count)                               \
    EXPORT int symbol params;                                            \
    int symbol params                                                    \
    {                                                                    \
        static struct next next = { #symbol, NULL };                     \
        struct starting s;                                               \
        int rc;                                                          \
                                                                         \
        starting_begin(&s, requests, count, __builtin_frame_address(0)); \
        rc = ((int(*) params)next_get(&next))args;                       \
        starting_leave(&s);                                              \
        return rc;                                                       \
    }
#define FREE(symbol)                                                  \
    EXPORT int symbol(void *request);                                 \
    int symbol(void *request)                                         \
    {                                                                 \
        static struct next next = { #symbol, NULL };                  \
                                                                      \
        if (request_any() && call_wanted(__builtin_frame_address(0))) \
            request_freed(handle_at(request, 0));                     \
        return ((int (*)(void *))next_get(&next))(request);           \
    }

BOTH(START, Start, (void *requests), (requests), 1)
BOTH(START, Startall, (int n, void *requests), (n, requests), n)
BOTH(FREE, Request_free)
