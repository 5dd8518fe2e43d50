#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define HELD_SHARE 1e-3 /* of a step: who stayed shorter in a completing call was not held, either */

static void take_complete(struct graph *g);

/* ---- life ---- */

struct graph *graph_new(void)
{
    struct graph *g = xcalloc(1, sizeof(*g));

    g->clock = graph_clock_new();
    g->held_s = HELD_S;
    return g;
}

static void forget_steps(struct graph *g)
{
    for (uint32_t i = 0; i < GRAPH_STEPS; i++) {
        free(g->kept[i].op);
        free(g->kept[i].begin_s);
        g->kept[i] = (struct kept){ 0 };
    }
    g->n_kept = 0;
    g->ops = 0;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    forget_steps(g);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        free(g->rank[r].raw);
        free(g->rank[r].end);
        free(g->rank[r].slot);
    }
    for (size_t i = 0; i < g->n_comms; i++)
        free(g->comm[i].node);
    free(g->rank);
    free(g->comm);
    free(g->kind);
    free(g->meeting);
    map_free(&g->comms);
    map_free(&g->kinds);
    map_free(&g->meetings);
    map_free(&g->places);
    map_free(&g->classes);
    free(g->place);
    graph_clock_free(g->clock);
    free(g->now_s);
    free(g->start_s);
    free(g->over_s);
    free(g);
}

/* Forget all calls; what is learnt of clocks and transfers stays. */
void graph_reset(struct graph *g)
{
    forget_steps(g);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];

        k->gone += k->n;
        k->n = k->n_ends = 0;
        k->begun = false;
        memset(k->tally, 0, sizeof(k->tally));
        k->whole = false;
        k->places = 0;
    }
    g->base += g->n_meetings;
    g->n_meetings = 0;
    map_clear(&g->meetings);
    g->from = 0;
    g->roles = 0;
    g->tried = 0;
}

void graph_rank(struct graph *g, uint32_t rank, uint32_t node)
{
    g->rank = xgrow(g->rank, &g->ranks_cap, rank + 1, sizeof(*g->rank));
    if (rank >= g->n_ranks)
        g->n_ranks = rank + 1;
    g->rank[rank].known = true;
    g->rank[rank].node = node;
    if (node >= g->nodes)
        g->nodes = node + 1;
}

void graph_rank_end(struct graph *g, uint32_t rank)
{
    if (rank >= g->n_ranks)
        return;
    g->rank[rank].ended = true;
    take_complete(g);
}

/* ---- calls ---- */

static uint32_t comm_get(struct graph *g, uint64_t name)
{
    uint32_t at = map_get(&g->comms, name);

    if (at != GRAPH_NONE)
        return at;
    g->comm = xgrow(g->comm, &g->comms_cap, g->n_comms + 1, sizeof(*g->comm));
    g->comm[g->n_comms] = (struct comm){ 0 };
    map_put(&g->comms, name, (uint32_t)g->n_comms);
    return (uint32_t)g->n_comms++;
}

static void comm_reaches(struct comm *c, uint32_t node)
{
    uint32_t at = 0;

    while (at < c->nodes && c->node[at] < node)
        at++;
    if (at < c->nodes && c->node[at] == node)
        return;
    c->node = xgrow(c->node, &c->cap, c->nodes + 1, sizeof(*c->node));
    memmove(c->node + at + 1, c->node + at, (c->nodes++ - at) * sizeof(*c->node));
    c->node[at] = node;
}

static uint32_t kind_get(struct graph *g, const struct graph_call *c, uint32_t from, uint32_t to)
{
    bool message = c->kind != GRAPH_COLLECTIVE;
    uint32_t size = c->bytes ? 64 - (uint32_t)__builtin_clzll(c->bytes) : 0;
    uint64_t words[] = { message,
                         c->comm,
                         size,
                         message ? from : c->op,
                         message ? to : 0,
                         message ? (uint64_t)(int64_t)c->tag : 0 };
    uint64_t key = key_of(words, sizeof(words));
    uint32_t at = map_get(&g->kinds, key);

    if (at != GRAPH_NONE || g->n_kinds == GRAPH_KINDS_MAX)
        return at;
    g->kind = xgrow(g->kind, &g->kinds_cap, g->n_kinds + 1, sizeof(*g->kind));
    g->kind[g->n_kinds] =
        (struct kind){ .info = { .message = message,
                                 .size = size,
                                 .from = from,
                                 .to = to,
                                 .tag = c->tag,
                                 .comm = message ? 0 : c->comm,
                                 .op = c->op,
                                 .bytes = (double)c->bytes },
                       .comm = message ? GRAPH_NONE : comm_get(g, c->comm),
                       .usual_s = NAN };
    map_put(&g->kinds, key, (uint32_t)g->n_kinds);
    return (uint32_t)g->n_kinds++;
}

