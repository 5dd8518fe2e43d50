#include "agent/rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/comms.h"
#include "agent/marks.h"
#include "agent/processes.h"
#include "common/proc.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define DRAIN_EVENTS 512u  /* at a time */
#define PAST_EVENTS  2048u /* four steps of the longest cycle that is looked for */
/* a call, or a time between calls, is reported once it is this long */
#define LONG_NS       1000000000ull
#define BLOCK_WAIT_NS 1000000000ull
#define FUTURE_NS     1000000000ull
#define PAST_NS       (366ull * 86400 * 1000000000ull)
#define HALT_NS       1500000000ull /* of readings a second apart */
/* Who has gone on to something else has left the collective, to which all came: so long after that their
 * records would be there. */
#define MOVED_ON_NS 1000000000ull
/* It waits for nobody with more behind it, whatever its records say. */
#define PENDING_MAX (4 * RING_CAPACITY_MAIN)
#define LAST_DRAINS 64 /* of a rank that is over; one that still writes would never come to an end */

struct thread {
    struct ring *ring;
    uint32_t number;
    bool read; /* something was read from the ring */
};

struct event {
    struct call call;
    uint64_t p2p_ns : 63; /* as in struct ring_event */
    uint64_t past : 1;    /* an earlier agent has sent it */
};
_Static_assert(sizeof(struct event) == sizeof(struct call) + 8, "events wait in great numbers");

struct rank {
    struct ring_info info;
    enum rank_state state;
    bool news, over;
    pid_t pid;        /* of the process as this node counts; -1: not known */
    uint64_t started; /* start time of the process; 0: never visible */
    uint64_t signs;   /* of activity: hash of its counters and live slots */
    unsigned still_s; /* seconds without activity */
    char process;     /* state of the process as last read, as in proc(5); 0: not visible */

    enum process_state halt; /* what keeps the process from running */
    uint64_t halt_ns;        /* when that was first read */
    bool halt_open;          /* reported, and its end is not */

    struct thread thread[RING_RANK_MAX];
    size_t n_threads;
    struct comms *comms[RING_RANK_MAX]; /* by thread; they stay when the rank is over */

    struct flow *flow;
    struct event *pending; /* events of several threads, to be sorted */
    size_t n_pending, cap_pending;
    uint32_t calls;     /* that may still be sent in this drain */
    bool calls_missing; /* since the last one that was sent */
    uint64_t dropped;   /* events that its rings had no room for, when last read */
    uint64_t lost;      /* of these not messages */

    struct call left;     /* the newest call that it has left; op RING_OP_NONE: none */
    uint64_t bad;         /* impossible events */
    struct counts counts; /* last sent, as these */
    struct losses_item losses;
    bool counts_due;
    struct marks_sent marks; /* phases that a guest saw */
    struct ring_live live;   /* last sent; enter in ns */
    /* The collective of an early end (RING_EVENT_EARLY) in which it waits for others of the node, and nothing
     * behind it is passed on; enter in ns.  op RING_OP_NONE: none. */
    struct ring_live awaits;
    uint64_t awaited_ns; /* since when the next one to be passed on is such a one; 0: it is not */
    bool live_open;
};

/* ---- threads and rings ---- */

struct rank *rank_new(const struct ring_info *info, double rate_hz)
{
    struct rank *r = xcalloc(1, sizeof(*r));

    r->info = *info;
    r->state = RANK_RUNNING;
    r->news = r->counts_due = true;
    r->pid = processes_host_id(info->pid);
    r->started = r->pid > 0 ? proc_start(r->pid) : 0;
    r->flow = flow_new(info->rank, (uint16_t)info->incarnation, rate_hz);
    return r;
}

static void close_rings(struct rank *r)
{
    for (size_t i = 0; i < r->n_threads; i++)
        ring_close(r->thread[i].ring);
    r->n_threads = 0;
}

void rank_free(struct rank *r)
{
    if (!r)
        return;
    close_rings(r);
    for (size_t i = 0; i < RING_RANK_MAX; i++)
        comms_free(r->comms[i]);
    flow_free(r->flow);
    free(r->pending);
    free(r);
}

