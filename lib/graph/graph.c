#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

/* of a step: who stayed shorter in a completing call was not held, either */
#define HELD_SHARE 1e-3

/* ---- life ---- */

struct graph *graph_new(void)
{
    struct graph *g = xcalloc(1, sizeof(*g));

    g->clock = graph_clock_new();
    g->held_s = HELD_S;
    g->free_slot = g->oldest = GRAPH_NONE;
    return g;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    kept_forget(g);
    meetings_forget(g);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        free(g->rank[r].raw);
        free(g->rank[r].end);
        free(g->rank[r].slot);
    }
    for (size_t i = 0; i < g->n_comms; i++)
        free(g->comm[i].node);
    free(g->tally);
    free(g->rank);
    free(g->comm);
    free(g->kind);
    map_free(&g->comms);
    map_free(&g->kinds);
    map_free(&g->places);
    map_free(&g->classes);
    free(g->place);
    graph_clock_free(g->clock);
    free(g->now_s);
    free(g);
}

static size_t map_bytes(const struct map *m)
{
    return m->size * (sizeof(*m->key) + sizeof(*m->value));
}

size_t graph_held_bytes(const struct graph *g)
{
    size_t bytes =
        g->ranks_cap * sizeof(*g->rank) + g->comms_cap * sizeof(*g->comm) + g->kinds_cap * sizeof(*g->kind) +
        g->places_cap * sizeof(*g->place) + g->meetings_cap * sizeof(*g->meeting) +
        g->at_size * sizeof(*g->meeting_at) + g->now_cap * sizeof(*g->now_s) + g->bytes +
        (g->newest.cap + g->other.cap) * sizeof(struct graph_op) + map_bytes(&g->comms) +
        map_bytes(&g->kinds) + map_bytes(&g->meetings) + map_bytes(&g->places) + map_bytes(&g->classes);

    for (uint32_t r = 0; r < g->n_ranks; r++)
        bytes += g->rank[r].cap * sizeof(struct raw) + g->rank[r].ends_cap * sizeof(struct end) +
                 g->rank[r].places * sizeof(struct slot);
    for (size_t i = 0; i < g->n_comms; i++)
        bytes += g->comm[i].cap * sizeof(*g->comm[i].node);
    return bytes;
}

/* Forget all calls; what is learnt of clocks and transfers stays. */
void graph_reset(struct graph *g)
{
    kept_forget(g);
    meetings_forget(g);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];

        k->gone += k->n;
        k->n = k->n_ends = 0;
        k->begun = false;
        k->whole = false;
        k->places = 0;
    }
    graph_tally_forget(g);
    map_clear(&g->places);
    map_clear(&g->classes);
    g->n_places = g->n_classes = 0;
    g->oldest = GRAPH_NONE;
    g->from = 0;
    g->roles = 0;
    g->seated = false;
    g->tried = g->seat_tries = 0;
}

void graph_share_clock(struct graph *g, uint64_t origin_ns, double error_s)
{
    g->one_clock = true;
    g->origin_ns = origin_ns;
    g->error_s = isnan(error_s) ? INFINITY : error_s;
}