static uint64_t collective_key(const struct graph_call *c, uint32_t seq)
{
    uint64_t words[] = { 1, c->comm, seq };

    return key_of(words, sizeof(words));
}

static uint64_t message_key(const struct graph_call *c, uint32_t from, uint32_t to)
{
    uint64_t words[] = { 2, c->comm, c->seq, (uint64_t)from << 32 | to, (uint64_t)(int64_t)c->tag };

    return key_of(words, sizeof(words));
}

static uint32_t meeting_get(struct graph *g, const struct graph_call *c)
{
    bool message = c->kind != GRAPH_COLLECTIVE;
    uint32_t from = c->kind == GRAPH_SEND ? c->rank : c->peer, to = c->kind == GRAPH_SEND ? c->peer : c->rank;
    uint64_t key = message ? message_key(c, from, to) : collective_key(c, c->seq);
    uint32_t at = map_get(&g->meetings, key), before = GRAPH_NONE, kind;

    if (at != GRAPH_NONE)
        return at;
    kind = kind_get(g, c, from, to);
    if (kind == GRAPH_NONE)
        return GRAPH_NONE;
    at = g->base + g->n_meetings;
    g->meeting = xgrow(g->meeting, &g->meetings_cap, g->n_meetings + 1, sizeof(*g->meeting));
    if (!message && c->seq)
        before = map_get(&g->meetings, collective_key(c, c->seq - 1));
    g->meeting[g->n_meetings++] = (struct meeting){ .m = { .kind = kind,
                                                           .before = before,
                                                           .transfer_s = NAN,
                                                           .most_s = NAN,
                                                           .start_s = -INFINITY,
                                                           .end_s = NAN },
                                                    .key = key,
                                                    .seq = c->seq,
                                                    .send_s = NAN,
                                                    .recv_s = NAN,
                                                    .recv_left_s = NAN,
                                                    .least_stay_s = INFINITY,
                                                    .held_left_s = INFINITY,
                                                    .least_left_s = INFINITY };
    map_put(&g->meetings, key, at);
    return at;
}

/* In the order of the program: what began earlier comes first. */
static void raw_add(struct rank *k, const struct raw *raw)
{
    size_t at = k->n;

    k->raw = xgrow(k->raw, &k->cap, k->n + 1, sizeof(*k->raw));
    while (at > 0 && k->raw[at - 1].enter_ns > raw->enter_ns)
        at--;
    memmove(k->raw + at + 1, k->raw + at, (k->n++ - at) * sizeof(*k->raw));
    k->raw[at] = *raw;
}

void graph_lost(struct graph *g, uint32_t rank)
{
    if (rank < g->n_ranks)
        g->rank[rank].lost = true;
}

void graph_call(struct graph *g, const struct graph_call *c)
{
    struct rank *k;
    struct raw raw = { .kind = c->kind, .enter_ns = c->enter_ns, .leave_ns = c->leave_ns };

    if (c->rank >= g->n_ranks || !g->rank[c->rank].known || g->finished)
        return;
    k = &g->rank[c->rank];
    if (k->n >= GRAPH_OPEN_MAX)
        graph_reset(g);
    graph_clock_see(g->clock, k->node, c->begin_ns ? c->begin_ns : c->enter_ns);
    raw.meeting = meeting_get(g, c);
    if (raw.meeting == GRAPH_NONE) {
        k->lost = true;
        return;
    }
    if (c->kind == GRAPH_COLLECTIVE)
        comm_reaches(&g->comm[g->kind[meeting_at(g, raw.meeting)->m.kind].comm], k->node);
    raw.lost = k->lost;
    k->lost = false;
    if (c->begin_ns) {
        struct raw begin = raw;

        g->spans = g->spans || (k->begun && c->begin_ns < k->ended_ns);

        begin.does = GRAPH_ARRIVES;
        begin.enter_ns = begin.leave_ns = c->begin_ns;
        begin.lost = false;
        raw_add(k, &begin);
        raw.does = GRAPH_IS_HELD;
    } else {
        raw.does = c->kind == GRAPH_SEND ? GRAPH_ARRIVES : GRAPH_ARRIVES | GRAPH_IS_HELD;
        raw.blocking = true;
    }
    raw_add(k, &raw);
}

