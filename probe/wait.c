/* wait.c - wrappers of the calls that complete requests (MPI_Wait, MPI_Test and their variants), and of those
 * that start, cancel and free them.
 *
 * A call that completes a collective is recorded in that collective's event; any other counts as time in
 * point-to-point.  Messages have events of their own, with the wait that completed them.  The call's results
 * show which requests completed: their handles are copied before the call, because the library overwrites
 * them.  A test costs one load while no request is in progress, and records nothing when nothing completed.
 * A loop of tests holds the rank as a wait does, also while it sleeps in between: from the first test that
 * found a request incomplete, or the first since a test completed another one, because the program may have
 * been busy with that, until the test that completes it.
 *
 * Nothing that the call was given is looked at before the library has accepted it, but for the handles: what
 * is no array of them is NULL or has no element. */
#include <string.h>

#include "probe/message.h"
#include "probe/p2p.h"
#include "probe/request.h"

#define FEW 64u /* requests whose handles and statuses are in the caller's frame */
/* Requests of one call, lent to one thread at a time; what completes by a call with more is counted as
 * missed. */
#define LENT_MAX 16384u
/* Requests that a test finds incomplete and looks at; the next test goes on behind them. */
#define POLLS_MAX 16u

static struct { /* 512 KiB of zero pages, resident only where used */
    struct status statuses[LENT_MAX];
    handle handles[LENT_MAX];
} lendable;
static atomic_flag lent = ATOMIC_FLAG_INIT;

struct waiting {
    struct p2p m;
    bool ours, test, lent;
    bool lost;       /* there were too many: what completes is counted as missed */
    bool completed;  /* something that is known */
    bool collective; /* among it is one, whose event has the time */
    uint64_t since;  /* ticks: when the loop of tests began that ends here; 0: there is none */
    int n;
    const void *handles;   /* copied, as the program has them; NULL: held is not, or none was known */
    struct request **held; /* the entries, where several threads may call MPI at the same time; else NULL */
    const void *statuses;  /* the program's or ours; NULL: none */
    handle few_handles[FEW];
    struct status few_statuses[FEW];
};

/* ---- before the call ---- */

/* The library writes the statuses where the program wants them, or, where it ignores them, where the bytes of
 * receives can be read. */
static void *waiting_keep(struct waiting *w, const void *requests, int n, void *statuses, int n_statuses)
{
    void *handles = w->few_handles, *own = w->few_statuses;
    bool ignored = status_ignored(statuses);

    w->n = n;
    w->lent = w->lost = false;
    w->handles = NULL;
    w->held = NULL;
    w->statuses = ignored ? NULL : statuses;
    if (!request_any())
        return statuses;
    if (n > (int)FEW) {
        w->lost = n > (int)LENT_MAX || atomic_flag_test_and_set_explicit(&lent, memory_order_acquire);
        if (w->lost)
            return statuses;
        w->lent = true;
        handles = lendable.handles;
        own = lendable.statuses;
    }
    if (probe.concurrent) {
        w->held = handles;
        for (int i = 0; i < n; i++)
            if ((w->held[i] = request_find(handle_at(requests, i))))
                atomic_store_explicit(&w->held[i]->held, true, memory_order_release);
    } else {
        memcpy(handles, requests, (size_t)n * handle_bytes());
        w->handles = handles;
    }
    if (!ignored || !n_statuses || probe.abi.ignored_stay)
        return statuses;
    w->statuses = own;
    return own;
}

static bool known(const struct waiting *w)
{
    return w->handles || w->held;
}

/* Of request i.  NULL: nothing is known of it. */
static struct request *entry_of(const struct waiting *w, int i)
{
    return w->held ? w->held[i] : request_find(handle_at(w->handles, i));
}

/* The first collective among the first requests: a wait is shown as one for it. */
static const struct request *collective_of(const struct waiting *w)
{
    if (!atomic_load_explicit(&request_collectives, memory_order_relaxed))
        return NULL;
    for (int i = 0; known(w) && i < w->n && i < (int)FEW; i++) {
        const struct request *q = entry_of(w, i);

        if (q && !request_is_message(q))
            return q;
    }
    return NULL;
}

/* Returns where the library is to write the statuses.  w->ours becomes false when the call goes straight to
 * the library.  enter: when it began; 0: now. */
static void *waiting_begin_at(struct waiting *w, const void *requests, int n, void *statuses, int n_statuses,
                              struct entry e, uint64_t enter)
{
    const struct request *q;

