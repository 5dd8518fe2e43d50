#include "model/strategy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/allreduce_traffic.h"
#include "model/deviate.h"
#include "model/step.h"

#define DOUBT      0.05  /* relative, of the cost of a collective that was never measured */
#define MERGED_MIN 1.5   /* least number of exchanges per step that can be merged */
#define NOTICEABLE 0.005 /* of a step */
#define LOCAL_MAX  1000
#define INNER_MOST 0.1 /* at most this share of the time per byte is within nodes */

const char *const strategy_kinds[STRATEGY_KINDS] = {
    [STRATEGY_NOW] = "now",
    [STRATEGY_RING] = "ring",
    [STRATEGY_TREE] = "tree",
    [STRATEGY_HALVING] = "halving-doubling",
    [STRATEGY_HIERARCHICAL] = "hierarchical",
    [STRATEGY_SERVER] = "parameter-server",
    [STRATEGY_ORDER] = "rank-order",
    [STRATEGY_MERGED] = "fewer-barriers",
    [STRATEGY_REPLACE_RANK] = "replace-rank",
    [STRATEGY_REPLACE_NODE] = "replace-node",
    [STRATEGY_STALENESS] = "bounded-staleness",
    [STRATEGY_LOCAL] = "local-sgd",
    [STRATEGY_ASYNCHRONOUS] = "asynchronous",
};

double strategy_time_s(const struct strategy *s)
{
    return s->step_s.p50 * s->growth;
}

#define ALGORITHMS 5

struct world {
    const struct strategy_input *in;
    struct strategies *out;
    struct waiting waiting;
    const double *scratch;
    struct allreduce_traffic
        traffic[ALGORITHMS]; /* with the present placement of ranks; measured jobs only */
    struct allreduce_traffic ordered[ALGORITHMS]; /* with ranks in the order of the nodes */
    uint32_t nodes; /* by the ranks' placement; if unknown, each rank counts as a node */
};

/* ---- exchange ---- */

/* Whether another all-reduce algorithm would change this exchange. */
static bool replaceable(const struct traffic_link *k)
{
    return k->grows && k->op == COLLECTIVE_ALLREDUCE;
}

static double exposed_s(const struct world *w, double comm_s)
{
    return w->in->overlap > 0 ? step_exposed_s(comm_s, w->in->overlap, w->in->backward_s) : comm_s;
}

/* A collective's strategy as an algorithm on the placed ranks, and on a described network. */
static const enum allreduce_algo placed[] = { [STRATEGY_RING] = ALLREDUCE_RING,
                                              [STRATEGY_TREE] = ALLREDUCE_TREE,
                                              [STRATEGY_HALVING] = ALLREDUCE_HALVING,
                                              [STRATEGY_HIERARCHICAL] = ALLREDUCE_HIERARCHICAL,
                                              [STRATEGY_SERVER] = ALLREDUCE_SERVER };
static const enum collective_algo described[] = { [STRATEGY_RING] = COLLECTIVE_RING,
                                                  [STRATEGY_TREE] = COLLECTIVE_TREE,
                                                  [STRATEGY_HALVING] = COLLECTIVE_HALVING,
                                                  [STRATEGY_HIERARCHICAL] = COLLECTIVE_HIERARCHICAL,
                                                  [STRATEGY_SERVER] = COLLECTIVE_RING };
/* A library that chooses the quickest algorithm uses a ring where that is quickest. */
static const enum strategy_kind kind_now[TRAFFIC_ALGORITHMS] = { [TRAFFIC_RING] = STRATEGY_RING,
                                                                 [TRAFFIC_HALVING] = STRATEGY_HALVING,
                                                                 [TRAFFIC_TWO_LEVEL] = STRATEGY_HIERARCHICAL,
                                                                 [TRAFFIC_TREE] = STRATEGY_TREE,
                                                                 [TRAFFIC_QUICKEST] = STRATEGY_RING };

static const struct traffic_wire *wire_at(const struct world *w, size_t i)
{
    return &w->in->wire[i % w->in->n_wires];
}

/* Numbers evenly spread from 0 to 1, in another order for each odd factor. */
static double even(size_t i, size_t factor)
{
    return ((double)(i * factor % STRATEGY_WIRES) + 0.5) / STRATEGY_WIRES;
}

