#include "topology/arrange.h"

#include <stdlib.h>
#include <string.h>

#include "topology/exact.h"

#define LESS (1 - 1e-9) /* differences below are rounding */
/* nodes on either side with which one of a slow pair changes places */
#define NEAR    8u
#define FURTHER 16u /* nodes elsewhere with which it does */

struct choice {
    struct layout *l;
    struct flows *f;
    uint32_t *best, *try, *packed, *rest, *slot_node;
    double best_s, bound_s;
    uint64_t work; /* flows to be walked */
};

static uint64_t flows_of(const struct flows *f)
{
    uint64_t n = 0;

    for (size_t i = 0; i < f->n_phases; i++)
        n += f->phase[i].n_flows;
    return n;
}

static void cost_of(struct choice *c, const uint32_t *order, struct layout_cost *cost)
{
    layout_slots(c->l, c->f, order, c->slot_node);
    layout_cost(c->l, c->f, c->slot_node, cost);
}

static uint32_t draw_below(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (uint32_t)((*state >> 33) % below);
}

/* ---- slow pairs ---- */

static void swap_blocks(uint32_t *order, uint32_t a, uint32_t b, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        uint32_t kept = order[a + i];

        order[a + i] = order[b + i];
        order[b + i] = kept;
    }
}

/* Does c->try cost no more with these two nodes exchanged, and has fewer messages between slow pairs?  Else
 * it stays. */
static bool try_swap(struct choice *c, uint32_t a, uint32_t b, struct layout_cost *now)
{
    struct layout_cost cost;

    swap_blocks(c->try, a, b, 1);
    cost_of(c, c->try, &cost);
    if (cost.time_s <= now->time_s / LESS && cost.pair_messages < now->pair_messages) {
        *now = cost;
        return true;
    }
    swap_blocks(c->try, a, b, 1);
    return false;
}

/* Are there messages between this node and one with which it is a slow pair? */
static bool meets_pair(struct choice *c, uint32_t node)
{
    for (size_t i = 0; i < c->f->n_phases; i++)
        for (size_t k = 0; k < c->f->phase[i].n_flows; k++) {
            const struct flow *f = &c->f->phase[i].flow[k];
            uint32_t from = c->slot_node[f->from], to = c->slot_node[f->to];

            if (from != to && (from == node || to == node) &&
                layout_find_pair(c->l, from, to) != TOPOLOGY_NONE)
                return true;
        }
    return false;
}

/* One of each slow pair of c->try changes places: with those next to it, which are near on the tree, then
 * with any. Exchanges that cost as much count, because the next pair may be as slow. */
static void part_pairs(struct choice *c, struct layout_cost *now)
{
    uint64_t each = flows_of(c->f) + c->l->vertices, state = 1;
    uint32_t n = c->l->nodes;

    for (uint32_t at = 0; at < n && now->pair_messages > 0 && c->work >= each; at++) {
        bool parted;

        if (!c->l->paired[c->try[at]])
            continue;
        layout_slots(c->l, c->f, c->try, c->slot_node);
        parted = !meets_pair(c, c->try[at]);
        c->work -= each;
        for (uint32_t k = 0; !parted && k < 2 * NEAR + FURTHER && c->work >= each; k++) {
            uint32_t by = k / 2 + 1, to = k >= 2 * NEAR ? draw_below(&state, n) : k % 2 ? at - by : at + by;

            if (to >= n || to == at)
                continue;
            c->work -= each;
            parted = try_swap(c, at, to, now);
        }
    }
}

/* Take c->try, which costs that, where it costs less. */
static void keep_if_cheaper(struct choice *c, double time_s)
{
    if (time_s >= c->best_s * LESS)
        return;
    c->best_s = time_s;
    memcpy(c->best, c->try, c->l->nodes * sizeof(*c->best));
}

static void offer_order(struct choice *c)
{
    struct layout_cost cost;

    cost_of(c, c->try, &cost);
    if (cost.pair_messages > 0)
        part_pairs(c, &cost);
    keep_if_cheaper(c, cost.time_s);
}

static bool is_best(const struct choice *c)
{
    return c->best_s * LESS <= c->bound_s;
}

/* ---- along the tree ---- */

struct packing {
    const struct layout *l;
    uint32_t block; /* nodes */
    uint32_t *out, *rest, n_out, n_rest;
};

/* Blocks of nodes below v go out, what remains is kept for the switch above. */
static void pack_below(struct packing *p, uint32_t v)
{
    uint32_t from = p->n_rest, whole;

    if (v < p->l->nodes)
        p->rest[p->n_rest++] = v;
    for (uint32_t k = p->l->vertex[v].child; k != TOPOLOGY_NONE; k = p->l->vertex[k].sibling)
        pack_below(p, k);
    whole = (p->n_rest - from) / p->block * p->block;
    memcpy(p->out + p->n_out, p->rest + from, whole * sizeof(*p->out));
    p->n_out += whole;
    p->n_rest -= whole;
    memmove(p->rest + from, p->rest + from + whole, (p->n_rest - from) * sizeof(*p->rest));
}