    w->test = w->completed = w->collective = false;
    w->since = 0;
    w->m.ring = call_ring();
    w->ours = w->m.ring || request_any();
    if (w->m.ring) {
        w->m.enter = enter ? enter : clock_read(w->m.ring->clock); /* first, see p2p_begin() */
        nested_begin(w->m.ring, e.frame);
    }
    if (!w->ours)
        return statuses;
    call_entered(e, NULL);
    statuses = waiting_keep(w, requests, n, statuses, n_statuses);
    if (!w->m.ring)
        return statuses;
    q = collective_of(w);
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
    return statuses;
}

static void *waiting_begin(struct waiting *w, const void *requests, int n, void *statuses, int n_statuses,
                           struct entry e)
{
    w->ours = false;
    if (!requests || n <= 0 || !call_wanted(e, NULL))
        return statuses;
    return waiting_begin_at(w, requests, n, statuses, n_statuses, e, 0);
}

/* The same for a test, which is only recorded if a known operation may be among the requests. */
static void *testing_begin(struct waiting *w, const void *requests, int n, void *statuses, int n_statuses,
                           struct entry e)
{
    w->ours = false;
    if (!request_any() || !requests || n <= 0 || !call_wanted(e, NULL))
        return statuses;
    w->ours = w->test = true;
    w->completed = w->collective = false;
    w->since = 0;
    w->m.ring = call_ring();
    if (w->m.ring)
        nested_begin(w->m.ring, e.frame);
    call_entered(e, NULL);
    return waiting_keep(w, requests, n, statuses, n_statuses);
}

/* ---- one message, waited for alone ---- */

/* Whether a message is complete by its request alone, or by the bytes in its status. */
HOT bool message_plain(const struct request *q, const void *status)
{
    return q->event.op == RING_OP_SEND ||
           (status && !message_wild(&q->event) && !q->is.partitioned && !status_cancelled(status));
}

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
    s->q = request_message(h);
    if (!s->q)
        return false;
    if (__builtin_expect(probe.concurrent, 0))
        atomic_store_explicit(&s->q->held, true, memory_order_release);
    nested_begin(s->m.ring, e.frame);
    call_entered(e, NULL);
    s->m.at = hot_enter_message(s->m.ring, s->m.enter, true, hot_message_get(&s->q->event));
    return true;
}

/* The wait failed, or its message is not plain. */
static __attribute__((noinline)) void single_end_rare(const struct single *s, uint64_t now, handle before,
                                                      int rc, const void *requests, const void *status)
{
    struct ring *r = s->m.ring;

    if (hot_is_shown(r, s->m.at, s->m.enter))
        hot_left(r, now);
    if (!rc)
        request_done(r, s->q, s->m.enter, now, 0, status);
    else if (handle_at(requests, 0) != before || (s->q->is.persistent && call_took_part(rc)))
        request_done(r, s->q, s->m.enter, now, RING_EVENT_FAILED, NULL);
    else
        atomic_store_explicit(&s->q->held, false, memory_order_release);
}

HOT void single_end(struct single *s, int rc, handle before, const void *requests, const void *status)
{
    struct ring *r = s->m.ring;
    struct request *q = s->q;
    uint64_t now = p2p_leave(&s->m, 0);
    bool received = q->event.op == RING_OP_RECV;

    if (__builtin_expect(rc || !message_plain(q, status) || !hot_is_shown(r, s->m.at, s->m.enter), 0)) {
        single_end_rare(s, now, before, rc, requests, status);
        return;
    }
    if (!hot_leave_wait(r, s->m.at, &q->event, received, received ? status_bytes(status) : 0, now))
        hot_left(r, now);
    request_complete(q);
}

/* ---- after the call ---- */

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

/* A request that a wait for several has completed, where no other thread may be at work.  False: it is none
 * of the most frequent, which are unknown, or messages as they were posted. */
HOT bool waited_plain(struct ring *r, handle h, const void *status, uint64_t wait, uint64_t now)
{
    size_t at = request_home(request_key(h));
    struct request *q = &request_slots[at];
    uint64_t enter = q->event.enter;
    struct hot_message m;

    if (atomic_load_explicit(&request_keys[at], memory_order_relaxed) != request_key(h))
        return !atomic_load_explicit(&request_displaced, memory_order_relaxed);
    if (__builtin_expect(q->is.all != REQUEST_POSTED || !request_is_message(q) || !message_plain(q, status),
                         0))
        return false;
    m = hot_message_get(&q->event);
    if (q->event.op == RING_OP_RECV)
        m.bytes = status_bytes(status);
    request_count_add(-1u);
    atomic_store_explicit(&request_keys[at], REQUEST_FREE, memory_order_release);
    hot_message_add(r, enter, wait, now, m);
    return true;
}

