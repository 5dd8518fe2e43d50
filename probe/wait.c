/* wait.c - wrappers of the calls that complete requests (MPI_Wait, MPI_Test and their variants) and of those
 * that start persistent ones.
 *
 * A wait that completes a collective is recorded in that collective's event; any other wait counts as time in
 * point-to-point.  The call's results show which requests completed, or the handles where the call failed;
 * statuses are never read.  A test costs one load while no collective is in progress, and records nothing when
 * nothing completed. */
#include "probe/p2p.h"
#include "probe/request.h"

typedef int (*wait_fn)(void *, void *);
typedef int (*waitany_fn)(int, void *, int *, void *);
typedef int (*waitsome_fn)(int, void *, int *, int *, void *);
typedef int (*waitall_fn)(int, void *, void *);
typedef int (*test_fn)(void *, int *, void *);
typedef int (*testany_fn)(int, void *, int *, int *, void *);
typedef int (*testall_fn)(int, void *, int *, void *);
typedef int (*start_fn)(void *);
typedef int (*startall_fn)(int, void *);

struct waiting {
    struct p2p m;
    uint32_t first; /* list of the collectives among the requests, from request_take() */
    bool ours;
    unsigned flags; /* added to the events of those that complete here */
};

/* False when the call goes straight to the library. */
static bool waiting_begin(struct waiting *w, const void *requests, int n, void *frame)
{
    struct ring_live live = { .op = RING_OP_WAIT };

    w->ours = false;
    if (!call_wanted(frame))
        return false;
    w->first = request_any() ? request_take(requests, n) : REQUEST_NONE;
    w->m.ring = call_ring();
    w->flags = 0;
    if (!w->m.ring && w->first == REQUEST_NONE)
        return false;
    w->ours = true;
    self.frame = frame;
    if (!w->m.ring)
        return true;
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
    return true;
}

/* The same for a test, which is only recorded if a collective is among the requests. */
static bool testing_begin(struct waiting *w, const void *requests, int n, void *frame)
{
    w->ours = false;
    if (!request_any() || !call_wanted(frame))
        return false;
    w->first = request_take(requests, n);
    if (w->first == REQUEST_NONE)
        return false;
    w->ours = true;
    w->flags = RING_EVENT_UNWAITED;
    w->m.ring = call_ring();
    w->m.live = false;
    w->m.enter = w->m.ring ? clock_read(w->m.ring->clock) : 0;
    self.frame = frame;
    return true;
}

/* The library has returned.  Returns the time, in ticks of the ring's clock. */
static uint64_t waiting_leave(struct waiting *w)
{
    uint64_t now = 0;

    if (w->m.ring) {
        now = p2p_leave(&w->m);
        if (w->first == REQUEST_NONE)
            ring_p2p(w->m.ring, 0, now - w->m.enter);
    }
    self.frame = NULL;
    return now;
}

static uint64_t testing_leave(struct waiting *w)
{
    self.frame = NULL;
    return w->m.ring ? clock_read(w->m.ring->clock) : 0;
}

/* ---- which requests completed ---- */

static void end_all(struct waiting *w, uint64_t now)
{
    for (uint32_t at = w->first, next; at != REQUEST_NONE; at = next) {
        next = request_get(at)->next;
        request_done(w->m.ring, request_get(at), w->m.enter, now, w->flags);
    }
}

static bool listed(int index, const int *indices, int n)
{
    for (int i = 0; i < n; i++)
        if (indices[i] == index)
            return true;
    return false;
}

/* n < 0 or an index < 0 is MPI_UNDEFINED: no request was active. */
static void end_some(struct waiting *w, const int *indices, int n, uint64_t now)
{
    for (uint32_t at = w->first, next; at != REQUEST_NONE; at = next) {
        struct request *q = request_get(at);

        next = q->next;
        if (listed((int)q->index, indices, n))
            request_done(w->m.ring, q, w->m.enter, now, w->flags);
        else
            request_keep(q);
    }
}

static void end_none(struct waiting *w)
{
    end_some(w, NULL, 0, 0);
}

/* The call failed; requests whose handle changed have completed. */
static void end_changed(struct waiting *w, const void *requests, uint64_t now)
{
    w->flags |= RING_EVENT_FAILED;
    for (uint32_t at = w->first, next; at != REQUEST_NONE; at = next) {
        struct request *q = request_get(at);

        next = q->next;
        if (handle_at(requests, (int)q->index) != q->at)
            request_done(w->m.ring, q, w->m.enter, now, w->flags);
        else
            request_keep(q);
    }
}

/* ---- waits ---- */

static int wait_one(struct next *n, void *request, void *status, void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    waiting_begin(&w, request, 1, frame);
    rc = ((wait_fn)next_get(n))(request, status);
    if (!w.ours)
        return rc;
    now = waiting_leave(&w);
    if (rc)
        end_changed(&w, request, now);
    else
        end_all(&w, now);
    return rc;
}

static int wait_any(struct next *n, int count, void *requests, int *index, void *status, void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    waiting_begin(&w, requests, count, frame);
    rc = ((waitany_fn)next_get(n))(count, requests, index, status);
    if (!w.ours)
        return rc;
    now = waiting_leave(&w);
    if (rc)
        end_changed(&w, requests, now);
    else
        end_some(&w, index, 1, now);
    return rc;
}