void graph_rank(struct graph *g, uint32_t rank, uint32_t node)
{
    g->rank = xgrow(g->rank, &g->ranks_cap, rank + 1, sizeof(*g->rank));
    if (rank >= g->n_ranks)
        g->n_ranks = rank + 1;
    if (!g->rank[rank].known) /* seats may be known already, and it has none then */
        memset(g->rank[rank].seat, 0xff, sizeof(g->rank[rank].seat));
    g->rank[rank].known = true;
    g->rank[rank].node = node;
    if (node >= g->nodes)
        g->nodes = node + 1;
    if (g->one_clock) /* none is aligned to another: all begin at the same moment, and none drifts */
        graph_clock_see(g->clock, node, g->origin_ns);
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

static uint32_t kind_get(struct graph *g, const struct call *c, uint64_t series, uint32_t from, uint32_t to)
{
    bool message = call_is_message(c);
    uint32_t size = c->bytes ? 64 - (uint32_t)__builtin_clzll(c->bytes) : 0;
    uint64_t key = key_of_numbers(hash_mix(series + message), message ? (uint64_t)from << 32 | to : c->op,
                                  (uint64_t)(message ? (uint32_t)c->tag : 0) << 8 | size);
    uint32_t at = map_get(&g->kinds, key);

    if (at != GRAPH_NONE || g->n_kinds == GRAPH_KINDS_MAX)
        return at;
    g->kind = xgrow(g->kind, &g->kinds_cap, g->n_kinds + 1, sizeof(*g->kind));
    g->kind[g->n_kinds] = (struct kind){ .info = { .message = message,
                                                   .size = size,
                                                   .from = message ? from : 0,
                                                   .to = message ? to : 0,
                                                   .tag = message ? c->tag : 0,
                                                   .comm = message ? 0 : series,
                                                   .op = c->op,
                                                   .bytes = (double)c->bytes },
                                         .comm = message ? GRAPH_NONE : comm_get(g, series),
                                         .usual_s = NAN };
    map_put(&g->kinds, key, (uint32_t)g->n_kinds);
    return (uint32_t)g->n_kinds++;
}

static uint32_t meeting_get(struct graph *g, const struct call *c, uint64_t series)
{
    bool message = call_is_message(c);
    uint32_t from = c->op == RING_OP_SEND ? c->rank : c->peer, to = c->op == RING_OP_SEND ? c->peer : c->rank;
    uint64_t key = message ? key_of_numbers(hash_mix(c->comm), (uint64_t)from << 32 | to,
                                            (uint64_t)(uint32_t)c->tag << 32 | c->seq)
                           : meeting_collective_key(c->comm, c->seq);
    uint32_t slot = meeting_find(g, key), kind;
    struct meeting *m;

    if (slot != GRAPH_NONE)
        return slot;
    kind = kind_get(g, c, series, from, to);
    if (kind == GRAPH_NONE)
        return GRAPH_NONE;
    slot = meeting_new(g, key);
    m = meeting_at(g, slot);
    m->kind = kind;
    m->seq = c->seq;
    if (message)
        m->message.send_s = m->message.recv_s = m->message.send_stay_s = NAN;
    else
        m->all.min_stay_s = m->all.held_left_s = m->all.least_left_s = INFINITY;
    return slot;
}

void graph_lost(struct graph *g, uint32_t rank)
{
    if (rank < g->n_ranks)
        g->rank[rank].lost = true;
}

void graph_call(struct graph *g, const struct call *c, uint64_t series)
{
    struct rank *k;
    struct raw raw = { .side = (uint8_t)call_side(c->op), .enter_ns = c->enter_ns, .leave_ns = c->leave_ns };

    if (c->rank >= g->n_ranks || !g->rank[c->rank].known || g->finished)
        return;
    k = &g->rank[c->rank];
    kept_let_go(g);
    if (k->n >= GRAPH_OPEN_MAX)
        graph_reset(g);
    graph_clock_see(g->clock, k->node, call_begin_ns(c));
    if (!k->begun) { /* what comes before its first end is in no step */
        k->ended_ns = c->leave_ns;
        k->lost = false;
        return;
    }
    raw.meeting = meeting_get(g, c, series);
    if (raw.meeting == GRAPH_NONE) {
        k->lost = true;
        return;
    }
    if (!call_is_message(c))
        comm_reaches(&g->comm[g->kind[meeting_at(g, raw.meeting)->kind].comm], k->node);
    raw.lost = k->lost;
    k->lost = false;
    if (call_is_nonblocking(c)) {
        struct raw begin = raw;

        g->spans = g->spans || c->begin_ns < k->ended_ns;
        begin.does = GRAPH_ARRIVES;
        begin.enter_ns = begin.leave_ns = c->begin_ns;
        begin.lost = false;
        graph_raw_add(g, k, &begin);
        raw.does = GRAPH_IS_HELD;
    } else {
        raw.does = c->op == RING_OP_SEND ? GRAPH_ARRIVES : GRAPH_ARRIVES | GRAPH_IS_HELD;
        raw.blocking = true;
    }
    graph_raw_add(g, k, &raw);
}

/* ---- a step that is complete ---- */

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
        graph_raw_drop(g, k, 0, w[r].n);
        k->gone += w[r].n;
        graph_end_drop(k);
    }
}

