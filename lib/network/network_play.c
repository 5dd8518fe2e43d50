/* Exact mode: jobs are state machines, messages are flows, and events are handled one at a time. */
#include "network/network_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "network/agenda.h"
#include "network/early.h"

#define NOBODY UINT32_MAX
#define ABSENT UINT32_MAX /* a member that has not entered */
/* Events closer together than this, relative to the time since the start, differ only by rounding; rates are
 * solved once for all of them. */
#define AT_ONCE 1e-12

/* One collective in progress: the n-th that its members enter. */
struct entered {
    struct entered *next;
    uint32_t *round;   /* each member is in; ABSENT */
    uint32_t *pending; /* its messages of that round that are not complete */
    uint32_t *actor;   /* the actor of each member */
    uint32_t *early;   /* its list in the play's early messages */
    uint32_t inside;   /* members that have not left, including absent ones */
};

/* The way that a member's last message took. */
struct kept_way {
    uint64_t faults;
    uint32_t to;
    struct network_way way;
};

/* A collective that members of the running play have entered. */
struct network_playing {
    struct network_collective *next; /* the one that was entered before it */
    uint64_t *entries;               /* of each member */
    struct kept_way *way;            /* by member */
    struct entered *oldest;
    uint64_t oldest_number;
};

struct message {
    struct network_collective *collective; /* NULL: complete */
    struct entered *in;
    uint32_t from, to, round;
    double start_s;
    double bytes; /* left at time since_s */
    double since_s, rate;
    bool moving; /* its latency is over */
    bool gone;   /* abandoned during its latency */
    bool held;   /* waits at a gate whose opening is on the agenda */
    bool inside; /* has passed the gates of its way */
};

struct actor {
    uint32_t job, rank;
};

struct play {
    struct network *network;
    const struct network_job *job;
    struct actor *actor;
    uint32_t actors;
    struct message *message;
    size_t message_cap;
    uint32_t messages;
    uint32_t *spare; /* numbers of complete messages */
    size_t spare_cap;
    uint32_t spares;
    struct early early;
    double at_once_s;
    struct network_collective *played; /* the newest; a list through playing */
    struct agenda *agenda;             /* item: an actor that computes, or actors + message */
    double now_s;
    struct network_count *count;
};

/* ---- collectives in progress ---- */

static struct entered *entered_new(uint32_t members)
{
    struct entered *e = xcalloc(1, sizeof(*e));

    e->round = xcalloc(members, 4 * sizeof(*e->round));
    e->pending = e->round + members;
    e->actor = e->pending + members;
    e->early = e->actor + members;
    e->inside = members;
    memset(e->round, 0xff, members * sizeof(*e->round));
    memset(e->early, 0xff, members * sizeof(*e->early));
    return e;
}

/* The collective with this number that members of c enter. */
static struct entered *entered_get(struct play *p, struct network_collective *c, uint64_t number)
{
    struct entered **e = &c->playing->oldest;

    for (uint64_t n = c->playing->oldest_number;; n++, e = &(*e)->next) {
        if (!*e) {
            *e = entered_new(c->schedule.spec.members);
            p->count->messages += c->schedule.messages;
        }
        if (n == number)
            return *e;
    }
}

/* The oldest one is over. */
static void entered_drop(struct network_playing *g)
{
    struct entered *gone = g->oldest;

    g->oldest = gone->next;
    g->oldest_number++;
    free(gone->round);
    free(gone);
}

static void entered_leave(struct network_collective *c, struct entered *in)
{
    in->inside--;
    while (c->playing->oldest && !c->playing->oldest->inside)
        entered_drop(c->playing);
}

static void begin_playing(struct play *p, struct network_collective *c)
{
    uint32_t members = c->schedule.spec.members;
    struct network_playing *g;

    if (c->playing)
        return;
    c->playing = g = xcalloc(1, sizeof(*g));
    g->entries = xcalloc(members, sizeof(*g->entries));
    g->way = xcalloc(members, sizeof(*g->way));
    for (uint32_t i = 0; i < members; i++)
        g->way[i].to = NOBODY;
    p->at_once_s = fmax(p->at_once_s, c->at_once_s);
    g->next = p->played;
    p->played = c;
}

static void end_playing(struct play *p, struct network_collective *c)
{
    struct network_playing *g = c->playing;

    p->played = g->next;
    while (g->oldest)
        entered_drop(g);
    free(g->entries);
    free(g->way);
    free(g);
    c->playing = NULL;
}

/* ---- messages ---- */

static uint32_t message_new(struct play *p)
{
    if (p->spares)
        return p->spare[--p->spares];
    p->message = xgrow(p->message, &p->message_cap, p->messages + 1, sizeof(*p->message));
    p->spare = xgrow(p->spare, &p->spare_cap, p->messages + 1, sizeof(*p->spare));
    return p->messages++;
}

/* The way of a message from this member, cached while the destination is the same. */
static const struct network_way *way_of(const struct network_collective *c, uint32_t from, uint32_t to)
{
    struct kept_way *kept = &c->playing->way[from];

    if (kept->to != to || kept->faults != c->network->faults) {
        network_way(c->network, c->rank[from], c->rank[to], &kept->way);
        kept->to = to;
        kept->faults = c->network->faults;
    }
    return &kept->way;
}