/* ---- a step that is complete ---- */

static void forget_oldest(struct graph *g)
{
    struct kept *old = &g->kept[(g->steps - g->n_kept) % GRAPH_STEPS];

    g->ops -= old->s.n;
    free(old->op);
    free(old->begin_s);
    *old = (struct kept){ 0 };
    g->n_kept--;
}

/* Meetings that only forgotten steps had. */
static void forget_meetings(struct graph *g)
{
    uint32_t first = g->n_kept ? g->kept[(g->steps - g->n_kept) % GRAPH_STEPS].first : g->base;
    uint32_t n = first - g->base;

    if (n < g->n_meetings / 2 || n < 1024)
        return;
    memmove(g->meeting, g->meeting + n, (g->n_meetings - n) * sizeof(*g->meeting));
    g->n_meetings -= n;
    g->base = first;
    map_clear(&g->meetings);
    for (uint32_t i = 0; i < g->n_meetings; i++)
        map_put(&g->meetings, g->meeting[i].key, g->base + i);
}

/* The calls of each rank's first step, when that is `number`. */
static struct window *windows_of(struct graph *g, uint32_t number)
{
    struct window *w = xcalloc(g->n_ranks, sizeof(*w));

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];

        if (k->n_ends && k->end[0].number == number)
            w[r] = (struct window){ k->raw, k->end[0].at - k->gone, k->end[0].begun_ns };
    }
    return w;
}

static void drop_windows(struct graph *g, const struct window *w, uint32_t number)
{
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];

        if (!k->n_ends || k->end[0].number != number)
            continue;
        memmove(k->raw, k->raw + w[r].n, (k->n - w[r].n) * sizeof(*k->raw));
        k->n -= w[r].n;
        k->gone += w[r].n;
        memmove(k->end, k->end + 1, --k->n_ends * sizeof(*k->end));
    }
}

static void take_step(struct graph *g, uint32_t number)
{
    struct window *w = windows_of(g, number);
    struct kept *kept;
    uint32_t first = UINT32_MAX;

    while (g->n_kept && (g->n_kept == GRAPH_STEPS || g->ops > GRAPH_CALLS_MAX))
        forget_oldest(g);
    kept = &g->kept[g->steps % GRAPH_STEPS];
    graph_align(g, w);
    graph_repair(g, w, number);
    graph_find_roles(g, w);
    g->merged = false;
    graph_measure(g, w);
    kept->s.number = number;
    graph_order(g, kept, w);
    kept->s.op = kept->op;
    kept->s.begin_s = INFINITY;
    kept->s.end_s = -INFINITY;
    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (w[r].n) {
            kept->s.begin_s = fmin(kept->s.begin_s, kept->begin_s[r]);
            kept->s.end_s = fmax(kept->s.end_s, moment_s(g, r, w[r].raw[w[r].n - 1].leave_ns));
        }
    for (size_t i = 0; i < kept->s.n; i++)
        first = kept->op[i].meeting < first ? kept->op[i].meeting : first;
    kept->first = first;
    g->held_s = fmax(HELD_S, HELD_SHARE * (kept->s.end_s - kept->s.begin_s));
    g->ops += kept->s.n;
    g->steps++;
    g->n_kept++;
    drop_windows(g, w, number);
    free(w);
    forget_meetings(g);
}

/* The oldest step with an end; GRAPH_NONE: there is none. */
static uint32_t oldest_end(const struct graph *g)
{
    uint32_t number = GRAPH_NONE;

    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (g->rank[r].n_ends && g->rank[r].end[0].number < number)
            number = g->rank[r].end[0].number;
    return number;
}

/* Did every rank come to this end?  Where calls are begun in one step and completed in the next, to one after it. */
static bool all_past(const struct graph *g, uint32_t number)
{
    for (uint32_t r = 0; r < g->n_ranks && !g->finished; r++) {
        const struct rank *k = &g->rank[r];

        if (k->known && !k->ended && (!k->n_ends || k->end[k->n_ends - 1].number < number + g->spans))
            return false;
    }
    return true;
}