const struct ring_info *rank_info(const struct rank *r)
{
    return &r->info;
}

pid_t rank_pid(const struct rank *r)
{
    return r->pid;
}

bool rank_has_thread(const struct rank *r, uint32_t thread)
{
    if (r->over)
        return true;
    for (size_t i = 0; i < r->n_threads; i++)
        if (r->thread[i].number == thread)
            return true;
    return false;
}

int rank_add(struct rank *r, struct ring *ring, const struct ring_info *info)
{
    if (rank_has_thread(r, info->thread) || r->n_threads == RING_RANK_MAX) {
        ring_close(ring);
        return -1;
    }
    /* The ring of the main thread describes the rank. */
    if (info->thread == 0) {
        r->info = *info;
        r->news = true;
    }
    ring_hold(ring);
    r->comms[r->n_threads] = comms_new();
    r->thread[r->n_threads++] = (struct thread){ .ring = ring, .number = info->thread };
    return 0;
}

/* ---- communicators ---- */

struct comm_arg {
    const struct rank *rank;
    const struct rank_output *out;
};

static void put_comm(const struct ring_comm *c, bool freed, void *arg)
{
    const struct comm_arg *a = arg;
    uint32_t rank = a->rank->info.rank;
    uint16_t app = (uint16_t)a->rank->info.incarnation;
    struct telemetry_item item = { .kind = freed ? TELEMETRY_COMM_END : TELEMETRY_COMM };

    if (c->size == 1 || (freed && a->out->newest < TELEMETRY_COMM_END))
        return;
    if (freed)
        item.comm_end = (struct comm_end_item){ .rank = rank, .app = app, .name = c->name };
    else
        item.comm = (struct comm_item){ .rank = rank,
                                        .app = app,
                                        .name = c->name,
                                        .membership = c->membership,
                                        .size = c->size,
                                        .comm_rank = c->rank,
                                        .instance = c->instance,
                                        .first = c->first,
                                        .last = c->last,
                                        .flags = c->flags };
    a->out->put(&item, a->out->arg);
}

static void read_comms(struct rank *r, const struct rank_output *out)
{
    struct comm_arg arg = { r, out };

    for (size_t i = 0; i < r->n_threads; i++)
        comms_read(r->comms[i], r->thread[i].ring, put_comm, &arg);
}

/* ---- events ---- */

static uint64_t span_ns(const struct rank_output *out, enum ring_clock clock, uint64_t ticks)
{
    double ns = clock == RING_CLOCK_COUNTER ? (double)ticks * out->clock->ns_per_tick : (double)ticks;

    return ns < (double)PAST_NS ? (uint64_t)ns : PAST_NS;
}

static uint64_t now_ns(const struct rank *r, const struct rank_output *out)
{
    return ring_clock_ns(out->clock, r->info.clock, ring_now(r->thread[0].ring));
}

static bool is_early(const struct call *c)
{
    return c->flags & RING_EVENT_EARLY;
}

/* When it was over is not known. */
static void leave_early(struct call *c)
{
    if (is_early(c))
        c->enter_ns = c->begin_ns;
    c->flags &= (uint8_t)~RING_EVENT_EARLY;
}

