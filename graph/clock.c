#include "graph/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define KEPT    64u /* newest differences of a pair */
#define NEWEST  3u
#define SLOPE_N 12u /* of them, before a drift is believed */

struct pair {
    uint32_t a, b; /* a < b */
    bool by_messages;
    uint32_t n; /* taken */
    struct {
        double at_s, ahead_s; /* a's time since its first; b's, since its first, minus a's */
    } d[KEPT];
    double ahead_s, drift; /* the line */
    double middle_s;
};

struct node {
    uint64_t first_ns;
    bool seen, aligned;
    uint32_t root;         /* of those that are aligned to each other */
    double offset_s, rate; /* common = offset + rate * (ns - first) */
};

struct graph_clock {
    struct pair *pair;
    size_t n_pairs, pairs_cap;
    struct node *node;
    size_t nodes_cap;
};

struct graph_clock *graph_clock_new(void)
{
    return xcalloc(1, sizeof(struct graph_clock));
}

void graph_clock_free(struct graph_clock *c)
{
    if (!c)
        return;
    free(c->pair);
    free(c->node);
    free(c);
}

static double since_first_s(struct graph_clock *c, uint32_t node, uint64_t ns)
{
    struct node *k;

    c->node = xgrow(c->node, &c->nodes_cap, node + 1, sizeof(*c->node));
    k = &c->node[node];
    if (!k->seen)
        *k = (struct node){ .first_ns = ns, .seen = true, .rate = 1 };
    return (double)(int64_t)(ns - k->first_ns) * 1e-9;
}

void graph_clock_see(struct graph_clock *c, uint32_t node, uint64_t ns)
{
    since_first_s(c, node, ns);
}

static struct pair *pair_get(struct graph_clock *c, uint32_t a, uint32_t b, bool by_messages)
{
    for (size_t i = 0; i < c->n_pairs; i++)
        if (c->pair[i].a == a && c->pair[i].b == b && c->pair[i].by_messages == by_messages)
            return &c->pair[i];
    c->pair = xgrow(c->pair, &c->pairs_cap, c->n_pairs + 1, sizeof(*c->pair));
    c->pair[c->n_pairs] = (struct pair){ .a = a, .b = b, .by_messages = by_messages };
    return &c->pair[c->n_pairs++];
}

void graph_clock_meet(struct graph_clock *c, uint32_t a, uint64_t a_ns, uint32_t b, uint64_t b_ns)
{
    bool turned = a > b;
    uint32_t first = turned ? b : a, second = turned ? a : b;
    double first_s = since_first_s(c, first, turned ? b_ns : a_ns);
    double second_s = since_first_s(c, second, turned ? a_ns : b_ns);
    struct pair *p = pair_get(c, first, second, false);

    p->d[p->n % KEPT].at_s = first_s;
    p->d[p->n++ % KEPT].ahead_s = second_s - first_s;
}

double graph_clock_apart_s(struct graph_clock *c, uint32_t node, uint64_t ns, uint32_t other,
                           uint64_t other_ns)
{
    return since_first_s(c, node, ns) - since_first_s(c, other, other_ns);
}

void graph_clock_exchange(struct graph_clock *c, uint32_t a, uint64_t a_ns, uint32_t b, double there_s,
                          double back_s)
{
    struct pair *p = pair_get(c, a, b, true);

    p->d[p->n % KEPT].at_s = since_first_s(c, a, a_ns);
    p->d[p->n++ % KEPT].ahead_s = (there_s - back_s) / 2;
}

bool graph_clock_comparable(const struct graph_clock *c, uint32_t a, uint32_t b)
{
    return a == b || c->node[a].root == c->node[b].root;
}

/* The line through what is kept of a pair. */
static void fit(struct pair *p)
{
    uint32_t n = p->n < KEPT ? p->n : KEPT, m = 0;
    double slope[KEPT / 2], rest[KEPT], at[KEPT];

    for (uint32_t i = 0; i < n; i++)
        at[i] = p->d[i].at_s;
    p->middle_s = statistics_median(at, n);
    /* Slopes over half of the span each: the other ones are mostly noise. */
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t from = (p->n - n + i) % KEPT, to = (p->n - n + i + n / 2) % KEPT;
        double dt = p->d[to].at_s - p->d[from].at_s;

        if (dt > 0)
            slope[m++] = (p->d[to].ahead_s - p->d[from].ahead_s) / dt;
    }
    if (n < SLOPE_N || !m) { /* no drift yet: the newest ones are nearest to what holds now */
        for (m = 0; m < n && m < NEWEST; m++)
            rest[m] = p->d[(p->n - 1 - m) % KEPT].ahead_s;
        p->drift = 0;
        p->ahead_s = statistics_median(rest, m);
        return;
    }
    p->drift = statistics_median(slope, m);
    for (uint32_t i = 0; i < n; i++)
        rest[i] = p->d[i].ahead_s - p->drift * (p->d[i].at_s - p->middle_s);
    p->ahead_s = statistics_median(rest, n);
}

/* b's clock shows ahead + drift (a - middle) more than a's: b = a + that, so a = (b - ahead + drift middle) / (1 + drift). */
static void align_over(struct graph_clock *c, const struct pair *p, bool to_b)
{
    struct node *from = &c->node[to_b ? p->a : p->b], *to = &c->node[to_b ? p->b : p->a];
    double shift = p->ahead_s - p->drift * p->middle_s;

    if (to_b) { /* common = offset_a + rate_a * (b - shift) / (1 + drift) */
        to->rate = from->rate / (1 + p->drift);
        to->offset_s = from->offset_s - to->rate * shift;
    } else { /* common = offset_b + rate_b * (a (1 + drift) + shift) */
        to->rate = from->rate * (1 + p->drift);
        to->offset_s = from->offset_s + from->rate * shift;
    }
    to->aligned = true;
}

/* Align to the root what one kind of pairs reaches, until nothing more is reached. */
static bool spread(struct graph_clock *c, uint32_t root, bool by_messages)
{
    bool any = false, more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < c->n_pairs; i++) {
            const struct pair *p = &c->pair[i];
            bool to_b = c->node[p->a].aligned;

            if (p->by_messages != by_messages || to_b == c->node[p->b].aligned)
                continue;
            align_over(c, p, to_b);
            c->node[to_b ? p->b : p->a].root = root;
            more = any = true;
        }
    }
    return any;
}

void graph_clock_align(struct graph_clock *c, uint32_t nodes)
{
    c->node = xgrow(c->node, &c->nodes_cap, nodes, sizeof(*c->node));
    for (uint32_t i = 0; i < nodes; i++)
        c->node[i].aligned = false;
    for (size_t i = 0; i < c->n_pairs; i++)
        fit(&c->pair[i]);
    for (uint32_t root = 0; root < nodes; root++) {
        if (c->node[root].aligned)
            continue;
        c->node[root].aligned = true;
        c->node[root].offset_s = 0;
        c->node[root].rate = 1;
        c->node[root].root = root;
        do
            spread(c, root, false);
        while (spread(c, root, true));
    }
}

double graph_clock_s(const struct graph_clock *c, uint32_t node, uint64_t ns)
{
    const struct node *k = &c->node[node];

    return k->offset_s + k->rate * (double)(int64_t)(ns - k->first_ns) * 1e-9;
}