static void message_free(struct play *p, uint32_t id)
{
    p->message[id].collective = NULL;
    p->spare[p->spares++] = id;
}

/* Both ends are ready: pass the gates, or wait at one. */
static void message_depart(struct play *p, uint32_t id)
{
    struct message *m = &p->message[id];
    const struct network_way *way = way_of(m->collective, m->from, m->to);
    struct gate_queues *g = p->network->gates;
    double again_s;

    m->inside = gate_queues_any(g) && gate_queues_enter(g, way->link, way->hops, id, p->now_s, &again_s);
    m->held = gate_queues_any(g) && !m->inside;
    if (!m->held)
        agenda_after(p->agenda, p->actors + id, p->now_s, way->latency_s);
    else if (isfinite(again_s))
        agenda_set(p->agenda, p->actors + id, again_s);
}

/* Leave the gates and let waiting messages in. */
static void leave_gates(struct play *p, uint32_t id)
{
    struct message *m = &p->message[id];
    struct gate_queues *g = p->network->gates;
    struct network_way way;
    uint32_t next;

    if (!m->inside)
        return;
    m->inside = false;
    way = *way_of(m->collective, m->from, m->to); /* copied: others that depart may replace the cached way */
    gate_queues_leave(g, way.link, way.hops);
    while (gate_queues_next(g, way.link, way.hops, p->now_s, &next)) {
        if (p->message[next].gone)
            message_free(p, next);
        else
            message_depart(p, next);
    }
}

static void message_start(struct play *p, struct network_collective *c, struct entered *in, uint32_t round,
                          const struct schedule_message *what)
{
    uint32_t id = message_new(p);

    p->message[id] = (struct message){ .collective = c,
                                       .in = in,
                                       .from = what->from,
                                       .to = what->to,
                                       .round = round,
                                       .bytes = what->bytes,
                                       .start_s = p->now_s };
    p->count->walked++;
    message_depart(p, id);
}

/* The latency is over: the message takes bandwidth. */
static void message_move(struct play *p, uint32_t id)
{
    struct message *m = &p->message[id];
    const struct network_way *way = way_of(m->collective, m->from, m->to);

    m->moving = true;
    m->since_s = p->now_s;
    m->rate = 0;
    p->count->shared |= network_flow_add(p->network, id, way);
}

/* ---- members in a collective ---- */

struct member {
    struct play *play;
    struct network_collective *collective;
    struct entered *in;
    uint32_t member, round;
};

static void visit_send(void *arg, const struct schedule_message *m)
{
    struct member *w = arg;

    w->in->pending[w->member] += !schedule_detached(&w->collective->schedule, w->round);
    if (schedule_has_server(&w->collective->schedule) || w->in->round[m->to] == w->round)
        message_start(w->play, w->collective, w->in, w->round, m);
}

static void visit_receive(void *arg, const struct schedule_message *m)
{
    struct member *w = arg;

    if (schedule_has_server(&w->collective->schedule)) {
        w->in->pending[w->member] += !early_take(&w->play->early, &w->in->early[w->member], w->round);
        return;
    }
    w->in->pending[w->member]++;
    if (w->in->round[m->from] == w->round)
        message_start(w->play, w->collective, w->in, w->round, m);
}

/* Advance the member to its next round with messages.  True when it has left the collective. */
static bool member_go(struct play *p, struct network_collective *c, struct entered *in, uint32_t member,
                      uint32_t round)
{
    struct member w = { p, c, in, member, round };

    for (; w.round < c->schedule.rounds; w.round++) {
        in->round[member] = w.round;
        in->pending[member] = 0;
        schedule_receives(&c->schedule, w.round, member, visit_receive, &w);
        schedule_sends(&c->schedule, w.round, member, visit_send, &w);
        if (in->pending[member])
            return false;
    }
    in->round[member] = w.round;
    entered_leave(c, in);
    return true;
}

/* ---- actors ---- */

/* Advance the actor until it does something that takes time. */
static void actor_go(struct play *p, uint32_t actor)
{
    const struct actor *a = &p->actor[actor];
    const struct network_job *job = &p->job[a->job];

    for (;;) {
        struct network_op op = { .kind = NETWORK_END };

        job->next(job->arg, a->rank, p->now_s, &op);
        if (op.kind == NETWORK_END)
            return;
        if (op.kind == NETWORK_COMPUTE) {
            agenda_set(p->agenda, actor, p->now_s + fmax(0, op.seconds));
            return;
        }
        begin_playing(p, op.collective);
        struct entered *in = entered_get(p, op.collective, op.collective->playing->entries[op.member]++);

        in->actor[op.member] = actor;
        if (!member_go(p, op.collective, in, op.member, 0))
            return;
    }
}

/* One of the member's messages of the round is complete. */
static void member_through(struct play *p, struct network_collective *c, struct entered *in, uint32_t member,
                           uint32_t round)
{
    uint32_t actor = in->actor[member];

    if (in->round[member] != round) {
        early_put(&p->early, &in->early[member], round);
        return;
    }
    if (!--in->pending[member] && member_go(p, c, in, member, round + 1))
        actor_go(p, actor);
}