/* False when the event is impossible. */
static bool convert_event(struct rank *r, const struct rank_output *out, const struct ring_event *e,
                          uint64_t now, struct event *to)
{
    enum ring_clock clock = r->info.clock;
    uint64_t wait_ns = e->wait ? ring_clock_ns(out->clock, clock, e->wait) : 0;
    struct call *c = &to->call;

    *to = (struct event){ .call = { .comm = e->comm,
                                    .bytes = e->bytes,
                                    .begin_ns = ring_clock_ns(out->clock, clock, e->enter),
                                    .leave_ns = ring_clock_ns(out->clock, clock, e->leave),
                                    .rank = r->info.rank,
                                    .seq = e->seq,
                                    .root = e->root,
                                    .tag = e->tag,
                                    .app = (uint16_t)r->info.incarnation,
                                    .op = e->op,
                                    .flags = e->flags },
                          .p2p_ns = span_ns(out, clock, e->p2p) };
    if (!ring_op_is_pairwise(e->op) && (e->op == RING_OP_NONE || e->op >= RING_OP_POINT_TO_POINT))
        return false;
    if ((ring_op_is_pairwise(e->op) && e->root < 0) || (ring_op_is_message(e->op) && e->tag < 0))
        return false;
    if (c->begin_ns > c->leave_ns || c->leave_ns > now + FUTURE_NS || c->begin_ns + PAST_NS < now)
        return false;
    c->enter_ns = wait_ns >= c->begin_ns && wait_ns <= c->leave_ns ? wait_ns : c->begin_ns;
    if (!ring_op_synchronises(e->op))
        leave_early(c);
    if (e->op == RING_OP_ACCESS) {
        c->read_bytes = e->read_bytes;
        c->flags &= RING_EVENT_INTER;
        c->tag = 0;
        to->p2p_ns = 0;
    }
    return true;
}

static int by_leave(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    return (x->call.leave_ns > y->call.leave_ns) - (x->call.leave_ns < y->call.leave_ns);
}

static bool is_in_window(const struct rank_output *out, uint64_t leave_ns)
{
    const struct call_window *w = &out->window;

    return w->open_s >= w->period_s || fmod((double)leave_ns * 1e-9 + out->wall_s, w->period_s) < w->open_s;
}

static void put_call(struct rank *r, const struct rank_output *out, const struct call *c, uint32_t members)
{
    struct telemetry_item item = { .kind = TELEMETRY_CALL,
                                   .call = { .rank = r->info.rank, .app = (uint16_t)r->info.incarnation } };

    if (!(out->window.open_s > 0) || members == 1 ||
        (call_is_access(c) &&
         out->newest < TELEMETRY_ONESIDED)) /* a controller that knows of none misses none */
        return;
    if (!r->calls || !is_in_window(out, c->leave_ns) ||
        ((c->flags & RING_EVENT_MEMBER) && out->newest < TELEMETRY_MEMBER)) {
        r->calls_missing = true;
        return;
    }
    if (r->calls_missing)
        out->put(&item, out->arg);
    r->calls_missing = false;
    r->calls--;
    item.kind = call_is_access(c) ? TELEMETRY_ONESIDED : TELEMETRY_CALL;
    item.call = *c;
    if (c->flags & RING_EVENT_UNWAITED)
        item.call.enter_ns = c->leave_ns;
    out->put(&item, out->arg);
}

static void put_nowhere(const struct telemetry_item *item, void *arg)
{
    (void)item;
    (void)arg;
}

static uint32_t members_of(struct rank *r, uint64_t comm)
{
    uint32_t members = 0; /* not described */

    for (size_t i = 0; i < r->n_threads && !members; i++)
        members = comms_size(r->comms[i], comm);
    return members;
}

static void pass_on(struct rank *r, const struct rank_output *out, const struct event *e)
{
    uint32_t members = members_of(r, e->call.comm);

    if (!e->past)
        put_call(r, out, &e->call, members);
    if (!call_is_pairwise(&e->call))
        flow_call(r->flow, &e->call, members, e->p2p_ns, e->past ? put_nowhere : out->put, out->arg);
}

/* It has been awaited for long, and the rank has come to something else since. */
static bool has_moved_on(const struct rank *r, size_t n, uint64_t now)
{
    const struct call *c = &r->pending[n].call;

    if (n || !r->awaited_ns || now < r->awaited_ns + MOVED_ON_NS)
        return false;
    for (size_t i = 1; i < r->n_pending; i++)
        if (r->pending[i].call.enter_ns >= c->leave_ns)
            return true;
    return false;
}

