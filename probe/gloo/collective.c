#include "gloo/collective.h"

#include "gloo/guest.h"
#include "ring/clock.h"
#include "ring/hot.h"

/* a tag that is behind by this many will have no collective: PyTorch uses some for messages */
#define PATIENCE 8
/* hold back a group's first collectives until a thread waits, or more than this many are posted */
#define UNDECIDED 4

/* What this thread runs. */
static _Thread_local struct {
    struct group *group;
    struct group_flight *flight;
} self __attribute__((tls_model("initial-exec")));

/* Threads that wait, and since when the newest of them; all under the lock. */
static struct {
    uint32_t threads;
    uint64_t since;
    bool ever;
} waiting;
static const struct group_flight *shown; /* as the call in progress */
static uint64_t n_posted;
static uint32_t n_running;

static inline uint64_t now_ticks(void)
{
    return clock_read(guest.ring->clock);
}

static struct group_flight *flight_at(struct group *g, uint32_t tag)
{
    return &g->flight[tag % GROUP_FLIGHTS];
}

static void post_flight(struct group *g, uint32_t tag, uint64_t now)
{
    struct group_flight *f = flight_at(g, tag);

    if ((int32_t)(tag + 1 - g->newest) > 0)
        g->newest = tag + 1;
    if (g->newest - g->next > GROUP_FLIGHTS)
        g->next = g->newest - GROUP_FLIGHTS;
    if (f->state == FLIGHT_RUNNING) /* its thread's; the new one is missed if it still is when that runs */
        return;
    if (f->state == FLIGHT_ENDED)
        ring_missed(guest.ring);
    *f = (struct group_flight){ .state = FLIGHT_POSTED, .tag = tag, .posted = now };
}

void collective_posted(const void *group, uint32_t tag)
{
    struct group *g;

    if (!guest_lock())
        return;
    g = group_at(group);
    if (g) {
        n_posted++;
        post_flight(g, tag, now_ticks());
    }
    guest_unlock();
}

uint64_t collective_count(void)
{
    return n_posted;
}

/* ---- the call in progress ---- */

static void show_flight(const struct group *g, const struct group_flight *f)
{
    shown = f;
    hot_enter(guest.ring, &(struct ring_event){ .enter = f->began,
                                                .comm = g->name,
                                                .bytes = f->collective.bytes,
                                                .seq = f->tag,
                                                .root = -1,
                                                .op = f->collective.op });
}

/* The one that runs longest. */
static void show_another(void)
{
    const struct group *of = NULL, *g;
    const struct group_flight *first = NULL;

    for (size_t i = 0; (g = group_number(i)); i++)
        for (uint32_t tag = g->next; tag != g->newest; tag++) {
            const struct group_flight *f = &g->flight[tag % GROUP_FLIGHTS];

            if (f->state == FLIGHT_RUNNING && (!first || f->began < first->began)) {
                first = f;
                of = g;
            }
        }
    if (first)
        show_flight(of, first);
}

/* ---- events ---- */

/* False: the ring is full. */
static bool emit_flight(struct group *g, const struct group_flight *f)
{
    struct ring_event e = { .enter = f->posted,
                            .leave = f->ended,
                            .comm = g->name,
                            .bytes = f->collective.bytes,
                            .seq = f->tag,
                            .root = f->collective.root,
                            .op = f->collective.op };

    if (e.leave < g->last_leave)
        e.leave = g->last_leave;
    g->last_leave = e.leave;
    if (waiting.ever) {
        e.flags = RING_EVENT_NONBLOCKING;
        e.wait = f->wait < f->ended ? f->wait : e.leave; /* nobody waited */
    } else {
        e.enter = f->began;
    }
    if (f->failed)
        e.flags |= RING_EVENT_FAILED;
    return hot_collective(guest.ring, &e);
}

/* Write the events of those that ended, as far as no earlier one still runs, or will.  all: whatever does not
 * run will not.  Whether there was any. */