static int wait_some(struct next *n, int count, void *requests, int *done, int *indices, void *statuses,
                     void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    waiting_begin(&w, requests, count, frame);
    rc = ((waitsome_fn)next_get(n))(count, requests, done, indices, statuses);
    if (!w.ours)
        return rc;
    now = waiting_leave(&w);
    if (rc)
        end_changed(&w, requests, now);
    else
        end_some(&w, indices, *done, now);
    return rc;
}

static int wait_all(struct next *n, int count, void *requests, void *statuses, void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    waiting_begin(&w, requests, count, frame);
    rc = ((waitall_fn)next_get(n))(count, requests, statuses);
    if (!w.ours)
        return rc;
    now = waiting_leave(&w);
    if (rc)
        end_changed(&w, requests, now);
    else
        end_all(&w, now);
    return rc;
}

/* ---- tests ---- */

static int test_one(struct next *n, void *request, int *flag, void *status, void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    testing_begin(&w, request, 1, frame);
    rc = ((test_fn)next_get(n))(request, flag, status);
    if (!w.ours)
        return rc;
    now = testing_leave(&w);
    if (rc)
        end_changed(&w, request, now);
    else if (!*flag)
        end_none(&w);
    else
        end_all(&w, now);
    return rc;
}

static int test_any(struct next *n, int count, void *requests, int *index, int *flag, void *status,
                    void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    testing_begin(&w, requests, count, frame);
    rc = ((testany_fn)next_get(n))(count, requests, index, flag, status);
    if (!w.ours)
        return rc;
    now = testing_leave(&w);
    if (rc)
        end_changed(&w, requests, now);
    else if (!*flag)
        end_none(&w);
    else
        end_some(&w, index, 1, now);
    return rc;
}

static int test_some(struct next *n, int count, void *requests, int *done, int *indices, void *statuses,
                     void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    testing_begin(&w, requests, count, frame);
    rc = ((waitsome_fn)next_get(n))(count, requests, done, indices, statuses);
    if (!w.ours)
        return rc;
    now = testing_leave(&w);
    if (rc)
        end_changed(&w, requests, now);
    else
        end_some(&w, indices, *done, now);
    return rc;
}

static int test_all(struct next *n, int count, void *requests, int *flag, void *statuses, void *frame)
{
    struct waiting w;
    uint64_t now;
    int rc;

    testing_begin(&w, requests, count, frame);
    rc = ((testall_fn)next_get(n))(count, requests, flag, statuses);
    if (!w.ours)
        return rc;
    now = testing_leave(&w);
    if (rc)
        end_changed(&w, requests, now);
    else if (!*flag)
        end_none(&w);
    else
        end_all(&w, now);
    return rc;
}

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

static int start_one(struct next *n, void *request, void *frame)
{
    struct starting s;
    int rc;

    starting_begin(&s, request, 1, frame);
    rc = ((start_fn)next_get(n))(request);
    starting_leave(&s);
    return rc;
}

static int start_all(struct next *n, int count, void *requests, void *frame)
{
    struct starting s;
    int rc;

    starting_begin(&s, requests, count, frame);
    rc = ((startall_fn)next_get(n))(count, requests);
    starting_leave(&s);
    return rc;
}

static int free_one(struct next *n, void *request, void *frame)
{
    if (request_any() && call_wanted(frame))
        request_freed(handle_at(request, 0));
    return ((start_fn)next_get(n))(request);
}

/* ---- the symbols ---- */

#define AS(symbol, function, params, ...)                                \
    EXPORT int symbol params;                                            \
    int symbol params                                                    \
    {                                                                    \
        static struct next next = { #symbol, NULL };                     \
                                                                         \
        return function(&next, __VA_ARGS__, __builtin_frame_address(0)); \
    }
#define BOTH(name, function, params, ...)         \
    AS(MPI_##name, function, params, __VA_ARGS__) \
    AS(PMPI_##name, function, params, __VA_ARGS__)

BOTH(Wait, wait_one, (void *request, void *status), request, status)
BOTH(Waitany, wait_any, (int n, void *requests, int *index, void *status), n, requests, index, status)
BOTH(Waitsome, wait_some, (int n, void *requests, int *done, int *indices, void *statuses), n, requests, done,
     indices, statuses)
BOTH(Waitall, wait_all, (int n, void *requests, void *statuses), n, requests, statuses)
BOTH(Test, test_one, (void *request, int *flag, void *status), request, flag, status)
BOTH(Testany, test_any, (int n, void *requests, int *index, int *flag, void *status), n, requests, index,
     flag, status)
BOTH(Testsome, test_some, (int n, void *requests, int *done, int *indices, void *statuses), n, requests, done,
     indices, statuses)
BOTH(Testall, test_all, (int n, void *requests, int *flag, void *statuses), n, requests, flag, statuses)
BOTH(Start, start_one, (void *request), request)
BOTH(Startall, start_all, (int n, void *requests), n, requests)
BOTH(Request_free, free_one, (void *request), request)