/* Its end has become a later one: what was left before that comes before it, but for its communicator's. */
static void move_back(struct rank *r, size_t n)
{
    struct event e = r->pending[n];

    for (; n + 1 < r->n_pending && r->pending[n + 1].call.leave_ns < e.call.leave_ns; n++) {
        if (r->pending[n + 1].call.comm == e.call.comm) {
            e.call.leave_ns = r->pending[n + 1].call.leave_ns;
            break;
        }
        r->pending[n] = r->pending[n + 1];
    }
    r->pending[n] = e;
}

/* The next one to be passed on is one of an early end.  When it was over is known as soon as all have come to
 * it.  False: not yet. */
static bool settle_early(struct rank *r, const struct rank_output *out, size_t n, uint64_t until_ns)
{
    struct call *c = &r->pending[n].call;
    uint64_t over_ns;

    switch (rendezvous_get(out->rendezvous, c, &over_ns)) {
    case RENDEZVOUS_OVER:
        c->flags &= (uint8_t) ~(RING_EVENT_EARLY | RING_EVENT_UNWAITED);
        if (c->enter_ns == c->begin_ns)
            c->flags &= (uint8_t)~RING_EVENT_NONBLOCKING;
        c->leave_ns = over_ns;
        c->enter_ns = c->enter_ns < over_ns ? c->enter_ns : over_ns;
        move_back(r, n);
        return true;
    case RENDEZVOUS_AWAITED:
        if (until_ns < UINT64_MAX && r->n_pending - n < PENDING_MAX && !has_moved_on(r, n, until_ns))
            return false;
        rendezvous_give_up(out->rendezvous);
        break;
    case RENDEZVOUS_UNKNOWN:
        break;
    }
    leave_early(c);
    return true;
}

static void note_awaited(struct rank *r, const struct call *c)
{
    r->awaits = (struct ring_live){
        .comm = c->comm, .enter = c->enter_ns, .bytes = c->bytes, .seq = c->seq, .op = c->op
    };
}

/* Pass events on in order, up to a time before which no thread can add another. */
static void release_pending(struct rank *r, const struct rank_output *out, uint64_t until_ns)
{
    size_t n = 0;

    r->awaits = (struct ring_live){ .op = RING_OP_NONE };
    if (!r->n_pending)
        return;
    qsort(r->pending, r->n_pending, sizeof(*r->pending), by_leave);
    while (n < r->n_pending && r->pending[n].call.leave_ns <= until_ns) {
        if (!is_early(&r->pending[n].call))
            pass_on(r, out, &r->pending[n++]);
        else if (!settle_early(r, out, n, until_ns))
            break;
    }
    memmove(r->pending, r->pending + n, (r->n_pending - n) * sizeof(*r->pending));
    r->n_pending -= n;
    if (!r->n_pending || !is_early(&r->pending[0].call))
        r->awaited_ns = 0;
    else if (n || !r->awaited_ns)
        r->awaited_ns = until_ns;
    if (r->n_pending == 1 && is_early(&r->pending[0].call)) /* with more behind it others may go on */
        note_awaited(r, &r->pending[0].call);
}

static void add_pending(struct rank *r, const struct event *e)
{
    r->pending = xgrow(r->pending, &r->cap_pending, r->n_pending + 1, sizeof(*r->pending));
    r->pending[r->n_pending++] = *e;
}

/* The agent before this one was killed.  From the events that it has sent the flow learns again what a step
 * is, so that the next step is recognised at once. */
static void read_past(struct rank *r, struct thread *t, const struct rank_output *out, uint64_t now)
{
    static struct ring_event events[PAST_EVENTS];
    size_t n = ring_past(t->ring, events, PAST_EVENTS);
    struct event e;

    if (n)
        read_comms(r, out);
    for (size_t i = 0; i < n; i++) {
        if (ring_op_is_pairwise(events[i].op) || !convert_event(r, out, &events[i], now, &e))
            continue;
        e.past = true;
        leave_early(&e.call);
        add_pending(r, &e);
    }
}