/* The longest that a rank was in the step, by its own clock. */
static double longest_s(const struct graph *g, const struct window *w)
{
    double longest = 0;

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const struct raw *raw = w[r].raw;

        if (w[r].n)
            longest = fmax(longest, (double)(int64_t)(raw[w[r].n - 1].leave_ns - raw[0].enter_ns) * 1e-9);
    }
    return longest;
}

static void take_step(struct graph *g, uint32_t number)
{
    struct window *w = windows_of(g, number);
    struct graph_step s = { .number = number, .begin_s = INFINITY, .end_s = -INFINITY };
    double *begin_s = xcalloc(g->n_ranks, sizeof(*begin_s));
    size_t bytes_max = (size_t)g->n_ranks * GRAPH_RANK_BYTES;
    uint32_t first;

    g->held_s = fmax(HELD_S, HELD_SHARE * longest_s(g, w));
    graph_align(g, w);
    graph_repair(g, w, number);
    graph_find_roles(g, w);
    g->merged = false;
    graph_measure(g, w);
    first = graph_order(g, &s, begin_s, w);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (w[r].n) {
            s.begin_s = fmin(s.begin_s, begin_s[r]);
            s.end_s = fmax(s.end_s, moment_s(g, r, w[r].raw[w[r].n - 1].leave_ns));
        }
    if (g->n_kept == GRAPH_STEPS)
        kept_forget_oldest(g);
    kept_add(g, &s, begin_s, first);
    bytes_max = bytes_max > GRAPH_BYTES ? bytes_max : GRAPH_BYTES;
    while (g->n_kept > GRAPH_STEPS_MIN && g->bytes > bytes_max)
        kept_forget_oldest(g);
    drop_windows(g, w, number);
    meetings_close(g);
    free(begin_s);
    free(w);
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

/* Did every rank come to this end?  Asked at each end of each rank: the one that was waited for before
 * answers it mostly. */
static bool all_past(struct graph *g, uint32_t number)
{
    for (uint32_t i = 0; i < g->n_ranks && !g->finished; i++) {
        uint32_t r = (g->waits_for + i) % g->n_ranks;
        const struct rank *k = &g->rank[r];

        if (!k->known || k->ended)
            continue;
        /* Where calls are begun in one step and completed in the next, it must come to one after this end. */
        if (!k->n_ends || k->end[k->n_ends - 1].number < number + g->spans) {
            g->waits_for = r;
            return false;
        }
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
        graph_end_drop(k);
    }
}

static void take_complete(struct graph *g)
{
    uint32_t number;

    for (;;) {
        if (g->oldest == GRAPH_NONE)
            g->oldest = oldest_end(g);
        number = g->oldest;
        if (number == GRAPH_NONE || !all_past(g, number))
            return;
        g->oldest = GRAPH_NONE;
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

void graph_gap(struct graph *g, uint32_t rank)
{
    struct rank *k;

    if (rank >= g->n_ranks)
        return;
    k = &g->rank[rank];
    graph_raw_drop(g, k, k->n_ends ? k->end[k->n_ends - 1].at - k->gone : 0, k->n); /* since its newest end */
    k->begun = k->lost = false;
}

void graph_step_end(struct graph *g, uint32_t rank, uint32_t number)
{
    struct rank *k;

    if (rank >= g->n_ranks || !g->rank[rank].known)
        return;
    k = &g->rank[rank];
    if (!k->begun) { /* what came before a rank's first end may be less than a step, or several */
        k->begun = true;
        g->from = number > g->from ? number : g->from;
        return;
    }
    if (k->n_ends && number <= k->end[k->n_ends - 1].number)
        return;
    if (!k->n_ends && number < g->oldest)
        g->oldest = number;
    graph_end_insert(k, k->n_ends, &(struct end){ number, k->gone + k->n, k->ended_ns });
    k->ended_ns = k->n ? k->raw[k->n - 1].leave_ns : k->ended_ns;
    take_complete(g);
}

void graph_rank_end(struct graph *g, uint32_t rank)
{
    if (rank >= g->n_ranks)
        return;
    g->rank[rank].ended = true;
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

bool graph_comparable(const struct graph *g, uint32_t a, uint32_t b)
{
    return a < g->n_ranks && b < g->n_ranks &&
           graph_clock_comparable(g->clock, g->rank[a].node, g->rank[b].node);
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
