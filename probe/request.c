/* request.c - see request.h */
#include "probe/request.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "probe/message.h"

#define SLOTS      REQUEST_SLOTS
#define WINDOW     16u
#define TABLES_MAX 7u /* after the first one; the last holds half a million requests */

_Atomic uint64_t request_keys[SLOTS];
struct request request_slots[SLOTS]; /* 544 KiB of zero pages with keys, resident only where used */
atomic_uint request_count, request_collectives, request_displaced;

/* A program that has thousands of requests at a time gets these, one after the other; never freed. */
static struct table {
    struct request *slots;
    _Atomic uint64_t *keys;
    uint32_t size;
} tables[TABLES_MAX + 1] = { { request_slots, request_keys, SLOTS } };
static atomic_uint n_tables = 1;
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;

static bool add_table(unsigned known)
{
    unsigned n;
    bool grown = false;

    pthread_mutex_lock(&growing);
    n = atomic_load_explicit(&n_tables, memory_order_relaxed);
    if (n > known) {
        grown = true; /* another thread was faster */
    } else if (n <= TABLES_MAX) {
        uint32_t size = tables[n - 1].size * 2;
        size_t bytes = size * (sizeof(struct request) + sizeof(uint64_t));
        int saved = errno;
        void *at =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        errno = saved;
        if (at != MAP_FAILED) {
            tables[n] = (struct table){ at, (void *)((char *)at + size * sizeof(struct request)), size };
            atomic_store_explicit(&n_tables, n + 1, memory_order_release);
            grown = true;
        }
    }
    pthread_mutex_unlock(&growing);
    return grown;
}

static uint32_t home(const struct table *t, handle h)
{
    return (uint32_t)(request_key(h) * 0x9e3779b97f4a7c15u >> (64 - __builtin_ctz(t->size)));
}

static _Atomic uint64_t *key_of(const struct request *q)
{
    for (unsigned i = 0;; i++)
        if (q >= tables[i].slots && q < tables[i].slots + tables[i].size)
            return &tables[i].keys[q - tables[i].slots];
}

/* Locked instructions take as long as the rest of a request's bookkeeping: only where threads may call MPI at
 * the same time. */
static void add_count(atomic_uint *counter, unsigned n)
{
    if (probe.concurrent)
        atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
    else
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                              memory_order_relaxed);
}

static bool claim_key(_Atomic uint64_t *key)
{
    uint64_t expected = REQUEST_FREE;

    if (atomic_load_explicit(key, memory_order_relaxed) != REQUEST_FREE)
        return false;
    if (probe.concurrent)
        return atomic_compare_exchange_strong_explicit(key, &expected, REQUEST_BUSY, memory_order_acquire,
                                                       memory_order_relaxed);
    atomic_store_explicit(key, REQUEST_BUSY, memory_order_relaxed);
    return true;
}

static struct request *find_displaced(handle h, uint64_t key)
{
    unsigned n = atomic_load_explicit(&n_tables, memory_order_acquire);

    for (unsigned k = 0; k < n; k++) {
        const struct table *t = &tables[k];
        uint32_t at = home(t, h);

        for (uint32_t i = 0; i < WINDOW; i++, at = (at + 1) & (t->size - 1))
            if (atomic_load_explicit(&t->keys[at], memory_order_acquire) == key)
                return &t->slots[at];
    }
    return NULL;
}

HOT struct request *find_entry(handle h)
{
    uint64_t key = request_key(h);
    size_t at = request_home(key);

    if (__builtin_expect(atomic_load_explicit(&request_keys[at], memory_order_acquire) == key, 1))
        return &request_slots[at];
    return atomic_load_explicit(&request_displaced, memory_order_relaxed) ? find_displaced(h, key) : NULL;
}

struct request *request_find(handle h)
{
    struct request *q = find_entry(h);

    return q && q->is.active ? q : NULL;
}

void request_over(struct request *q)
{
    _Atomic uint64_t *key = key_of(q);

    if (q->is.displaced)
        add_count(&request_displaced, -1u);
    if (!request_is_message(q))
        add_count(&request_collectives, -1u);
    atomic_store_explicit(key, REQUEST_FREE, memory_order_release);
    add_count(&request_count, -1u);
}