/* The costs of messages that explain the link's measured time. */
static struct allreduce_cost cost_of(const struct world *w, size_t i, size_t l)
{
    const struct strategy_input *in = w->in;
    const struct traffic_link *k = &in->link[l];
    const struct traffic_wire *wire = wire_at(w, i);
    const struct allreduce_traffic *c = &w->traffic[placed[kind_now[wire->algorithm]]];
    double inner = exp(in->inner_spread * deviate_normal(even(i, 29)));
    struct allreduce_cost o = { .inner_hop_s = inner * in->inner_hop_s,
                                .inner_s_per_byte = inner * in->inner_s_per_byte };
    double bytes_s = k->time_s - wire->fixed_s[l];

    o.hop_s = fmax(0, wire->fixed_s[l] - c->inner_hops * o.inner_hop_s) / c->hops;
    o.s_per_byte = fmax(INNER_MOST * bytes_s, bytes_s - c->inner_bytes * k->bytes * o.inner_s_per_byte) /
                   (c->bytes * k->bytes);
    return o;
}

static double described_s(const struct world *w, size_t l, enum strategy_kind kind)
{
    struct collective c = *w->in->network;

    c.op = kind == STRATEGY_SERVER ? COLLECTIVE_PARAMETER_SERVER : COLLECTIVE_ALLREDUCE;
    c.algo = described[kind];
    c.shards = w->in->shards;
    return collective_time_s(&c, w->in->link[l].bytes);
}

static double collective_s(const struct world *w, size_t i, size_t l, enum strategy_kind kind)
{
    struct allreduce_cost cost;

    if (w->in->network)
        return described_s(w, l, kind);
    /* The present algorithm takes the measured time, however it is divided into parts. */
    if (kind == kind_now[wire_at(w, i)->algorithm])
        return w->in->link[l].time_s;
    cost = cost_of(w, i, l);
    return allreduce_traffic_s(&w->traffic[placed[kind]], &cost, w->in->link[l].bytes);
}

/* Time of all collectives of a step, with this algorithm where possible. */
static double comm_s(const struct world *w, size_t i, enum strategy_kind kind)
{
    double sum = 0;

    for (size_t l = 0; l < w->in->n_links; l++) {
        const struct traffic_link *k = &w->in->link[l];

        sum += k->per_step * (replaceable(k) ? collective_s(w, i, l, kind) : k->time_s);
    }
    return sum;
}

/* With the present algorithm. */
static double ordered_s(const struct world *w, size_t i)
{
    enum allreduce_algo algo = placed[kind_now[wire_at(w, i)->algorithm]];
    double sum = 0;

    for (size_t l = 0; l < w->in->n_links; l++) {
        const struct traffic_link *k = &w->in->link[l];
        struct allreduce_cost cost = cost_of(w, i, l);

        sum += k->per_step *
               (replaceable(k) ? allreduce_traffic_s(&w->ordered[algo], &cost, k->bytes) : k->time_s);
    }
    return sum;
}

/* The parts that do not depend on bytes occur once a step. */
static double merged_s(const struct world *w, size_t i)
{
    const struct traffic_wire *wire = wire_at(w, i);
    double sum = 0, once_s = 0;

    for (size_t l = 0; l < w->in->n_links; l++) {
        const struct traffic_link *k = &w->in->link[l];
        double fixed_s = replaceable(k) ? wire->fixed_s[l] : 0;

        sum += k->per_step * (k->time_s - fixed_s);
        once_s = fmax(once_s, fixed_s);
    }
    return sum + once_s;
}

static double exchanges(const struct world *w)
{
    double n = 0;

    for (size_t l = 0; l < w->in->n_links; l++)
        n += replaceable(&w->in->link[l]) ? w->in->link[l].per_step : 0;
    return n;
}

/* Time of a rank's messages to and from the servers on its own link. */
static double own_exchange_s(const struct world *w, size_t i)
{
    double sum = 0;

    for (size_t l = 0; l < w->in->n_links; l++) {
        const struct traffic_link *k = &w->in->link[l];
        double s_per_byte =
            w->in->network ? 1 / w->in->network->link.bytes_per_s : cost_of(w, i, l).s_per_byte;

        sum += replaceable(k) ? 2 * k->per_step * k->bytes * s_per_byte : 0;
    }
    return sum;
}