HOT void note_completed(struct waiting *w, const struct request *q)
{
    w->completed |= q->is.live;
    w->collective |= q->is.live & !request_is_message(q);
}

/* Request i completed, and its status is number j. */
static void completed(struct waiting *w, int i, int j, uint64_t now, unsigned flags)
{
    struct request *q = entry_of(w, i);
    const void *status = w->statuses ? status_at(w->statuses, j) : NULL;
    uint64_t since;

    if (!q)
        return;
    if (w->held)
        w->held[i] = NULL; /* it is held until its entry is free */
    note_completed(w, q);
    if (!w->test) {
        waiting_done(w->m.ring, q, w->m.enter, now, flags, status);
        return;
    }
    /* since when the loop of tests that ends with this request has held the rank; 0: it was complete at the
     * first of them */
    since = !q->polled || !self.polling ? 0 : q->polled > self.polling ? q->polled : self.polling;
    if (since && (!w->since || since < w->since))
        w->since = since;
    waiting_done(w->m.ring, q, since ? since : now, now, since ? flags : flags | RING_EVENT_UNWAITED, status);
}

/* A test found requests incomplete; now: ticks, or 0.  It costs the same for many: each is looked at in its
 * turn. */
static void polled(const struct waiting *w, uint64_t now)
{
    int n = w->n < (int)POLLS_MAX ? w->n : (int)POLLS_MAX, at = self.poll_from;

    if (w->m.ring && !self.polling)
        self.polling = now = now ? now : clock_read(w->m.ring->clock);
    for (int i = 0; i < n && w->m.ring; i++) {
        struct request *q;

        at = at < w->n ? at : 0;
        q = entry_of(w, at++);
        if (!q || q->polled)
            continue;
        if (!now)
            now = clock_read(w->m.ring->clock);
        q->polled = now;
    }
    self.poll_from = at;
}

/* After an error, those have completed whose handle changed or, where the statuses tell of each request,
 * whose status says so. */
static void waiting_failed(struct waiting *w, int rc, const void *requests, uint64_t now, bool all)
{
    bool by_status = all && w->statuses && status_in_status(rc), took_part = call_took_part(rc);

    for (int i = 0; i < w->n; i++) {
        int error = by_status ? status_word(status_at(w->statuses, i), probe.abi.status_error) : 0;
        struct request *q = entry_of(w, i);
        bool stays;

        if (!q)
            continue;
        if (by_status)
            stays = status_pending(error);
        else if (q->is.persistent)
            stays = w->n > 1 || !took_part;
        else
            stays = handle_at(requests, i) != probe.abi.null_request;
        if (stays)
            continue;
        if (by_status && !error) {
            completed(w, i, i, now, 0);
            continue;
        }
        if (w->held)
            w->held[i] = NULL;
        note_completed(w, q);
        request_done(w->m.ring, q, w->test ? now : w->m.enter, now, RING_EVENT_FAILED, NULL);
    }
}

/* The library returned rc.  The requests at the n indices have completed, or all of them where indices is
 * NULL; an index or n below zero is MPI_UNDEFINED.  done false: none has. */
static int waiting_end(struct waiting *w, int rc, const void *requests, bool done, const int *indices, int n,
                       bool all)
{
    struct ring *r = w->m.ring;
    uint64_t now = 0, counted = 0, leave, since;

    if (!w->ours)
        return rc;
    call_over();
    if (r && (!w->test || done || rc))
        now = clock_read(r->clock);
    if (r && !w->test) {
        hot_left(r, now);
    } else if (now) {
        /* Time until the newest call that has an event or was shown ended is counted already. */
        counted = atomic_load_explicit(&r->file->left, memory_order_relaxed);
        leave = r->head ? r->events[(r->head - 1) & r->mask].leave : 0;
        counted = counted > leave ? counted : leave;
    }
    if (!known(w)) {
        for (int i = 0; w->lost && (done || rc) && i < (indices && !rc ? n : w->n); i++)
            ring_message_missed(probe.main);
    } else if (rc) {
        waiting_failed(w, rc, requests, now, all);
    } else if (!done) {
        if (w->test)
            polled(w, 0);
    } else if (!indices) {
        bool alone = r && !w->test && w->handles;

        for (int i = 0; i < w->n; i++)
            if (!alone || !waited_plain(r, handle_at(w->handles, i),
                                        w->statuses ? status_at(w->statuses, i) : NULL, w->m.enter, now))
                completed(w, i, i, now, 0);
    } else {
        for (int j = 0; j < n; j++)
            if (indices[j] >= 0 && indices[j] < w->n)
                completed(w, indices[j], j, now, 0);
        if (w->test && n < w->n)
            polled(w, now);
    }
    /* The time that a wait, or the loop of tests that ends here, held the rank for messages. */
    if (now && !w->collective) {
        since = !w->test ? w->m.enter : w->since && w->since < counted ? counted : w->since;
        if (since)
            hot_p2p(r, 0, now - since);
    }
    if (w->test && w->completed)
        self.polling = 0;
    for (int i = 0; w->held && i < w->n; i++)
        if (w->held[i])
            atomic_store_explicit(&w->held[i]->held, false, memory_order_release);
    if (w->lent)
        atomic_flag_clear_explicit(&lent, memory_order_release);
    return rc;
}

