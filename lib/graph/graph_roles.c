/* graph_roles.c - which ranks do the same. */
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define TRIES        24u /* steps in which the calls vary */
#define AGREED       3u  /* steps with the same calls ... */
#define AGREED_AHEAD 2u  /* ... and more than with any others */

uint64_t graph_sign(const struct graph *g, const struct window *w)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < w->n; i++) {
        const struct graph_kind_info *k = &g->kind[meeting_at(g, w->raw[i].meeting)->kind].info;
        uint64_t words[] = { w->raw[i].side, w->raw[i].does, k->message ? 0 : k->size,
                             (uint64_t)(int64_t)k->tag };

        sum += hash_mix(key_of(words, sizeof(words)));
    }
    return sum;
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

/* Counts a step by what was called in it; the commonest are kept (Misra & Gries 1982). */
static void tally_step(struct rank *k, uint64_t sign)
{
    struct sign *free = NULL;

    for (uint32_t i = 0; i < SIGNS; i++) {
        if (k->tally[i].steps && k->tally[i].sign == sign) {
            k->tally[i].steps++;
            return;
        }
        if (!k->tally[i].steps)
            free = &k->tally[i];
    }
    if (free)
        *free = (struct sign){ sign, 1 };
    for (uint32_t i = 0; i < SIGNS && !free; i++)
        k->tally[i].steps--;
}

/* What is called in most steps; is it clear? */
static bool agrees(struct rank *k)
{
    uint32_t max = 0, second = 0;

    for (uint32_t i = 0; i < SIGNS; i++) {
        uint32_t n = k->tally[i].steps;

        if (n > max) {
            second = max;
            max = n;
            k->sign = k->tally[i].sign;
        } else if (n > second) {
            second = n;
        }
    }
    return max >= AGREED && max >= second + AGREED_AHEAD;
}

void graph_find_roles(struct graph *g, const struct window *w)
{
    uint32_t *parent, *number;
    bool all = true;

    if (g->roles || g->merged)
        return;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];

        if (k->known && w[r].n && !window_lost(&w[r]))
            tally_step(k, graph_sign(g, &w[r]));
        all = (!k->known || agrees(k)) && all;
    }
    if (!all && ++g->tried < TRIES)
        return;
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
        g->rank[r].role = number[root];
    }
    free(parent);
    free(number);
}

uint32_t graph_roles(const struct graph *g)
{
    return g->roles;
}

uint32_t graph_role(const struct graph *g, uint32_t rank)
{
    return g->roles && rank < g->n_ranks ? g->rank[rank].role : GRAPH_NONE;
}
