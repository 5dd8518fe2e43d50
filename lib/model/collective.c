#include "model/collective.h"

#include <math.h>
#include <string.h>

const char *const collective_ops[] = { "allreduce", "allgather", "reduce-scatter",   "alltoall",
                                       "broadcast", "reduce",    "parameter-server", NULL };
const char *const collective_algos[] = { "ring", "tree", "halving-doubling", "hierarchical", NULL };

enum collective_op collective_op_find(const char *name)
{
    int op = 0;

    while (op < COLLECTIVE_OPS && strcmp(collective_ops[op], name))
        op++;
    return (enum collective_op)op;
}

bool collective_has(enum collective_op op, enum collective_algo algo)
{
    switch (op) {
    case COLLECTIVE_ALLREDUCE:
        return true;
    case COLLECTIVE_ALLGATHER:
    case COLLECTIVE_REDUCE_SCATTER:
        return algo != COLLECTIVE_TREE;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
        return algo == COLLECTIVE_TREE;
    default:
        return true;
    }
}

/* Number of halves: an all-reduce is a reduce-scatter and an all-gather, or a reduce and a broadcast. */
static double halves(enum collective_op op)
{
    return op == COLLECTIVE_ALLREDUCE ? 2 : 1;
}

static struct collective_cost ring(double n, struct collective_link l)
{
    return (struct collective_cost){ (n - 1) * l.latency_s, (n - 1) / n / l.bytes_per_s };
}

static struct collective_cost tree(double n, struct collective_link l)
{
    return (struct collective_cost){ log2(n) * l.latency_s, log2(n) / l.bytes_per_s };
}

/* The largest power of two that is not above n. */
static double core_ranks(double n)
{
    return exp2(floor(log2(n) + 1e-12));
}

/* Ranks beyond a power of two first send their vector to a neighbour, and get the result at the end. */
static struct collective_cost halving(double n, struct collective_link l)
{
    double core = core_ranks(n);
    struct collective_cost c = { log2(core) * l.latency_s, (core - 1) / core / l.bytes_per_s };

    if (n > core) {
        c.fixed_s += l.latency_s;
        c.s_per_byte += 1 / l.bytes_per_s;
    }
    return c;
}

static struct collective_cost hierarchical(const struct collective *c, struct collective_link between)
{
    double g = c->ranks_per_node, nodes = c->ranks / g;
    struct collective_cost inside = ring(g, c->intra), outside = ring(nodes, between);

    return (struct collective_cost){ inside.fixed_s + outside.fixed_s,
                                     inside.s_per_byte + outside.s_per_byte / c->rails };
}

struct collective_cost collective_cost(const struct collective *c)
{
    struct collective_link l = { c->link.latency_s, fmin(c->link.bytes_per_s, c->slowest_bytes_per_s) };
    struct collective_cost cost = { NAN, NAN };

    if (!collective_has(c->op, c->algo))
        return cost;
    if (c->op == COLLECTIVE_PARAMETER_SERVER)
        return (struct collective_cost){ 0, 2 * fmax(c->ranks / c->shards, 1) / l.bytes_per_s };
    if (c->op == COLLECTIVE_ALLTOALL) {
        cost = ring(c->ranks, l);
        cost.s_per_byte *= c->skew;
        return cost;
    }
    switch (c->algo) {
    case COLLECTIVE_RING:
        cost = ring(c->ranks, l);
        break;
    case COLLECTIVE_TREE:
        cost = tree(c->ranks, l);
        break;
    case COLLECTIVE_HALVING:
        cost = halving(c->ranks, l);
        break;
    case COLLECTIVE_HIERARCHICAL:
        cost = hierarchical(c, l);
        break;
    default:
        break;
    }
    cost.fixed_s *= halves(c->op);
    cost.s_per_byte *= halves(c->op);
    return cost;
}

double collective_time_s(const struct collective *c, double bytes)
{
    struct collective_cost cost = collective_cost(c);

    return cost.fixed_s + cost.s_per_byte * bytes;
}

double collective_sent_bytes(const struct collective *c, double bytes)
{
    double n = c->ranks, g = c->ranks_per_node;

    if (!collective_has(c->op, c->algo))
        return NAN;
    if (c->op == COLLECTIVE_PARAMETER_SERVER)
        return bytes;
    if (c->op == COLLECTIVE_ALLTOALL)
        return c->skew * bytes * (n - 1) / n;
    switch (c->algo) {
    /* in a broadcast the root sends in each round; in a reduction each rank sends once */
    case COLLECTIVE_TREE:
        return n > 1 ? bytes * (c->op == COLLECTIVE_REDUCE ? 1 : ceil(log2(n) - 1e-12)) : 0;
    case COLLECTIVE_HIERARCHICAL:
        return halves(c->op) * bytes * ((g - 1) / g + (n / g - 1) / (n / g) / c->rails);
    /* beyond a power of two, one of two neighbours sends its vector before, the other one the result after */
    case COLLECTIVE_HALVING:
        return bytes * (halves(c->op) * (core_ranks(n) - 1) / core_ranks(n) + (n > core_ranks(n)));
    default:
        return halves(c->op) * bytes * (n - 1) / n;
    }
}

double collective_crossover_bytes(const struct collective *a, const struct collective *b)
{
    struct collective_cost x = collective_cost(a), y = collective_cost(b);
    double bytes = (y.fixed_s - x.fixed_s) / (x.s_per_byte - y.s_per_byte);

    return bytes > 0 && isfinite(bytes) ? bytes : NAN;
}
