/* Mode by rounds: the cost of a round's messages is solved once, and times are carried from round to round */
#include "network/network_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "network/ring_rounds.h"

#define NOBODY       UINT32_MAX
#define KEPT_BYTES   (256u << 20) /* of cached rounds per collective */
#define CLOSE_ROUNDS 16u          /* walking a ring of fewer rounds is as fast */

/* A round's messages with what they cost; the same for all rounds with these partners. */
struct round {
    uint64_t faults; /* for which it was solved */
    uint32_t messages;
    uint32_t *from, *to; /* members */
    double *latency_s, *s_per_byte;
    bool solved, shared;
};

struct network_rounds {
    uint32_t *of_stage; /* index of a stage's round in kept; NOBODY: too large to keep, solved when walked */
    struct round *kept;
    uint32_t n;
    struct round other; /* one that is not kept */
    double *scratch;
    int exact; /* is this mode exact?  -1: not known yet */
};

/* ---- the messages of a round ---- */

static void add_message(void *arg, const struct schedule_message *m)
{
    struct round *r = arg;

    r->from[r->messages] = m->from;
    r->to[r->messages++] = m->to;
}

static uint32_t stage_width(const struct schedule *s, const struct schedule_stage *st)
{
    if (st->pattern == SCHEDULE_P_PUSH || st->pattern == SCHEDULE_P_PULL)
        return s->spec.members * s->spec.shards;
    return s->spec.members;
}

static void round_fill(const struct network_collective *c, struct round *r, uint32_t stage)
{
    const struct schedule_stage *st = &c->schedule.stage[stage];
    uint32_t width = stage_width(&c->schedule, st);

    r->from = xrealloc(r->from, width, sizeof(*r->from));
    r->to = xrealloc(r->to, width, sizeof(*r->to));
    r->latency_s = xrealloc(r->latency_s, width, sizeof(*r->latency_s));
    r->s_per_byte = xrealloc(r->s_per_byte, width, sizeof(*r->s_per_byte));
    r->messages = 0;
    r->solved = false;
    for (uint32_t m = 0; m < c->schedule.spec.members; m++)
        schedule_sends(&c->schedule, st->first, m, add_message, r);
}

/* Cost of each message with all of them in progress. */
static void round_solve(struct network_collective *c, struct round *r)
{
    struct network *n = c->network;
    struct network_way way;
    const uint32_t *changed;

    if (r->solved && r->faults == n->faults)
        return;
    r->shared = false;
    for (uint32_t m = 0; m < r->messages; m++) {
        network_way(n, c->rank[r->from[m]], c->rank[r->to[m]], &way);
        r->latency_s[m] = way.latency_s;
        network_flow_add(n, m, &way);
    }
    share_solve(n->share, &changed);
    for (uint32_t m = 0; m < r->messages; m++) {
        r->s_per_byte[m] = 1 / share_rate(n->share, m);
        r->shared |= share_meets(n->share, m);
    }
    network_flows_clear(n);
    r->faults = n->faults;
    r->solved = true;
}

static void round_free(struct round *r)
{
    free(r->from);
    free(r->to);
    free(r->latency_s);
    free(r->s_per_byte);
}

/* ---- the rounds of a collective ---- */

static bool same_partners(const struct schedule_stage *a, const struct schedule_stage *b)
{
    return a->pattern == b->pattern && a->size == b->size && a->stride == b->stride &&
           a->distance == b->distance;
}

/* Where this stage's round is kept: with an earlier one's that has the same partners, or behind the last. */
static uint32_t find_round(const struct network_collective *c, struct network_rounds *r, uint32_t stage,
                           double *kept_bytes)
{
    const struct schedule_stage *st = &c->schedule.stage[stage];
    double bytes = stage_width(&c->schedule, st) * 24.0;

    for (uint32_t i = 0; i < stage; i++)
        if (same_partners(st, &c->schedule.stage[i]))
            return r->of_stage[i];
    if (*kept_bytes + bytes > KEPT_BYTES)
        return NOBODY;
    *kept_bytes += bytes;
    r->kept = xrealloc(r->kept, r->n + 1, sizeof(*r->kept));
    r->kept[r->n] = (struct round){ 0 };
    round_fill(c, &r->kept[r->n], stage);
    return r->n++;
}