/* Of the events of a ring the last one is the newest, whether it is sent or not. */
static void note_left(struct rank *r, const struct rank_output *out, const struct ring_event *last,
                      uint64_t now)
{
    struct event e;

    if (!convert_event(r, out, last, now, &e) || e.call.leave_ns < r->left.leave_ns)
        return;
    leave_early(&e.call);
    r->left = e.call;
}

static size_t drain_thread(struct rank *r, struct thread *t, const struct rank_output *out, uint64_t now)
{
    static struct ring_event events[DRAIN_EVENTS];
    size_t n, taken = 0;
    struct event e;

    if (!t->read)
        read_past(r, t, out, now);
    t->read = true;
    /* At most the capacity of a ring, because a writer with a false position could keep this loop running. */
    while (taken < RING_CAPACITY_MAIN && (n = ring_drain(t->ring, events, DRAIN_EVENTS)) > 0) {
        read_comms(r, out); /* a communicator is described before its first event */
        note_left(r, out, &events[n - 1], now);
        taken += n;
        for (size_t i = 0; i < n; i++) {
            if (ring_op_is_pairwise(events[i].op) && !(out->window.open_s > 0))
                continue;
            if (!convert_event(r, out, &events[i], now, &e)) {
                r->bad++;
            } else if (is_early(&e.call)) {
                rendezvous_come(out->rendezvous, &e.call, members_of(r, e.call.comm));
                add_pending(r, &e);
            } else if (r->n_threads == 1 && !r->n_pending) {
                pass_on(r, out, &e);
            } else {
                add_pending(r, &e);
            }
        }
        if (n < DRAIN_EVENTS)
            break;
    }
    if (taken && out->many)
        ring_relax(t->ring);
    return taken;
}

/* The thread that has been in its call longest; if none is in a call, the one that left its call last. */
static bool read_rings(const struct rank *r, struct ring_live *live)
{
    bool any = false;

    for (size_t i = 0; i < r->n_threads; i++) {
        struct ring_live l;
        bool inside, better;

        if (!ring_live_get(r->thread[i].ring, &l) || !l.enter || l.op >= RING_OP_MAX)
            continue;
        inside = l.op != RING_OP_NONE;
        if (!any || inside != (live->op != RING_OP_NONE))
            better = !any || inside;
        else
            better = inside ? l.enter < live->enter : l.enter > live->enter;
        if (better)
            *live = l;
        any = true;
    }
    return any;
}

/* The same, with enter in ns.  A rank that has recorded its end in a collective to which others have not come
 * is still in it. */
static bool read_live(const struct rank *r, const struct rank_output *out, struct ring_live *live)
{
    bool any = read_rings(r, live);

    if (any)
        live->enter = ring_clock_ns(out->clock, r->info.clock, live->enter);
    if (r->awaits.op == RING_OP_NONE || (any && live->op != RING_OP_NONE && live->enter <= r->awaits.enter))
        return any;
    *live = r->awaits;
    return true;
}

static void put_partner(const struct rank *r, const struct rank_output *out, const struct ring_live *live)
{
    uint32_t rank = r->info.rank;
    uint16_t app = (uint16_t)r->info.incarnation;
    uint8_t op = (uint8_t)live->message;
    uint64_t enter_ns = live->enter;
    bool member = live->flags & RING_EVENT_MEMBER;
    struct telemetry_item item = { .kind = member ? TELEMETRY_MEMBER : TELEMETRY_PARTNER };

    if (out->newest < (unsigned)item.kind)
        return;
    if (member)
        item.member = (struct member_item){ rank, app, op, live->comm, live->peer, live->tag, enter_ns };
    else
        item.partner = (struct partner_item){ rank, app, op, live->peer, live->tag, enter_ns };
    out->put(&item, out->arg);
}

