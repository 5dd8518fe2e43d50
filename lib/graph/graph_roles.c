/* graph_roles.c - which ranks do the same. */
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define TRIES        24u /* steps in which the calls vary, or some are missing */
#define AGREED       3u  /* steps with the same calls ... */
#define AGREED_AHEAD 2u  /* ... and more than with any others */

static uint64_t sign_of(const struct graph *g, const struct raw *raw)
{
    const struct graph_kind_info *k = &g->kind[meeting_at(g, raw->meeting)->kind].info;
    uint64_t words[] = { raw->side, raw->does, k->message ? 0 : k->size, (uint64_t)(int64_t)k->tag };

    return key_of(words, sizeof(words));
}

uint64_t graph_sign(const struct graph *g, const struct window *w)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < w->n; i++)
        sum += hash_mix(sign_of(g, &w->raw[i]));
    return sum;
}

static uint64_t order_of(const struct graph *g, const struct window *w)
{
    uint64_t order = HASH_START;

    for (size_t i = 0; i < w->n; i++)
        order = hash_mix(order + sign_of(g, &w->raw[i]));
    return order;
}

static uint32_t root_of(uint32_t *parent, uint32_t r)
{
    while (parent[r] != r)
        r = parent[r] = parent[parent[r]];
    return r;
}

/* Join the ranks of each communicator whose members all have the same sign. */
static void join_by_comms(struct graph *g, const struct window *w, uint32_t *parent)
{
    uint32_t *first = xcalloc(g->n_comms + 1, sizeof(*first));
    bool *mixed = xcalloc(g->n_comms + 1, sizeof(*mixed));

    memset(first, 0xff, (g->n_comms + 1) * sizeof(*first));
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t r = 0; r < g->n_ranks; r++)
            for (size_t i = 0; i < w[r].n; i++) {
                uint32_t c = g->kind[meeting_at(g, w[r].raw[i].meeting)->kind].comm;

                if (c == GRAPH_NONE)
                    continue;
                if (first[c] == GRAPH_NONE)
                    first[c] = r;
                if (pass && !mixed[c])
                    parent[root_of(parent, r)] = root_of(parent, first[c]);
                else
                    mixed[c] = mixed[c] || g->rank[r].sign != g->rank[first[c]].sign;
            }
    free(first);
    free(mixed);
}

/* Ranks of one sign without a communicator of their own are one role. */
static void join_alone(struct graph *g, uint32_t *parent)
{
    struct map joined = { 0 }, lone = { 0 };

    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (root_of(parent, r) != r)
            map_put(&joined, g->rank[r].sign, r);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        uint64_t sign = g->rank[r].sign;

        if (!g->rank[r].known || map_get(&joined, sign) != GRAPH_NONE)
            continue;
        if (map_get(&lone, sign) == GRAPH_NONE)
            map_put(&lone, sign, r);
        parent[r] = map_get(&lone, sign);
    }
    map_free(&joined);
    map_free(&lone);
}

void graph_tally_forget(struct graph *g)
{
    free(g->tally);
    g->tally = NULL;
    g->tally_cap = 0;
}

/* Counts a step by what was called in it; the commonest are kept (Misra & Gries 1982). */
static void tally_step(struct tally *t, uint64_t sign)
{
    uint32_t unused = SIGNS;

    for (uint32_t i = 0; i < SIGNS; i++) {
        if (t->of[i].steps && t->of[i].sign == sign) {
            t->of[i].steps++;
            return;
        }
        if (!t->of[i].steps)
            unused = i;
    }
    if (unused < SIGNS) {
        t->of[unused].sign = sign;
        t->of[unused].steps = 1;
        return;
    }
    for (uint32_t i = 0; i < SIGNS; i++)
        t->of[i].steps--;
}

/* What is called in most steps; is it clear? */
static bool agrees(const struct tally *t, uint64_t *sign)
{
    uint32_t max = 0, second = 0;

    for (uint32_t i = 0; i < SIGNS; i++) {
        uint32_t n = t->of[i].steps;

        if (n > max) {
            second = max;
            max = n;
            *sign = t->of[i].sign;
        } else if (n > second) {
            second = n;
        }
    }
    return max >= AGREED && max >= second + AGREED_AHEAD;
}

/* Ranks that make the same calls, but in another order, do not do the same: the first stage of a pipeline
 * sends before it receives, the last receives before it sends.  A role is divided where each part has ranks
 * that can be compared; its first order keeps its number. */