static void count_missed(unsigned op)
{
    if (ring_op_is_message(op))
        ring_message_missed(probe.main);
    else
        ring_missed(probe.main);
}

/* A slot for h; the caller sets its key once it is filled in.  NULL: there is none. */
static struct request *slot_for(handle h, unsigned op)
{
    uint64_t key = request_key(h);
    size_t first = request_home(key);
    struct request *q;
    unsigned k = 0, n;

    if (!atomic_load_explicit(&request_displaced, memory_order_relaxed) && claim_key(&request_keys[first])) {
        request_slots[first].is.displaced = false;
        return &request_slots[first];
    }
    q = find_entry(h);
    /* The library gave the handle to a new request: that of the entry is complete.  The thread that waits for
     * it will say so, unless it has freed it by now; without one its completion was not seen. */
    if (q && atomic_load_explicit(&q->held, memory_order_acquire)) {
        atomic_compare_exchange_strong_explicit(key_of(q), &key, key | REQUEST_ORPHAN, memory_order_acq_rel,
                                                memory_order_relaxed);
    } else if (q) {
        if (q->is.active)
            count_missed(q->event.op);
        request_over(q);
    }
    do {
        n = atomic_load_explicit(&n_tables, memory_order_acquire);
        for (; k < n; k++) {
            const struct table *t = &tables[k];
            uint32_t at = home(t, h);

            for (uint32_t i = 0; i < WINDOW; i++, at = (at + 1) & (t->size - 1))
                if (claim_key(&t->keys[at])) {
                    t->slots[at].is.displaced = k > 0 || i > 0;
                    return &t->slots[at];
                }
        }
    } while (add_table(n));
    count_missed(op);
    return NULL;
}

static void keep_request(handle h, const struct ring_event *e, struct comm *c, bool persistent, bool live,
                         bool partitioned)
{
    struct request *q = slot_for(h, e->op);

    if (!q)
        return;
    q->event = *e;
    q->comm = c;
    q->polled = 0;
    q->is.persistent = persistent;
    q->is.active = !persistent;
    q->is.live = live;
    atomic_store_explicit(&q->held, false, memory_order_relaxed);
    q->is.partitioned = partitioned;
    q->is.given_back = false;
    if (q->is.displaced)
        add_count(&request_displaced, 1);
    if (!request_is_message(q))
        add_count(&request_collectives, 1);
    add_count(&request_count, 1);
    atomic_store_explicit(key_of(q), request_key(h), memory_order_release);
}

void request_posted(struct ring *r, handle h, const struct ring_event *e, struct comm *c)
{
    struct ring_event done;

    if (!request_shared(h)) {
        keep_request(h, e, c, false, r != NULL, false);
    } else if (e->op == RING_OP_RECV) { /* its status is lost */
        count_missed(e->op);
    } else if (r) {
        done = *e;
        done.flags |= RING_EVENT_UNWAITED;
        ring_emit(r, &done);
    }
}

void request_posted_message(struct ring *r, handle h, struct comm *c, uint64_t enter, uint64_t comm,
                            uint64_t bytes, uint64_t number_partner, uint64_t tag_op)
{
    struct hot_message m = { comm, bytes, number_partner, tag_op };
    struct ring_event e = { .leave = enter };

    hot_message_set(&e, enter, &m);
    request_posted(r, h, &e, c);
}

void request_made(handle h, struct comm *c, const struct ring_event *e, bool partitioned)
{
    keep_request(h, e, c, true, false, partitioned);
}

/* Messages in parts match among themselves: they have streams and numbers of their own. */
static struct number stream_of(const struct request *q)
{
    return number_of(message_key(&q->event) ^ (q->is.partitioned ? 0x9e3779b97f4a7c15u : 0));
}