static void put_left(const struct rank *r, const struct rank_output *out, uint64_t now)
{
    const struct call *c = &r->left;
    struct telemetry_item item = { .kind = TELEMETRY_LEFT,
                                   .left = { .rank = r->info.rank,
                                             .app = (uint16_t)r->info.incarnation,
                                             .op = c->op,
                                             .flags = c->flags,
                                             .comm = c->comm,
                                             .seq = c->seq,
                                             .peer = c->peer,
                                             .tag = c->tag,
                                             .age_ns = c->leave_ns < now ? now - c->leave_ns : 0 } };

    /* Accesses are no calls that others could be waiting in. */
    if (c->op != RING_OP_NONE && !call_is_access(c) && out->newest >= TELEMETRY_LEFT)
        out->put(&item, out->arg);
}

static void put_live(struct rank *r, const struct rank_output *out, const struct ring_live *live,
                     uint64_t now)
{
    struct telemetry_item item = {
        .kind = TELEMETRY_LIVE,
        .live = { .rank = r->info.rank,
                  .app = (uint16_t)r->info.incarnation,
                  .op = (uint8_t)live->op,
                  .state = (uint8_t)r->state,
                  .comm = live->comm,
                  .seq = live->seq,
                  .bytes = live->bytes,
                  .enter_ns = live->enter,
                  .age_ns = live->enter < now ? now - live->enter : 0 },
    };

    out->put(&item, out->arg);
    if (live->message)
        put_partner(r, out, live);
    else if (live->op == RING_OP_NONE)
        put_left(r, out, now);
    r->live = *live;
}

size_t rank_drain(struct rank *r, const struct rank_output *out)
{
    uint64_t before, dropped_before = r->dropped, lost_before = r->lost;
    struct ring_counts counts;
    struct ring_live live;
    bool dropped;
    size_t taken = 0;

    if (!r->n_threads)
        return 0;
    before = now_ns(r, out);
    r->calls = out->calls;
    r->dropped = r->lost = 0;
    for (size_t i = 0; i < r->n_threads; i++) {
        ring_counts_get(r->thread[i].ring, &counts);
        r->lost += counts.dropped + counts.missed;
        r->dropped += counts.dropped + counts.missed + counts.messages_missed;
    }
    if (r->lost != lost_before)
        rendezvous_give_up(out->rendezvous);
    /* Events that a ring had no room for are missing before what it has now, in it, or behind it. */
    dropped = r->dropped != dropped_before;
    r->calls_missing = r->calls_missing || dropped || !(out->window.open_s > 0);
    for (size_t i = 0; i < r->n_threads; i++)
        taken += drain_thread(r, &r->thread[i], out, before);
    release_pending(r, out, before);
    r->calls_missing = r->calls_missing || dropped;
    if (r->live_open && read_live(r, out, &live) && live.enter != r->live.enter) {
        put_live(r, out, &live, before); /* a long call has ended: the controller learns it at once */
        r->live_open = false;
    }
    return taken;
}

/* ---- the call in progress ---- */

static void report_live(struct rank *r, const struct rank_output *out, uint64_t now)
{
    struct ring_live live;

    if (!read_live(r, out, &live) || live.enter + LONG_NS > now || live.enter + PAST_NS < now)
        return;
    put_live(r, out, &live, now);
    r->live_open = true;
}

/* ---- counts and state ---- */

static void report_counts(struct rank *r, const struct rank_output *out)
{
    uint32_t rank = r->info.rank;
    uint16_t app = (uint16_t)r->info.incarnation;
    struct counts c = { .rank = rank, .app = app, .missed = r->bad };
    struct losses_item l = { .rank = rank, .app = app };
    struct telemetry_item item = { .kind = TELEMETRY_COUNTS }, losses = { .kind = TELEMETRY_LOSSES };

    for (size_t i = 0; i < r->n_threads; i++) {
        struct ring_counts n;

        ring_counts_get(r->thread[i].ring, &n);
        c.events += n.events;
        c.dropped += n.dropped;
        c.missed += n.missed;
        c.p2p_calls += n.p2p_calls;
        c.p2p_bytes += n.p2p_bytes;
        c.p2p_ns += span_ns(out, r->info.clock, n.p2p_ticks);
        l.messages += n.messages_missed;
        l.streams += n.streams_forgotten;
        l.comms += n.comms_missed;
    }
    item.counts = r->n_threads ? c : r->counts; /* it is over: these are the last ones */
    losses.losses = r->n_threads ? l : r->losses;
    if (r->counts_due || memcmp(&item.counts, &r->counts, sizeof(item.counts)) != 0)
        out->put(&item, out->arg);
    if ((losses.losses.messages || losses.losses.streams || losses.losses.comms) &&
        out->newest >= TELEMETRY_LOSSES &&
        (r->counts_due || memcmp(&losses.losses, &r->losses, sizeof(r->losses)) != 0))
        out->put(&losses, out->arg);
    r->counts = item.counts;
    r->losses = losses.losses;
    r->counts_due = false;
}