static void divide_by_order(struct graph *g)
{
    struct divided {
        uint64_t first;
        bool whole;
    } *role = xcalloc(g->roles, sizeof(*role));
    struct map ranks = { 0 }, part = { 0 };

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const struct rank *k = &g->rank[r];
        uint64_t key = key_of_numbers(k->role, k->order, 0);
        uint32_t n = map_get(&ranks, key);

        if (!k->known)
            continue;
        map_put(&ranks, key, n == MAP_NONE ? 1 : n + 1);
        role[k->role].first = role[k->role].first ? role[k->role].first : k->order;
    }
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const struct rank *k = &g->rank[r];

        if (k->known && (!k->order || map_get(&ranks, key_of_numbers(k->role, k->order, 0)) < 2))
            role[k->role].whole = true;
    }
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];
        uint64_t key = key_of_numbers(k->role, k->order, 0);

        if (!k->known || role[k->role].whole || k->order == role[k->role].first)
            continue;
        if (map_get(&part, key) == MAP_NONE)
            map_put(&part, key, g->roles++);
        k->role = k->program = map_get(&part, key);
    }
    map_free(&ranks);
    map_free(&part);
    free(role);
}

/* ---- seats in groups ---- */

/* A communicator in the step at hand, as a group among others of its kind. */
struct seated {
    uint32_t members, first, newest; /* of its ranks, those looked at so far */
    uint64_t calls;                  /* what the first one calls on it, in any order */
    bool mixed;                      /* its members are of several roles */
    bool looked_at;
};

static uint32_t comm_of(const struct graph *g, const struct raw *raw)
{
    return g->kind[meeting_at(g, raw->meeting)->kind].comm;
}

static struct seated *look_at_comms(const struct graph *g, const struct window *w)
{
    struct seated *comm = xcalloc(g->n_comms + 1, sizeof(*comm));

    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            const struct graph_kind_info *k = &g->kind[meeting_at(g, w[r].raw[i].meeting)->kind].info;
            uint32_t c = comm_of(g, &w[r].raw[i]);

            if (c == GRAPH_NONE)
                continue;
            if (!comm[c].members)
                comm[c].first = r;
            if (!comm[c].members || comm[c].newest != r)
                comm[c].members++;
            comm[c].newest = r;
            comm[c].mixed = comm[c].mixed || g->rank[r].role != g->rank[comm[c].first].role;
            if (comm[c].first == r)
                comm[c].calls += key_of_numbers(k->op, k->size, w[r].raw[i].does);
        }
    return comm;
}

/* The communicator of the rank that is of this kind: GRAPH_NONE, there is none or there are several. */
static uint32_t group_like(const struct graph *g, const struct window *w, const struct seated *comm,
                           const struct seated *like)
{
    uint32_t found = GRAPH_NONE;

    for (size_t i = 0; i < w->n; i++) {
        uint32_t c = comm_of(g, &w->raw[i]);

        if (c == GRAPH_NONE || c == found || comm[c].mixed || comm[c].members != like->members ||
            comm[c].calls != like->calls)
            continue;
        if (found != GRAPH_NONE)
            return GRAPH_NONE;
        found = c;
    }
    return found;
}

/* Could a place of the machine hold all ranks of a seat, and no others of their role?  Not where each has one
 * of another seat beside it on its node, or is alone there and its neighbours have other seats. */
static bool are_places(const struct graph *g, uint32_t role, const uint32_t *seat)
{
    uint32_t *ranks = xcalloc(g->nodes + 1, sizeof(*ranks)), *has = xcalloc(g->nodes + 1, sizeof(*has));
    bool *varied = xcalloc(g->nodes + 1, sizeof(*varied)), places = false;

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        uint32_t node = g->rank[r].node;

        if (!g->rank[r].known || node >= g->nodes)
            continue;
        varied[node] = varied[node] || (ranks[node] && (g->rank[r].role != role || has[node] != seat[r]));
        ranks[node]++;
        has[node] = seat[r];
    }
    for (uint32_t r = 0, before = GRAPH_NONE; r < g->n_ranks && !places; r++) {
        uint32_t node = g->rank[r].node;

        if (!g->rank[r].known || g->rank[r].role != role)
            continue;
        places = node >= g->nodes ||
                 (!varied[node] && (ranks[node] > 1 || (before != GRAPH_NONE && seat[before] == seat[r])));
        before = r;
    }
    free(ranks);
    free(has);
    free(varied);
    return places;
}

/* Seats the ranks of a role in its groups of this kind; false: some are in none, or it shows nothing. */
static bool seat_in(struct graph *g, const struct window *w, struct seated *comm, uint32_t role,
                    const struct seated *like, uint32_t *seat)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < g->n_comms; c++)
        comm[c].newest = 0;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        uint32_t c;

        if (!g->rank[r].known || g->rank[r].role != role)
            continue;
        c = group_like(g, &w[r], comm, like);
        if (c == GRAPH_NONE)
            return false;
        seat[r] = comm[c].newest++;
        n++;
    }
    return n > like->members && !are_places(g, role, seat);
}