static void leave_links(struct play *p, uint32_t id)
{
    const struct message *m = &p->message[id];

    if (p->network->incast.flows)
        network_flow_remove(p->network, id, way_of(m->collective, m->from, m->to));
    else
        share_remove(p->network->share, id);
}

static void message_end(struct play *p, uint32_t id)
{
    struct message m = p->message[id];

    if (m.moving)
        leave_links(p, id);
    leave_gates(p, id);
    message_free(p, id);
    if (m.collective->watch)
        m.collective->watch->through(m.collective->watch, m.round, m.from, m.start_s, p->now_s);
    m.in->inside++; /* kept until both ends have left */
    if (!schedule_detached(&m.collective->schedule, m.round))
        member_through(p, m.collective, m.in, m.from, m.round);
    member_through(p, m.collective, m.in, m.to, m.round);
    entered_leave(m.collective, m.in);
}

/* ---- events ---- */

static void event_happens(struct play *p, uint32_t item)
{
    uint32_t id = item - p->actors;

    p->count->events++;
    if (item < p->actors)
        actor_go(p, item);
    else if (p->message[id].gone)
        message_free(p, id);
    else if (p->message[id].held)
        message_depart(p, id);
    else if (!p->message[id].moving && p->message[id].bytes > 0)
        message_move(p, id);
    else
        message_end(p, id);
}

void network_wake(struct network *n, const void *job, uint32_t rank, double at_s)
{
    struct play *p = n->play;
    uint32_t actor = rank;

    for (size_t j = 0; p->job[j].arg != job; j++)
        actor += p->job[j].ranks;
    agenda_set(p->agenda, actor, fmax(p->now_s, at_s));
}

static void abandon_messages(struct play *p, const struct network_collective *c)
{
    for (uint32_t id = 0; id < p->messages; id++) /* before a gate lets another in */
        p->message[id].gone |= p->message[id].collective == c;
    for (uint32_t id = 0; id < p->messages; id++) {
        struct message *m = &p->message[id];

        if (m->collective != c)
            continue;
        leave_gates(p, id);
        if (!m->moving)
            continue; /* still on the agenda */
        leave_links(p, id);
        agenda_set(p->agenda, p->actors + id, INFINITY);
        message_free(p, id);
    }
}

void network_abandon(struct network_collective *c)
{
    struct network_playing *g = c->playing;
    uint32_t members = c->schedule.spec.members;

    if (!g)
        return;
    abandon_messages(c->network->play, c);
    while (g->oldest) {
        for (uint32_t i = 0; i < members; i++)
            early_forget(&c->network->play->early, &g->oldest->early[i]);
        entered_drop(g);
    }
    g->oldest_number = 0;
    memset(g->entries, 0, members * sizeof(*g->entries));
}

/* Solve rates, and reschedule the ends of flows. */
static void settle(struct play *p)
{
    const uint32_t *changed;
    size_t n = share_solve(p->network->share, &changed);

    for (size_t i = 0; i < n; i++) {
        uint32_t id = changed[i];
        struct message *m = &p->message[id];

        m->bytes = fmax(0, m->bytes - m->rate * (p->now_s - m->since_s));
        m->since_s = p->now_s;
        m->rate = share_rate(p->network->share, id);
        agenda_set(p->agenda, p->actors + id, p->now_s + m->bytes / m->rate);
    }
}

void network_play(struct network *n, const struct network_job *job, size_t jobs, struct network_count *count)
{
    struct play p = { .network = n, .job = job, .count = count };
    uint64_t solves = share_solves(n->share);
    double time_s;

    for (size_t j = 0; j < jobs; j++)
        p.actors += job[j].ranks;
    p.actor = xcalloc(p.actors ? p.actors : 1, sizeof(*p.actor));
    p.agenda = agenda_new();
    early_init(&p.early);
    n->play = &p;
    for (size_t j = 0, a = 0; j < jobs; j++)
        for (uint32_t r = 0; r < job[j].ranks; r++)
            p.actor[a++] = (struct actor){ (uint32_t)j, r };
    for (uint32_t a = 0; a < p.actors; a++)
        actor_go(&p, a);
    settle(&p);

    while ((time_s = agenda_first_s(p.agenda)) < INFINITY) {
        double last_s = time_s + AT_ONCE * time_s + p.at_once_s;

        do {
            p.now_s = time_s;
            event_happens(&p, agenda_take(p.agenda));
            time_s = agenda_first_s(p.agenda);
        } while (time_s <= last_s);
        settle(&p);
    }
    count->mode = NETWORK_EXACT;
    count->solves += share_solves(n->share) - solves;

    n->play = NULL;
    while (p.played)
        end_playing(&p, p.played);
    network_flows_clear(n);
    if (n->gates)
        gate_queues_clear(n->gates);
    agenda_free(p.agenda);
    free(p.actor);
    free(p.message);
    free(p.spare);
    early_clear(&p.early);
}