static struct network_rounds *rounds_new(const struct network_collective *c)
{
    struct network_rounds *r = xcalloc(1, sizeof(*r));
    double kept_bytes = 0;

    r->exact = -1;
    r->of_stage = xcalloc(c->schedule.stages + 1, sizeof(*r->of_stage));
    for (uint32_t s = 0; s < c->schedule.stages; s++)
        r->of_stage[s] = find_round(c, r, s, &kept_bytes);
    r->scratch = xcalloc(c->schedule.spec.members, (3 + RING_ROUNDS_SCRATCH) * sizeof(*r->scratch));
    return r;
}

void network_rounds_free(struct network_rounds *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n; i++)
        round_free(&r->kept[i]);
    round_free(&r->other);
    free(r->kept);
    free(r->of_stage);
    free(r->scratch);
    free(r);
}

/* The messages of a round of the stage, with their costs if requested. */
static struct round *round_get(struct network_collective *c, uint32_t stage, bool costs)
{
    uint32_t kept = c->rounds->of_stage[stage];
    struct round *r = kept == NOBODY ? &c->rounds->other : &c->rounds->kept[kept];

    if (kept == NOBODY)
        round_fill(c, r, stage);
    if (costs)
        round_solve(c, r);
    return r;
}

/* ---- whether this mode is exact ---- */

/* Messages that take turns never meet: those of one sender in different rounds, and those to one receiver if
 * they wait for it. */
static bool take_turns(const struct network_collective *c, const struct round *r, uint32_t *sender,
                       uint32_t *receiver)
{
    const struct network *n = c->network;
    struct network_way way;
    bool waits = !schedule_has_server(&c->schedule);

    for (uint32_t m = 0; m < r->messages; m++) {
        network_way(n, c->rank[r->from[m]], c->rank[r->to[m]], &way);
        for (uint32_t h = 0; h < way.hops; h++) {
            uint32_t *s = &sender[way.link[h]], *t = &receiver[way.link[h]];

            *s = *s == NOBODY || *s == r->from[m] + 1 ? r->from[m] + 1 : 0;
            *t = waits && (*t == NOBODY || *t == r->to[m] + 1) ? r->to[m] + 1 : 0;
            if (!*s && !*t)
                return false;
        }
    }
    return true;
}

static bool find_exact(struct network_collective *c)
{
    uint32_t links = c->network->fabric.links, *sender = xcalloc(links, 2 * sizeof(*sender));
    bool exact = true;

    memset(sender, 0xff, 2 * (size_t)links * sizeof(*sender));
    for (uint32_t s = 0; s < c->schedule.stages && exact; s++) {
        const struct round *r = c->rounds->of_stage[s] == NOBODY ? NULL : round_get(c, s, true);

        exact = r && !r->shared && take_turns(c, r, sender, sender + links);
    }
    free(sender);
    return exact;
}

bool network_rounds_exact(struct network_collective *c)
{
    if (!c->rounds)
        c->rounds = rounds_new(c);
    if (c->rounds->exact < 0)
        c->rounds->exact = find_exact(c);
    return c->rounds->exact;
}

/* ---- from round to round ---- */

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Time of message m: measured in a sample (by sender), or from the rates of its round. */
static inline double message_cost(const struct round *r, const double *seen_s, double bytes, uint32_t m)
{
    return seen_s ? seen_s[r->from[m]] : r->latency_s[m] + (bytes > 0 ? bytes * r->s_per_byte[m] : 0);
}