/* All nodes, blocks below one switch first; blocks of 1: as the tree has them. */
static void pack_all(struct choice *c, uint32_t block, uint32_t *out)
{
    struct packing p = { .l = c->l, .block = block, .out = out, .rest = c->rest };

    pack_below(&p, c->l->top);
    memcpy(out + p.n_out, p.rest, p.n_rest * sizeof(*out));
}

/* The pattern's ranks in rows of `row` nodes: its columns in strips, row after row within a strip. */
static void offer_strips(struct choice *c, uint32_t row)
{
    uint32_t rows = c->l->nodes / row;

    for (uint32_t width = 1; width < row; width *= 2)
        for (uint32_t block = width; block <= width * rows && !is_best(c); block *= 2) {
            uint32_t n = 0;

            pack_all(c, block, c->packed);
            for (uint32_t column = 0; column < row; column += width)
                for (uint32_t r = 0; r < rows; r++)
                    for (uint32_t k = column; k < row && k < column + width; k++)
                        c->try[r * row + k] = c->packed[n++];
            offer_order(c);
        }
}

/* ---- exchanges ---- */

static bool interchangeable(const struct layout *l, uint32_t a, uint32_t b)
{
    return l->vertex[a].parent == l->vertex[b].parent && l->vertex[a].ranks == l->vertex[b].ranks &&
           (!l->paired || (!l->paired[a] && !l->paired[b])) &&
           l->vertex[a].s_per_byte <= l->vertex[b].s_per_byte &&
           l->vertex[a].s_per_byte >= l->vertex[b].s_per_byte &&
           l->vertex[a].latency_s <= l->vertex[b].latency_s &&
           l->vertex[a].latency_s >= l->vertex[b].latency_s;
}

/* Exchange nodes and blocks of nodes as long as that costs no more: on plateaus, too, because one link can
 * hide others. */
static void exchange_nodes(struct choice *c)
{
    uint64_t state = 1, each = flows_of(c->f) + c->l->vertices;
    double now_s = c->best_s;

    memcpy(c->try, c->best, c->l->nodes * sizeof(*c->try));
    for (; c->work >= each && !is_best(c); c->work -= each) {
        uint32_t length = 1u << draw_below(&state, 3), n = c->l->nodes / length,
                 a = draw_below(&state, n) * length, b = draw_below(&state, n) * length;
        struct layout_cost cost;

        if (a == b || (length == 1 && interchangeable(c->l, c->try[a], c->try[b])))
            continue;
        swap_blocks(c->try, a, b, length);
        cost_of(c, c->try, &cost);
        if (cost.time_s > now_s / LESS) {
            swap_blocks(c->try, a, b, length);
            continue;
        }
        now_s = cost.time_s;
        keep_if_cheaper(c, now_s);
    }
}

/* ---- the choice ---- */

static void choose_order(struct choice *c, const struct pattern *p, bool *exact)
{
    uint32_t ranks = pattern_row(p), row = c->l->per_node ? ranks / c->l->per_node : 0;
    bool aligned = row && ranks % c->l->per_node == 0 && c->l->nodes % row == 0;

    *exact = false;
    if (c->l->paired) {
        memcpy(c->try, c->best, c->l->nodes * sizeof(*c->try));
        offer_order(c);
    }
    for (uint32_t block = 1; block <= c->l->nodes && !is_best(c); block *= 2) {
        pack_all(c, block, c->try);
        offer_order(c);
    }
    if (row > 1 && row <= c->l->nodes && !is_best(c)) {
        pack_all(c, row, c->try);
        offer_order(c);
    }
    if (!is_best(c) && aligned)
        offer_strips(c, row);
    if (!is_best(c) && c->l->nodes <= EXACT_NODES)
        *exact = exact_search(c->l, c->f, c->work, c->best, c->best_s);
    else
        exchange_nodes(c);
    *exact = *exact || is_best(c);
}

int arrange(struct layout *l, const struct pattern *p, uint64_t work, uint32_t *order, struct arranged *a,
            struct err *err)
{
    struct choice c = { .l = l, .best = order, .work = work };
    int rc = -1;

    for (uint32_t i = 0; i < l->nodes; i++)
        order[i] = i;
    if (pattern_check(p, l->ranks, err) < 0)
        return -1;
    c.f = layout_flows(l, p);
    c.try = calloc(l->nodes, sizeof(*c.try));
    c.packed = calloc(l->nodes, sizeof(*c.packed));
    c.rest = calloc(l->nodes, sizeof(*c.rest));
    c.slot_node = calloc(l->ranks, sizeof(*c.slot_node));
    if (!c.f || !c.try || !c.packed || !c.rest || !c.slot_node) {
        err_set(err, "out of memory");
        goto done;
    }
    cost_of(&c, order, &a->slurm);
    c.best_s = a->slurm.time_s;
    c.bound_s = layout_bound_s(l, c.f);
    choose_order(&c, p, &a->exact);
    cost_of(&c, order, &a->chosen);
    rc = 0;
done:
    flows_free(c.f);
    free(c.try);
    free(c.packed);
    free(c.rest);
    free(c.slot_node);
    return rc;
}
