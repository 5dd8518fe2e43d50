/* request.c - see request.h */
#include "probe/request.h"

#include "probe/message.h"

#define SLOTS  REQUEST_SLOTS
#define WINDOW 16u

_Atomic uint64_t request_keys[SLOTS];
struct request request_slots[SLOTS]; /* 480 KiB of zero pages with keys, resident only where used */
atomic_uint request_count, request_displaced;

/* Locked instructions take as long as the rest of a request's bookkeeping: only where threads may call MPI at the same
 * time. */
static void count(atomic_uint *counter, unsigned n)
{
    if (probe.concurrent)
        atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
    else
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                              memory_order_relaxed);
}

static bool claim(uint32_t slot)
{
    uint64_t expected = REQUEST_FREE;

    if (atomic_load_explicit(&request_keys[slot], memory_order_relaxed) != REQUEST_FREE)
        return false;
    if (probe.concurrent)
        return atomic_compare_exchange_strong_explicit(&request_keys[slot], &expected, REQUEST_BUSY,
                                                       memory_order_acquire, memory_order_relaxed);
    atomic_store_explicit(&request_keys[slot], REQUEST_BUSY, memory_order_relaxed);
    return true;
}

static uint32_t find_displaced(uint64_t key)
{
    uint32_t at = (uint32_t)request_home(key);

    if (!atomic_load_explicit(&request_displaced, memory_order_relaxed))
        return REQUEST_NONE;
    for (uint32_t i = 0; i < WINDOW; i++, at = (at + 1) & (SLOTS - 1))
        if (atomic_load_explicit(&request_keys[at], memory_order_acquire) == key)
            return at;
    return REQUEST_NONE;
}

HOT uint32_t find(handle h)
{
    uint64_t key = request_key(h);
    uint32_t at = (uint32_t)request_home(key);

    if (__builtin_expect(atomic_load_explicit(&request_keys[at], memory_order_acquire) == key, 1))
        return at;
    return find_displaced(key);
}

static void release(uint32_t slot)
{
    if (request_slots[slot].is.displaced)
        count(&request_displaced, -1u);
    atomic_store_explicit(&request_keys[slot], REQUEST_FREE, memory_order_release);
    count(&request_count, -1u);
}

static void missed(unsigned op)
{
    if (ring_op_is_message(op))
        ring_message_missed(probe.main);
    else
        ring_missed(probe.main);
}

/* A slot for h; the caller sets its key once it is filled in. */
static uint32_t slot_for(handle h, unsigned op)
{
    uint32_t at = (uint32_t)request_home(request_key(h));

    if (!atomic_load_explicit(&request_displaced, memory_order_relaxed) && claim(at)) {
        request_slots[at].is.displaced = false;
        return at;
    }
    at = find(h);
    if (at != REQUEST_NONE) { /* its completion was not seen, and the library reused the handle */
        missed(request_slots[at].event.op);
        release(at);
    }
    at = (uint32_t)request_home(request_key(h));
    for (uint32_t i = 0; i < WINDOW; i++, at = (at + 1) & (SLOTS - 1))
        if (claim(at)) {
            request_slots[at].is.displaced = i > 0;
            return at;
        }
    missed(op);
    return REQUEST_NONE;
}

static void publish(uint32_t slot, handle h)
{
    if (request_slots[slot].is.displaced)
        count(&request_displaced, 1);
    count(&request_count, 1);
    atomic_store_explicit(&request_keys[slot], request_key(h), memory_order_release);
}

static void keep(handle h, const struct ring_event *e, struct comm *c, bool persistent, bool live)
{
    uint32_t slot = slot_for(h, e->op);
    struct request *q = &request_slots[slot];

    if (slot == REQUEST_NONE)
        return;
    q->event = *e;
    q->comm = c;
    q->polled = 0;
    q->is.persistent = persistent;
    q->is.active = !persistent;
    q->is.live = live;
    publish(slot, h);
}

void request_posted(struct ring *r, handle h, const struct ring_event *e, struct comm *c)
{
    struct ring_event done;

    if (!request_shared(h)) {
        keep(h, e, c, false, r != NULL);
    } else if (e->op == RING_OP_RECV) { /* its status is lost */
        missed(e->op);
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

void request_made(handle h, struct comm *c, const struct ring_event *e)
{
    keep(h, e, c, true, false);
}

bool request_started(struct ring *r, handle h, uint64_t now)
{
    uint32_t at = find(h);
    struct request *q = &request_slots[at];

    if (at == REQUEST_NONE || !q->is.persistent)
        return false;
    if (!request_is_message(q))
        q->event.seq = comm_next_seq(q->comm);
    else if (!message_wild(&q->event))
        hot_message_number(&q->event, number_next(message_key(&q->event)));
    q->event.enter = now;
    q->polled = 0;
    q->is.active = true;
    q->is.live = r != NULL;
    return !request_is_message(q);
}

/* A program may free a send that it does not wait for. */
void request_freed(struct ring *r, handle h)
{
    uint32_t at = find(h);
    struct request *q = &request_slots[at];

    if (at == REQUEST_NONE)
        return;
    if (q->is.live && r && q->event.op == RING_OP_SEND) {
        q->event.wait = q->event.leave = clock_read(r->clock);
        q->event.flags |= RING_EVENT_UNWAITED;
        ring_emit(r, &q->event);
    } else if (q->is.live) {
        missed(q->event.op);
    }
    release(at);
}

struct comm *request_matched(handle h, struct ring_event *e)
{
    uint32_t at = find(h);
    struct comm *c;

    if (at == REQUEST_NONE)
        return NULL;
    *e = request_slots[at].event;
    c = request_slots[at].comm;
    release(at);
    return c;
}

void request_take(struct request_list *list, const void *array, int n)
{
    struct request_list taken = { .first = REQUEST_NONE };

    for (int i = n - 1; i >= 0; i--) {
        handle h = handle_at(array, i);
        uint32_t at = find(h);
        struct request *q = &request_slots[at];

        if (at == REQUEST_NONE || !q->is.active)
            continue;
        atomic_store_explicit(&request_keys[at], REQUEST_BUSY, memory_order_relaxed);
        q->at = h;
        q->index = (uint32_t)i;
        q->next = taken.first;
        taken.polled = q->polled && (taken.polled || taken.first == REQUEST_NONE);
        taken.first = at;
        if (!request_is_message(q))
            taken.collective = q;
        taken.receive |= q->event.op == RING_OP_RECV;
    }
    *list = taken;
}

void request_over(struct request *q)
{
    release((uint32_t)(q - request_slots));
}

void request_keep(struct request *q)
{
    atomic_store_explicit(&request_keys[q - request_slots], request_key(q->at), memory_order_release);
}

/* A receive with a wildcard is the same again at its next start. */
static void message_done(struct ring *r, struct request *q, struct ring_event *e, const void *status)
{
    if (e->op == RING_OP_RECV) {
        if (!status) {
            missed(e->op);
            return;
        }
        if (status_cancelled(status))
            message_undo(e);
        message_status(e, q->comm, status);
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
    q->is.live = q->is.active = false;
    if (q->is.persistent)
        request_keep(q);
    else
        request_over(q);
}