static bool all_have(const struct graph *g, uint32_t number)
{
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const struct rank *k = &g->rank[r];

        if (k->known && !k->ended && (!k->n_ends || k->end[0].number != number))
            return false;
    }
    return true;
}

/* Some rank did not report the end of this step: it and the next one are one. */
static void merge_with_next(struct graph *g, uint32_t number)
{
    g->merged = true;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];

        if (!k->n_ends || k->end[0].number != number)
            continue;
        if (k->n_ends > 1)
            k->end[1].begun_ns = k->end[0].begun_ns;
        memmove(k->end, k->end + 1, --k->n_ends * sizeof(*k->end));
    }
}

static void take_complete(struct graph *g)
{
    uint32_t number;

    while ((number = oldest_end(g)) != GRAPH_NONE && all_past(g, number)) {
        if (number <= g->from) {
            struct window *w = windows_of(g, number);

            drop_windows(g, w, number);
            free(w);
        } else if (all_have(g, number) || graph_repair_end(g, number)) {
            take_step(g, number);
        } else {
            merge_with_next(g, number);
        }
    }
}

/* Forget the rank's calls since its newest end. */
static void forget_open(struct rank *k)
{
    k->n = k->n_ends ? k->end[k->n_ends - 1].at - k->gone : 0;
}

/* What came before a rank's first end may be less than a step, or several. */
static void begin(struct graph *g, struct rank *k, uint32_t number)
{
    k->ended_ns = k->n ? k->raw[k->n - 1].leave_ns : 0;
    forget_open(k);
    k->begun = true;
    g->from = number > g->from ? number : g->from;
}

void graph_gap(struct graph *g, uint32_t rank)
{
    struct rank *k;

    if (rank >= g->n_ranks)
        return;
    k = &g->rank[rank];
    forget_open(k);
    k->begun = k->lost = false;
}

void graph_step_end(struct graph *g, uint32_t rank, uint32_t number)
{
    struct rank *k;

    if (rank >= g->n_ranks || !g->rank[rank].known)
        return;
    k = &g->rank[rank];
    if (!k->begun) {
        begin(g, k, number);
        return;
    }
    if (k->n_ends && number <= k->end[k->n_ends - 1].number)
        return;
    k->end = xgrow(k->end, &k->ends_cap, k->n_ends + 1, sizeof(*k->end));
    k->end[k->n_ends++] = (struct end){ number, k->gone + k->n, k->ended_ns };
    k->ended_ns = k->n ? k->raw[k->n - 1].leave_ns : k->ended_ns;
    take_complete(g);
}

void graph_finish(struct graph *g)
{
    g->finished = true;
    take_complete(g);
}

/* ---- reading ---- */

size_t graph_ops(const struct graph *g)
{
    return g->ops;
}

uint32_t graph_steps(const struct graph *g)
{
    return g->n_kept;
}

struct graph_step graph_step_get(const struct graph *g, uint32_t back)
{
    return g->kept[(g->steps - 1 - back) % GRAPH_STEPS].s;
}

double graph_begin_s(const struct graph *g, uint32_t back, uint32_t rank)
{
    const struct kept *kept = &g->kept[(g->steps - 1 - back) % GRAPH_STEPS];

    return rank < kept->ranks ? kept->begin_s[rank] : NAN;
}

bool graph_comparable(const struct graph *g, uint32_t a, uint32_t b)
{
    return a < g->n_ranks && b < g->n_ranks &&
           graph_clock_comparable(g->clock, g->rank[a].node, g->rank[b].node);
}

const struct graph_meeting *graph_meeting_get(const struct graph *g, uint32_t meeting)
{
    return &meeting_at(g, meeting)->m;
}

uint32_t graph_kinds(const struct graph *g)
{
    return (uint32_t)g->n_kinds;
}

const struct graph_kind_info *graph_kind_get(const struct graph *g, uint32_t kind)
{
    struct kind *k = &g->kind[kind];

    if (k->info.message) {
        uint32_t a = g->rank[k->info.from].node, b = g->rank[k->info.to].node;

        k->pair[0] = a < b ? a : b;
        k->pair[1] = a < b ? b : a;
        k->info.node = k->pair;
        k->info.nodes = 1 + (a != b);
    } else {
        k->info.node = g->comm[k->comm].node;
        k->info.nodes = g->comm[k->comm].nodes;
    }
    return &k->info;
}