static void find_traffic(struct world *w, double *scratch)
{
    const struct waiting_input *in = &w->in->ranks;
    uint32_t *place = (uint32_t *)scratch; /* uses part of scratch, one number per rank */
    bool known = in->node && in->nodes > 1 && in->nodes <= in->ranks;
    struct allreduce_place p = { in->ranks, known ? in->nodes : in->ranks, known ? in->node : place };

    scratch += in->ranks;
    w->nodes = p.nodes;
    for (uint32_t i = 0; i < in->ranks; i++)
        place[i] = i;
    for (int a = 0; a < ALGORITHMS; a++)
        w->traffic[a] =
            allreduce_traffic((enum allreduce_algo)a, &p, w->in->shards >= 1 ? w->in->shards : 1, scratch);
    for (uint32_t i = 0; i < in->ranks; i++)
        place[i] = (uint32_t)((uint64_t)i * p.nodes / in->ranks);
    p.node = place;
    for (int a = 0; a < ALGORITHMS; a++)
        w->ordered[a] = allreduce_traffic((enum allreduce_algo)a, &p, 1, scratch);
}

/* ---- a strategy compared with the present ---- */

struct change {
    struct waiting_share waiting; /* relative to the present waiting */
    double waiting_least;         /* lower bound of the waiting */
    bool unseen;                  /* its exchange was never measured */
    double exchange_s[STRATEGY_WIRES];
};

static struct change no_change(const struct world *w)
{
    struct change c = { .waiting = { 1, 0 }, .waiting_least = 1 };

    for (size_t i = 0; i < STRATEGY_WIRES; i++)
        c.exchange_s[i] = w->out->exchange_s;
    return c;
}

/* Print tenths where whole percents would be equal or near 0. */
static int digits(double one, double other)
{
    return fmin(one, other) < 0.0995 || fabs(one - other) < 0.02;
}

/* Describe what changes, in shares of a present step. */
static void describe(const struct world *w, struct strategy *s, const char *why)
{
    const struct strategies *o = w->out;
    const struct {
        const char *what;
        double was_s, is_s;
    } part[] = { { "waiting", o->waiting_s, s->waiting_s }, { "exchange", o->exchange_s, s->exchange_s } };
    int at = snprintf(s->reason, sizeof(s->reason), "%s", why);
    const char *before = ": ";
    double share[2];

    for (size_t i = 0; i < 2 && at > 0 && (size_t)at < sizeof(s->reason); i++) {
        if (fabs(part[i].is_s - part[i].was_s) < NOTICEABLE * o->step_s)
            continue;
        share[0] = part[i].is_s / o->step_s;
        share[1] = part[i].was_s / o->step_s;
        at +=
            snprintf(s->reason + at, sizeof(s->reason) - (size_t)at,
                     "%s%s %.*f %% of a step instead of %.*f %%", before, part[i].what,
                     digits(share[0], share[1]), 100 * share[0], digits(share[0], share[1]), 100 * share[1]);
        before = ", ";
    }
    if (before[0] == ':' && (size_t)at < sizeof(s->reason))
        snprintf(s->reason + at, sizeof(s->reason) - (size_t)at, ": hardly any difference");
}

static void add_strategy(struct world *w, struct strategy *s, const struct change *c, const char *why)
{
    float step_s[STRATEGY_WIRES], ratio[STRATEGY_WIRES];
    const struct strategies *o = w->out;

    for (size_t i = 0; i < STRATEGY_WIRES; i++) {
        double share = c->waiting.value + c->waiting.error * deviate_normal(even(i, 37)) -
                       even(i, 53) * (1 - c->waiting_least);
        double exchange_s = c->exchange_s[i] * (c->unseen ? exp(DOUBT * deviate_normal(even(i, 77))) : 1);
        double step = o->compute_s + o->other_s + o->waiting_s * fmax(0, share) + exchange_s;

        step_s[i] = (float)step;
        ratio[i] = (float)(o->step_s / step);
    }
    s->step_s = projection_range_of(step_s, STRATEGY_WIRES);
    s->ratio = projection_range_of(ratio, STRATEGY_WIRES);
    if (w->in->network) { /* only the replay has an error, so print all digits */
        s->step_s.p50 = o->compute_s + o->other_s + o->waiting_s * c->waiting.value + c->exchange_s[0];
        s->ratio.p50 = o->step_s / s->step_s.p50;
    }
    s->work_s = o->compute_s;
    s->other_s = o->other_s;
    s->waiting_s = o->waiting_s * (c->waiting.value - (1 - c->waiting_least) / 2);
    s->exchange_s = fmax(0, s->step_s.p50 - s->work_s - s->other_s - s->waiting_s);
    describe(w, s, why);
    if (s->assumed)
        snprintf(s->name + strlen(s->name), sizeof(s->name) - strlen(s->name), " (assumed)");
    if (w->out->n < STRATEGY_MAX)
        w->out->list[w->out->n++] = *s;
}