static void walk_round(const struct network_collective *c, const struct schedule_stage *st,
                       const struct round *r, const double *seen_s, double *time_s, double *next_s)
{
    uint32_t members = c->schedule.spec.members;
    bool server = schedule_has_server(&c->schedule), detached = schedule_detached(&c->schedule, st->first);

    memcpy(next_s, time_s, members * sizeof(*next_s));
    for (uint32_t m = 0; m < r->messages; m++) {
        uint32_t from = r->from[m], to = r->to[m];
        double start = server ? time_s[from] : later(time_s[from], time_s[to]);
        double end = start + message_cost(r, seen_s, st->bytes, m);

        if (!detached)
            next_s[from] = later(next_s[from], end);
        next_s[to] = later(next_s[to], end);
    }
    memcpy(time_s, next_s, members * sizeof(*next_s));
}

/* Parallel rings; a ring without a closed answer is walked. */
static void run_rings(struct network_collective *c, const struct schedule_stage *st, uint64_t rounds,
                      const struct round *r, const double *seen_s, double *time_s,
                      struct network_count *count)
{
    uint32_t members = c->schedule.spec.members, n = st->size;
    double *cost = c->rounds->scratch, *at = cost + members, *scratch = at + members;

    for (uint32_t g = 0; g < members / n; g++) {
        uint32_t base = st->stride == 1 ? g * n : g;

        for (uint32_t i = 0; i < n; i++) {
            uint32_t m = base + i * st->stride; /* each member sends one message, in order of members */

            cost[i] = message_cost(r, seen_s, st->bytes, m);
            at[i] = time_s[m];
        }
        if (rounds >= CLOSE_ROUNDS && ring_rounds_closed(n, rounds, cost, at, at, scratch)) {
            count->closed = true;
        } else {
            ring_rounds_walk(n, rounds, cost, at, scratch);
            count->walked += n * rounds;
        }
        for (uint32_t i = 0; i < n; i++)
            time_s[base + i * st->stride] = at[i];
    }
}

uint32_t network_ring_stages(const struct schedule *s, uint32_t stage)
{
    uint32_t n = 1;

    while (stage + n < s->stages && same_partners(&s->stage[stage], &s->stage[stage + n]) &&
           s->stage[stage].bytes == s->stage[stage + n].bytes)
        n++;
    return n;
}

static void run_stages(struct network_collective *c, const double *seen_s, double *time_s,
                       struct network_count *count)
{
    const struct schedule *s = &c->schedule;
    uint32_t members = s->spec.members;

    for (uint32_t stage = 0, many; stage < s->stages; stage += many) {
        const struct schedule_stage *st = &s->stage[stage];

        many = 1;
        if (st->pattern == SCHEDULE_P_RING && c->rounds->of_stage[stage] != NOBODY) {
            many = network_ring_stages(s, stage);
            run_rings(c, st, (uint64_t)many * st->rounds, round_get(c, stage, !seen_s), seen_s, time_s,
                      count);
        } else {
            const struct round *r = round_get(c, stage, !seen_s);

            for (uint32_t k = 0; k < st->rounds; k++)
                walk_round(c, st, r, seen_s, time_s, c->rounds->scratch);
            count->walked += (uint64_t)r->messages * st->rounds;
        }
        if (seen_s)
            seen_s += (size_t)many * members;
    }
}

void network_run_costs(struct network_collective *c, const double *cost_s, const double *arrive_s,
                       double *leave_s, struct network_count *count)
{
    if (!c->rounds)
        c->rounds = rounds_new(c);
    memmove(leave_s, arrive_s, c->schedule.spec.members * sizeof(*leave_s));
    run_stages(c, cost_s, leave_s, count);
    count->messages += c->schedule.messages;
}

void network_run_rounds(struct network_collective *c, const double *arrive_s, double *leave_s,
                        struct network_count *count)
{
    uint64_t solves = share_solves(c->network->share);

    network_run_costs(c, NULL, arrive_s, leave_s, count);
    count->shared |= !network_rounds_exact(c);
    count->solves += share_solves(c->network->share) - solves;
}
