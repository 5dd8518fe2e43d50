#include "model/allreduce_traffic.h"

#include <math.h>
#include <string.h>

struct round {
    const struct allreduce_place *place;
    double *out, *in; /* messages by node */
    double max;
};

static void begin_round(struct round *r)
{
    memset(r->out, 0, r->place->nodes * sizeof(*r->out));
    memset(r->in, 0, r->place->nodes * sizeof(*r->in));
    r->max = 0;
}

static void message(struct round *r, uint32_t from, uint32_t to)
{
    uint32_t a = r->place->node[from], b = r->place->node[to];

    if (a == b)
        return;
    r->max = fmax(r->max, fmax(++r->out[a], ++r->in[b]));
}

/* Count messages of this size, given as a share of the vector. */
static void end_round(const struct round *r, struct allreduce_traffic *c, double times, double size)
{
    if (r->max > 0) {
        c->hops += times;
        c->bytes += times * r->max * size;
    } else {
        c->inner_hops += times;
        c->inner_bytes += times * size;
    }
}

static void add_ring(struct round *r, struct allreduce_traffic *c)
{
    uint32_t n = r->place->ranks;

    begin_round(r);
    for (uint32_t i = 0; i < n; i++)
        message(r, i, i + 1 < n ? i + 1 : 0);
    end_round(r, c, 2 * (n - 1.0), 1.0 / n);
}

/* A binomial tree, to rank 0 and back. */
static void add_tree(struct round *r, struct allreduce_traffic *c)
{
    uint32_t n = r->place->ranks;

    for (uint64_t d = 1; d < n; d *= 2) {
        begin_round(r);
        for (uint64_t i = d; i < n; i += 2 * d)
            message(r, (uint32_t)i, (uint32_t)(i - d));
        end_round(r, c, 2, 1);
    }
}

/* Nearest first, on a power of two; ranks beyond it first send their vector to a neighbour. */
static void add_halving(struct round *r, struct allreduce_traffic *c)
{
    uint32_t n = r->place->ranks, core = 1, extra;

    while (2 * core <= n)
        core *= 2;
    extra = n - core;
    begin_round(r);
    for (uint32_t i = 0; i < extra; i++)
        message(r, 2 * i, 2 * i + 1);
    if (extra)
        end_round(r, c, 2, 1);
    for (uint32_t d = 1; d < core; d *= 2) {
        begin_round(r);
        for (uint32_t i = 0; i < core; i++) {
            uint32_t other = i ^ d;

            message(r, i < extra ? 2 * i + 1 : i + extra, other < extra ? 2 * other + 1 : other + extra);
        }
        end_round(r, c, 2, 0.5 / d);
    }
}

static void add_hierarchical(const struct allreduce_place *p, struct allreduce_traffic *c)
{
    double nodes = p->nodes, each = p->ranks / nodes;

    c->hops = 2 * (nodes - 1);
    c->bytes = 2 * (nodes - 1) / nodes;
    c->inner_hops = 2 * (each - 1);
    c->inner_bytes = 2 * (each - 1) / each;
}

/* Every rank sends to every server and gets the result back; messages within a node are not counted. */
static void add_server(struct round *r, struct allreduce_traffic *c, double servers)
{
    const struct allreduce_place *p = r->place;
    double max = 0, n = p->ranks;

    begin_round(r);
    for (uint32_t i = 0; i < p->ranks; i++)
        r->out[p->node[i]]++;
    for (double s = 0; s < servers; s++)
        r->in[p->node[(uint32_t)fmin(n - 1, s * floor(fmax(1, n / servers)))]]++;
    for (uint32_t k = 0; k < p->nodes; k++)
        max = fmax(max, fmax(r->out[k] * (servers - r->in[k]), r->in[k] * (n - r->out[k])));
    c->hops = 2;
    c->bytes = 2 * max / servers;
}

struct allreduce_traffic allreduce_traffic(enum allreduce_algo algo, const struct allreduce_place *p,
                                           double servers, double *scratch)
{
    struct round r = { .place = p, .out = scratch, .in = scratch + p->nodes };
    struct allreduce_traffic c = { 0 };

    switch (algo) {
    case ALLREDUCE_RING:
        add_ring(&r, &c);
        break;
    case ALLREDUCE_TREE:
        add_tree(&r, &c);
        break;
    case ALLREDUCE_HALVING:
        add_halving(&r, &c);
        break;
    case ALLREDUCE_HIERARCHICAL:
        add_hierarchical(p, &c);
        break;
    case ALLREDUCE_SERVER:
        add_server(&r, &c, fmin(servers, p->ranks));
        break;
    }
    return c;
}

double allreduce_traffic_s(const struct allreduce_traffic *c, const struct allreduce_cost *w, double bytes)
{
    return c->hops * w->hop_s + c->bytes * bytes * w->s_per_byte + c->inner_hops * w->inner_hop_s +
           c->inner_bytes * bytes * w->inner_s_per_byte;
}