static void seat_role(struct graph *g, const struct window *w, struct seated *comm, uint32_t role,
                      uint32_t *seat)
{
    uint32_t first = 0, kinds = 0;

    while (first < g->n_ranks && (!g->rank[first].known || g->rank[first].role != role))
        first++;
    if (first == g->n_ranks)
        return;
    for (size_t i = 0; i < w[first].n && kinds < GRAPH_SEATINGS; i++) {
        uint32_t c = comm_of(g, &w[first].raw[i]);
        struct seated *k = c == GRAPH_NONE ? NULL : &comm[c];

        if (!k || k->looked_at || k->mixed || k->members < 2)
            continue;
        k->looked_at = true;
        if (!seat_in(g, w, comm, role, k, seat))
            continue;
        for (uint32_t r = 0; r < g->n_ranks; r++)
            if (g->rank[r].known && g->rank[r].role == role)
                g->rank[r].seat[kinds] = seat[r];
        kinds++;
    }
}

/* In the first step of which no call is missing. */
static void find_seats(struct graph *g, const struct window *w)
{
    struct seated *comm;
    uint32_t *seat;

    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (g->rank[r].known &&
            (!w[r].n || window_lost(&w[r]) || (g->rank[r].sign && graph_sign(g, &w[r]) != g->rank[r].sign)))
            return;
    comm = look_at_comms(g, w);
    seat = xcalloc(g->n_ranks, sizeof(*seat));
    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (uint32_t i = 0; i < GRAPH_SEATINGS; i++)
            g->rank[r].seat[i] = GRAPH_NONE;
    for (uint32_t role = 0; role < g->roles; role++)
        seat_role(g, w, comm, role, seat);
    g->seated = true;
    free(comm);
    free(seat);
}

static void find_roles(struct graph *g, const struct window *w)
{
    uint32_t *parent, *number;
    bool all = true;

    g->tally = xgrow(g->tally, &g->tally_cap, g->n_ranks, sizeof(*g->tally));
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];
        struct tallies *t = &g->tally[r];

        if (k->known && w[r].n && !window_lost(&w[r])) {
            tally_step(&t->calls, graph_sign(g, &w[r]));
            tally_step(&t->orders, order_of(g, &w[r]));
        }
        all = (!k->known || agrees(&t->calls, &k->sign)) && all;
        if (!agrees(&t->orders, &k->order))
            k->order = 0;
    }
    if (!all && ++g->tried < TRIES)
        return;
    graph_tally_forget(g);
    for (uint32_t r = 0; r < g->n_ranks && !all; r++)
        g->rank[r].sign =
            0; /* the calls vary: all are alike, as far as they have no communicators of their own */
    parent = xcalloc(g->n_ranks, sizeof(*parent));
    number = xcalloc(g->n_ranks, sizeof(*number));
    for (uint32_t r = 0; r < g->n_ranks; r++)
        parent[r] = r;
    join_by_comms(g, w, parent);
    join_alone(g, parent);
    memset(number, 0xff, g->n_ranks * sizeof(*number));
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        uint32_t root = root_of(parent, r);

        if (!g->rank[r].known)
            continue;
        if (number[root] == GRAPH_NONE)
            number[root] = g->roles++;
        g->rank[r].role = g->rank[r].program = number[root];
    }
    divide_by_order(g);
    free(parent);
    free(number);
}

void graph_find_roles(struct graph *g, const struct window *w)
{
    if (g->merged)
        return;
    if (!g->roles)
        find_roles(g, w);
    if (g->roles && !g->seated && g->seat_tries < TRIES) {
        g->seat_tries++;
        find_seats(g, w);
    }
}

uint32_t graph_roles(const struct graph *g)
{
    return g->roles;
}

uint32_t graph_role(const struct graph *g, uint32_t rank)
{
    return g->roles && rank < g->n_ranks ? g->rank[rank].role : GRAPH_NONE;
}

uint32_t graph_program(const struct graph *g, uint32_t rank)
{
    return g->roles && rank < g->n_ranks ? g->rank[rank].program : GRAPH_NONE;
}

uint32_t graph_seat(const struct graph *g, uint32_t rank, uint32_t seating)
{
    return g->seated && rank < g->n_ranks && g->rank[rank].known ? g->rank[rank].seat[seating] : GRAPH_NONE;
}

void graph_part(struct graph *g, uint32_t role, uint32_t seating, uint32_t seat)
{
    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (g->rank[r].known && g->rank[r].role == role && graph_seat(g, r, seating) == seat)
            g->rank[r].role = g->roles;
    g->roles++;
}