static void add_now(struct world *w)
{
    struct strategy s = { .kind = STRATEGY_NOW, .parameter = NAN, .name = "as it is", .growth = 1 };
    struct change c = no_change(w);

    add_strategy(w, &s, &c, "measured");
    snprintf(w->out->list[w->out->n - 1].reason, sizeof(s.reason), "measured");
}

/* ---- synchronous ---- */

static bool possible(const struct world *w, enum strategy_kind kind)
{
    const struct collective *c = w->in->network;
    double g = w->in->ranks_per_node, n = w->in->ranks.ranks;

    if (kind == STRATEGY_SERVER)
        return w->in->shards >= 1;
    if (kind != STRATEGY_HIERARCHICAL)
        return true;
    if (!(g >= 1) || fmod(n, g) != 0)
        return false;
    return c ? c->rails <= g && !isnan(c->intra.latency_s) && !isnan(c->intra.bytes_per_s)
             : g > 1 && w->nodes < n;
}

static void change_exchange(const struct world *w, struct change *c,
                            double exchange_s(const struct world *, size_t))
{
    for (size_t i = 0; i < STRATEGY_WIRES; i++)
        c->exchange_s[i] = exposed_s(w, exchange_s(w, i));
}

static void add_collective(struct world *w, enum strategy_kind kind)
{
    static const char *const why[] = {
        [STRATEGY_RING] = "a ring sends the fewest bytes",
        [STRATEGY_TREE] = "a tree has few hops, but sends the whole vector at each",
        [STRATEGY_HALVING] = "few hops and few bytes",
        [STRATEGY_HIERARCHICAL] = "rings inside nodes and between them",
        [STRATEGY_SERVER] = "the servers receive what all ranks send",
    };
    struct strategy s = { .kind = kind, .parameter = NAN, .growth = 1 };
    struct change c = no_change(w);

    if (!possible(w, kind))
        return;
    for (size_t i = 0; i < STRATEGY_WIRES; i++)
        c.exchange_s[i] = exposed_s(w, comm_s(w, i, kind));
    c.unseen = !isnan(w->in->step_s);
    snprintf(s.name, sizeof(s.name), "synchronous, %s",
             kind == STRATEGY_SERVER ? "parameter server" : strategy_kinds[kind]);
    s.assumed = kind == STRATEGY_SERVER         ? w->in->shards_assumed
                : kind == STRATEGY_HIERARCHICAL ? w->in->inner_assumed
                                                : false;
    if (kind == STRATEGY_SERVER) {
        s.parameter = w->in->shards;
        if (s.parameter > 1)
            snprintf(s.assumes, sizeof(s.assumes), "each of the %.0f servers has a link like a rank's",
                     s.parameter);
        else
            snprintf(s.assumes, sizeof(s.assumes), "the server has a link like a rank's");
    }
    add_strategy(w, &s, &c, why[kind]);
}

static void add_order(struct world *w)
{
    struct strategy s = {
        .kind = STRATEGY_ORDER, .parameter = NAN, .name = "ranks in the order of their nodes", .growth = 1
    };
    struct change c = no_change(w);
    double times = w->traffic[ALLREDUCE_RING].bytes / w->ordered[ALLREDUCE_RING].bytes;
    char why[96];

    if (w->in->network || times < 1.5)
        return;
    change_exchange(w, &c, ordered_s);
    c.unseen = true;
    snprintf(why, sizeof(why), "a ring would leave each node once instead of %.0f times", times);
    add_strategy(w, &s, &c, why);
}

static void add_merged(struct world *w)
{
    struct strategy s = { .kind = STRATEGY_MERGED,
                          .parameter = NAN,
                          .name = "one exchange a step",
                          .growth = 1,
                          .assumes =
                              "no part of the result is needed earlier; how much of the waiting the other "
                              "barriers cause is unknown" };
    struct change c = no_change(w);
    char why[64];

    if (isnan(w->in->step_s) || exchanges(w) < MERGED_MIN)
        return;
    change_exchange(w, &c, merged_s);
    c.waiting_least = w->out->waiting_s > 0 ? fmin(1, w->waiting.all_s / w->out->waiting_s) : 1;
    snprintf(why, sizeof(why), "one barrier instead of %.0f", exchanges(w));
    add_strategy(w, &s, &c, why);
}