bool request_started(struct ring *r, handle h, uint64_t now)
{
    struct request *q = find_entry(h);

    if (!q || !q->is.persistent || q->is.active)
        return false;
    if (!request_is_message(q))
        q->event.seq = q->comm->name == q->event.comm ? comm_next_seq(q->comm) : 0;
    else if (!message_wild(&q->event))
        hot_message_number(&q->event,
                           number_count(stream_of(q)) | (q->is.partitioned ? RING_PARTITIONED : 0));
    q->event.enter = now;
    q->polled = 0;
    q->is.given_back = false;
    q->is.active = true;
    q->is.live = r != NULL;
    return !request_is_message(q);
}

void request_not_started(handle h, uint64_t now)
{
    struct request *q = find_entry(h);

    if (!q || !q->is.persistent || !q->is.active || q->event.enter != now)
        return;
    if (!request_is_message(q))
        comm_undo_seq(q->comm, q->event.seq);
    else if (!message_wild(&q->event))
        number_undo(stream_of(q).key, q->event.seq & ~RING_PARTITIONED);
    q->is.active = q->is.live = false;
}

struct request *request_freeing(handle h)
{
    struct request *q = find_entry(h);

    if (q)
        atomic_store_explicit(&q->held, true, memory_order_release);
    return q;
}

void request_stays(struct request *q)
{
    atomic_store_explicit(&q->held, false, memory_order_release);
}

/* A program may free a send that it does not wait for. */
void request_freed(struct ring *r, struct request *q)
{
    if (q->is.live && r && q->event.op == RING_OP_SEND) {
        q->event.wait = q->event.leave = clock_read(r->clock);
        q->event.flags |= RING_EVENT_UNWAITED;
        ring_emit(r, &q->event);
    } else if (q->is.live) {
        count_missed(q->event.op);
    }
    request_over(q);
}

struct comm *request_matched(handle h, struct ring_event *e)
{
    struct request *q = find_entry(h);
    struct comm *c;

    if (!q)
        return NULL;
    *e = q->event;
    c = q->comm;
    request_over(q);
    return c;
}

/* Receives of the stream that were posted later get the messages of those before them: each has the number
 * before its own. */
static void give_number_back(struct request *q)
{
    uint64_t stream = message_key(&q->event);
    unsigned n = atomic_load_explicit(&n_tables, memory_order_acquire);

    if (q->is.given_back)
        return;
    q->is.given_back = true;
    for (unsigned k = 0; k < n; k++)
        for (uint32_t i = 0; i < tables[k].size; i++) {
            struct request *other = &tables[k].slots[i];

            if (atomic_load_explicit(&tables[k].keys[i], memory_order_acquire) > REQUEST_BUSY && other != q &&
                other->is.active && other->event.op == q->event.op && !message_wild(&other->event) &&
                message_key(&other->event) == stream && other->event.seq > q->event.seq)
                hot_message_number(&other->event, other->event.seq - 1);
        }
    number_back(stream);
}

void request_cancelled(handle h, const void *status)
{
    struct request *q = request_find(h);

    if (q && status && q->event.op == RING_OP_RECV && !message_wild(&q->event) && status_cancelled(status))
        give_number_back(q);
}

/* A receive with a wildcard is the same again at its next start. */
static void message_done(struct ring *r, struct request *q, struct ring_event *e, const void *status)
{
    if (e->op == RING_OP_RECV && !q->is.partitioned) {
        if (!status && (message_wild(e) || (e->flags & RING_EVENT_FAILED))) {
            count_missed(e->op);
            return;
        }
        if (status && status_cancelled(status)) {
            if (!message_wild(e))
                give_number_back(q);
            return;
        }
        if (status)
            message_status(e, q->comm, status);
        /* else only the library has seen it (abi.ignored_stay): the bytes are those that there was room for
         */
    }
    if (r && q->is.live && e->op != RING_OP_NONE)
        ring_emit(r, e);
}

void request_done(struct ring *r, struct request *q, uint64_t wait, uint64_t leave, unsigned flags,
                  const void *status)
{
    struct ring_event e = q->event;

    e.wait = wait;
    e.leave = leave;
    e.flags |= (uint8_t)flags;
    if (request_is_message(q))
        message_done(r, q, &e, status);
    else if (r && q->is.live)
        ring_emit(r, &e);
    if (request_is_message(q) || q->is.persistent)
        request_complete(q);
    else
        request_over(q);
}