/* begin: waiting_begin or testing_begin; n_statuses: as many as the library may write; the others as in
 * waiting_end(), read only where the call succeeded. */
#define COMPLETE(symbol, begin, params, args, count, n_statuses, done, indices, n_indices, all)  \
    EXPORTED(int symbol params)                                                                  \
    {                                                                                            \
        static struct next next = { #symbol, NULL };                                             \
        struct waiting w;                                                                        \
        int rc;                                                                                  \
                                                                                                 \
        status = begin(&w, requests, count, status, n_statuses, ENTRY(symbol));                  \
        rc = ((int(*) params)next_get(&next))args;                                               \
        return waiting_end(&w, rc, requests, !rc && (done), indices, rc ? 0 : (n_indices), all); \
    }

/* The call is wanted.  enter: when it began; 0: not known. */
static int wait_any(int (*next)(void *, void *), void *requests, void *status, struct entry e, uint64_t enter)
{
    struct waiting w;
    int rc;

    if (request_shared(handle_at(requests, 0))) { /* complete already: there is nothing to time */
        call_entered(e, NULL);
        w.m.ring = call_ring();
        rc = next(requests, status);
        p2p_posted(&w.m, 0);
        return rc;
    }
    status = waiting_begin_at(&w, requests, 1, status, 1, e, enter);
    rc = next(requests, status);
    return waiting_end(&w, rc, requests, !rc, NULL, 0, false);
}

HOT int wait_one(struct next *next, void *requests, void *status, struct entry e)
{
    int (*library)(void *, void *) = (int (*)(void *, void *))next_get(next);
    struct status own;
    struct single s;
    handle before;
    int rc;

    if (!requests || !call_wanted(e, NULL))
        return library(requests, status);
    if (!single_begin(&s, requests, e))
        return wait_any(library, requests, status, e, s.m.enter);
    before = handle_at(requests, 0);
    status = status_wanted(status, &own);
    rc = library(requests, status);
    single_end(&s, rc, before, requests, status);
    return rc;
}

typedef int test_fn(void *requests, int *flag, void *status);

/* The call is wanted. */
static __attribute__((noinline)) int test_any(test_fn *library, void *requests, int *flag, void *status,
                                              struct entry e)
{
    struct waiting w;
    int rc;

    status = testing_begin(&w, requests, 1, status, 1, e);
    rc = library(requests, flag, status);
    return waiting_end(&w, rc, requests, !rc && *flag, NULL, 0, false);
}

/* A test of one message has completed it, or failed. */
static __attribute__((noinline)) int test_end(struct ring *r, handle before, int rc, const void *requests,
                                              const void *status)
{
    struct waiting w;

    w.m.ring = r;
    w.ours = w.test = true;
    w.lent = w.lost = w.completed = w.collective = false;
    w.since = 0;
    w.n = 1;
    w.few_handles[0] = before;
    w.handles = w.few_handles;
    w.held = NULL;
    w.statuses = status;
    return waiting_end(&w, rc, requests, !rc, NULL, 0, false);
}

/* Most tests are of one message, and find it incomplete. */
HOT int test_one(struct next *next, void *requests, int *flag, void *status, struct entry e)
{
    test_fn *library = (test_fn *)next_get(next);
    struct request *q = NULL;
    struct status own;
    struct ring *r;
    handle before;
    int rc;

    if (!request_any() || !requests || !call_wanted(e, NULL))
        return library(requests, flag, status);
    before = handle_at(requests, 0);
    r = call_ring();
    if (r && !probe.concurrent)
        q = request_message(before);
    if (!q)
        return test_any(library, requests, flag, status, e);
    nested_begin(r, e.frame);
    call_entered(e, NULL);
    status = status_wanted(status, &own);
    rc = library(requests, flag, status);
    if (rc || *flag)
        return test_end(r, before, rc, requests, status);
    call_over();
    if (__builtin_expect(!self.polling || !q->polled, 0)) {
        uint64_t now = clock_read(r->clock);

        self.polling = self.polling ? self.polling : now;
        q->polled = q->polled ? q->polled : now;
    }
    return rc;
}

#define TEST(symbol)                                                                                  \
    WRAPPER(int, symbol, (void *requests, int *flag, void *status), test_one, requests, flag, status, \
            ENTRY(symbol))
#define WAIT(symbol) \
    WRAPPER(int, symbol, (void *requests, void *status), wait_one, requests, status, ENTRY(symbol))
BOTH(WAIT, Wait)
BOTH(COMPLETE, Waitany, waiting_begin, (int n, void *requests, int *index, void *status),
     (n, requests, index, status), n, 1, true, index, 1, false)
BOTH(COMPLETE, Waitsome, waiting_begin, (int n, void *requests, int *done, int *indices, void *status),
     (n, requests, done, indices, status), n, n, *done > 0, indices, *done, false)
BOTH(COMPLETE, Waitall, waiting_begin, (int n, void *requests, void *status), (n, requests, status), n, n,
     true, NULL, 0, true)
BOTH(TEST, Test)
BOTH(COMPLETE, Testany, testing_begin, (int n, void *requests, int *index, int *flag, void *status),
     (n, requests, index, flag, status), n, 1, *flag, index, 1, false)
BOTH(COMPLETE, Testsome, testing_begin, (int n, void *requests, int *done, int *indices, void *status),
     (n, requests, done, indices, status), n, n, *done > 0, indices, *done, false)
BOTH(COMPLETE, Testall, testing_begin, (int n, void *requests, int *flag, void *status),
     (n, requests, flag, status), n, n, *flag, NULL, 0, true)

/* ---- starting, cancelling and freeing requests ---- */

/* all: the call is MPI_Startall. */
HOT int start_requests(struct next *next, int n, void *requests, bool all, struct entry e)
{
    bool ours = requests && call_wanted(e, NULL);
    int messages = n, rc; /* requests that are not known collectives */
    struct ring *r = NULL;
    uint64_t now = 0;

    if (ours) {
        call_entered(e, NULL);
        r = call_ring();
        now = r ? clock_read(r->clock) : 0;
        /* Numbers are taken before the library is called, in the order of the array: another thread may
         * complete a request as soon as it is started. */
        for (int i = 0; request_any() && i < n; i++)
            messages -= request_started(r, handle_at(requests, i), now);
    }
    rc = all ? ((int (*)(int, void *))next_get(next))(n, requests)
             : ((int (*)(void *))next_get(next))(requests);
    if (!ours)
        return rc;
    for (int i = n; __builtin_expect(rc, 0) && i-- > 0;)
        request_not_started(handle_at(requests, i), now);
    if (r && messages > 0 && !rc)
        hot_p2p_posted(r, 0);
    call_over();
    return rc;
}

#define START(symbol) WRAPPER(int, symbol, (void *request), start_requests, 1, request, false, ENTRY(symbol))
#define STARTALL(symbol) \
    WRAPPER(int, symbol, (int n, void *requests), start_requests, n, requests, true, ENTRY(symbol))
BOTH(START, Start)
BOTH(STARTALL, Startall)

static int free_request(struct next *next, void *request, struct entry e)
{
    bool ours = request && request_any() && call_wanted(e, NULL);
    struct request *q = ours ? request_freeing(handle_at(request, 0)) : NULL;
    int rc = ((int (*)(void *))next_get(next))(request);

    if (q && !rc)
        request_freed(call_ring(), q);
    else if (q)
        request_stays(q);
    return rc;
}

#define FREE(symbol) WRAPPER(int, symbol, (void *request), free_request, request, ENTRY(symbol))
BOTH(FREE, Request_free)

/* A receive that is cancelled at once gives its number to the next of its stream, which may complete before
 * the program waits for this one. */
static int cancel_request(struct next *next, void *request, struct entry e)
{
    static struct next get_status = { "PMPI_Request_get_status", NULL };
    bool ours = request && request_any() && call_wanted(e, NULL);
    int rc = ((int (*)(void *))next_get(next))(request), flag = 0;
    handle h = ours && !rc ? handle_at(request, 0) : NULL;
    struct status status;

    if (h && request_find(h) && next_symbol(get_status.name) &&
        !((int (*)(handle, int *, void *))next_get(&get_status))(h, &flag, &status))
        request_cancelled(h, flag ? &status : NULL);
    return rc;
}

#define CANCEL(symbol) WRAPPER(int, symbol, (void *request), cancel_request, request, ENTRY(symbol))
BOTH(CANCEL, Cancel)