/* Ranks that wait for a slow one have already exchanged what does not depend on it, so part of the exchange
 * is hidden behind the waiting; only a ring waits as a whole.  Without the slow rank this part becomes
 * visible.  Its size was never measured: at most as much as the visible part, and more likely little. */
static void unhide(const struct world *w, struct change *c)
{
    for (size_t i = 0; i < STRATEGY_WIRES; i++)
        if (w->in->n_wires && kind_now[wire_at(w, i)->algorithm] != STRATEGY_RING)
            c->exchange_s[i] *= 1 + even(i, 91) * even(i, 91);
}

static void add_replaced(struct world *w)
{
    struct strategy s = { .growth = 1, .assumes = "the replacement is as fast as the others" };
    struct change c = no_change(w);

    if (w->in->ranks.node && w->in->ranks.nodes > 1) {
        s.kind = STRATEGY_REPLACE_NODE;
        s.parameter = w->waiting.slow_node;
        snprintf(s.name, sizeof(s.name), "replace the slowest node");
        c.waiting = w->waiting.no_node;
        unhide(w, &c);
        add_strategy(w, &s, &c, "the other ranks no longer wait for it");
    }
    if (w->in->ranks.node && w->in->ranks.nodes >= w->in->ranks.ranks)
        return;
    s.kind = STRATEGY_REPLACE_RANK;
    s.parameter = w->waiting.slow_rank;
    snprintf(s.name, sizeof(s.name), "replace the slowest rank");
    c = no_change(w);
    c.waiting = w->waiting.no_rank;
    unhide(w, &c);
    add_strategy(w, &s, &c, "the other ranks no longer wait for it");
}

/* ---- others ---- */

static void add_bounded(struct world *w)
{
    for (int b = 0; b < WAITING_BOUNDS; b++) {
        unsigned bound = waiting_bounds[b];
        struct strategy s = { .kind = STRATEGY_STALENESS,
                              .parameter = bound,
                              .growth = 1 + w->in->staleness_penalty * bound,
                              .assumes = "the exchange overlaps the work" };
        struct change c = no_change(w);
        char why[64];

        for (size_t i = 0; i < STRATEGY_WIRES; i++)
            c.exchange_s[i] = w->waiting.exposed_s[b];
        c.waiting = w->waiting.bounded[b];
        snprintf(s.name, sizeof(s.name), "bounded staleness %u", bound);
        snprintf(why, sizeof(why), "a rank may be %u step%s ahead", bound, bound > 1 ? "s" : "");
        add_strategy(w, &s, &c, why);
    }
}

static double local_step_s(const struct world *w, double every)
{
    struct waiting_share share = waiting_local(&w->waiting, w->out->compute_s, every);

    return w->out->compute_s + w->out->other_s + w->out->waiting_s * share.value + w->out->exchange_s / every;
}

static double best_local(const struct world *w)
{
    double penalty = w->in->local_penalty, best = w->in->every, min_s = INFINITY;

    for (double k = 1; !isnan(penalty) && k <= LOCAL_MAX; k = fmax(k + 1, floor(k * 1.1))) {
        double time_s = (1 + penalty * k) * local_step_s(w, k);

        if (time_s < min_s) {
            min_s = time_s;
            best = k;
        }
    }
    return best;
}

static void add_local(struct world *w)
{
    double every = best_local(w);
    struct strategy s = { .kind = STRATEGY_LOCAL,
                          .parameter = every,
                          .growth = 1 + w->in->local_penalty * every };
    struct change c = no_change(w);
    char why[64];

    c.waiting = waiting_local(&w->waiting, w->out->compute_s, every);
    if (isnan(c.waiting.value))
        return;
    for (size_t i = 0; i < STRATEGY_WIRES; i++)
        c.exchange_s[i] = w->out->exchange_s / every;
    s.assumed = w->in->every_assumed && isnan(w->in->local_penalty);
    snprintf(s.name, sizeof(s.name), "local SGD, K = %.0f", every);
    snprintf(why, sizeof(why), "ranks synchronise every %.0f steps", every);
    add_strategy(w, &s, &c, why);
}

/* Time in which each of n ranks completes one turn.  A turn takes alone_s, of which served_s is at servers
 * that serve one rank after the other.  Mean value analysis with the residual of a constant service time
 * (Reiser & Lavenberg, J. ACM 27, 1980; Reiser 1979; what an arrival finds by Schweitzer 1979). */