static bool release_group(struct group *g, uint32_t ended, bool all)
{
    bool any = false;

    if (!all && !waiting.ever && g->newest <= UNDECIDED)
        return false; /* the first collective may be over before the program comes to wait for it */
    for (; g->next != g->newest; g->next++) {
        struct group_flight *f = flight_at(g, g->next);
        int state = f->tag == g->next ? f->state : FLIGHT_POSTED;

        if (state == FLIGHT_ENDED) {
            any |= emit_flight(g, f);
            f->state = FLIGHT_FREE;
        } else if (state == FLIGHT_RUNNING && !all) {
            break;
        } else if (state == FLIGHT_POSTED && !all && (int32_t)(ended - g->next) < PATIENCE) {
            break;
        }
    }
    return any;
}

/* Of all groups, without a new end: what was held back, or all. */
static void release_groups(bool all)
{
    struct group *g;

    for (size_t i = 0; (g = group_number(i)); i++)
        release_group(g, g->next, all);
}

bool collective_recorded(void)
{
    return atomic_load_explicit(&guest.active, memory_order_acquire);
}

struct group *collective_group(const void *context)
{
    return collective_recorded() ? group_of_context(context) : NULL;
}

void collective_missed(void)
{
    if (collective_recorded())
        ring_missed(guest.ring);
}

void collective_enter(struct group *g, const struct group_collective *c)
{
    struct group_flight *f = flight_at(g, c->tag);
    uint64_t now;

    if (!guest_lock())
        return;
    /* The reduction of a sparse tensor consists of three with one tag: the first stands for them. */
    if (guest_records() && (int32_t)(c->tag - g->next) >= 0) {
        now = now_ticks();
        if (f->tag != c->tag || f->state == FLIGHT_FREE)
            post_flight(g, c->tag, now);
        if (f->tag != c->tag) {
            ring_missed(guest.ring);
        } else if (f->state == FLIGHT_POSTED) {
            f->began = now;
            f->collective = *c;
            if (c->of_all)
                f->collective.bytes /= g->size;
            f->state = FLIGHT_RUNNING;
            n_running++;
            self.group = g;
            self.flight = f;
            if (!shown)
                show_flight(g, f);
        }
    }
    guest_unlock();
}

void collective_leave(bool failed)
{
    struct group_flight *f = self.flight;
    struct group *g = self.group;
    bool was_shown;

    if (!f || !guest_lock())
        return;
    self.flight = NULL;
    f->ended = now_ticks();
    f->wait = waiting.threads == 0 ? f->ended : waiting.since > f->posted ? waiting.since : f->posted;
    f->failed = failed;
    f->state = FLIGHT_ENDED;
    n_running--;
    was_shown = shown;
    shown = NULL;
    if (!release_group(g, f->tag, false) && was_shown)
        ring_leave(guest.ring, f->ended);
    if (n_running)
        show_another();
    guest_unlock();
}

void collective_not(struct group *g, uint32_t tag)
{
    struct group_flight *f = flight_at(g, tag);

    if (f->tag == tag && f->state == FLIGHT_POSTED)
        f->state = FLIGHT_FREE;
}

/* A program that ends in order has finished, whether it destroyed its groups or not: few do. */
__attribute__((destructor)) static void leave_process(void)
{
    if (!guest_lock_soon())
        return;
    release_groups(true);
    guest_unlock();
    guest_leave();
}

/* ---- waiting ---- */

bool collective_await(void)
{
    bool first;

    if (!guest_lock())
        return false;
    first = !waiting.ever;
    waiting.threads++;
    waiting.since = now_ticks();
    waiting.ever = true;
    if (first)
        release_groups(false);
    guest_unlock();
    return true;
}

void collective_awaited(void)
{
    if (!guest_lock())
        return;
    waiting.threads--;
    guest_unlock();
}