/* Of one of its threads: there is one guest that sees any. */
static void report_phases(struct rank *r, const struct rank_output *out, uint64_t now)
{
    struct marks_figures f;

    for (size_t i = 0; i < r->n_threads && out->newest >= TELEMETRY_PHASES; i++)
        if (ring_marks_get(r->thread[i].ring, &f) && f.used & MARKS_SEEN)
            marks_send(&r->marks, &f, r->info.rank, (uint16_t)r->info.incarnation, now, true, out->put,
                       out->arg);
}

/* A process that nobody can see (of a container) counts as vanished after a time without activity. */
static bool has_vanished(struct rank *r)
{
    uint64_t started = r->pid > 0 ? proc_look(r->pid, &r->process) : 0;
    bool unread = r->pid > 0 && !started && errno != ESRCH;
    uint64_t signs = r->counts.events + r->counts.dropped + r->counts.p2p_calls;
    struct ring_live live;

    if (read_rings(r, &live))
        signs += live.enter * 31 + live.op;
    r->still_s = signs == r->signs ? r->still_s + 1 : 0;
    r->signs = signs;
    if (unread)
        return false;
    if (started && (!r->started || r->started == started)) {
        r->started = started;
        return false;
    }
    r->process = 0;
    if (!r->started && proc_alive(r->info.pid, 0))
        return false;
    return r->started || r->still_s > PROCESSES_UNSEEN_SECONDS;
}

/* ---- what keeps the process from running ---- */

static enum process_state process_state(const struct rank *r)
{
    switch (r->process) {
    case 'T':
        return PROCESS_STOPPED;
    case 't':
        return PROCESS_TRACED;
    case 'D':
        return PROCESS_BLOCKED;
    default:
        return PROCESS_RUNS;
    }
}

/* A short wait for storage is ordinary, so only a state that was read three times in a row is reported. */
static void report_process(struct rank *r, const struct rank_output *out, uint64_t now)
{
    enum process_state state = process_state(r);
    struct telemetry_item item = {
        .kind = TELEMETRY_PROCESS, .process = { .rank = r->info.rank, .app = (uint16_t)r->info.incarnation }
    };

    if (state != r->halt) {
        r->halt = state;
        r->halt_ns = now;
    }
    if (state != PROCESS_RUNS && now < r->halt_ns + HALT_NS)
        state = PROCESS_RUNS;
    if (out->newest < TELEMETRY_PROCESS || (state == PROCESS_RUNS && !r->halt_open))
        return;
    item.process.state = (uint8_t)state;
    item.process.age_ns = state == PROCESS_RUNS ? 0 : now - r->halt_ns;
    out->put(&item, out->arg);
    r->halt_open = state != PROCESS_RUNS;
}

/* After the last event: send what is open, and free everything but the description. */
static void finish_rank(struct rank *r, const struct rank_output *out)
{
    struct ring_live live;

    for (int i = 0; i < LAST_DRAINS && rank_drain(r, out); i++)
        ;
    rank_flush(r, out);
    if (read_live(r, out, &live))
        put_live(r, out, &live, now_ns(r, out));
    r->live_open = false;
    report_counts(r, out);
    report_phases(r, out, now_ns(r, out));
    /* One that was never visible may still be there, and write. */
    for (size_t i = 0; i < r->n_threads && (r->state != RANK_VANISHED || r->started); i++)
        ring_retire(r->thread[i].ring);
    close_rings(r);
    flow_free(r->flow);
    free(r->pending);
    r->flow = NULL;
    r->pending = NULL;
    r->n_pending = r->cap_pending = 0;
    r->over = true;
}