static double queued_s(double alone_s, double served_s, double n)
{
    double others = (n - 1) / n, queue = 0, turn_s = alone_s;

    for (int i = 0; i < 200; i++) {
        double busy = fmin(1, n * served_s / turn_s);

        queue = n * (turn_s - alone_s + served_s) / turn_s;
        turn_s = (turn_s + alone_s + served_s * others * fmax(0, queue - busy / 2)) / 2;
    }
    return fmax(turn_s, n * served_s);
}

static void add_asynchronous(struct world *w)
{
    struct strategy s = { .kind = STRATEGY_ASYNCHRONOUS,
                          .parameter = w->in->shards,
                          .name = "asynchronous",
                          .assumed = w->in->shards_assumed,
                          .growth = w->in->async_growth };
    struct change c = no_change(w);
    bool held_up = false;
    double n = w->in->ranks.ranks;

    if (!(w->in->shards >= 1))
        return;
    for (size_t i = 0; i < STRATEGY_WIRES; i++) {
        double own_s = own_exchange_s(w, i), served_s = own_s / w->in->shards, round_s;

        round_s = queued_s(waiting_alone_s(&w->in->ranks, w->scratch, own_s + w->out->other_s), served_s, n);
        held_up = held_up || served_s * n > 0.9 * round_s;
        c.exchange_s[i] = round_s - w->out->compute_s - w->out->other_s;
    }
    c.waiting = (struct waiting_share){ 0, 0 };
    c.unseen = true;
    snprintf(s.assumes, sizeof(s.assumes), "%.0f parameter server%s with a link like the ranks'", s.parameter,
             s.parameter > 1 ? "s, each" : "");
    add_strategy(w, &s, &c,
                 held_up ? "ranks wait only for the servers" : "ranks do not wait for one another");
}

/* ---- all strategies ---- */

/* Known ones by time, then the others by step. */
static int by_time(const void *left, const void *right)
{
    const struct strategy *a = left, *b = right;
    bool known_a = !isnan(a->growth), known_b = !isnan(b->growth);
    double x = known_a ? strategy_time_s(a) : a->step_s.p50, y = known_b ? strategy_time_s(b) : b->step_s.p50;

    return known_a != known_b ? known_b - known_a : (x > y) - (x < y);
}

/* The present step; where none was measured its exchange is that of the best algorithm. */
static void take_now(struct world *w, double *comm)
{
    const struct strategy_input *in = w->in;
    struct strategies *o = w->out;

    if (isnan(in->step_s)) {
        *comm = INFINITY;
        for (enum strategy_kind k = STRATEGY_RING; k <= STRATEGY_HIERARCHICAL; k++)
            if (possible(w, k))
                *comm = fmin(*comm, comm_s(w, 0, k));
    } else {
        *comm = 0;
        for (size_t l = 0; l < in->n_links; l++)
            *comm += in->link[l].per_step * in->link[l].time_s;
    }
    *o = (struct strategies){ .compute_s = in->compute_s,
                              .waiting_s = in->waiting_s,
                              .other_s = in->ranks.other_s,
                              .exchange_s = exposed_s(w, *comm) };
    o->step_s = isnan(in->step_s) ? o->compute_s + o->waiting_s + o->exchange_s + o->other_s : in->step_s;
}

bool strategy_rank(const struct strategy_input *in, double *scratch, struct strategies *out)
{
    struct world w = { .in = in, .out = out, .scratch = scratch };
    struct waiting_input ranks = in->ranks;

    if ((!in->n_wires && !in->network) || in->n_links > TRAFFIC_LINKS || !(in->compute_s > 0) ||
        in->ranks.ranks < 2)
        return false;
    find_traffic(&w, scratch);
    take_now(&w, &ranks.exchange_s);
    if (!waiting_replay(&ranks, scratch, &w.waiting))
        return false;
    if (!isnan(in->step_s))
        add_now(&w);
    for (enum strategy_kind k = STRATEGY_RING; k <= STRATEGY_SERVER; k++)
        add_collective(&w, k);
    add_order(&w);
    add_merged(&w);
    if (!isnan(in->step_s))
        add_replaced(&w);
    add_bounded(&w);
    add_local(&w);
    add_asynchronous(&w);
    qsort(out->list, out->n, sizeof(*out->list), by_time);
    return true;
}