/* MPI may be over while another library of the same process goes on: NCCL, Gloo. */
static enum rank_state state_of(const struct rank *r, bool vanished)
{
    enum rank_state state = RANK_RUNNING;
    struct ring_info info;
    bool goes_on = false;

    for (size_t i = 0; i < r->n_threads; i++) {
        ring_info_get(r->thread[i].ring, &info);
        if (info.state != RING_STATE_RUNNING)
            state = info.state == RING_STATE_ABORTED ? RANK_ABORTED : RANK_FINALIZED;
        else
            goes_on |= r->thread[i].number >= RING_NCCL_FIRST;
    }
    if (vanished)
        return state == RANK_RUNNING ? RANK_VANISHED : state;
    return goes_on && state == RANK_FINALIZED ? RANK_RUNNING : state;
}

void rank_second(struct rank *r, const struct rank_output *out)
{
    enum rank_state before = r->state;
    uint64_t now;

    if (r->n_threads) {
        now = now_ns(r, out);
        r->state = state_of(r, has_vanished(r));
        r->news |= r->state != before;
        read_comms(r, out);
        flow_flush(r->flow, now, BLOCK_WAIT_NS, out->put, out->arg);
        if (r->state == RANK_RUNNING) {
            report_process(r, out, now);
            report_live(r, out, now);
            report_phases(r, out, now);
        }
        for (size_t i = 0; i < r->n_threads; i++)
            ring_relax(r->thread[i].ring);
    }
    report_counts(r, out);
    /* Finish one second after the state changed, so that events of threads that still wrote are read. */
    if (r->n_threads && r->state != RANK_RUNNING && before == r->state)
        finish_rank(r, out);
}

void rank_release(struct rank *r)
{
    if (r->n_pending) /* read, and not sent */
        return;
    for (size_t i = 0; i < r->n_threads; i++)
        ring_release(r->thread[i].ring);
}

void rank_flush(struct rank *r, const struct rank_output *out)
{
    if (!r->flow)
        return;
    release_pending(r, out, UINT64_MAX);
    flow_flush(r->flow, now_ns(r, out), 0, out->put, out->arg);
    report_counts(r, out);
}

/* ---- description ---- */

enum rank_state rank_state(const struct rank *r)
{
    return r->state;
}

bool rank_over(const struct rank *r)
{
    return r->over;
}

bool rank_take_news(struct rank *r)
{
    bool news = r->news;

    r->news = false;
    return news;
}

json_t *rank_describe(const struct rank *r)
{
    static const char *const states[] = { [RANK_RUNNING] = "running",
                                          [RANK_FINALIZED] = "finalized",
                                          [RANK_ABORTED] = "aborted",
                                          [RANK_VANISHED] = "vanished" };
    const struct ring_info *i = &r->info;

    return json_pack(
        "{s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:s}", "rank", (json_int_t)i->rank, "app",
        (json_int_t)i->incarnation, "task", i->task == UINT32_MAX ? json_null() : json_integer(i->task),
        "world_rank", (json_int_t)i->world_rank, "world_size", (json_int_t)i->world_size, "pid",
        r->pid > 0 ? json_integer(r->pid) : json_null(), "program", json_of_text(i->program), "library",
        json_of_text(i->library), "topology", json_of_text(i->topology), "state", states[r->state]);
}

void rank_announce(struct rank *r, const struct rank_output *out)
{
    struct comm_arg arg = { r, out };

    r->news = r->counts_due = true;
    for (size_t i = 0; i < RING_RANK_MAX && r->comms[i]; i++)
        comms_each(r->comms[i], put_comm, &arg);
}

void rank_rate(struct rank *r, double rate_hz)
{
    if (r->flow)
        flow_control(r->flow, rate_hz, false);
}
