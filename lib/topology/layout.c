#include "topology/layout.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- the job's part of the tree ---- */

/* Mean of the largest of so many standard normals: order_z() of model/order.h, which takes too long here. */
static const double largest[TOPOLOGY_CABLES_MAX + 1] = {
    0.0000, 0.0000, 0.5642, 0.8463, 1.0294, 1.1630, 1.2672, 1.3522, 1.4236, 1.4850, 1.5388, 1.5864, 1.6292,
    1.6680, 1.7034, 1.7359, 1.7660, 1.7939, 1.8200, 1.8445, 1.8675, 1.8892, 1.9097, 1.9292, 1.9477, 1.9653,
    1.9822, 1.9983, 2.0137, 2.0285, 2.0428, 2.0565, 2.0697, 2.0824, 2.0947, 2.1066, 2.1181, 2.1293, 2.1401,
    2.1506, 2.1608, 2.1707, 2.1803, 2.1897, 2.1988, 2.2077, 2.2164, 2.2249, 2.2331, 2.2412, 2.2491, 2.2568,
    2.2643, 2.2717, 2.2789, 2.2860, 2.2929, 2.2997, 2.3064, 2.3129, 2.3193, 2.3256, 2.3317, 2.3378, 2.3437
};

static void set_link(struct layout_vertex *v, const struct topology_link *up)
{
    double c = up->cables;

    v->cables = c;
    v->s_per_byte = c / up->bytes_per_s;
    v->latency_s = up->latency_s;
    v->spread = largest[up->cables] * sqrt((1 - 1 / c) / c);
}

double layout_link_s(const struct layout_vertex *v, double messages)
{
    if (v->cables > 1)
        messages = fmin(messages, fmax(1, messages / v->cables + v->spread * sqrt(messages)));
    return messages * v->s_per_byte;
}

/* The links up of a switch and of those like it, as one: messages are spread over them. */
static const struct topology_link *sum_links(const struct topology *t, uint32_t a_switch,
                                             struct topology_link *all)
{
    *all = t->a_switch[a_switch].up;
    for (uint32_t i = t->a_switch[a_switch].alike; i != TOPOLOGY_NONE; i = t->a_switch[i].alike) {
        const struct topology_link *up = &t->a_switch[i].up;

        all->bytes_per_s += up->bytes_per_s;
        all->latency_s = fmin(all->latency_s, up->latency_s);
        all->cables += up->cables;
    }
    if (all->cables > TOPOLOGY_CABLES_MAX)
        all->cables = TOPOLOGY_CABLES_MAX;
    return all;
}

/* The switches above the nodes, each once: vertices behind those of the nodes.  at: by switch, its vertex. */
static uint32_t raise_node(struct layout *l, const struct topology *t, uint32_t *at, uint32_t a_switch)
{
    struct topology_link all;
    uint32_t v;

    if (at[a_switch] != TOPOLOGY_NONE)
        return at[a_switch];
    v = l->vertices++;
    at[a_switch] = v;
    l->vertex[v] = (struct layout_vertex){ .name = t->a_switch[a_switch].name,
                                           .parent = TOPOLOGY_NONE,
                                           .child = TOPOLOGY_NONE,
                                           .sibling = TOPOLOGY_NONE };
    set_link(&l->vertex[v], sum_links(t, a_switch, &all));
    if (t->a_switch[a_switch].parent != TOPOLOGY_NONE)
        l->vertex[v].parent = raise_node(l, t, at, t->a_switch[a_switch].parent);
    return v;
}

static uint32_t root_of(const struct layout *l, uint32_t v)
{
    while (l->vertex[v].parent != TOPOLOGY_NONE)
        v = l->vertex[v].parent;
    return v;
}

static int add_nodes(struct layout *l, const struct topology *t, const struct layout_node *nodes,
                     uint32_t *at, uint32_t *index, struct err *err)
{
    for (uint32_t i = 0; i < l->nodes; i++) {
        const struct topology_node *n;
        uint32_t k = topology_find_node(t, nodes[i].name);

        if (k == TOPOLOGY_NONE)
            return err_set(err, "%.200s: node %.80s is below no switch", t->origin, nodes[i].name);
        if (index[k])
            return err_set(err, "node %.80s is given twice", nodes[i].name);
        index[k] = i + 1;
        n = &t->node[k];
        if (nodes[i].ranks == 0 || nodes[i].ranks > PATTERN_RANKS_MAX - l->ranks)
            return err_set(err,
                           "node %.80s has %u ranks: at least 1 per node and at most %u in all are accepted",
                           nodes[i].name, nodes[i].ranks, PATTERN_RANKS_MAX);
        l->ranks += nodes[i].ranks;
        l->per_node = i == 0 || l->per_node == nodes[i].ranks ? nodes[i].ranks : 0;
        l->vertex[i] = (struct layout_vertex){ .name = n->name,
                                               .parent = raise_node(l, t, at, n->parent),
                                               .child = TOPOLOGY_NONE,
                                               .sibling = TOPOLOGY_NONE,
                                               .ranks = nodes[i].ranks,
                                               .nodes = 1 };
        set_link(&l->vertex[i], &n->up);
        if (root_of(l, i) != root_of(l, 0))
            return err_set(
                err,
                "%.200s: nodes %.60s and %.60s have no switch in common: %.60s is above one and %.60s above the other",
                t->origin, l->vertex[0].name, n->name, l->vertex[root_of(l, 0)].name,
                l->vertex[root_of(l, i)].name);
    }
    return 0;
}

/* Children, counts and depths. */
static void link_vertices(struct layout *l)
{
    for (uint32_t i = l->vertices; i-- > 0;) { /* from the end, so that lists begin with the first */
        struct layout_vertex *v = &l->vertex[i];

        for (uint32_t k = v->parent; k != TOPOLOGY_NONE; k = l->vertex[k].parent) {
            v->depth++;
            if (i < l->nodes) {
                l->vertex[k].nodes++;
                l->vertex[k].ranks += v->ranks;
            }
        }
        if (v->parent != TOPOLOGY_NONE) {
            v->sibling = l->vertex[v->parent].child;
            l->vertex[v->parent].child = i;
        }
    }
    for (l->top = root_of(l, 0); l->vertex[l->top].child != TOPOLOGY_NONE &&
                                 l->vertex[l->vertex[l->top].child].sibling == TOPOLOGY_NONE;)
        l->top = l->vertex[l->top].child;
}

/* ---- slow pairs ---- */

static int by_pair(const void *a, const void *b)
{
    const struct layout_pair *one = a, *two = b;

    return one->a != two->a ? (one->a > two->a) - (one->a < two->a) : (one->b > two->b) - (one->b < two->b);
}

uint32_t layout_find_pair(const struct layout *l, uint32_t a, uint32_t b)
{
    struct layout_pair key = { .a = a < b ? a : b, .b = a < b ? b : a }, *found;

    if (!l->paired || a >= l->nodes || b >= l->nodes || !l->paired[a] || !l->paired[b])
        return TOPOLOGY_NONE;
    found = bsearch(&key, l->pair, l->n_pairs, sizeof(*l->pair), by_pair);
    return found ? (uint32_t)(found - l->pair) : TOPOLOGY_NONE;
}

/* Seconds per byte of one message on the slowest link of the way. */
static double slowest_s(const struct layout *l, uint32_t a, uint32_t b)
{
    double slowest = 0;

    while (a != b) {
        uint32_t *deeper = l->vertex[a].depth >= l->vertex[b].depth ? &a : &b;

        slowest = fmax(slowest, layout_link_s(&l->vertex[*deeper], 1));
        *deeper = l->vertex[*deeper].parent;
    }
    return slowest;
}

/* index: of t's nodes, one more than their number here; 0: not of the job. */
static int add_pairs(struct layout *l, const struct topology *t, const uint32_t *index, struct err *err)
{
    if (!t->n_pairs)
        return 0;
    l->pair = calloc(t->n_pairs, sizeof(*l->pair));
    l->paired = calloc(l->nodes, sizeof(*l->paired));
    if (!l->pair || !l->paired)
        return err_set(err, "out of memory");
    for (size_t i = 0; i < t->n_pairs; i++) {
        const struct topology_pair *p = &t->pair[i];
        uint32_t a = index[p->a], b = index[p->b];

        if (!a-- || !b--)
            continue;
        l->paired[a] = l->paired[b] = true;
        l->pair[l->n_pairs++] =
            (struct layout_pair){ a < b ? a : b, a < b ? b : a,
                                  p->slower > 1 ? p->slower * slowest_s(l, a, b) : 0, p->delay_s };
    }
    qsort(l->pair, l->n_pairs, sizeof(*l->pair), by_pair);
    return 0;
}

struct layout *layout_new(const struct topology *t, const struct layout_node *nodes, size_t n,
                          struct err *err)
{
    struct layout *l = calloc(1, sizeof(*l));
    uint32_t *at = calloc(t->n_switches + 1, sizeof(*at)), *index = calloc(t->n_nodes + 1, sizeof(*index));
    size_t most = n + t->n_switches, loads = most + t->n_pairs;
    int rc = -1;

    if (!l || !at || !index || !(l->vertex = calloc(most, sizeof(*l->vertex))) ||
        !(l->up = calloc(loads, sizeof(*l->up))) || !(l->down = calloc(loads, sizeof(*l->down)))) {
        err_set(err, "out of memory");
        goto done;
    }
    if (n == 0 || n > TOPOLOGY_NODES_MAX) {
        err_set(err, "%zu nodes: 1 to %u are accepted", n, TOPOLOGY_NODES_MAX);
        goto done;
    }
    memset(at, 0xff, t->n_switches * sizeof(*at)); /* TOPOLOGY_NONE */
    l->nodes = l->vertices = (uint32_t)n;
    rc = add_nodes(l, t, nodes, at, index, err);
    if (rc == 0) {
        link_vertices(l);
        rc = add_pairs(l, t, index, err);
    }
done:
    free(at);
    free(index);
    if (rc < 0) {
        layout_free(l);
        l = NULL;
    }
    return l;
}

void layout_free(struct layout *l)
{
    if (!l)
        return;
    free(l->vertex);
    free(l->pair);
    free(l->paired);
    free(l->up);
    free(l->down);
    free(l);
}

/* ---- orders ---- */

struct flows *layout_flows(const struct layout *l, const struct pattern *p)
{
    return flows_new(p, l->ranks, l->per_node ? l->per_node : 1);
}

void layout_slots(const struct layout *l, const struct flows *f, const uint32_t *order, uint32_t *slot_node)
{
    for (uint32_t i = 0, slot = 0; i < l->nodes; i++) {
        uint32_t slots = f->slots == l->nodes ? 1 : l->vertex[order[i]].ranks;

        while (slots--)
            slot_node[slot++] = order[i];
    }
}

void layout_cyclic(const struct layout *l, uint32_t *rank_node)
{
    uint32_t rank = 0;

    for (uint32_t turn = 0; rank < l->ranks; turn++)
        for (uint32_t i = 0; i < l->nodes; i++)
            if (l->vertex[i].ranks > turn)
                rank_node[rank++] = i;
}

void layout_write_hosts(const struct layout *l, const uint32_t *order, FILE *out)
{
    for (uint32_t i = 0; i < l->nodes; i++)
        for (uint32_t k = 0; k < l->vertex[order[i]].ranks; k++)
            fprintf(out, "%s\n", l->vertex[order[i]].name);
}

/* ---- cost ---- */

struct busiest {
    double s_per_byte, latency_s;
    uint32_t link;
    double messages, pair_messages;
};

static void load_link(const struct layout *l, double *links, uint32_t v, double messages, struct busiest *b)
{
    double s_per_byte;

    links[v] += messages;
    s_per_byte = layout_link_s(&l->vertex[v], links[v]);
    if (s_per_byte > b->s_per_byte) {
        b->s_per_byte = s_per_byte;
        b->link = v;
        b->messages = links[v];
    }
}

/* Returns the delay. */
static double load_pair(const struct layout *l, uint32_t from, uint32_t to, double messages,
                        struct busiest *b)
{
    uint32_t at = layout_find_pair(l, from, to);
    double *links = from < to ? l->up : l->down;

    if (at == TOPOLOGY_NONE)
        return 0;
    b->pair_messages += messages;
    links[l->vertices + at] += messages;
    if (links[l->vertices + at] * l->pair[at].s_per_byte > b->s_per_byte) {
        b->messages = links[l->vertices + at];
        b->s_per_byte = b->messages * l->pair[at].s_per_byte;
        b->link = l->vertices + at;
    }
    return l->pair[at].delay_s;
}

static void send_messages(struct layout *l, uint32_t from, uint32_t to, double messages, struct busiest *b)
{
    const struct layout_vertex *v = l->vertex;
    double latency_s = from == to ? 0 : load_pair(l, from, to, messages, b);

    while (from != to) {
        if (v[from].depth >= v[to].depth) {
            load_link(l, l->up, from, messages, b);
            latency_s += v[from].latency_s;
            from = v[from].parent;
        } else {
            load_link(l, l->down, to, messages, b);
            latency_s += v[to].latency_s;
            to = v[to].parent;
        }
    }
    b->latency_s = fmax(b->latency_s, latency_s);
}

void layout_cost(struct layout *l, const struct flows *f, const uint32_t *slot_node, struct layout_cost *c)
{
    double longest_s = 0;

    *c = (struct layout_cost){ .link = TOPOLOGY_NONE };
    for (size_t i = 0; i < f->n_phases; i++) {
        const struct phase *ph = &f->phase[i];
        struct busiest b = { .link = TOPOLOGY_NONE };
        double link_s;

        memset(l->up, 0, (l->vertices + l->n_pairs) * sizeof(*l->up));
        memset(l->down, 0, (l->vertices + l->n_pairs) * sizeof(*l->down));
        for (size_t k = 0; k < ph->n_flows; k++)
            send_messages(l, slot_node[ph->flow[k].from], slot_node[ph->flow[k].to], ph->flow[k].messages,
                          &b);
        link_s = ph->rounds * ph->bytes * b.s_per_byte;
        c->latency_s += ph->rounds * b.latency_s;
        c->time_s += ph->rounds * b.latency_s + link_s;
        c->pair_messages += b.pair_messages;
        if (b.link != TOPOLOGY_NONE && (c->link == TOPOLOGY_NONE || link_s > longest_s)) {
            longest_s = link_s;
            c->link = b.link;
            c->link_bytes = ph->rounds * ph->bytes * b.messages;
        }
    }
}

/* ---- bound ---- */

static uint32_t find_set(uint32_t *set, uint32_t i)
{
    while (set[i] != i)
        i = set[i] = set[set[i]];
    return i;
}

/* Do the phase's flows connect all slots?  set: scratch of as many numbers. */
static bool connects(const struct phase *ph, uint32_t slots, uint32_t *set)
{
    uint32_t sets = slots;

    for (uint32_t i = 0; i < slots; i++)
        set[i] = i;
    for (size_t k = 0; k < ph->n_flows; k++) {
        uint32_t a = find_set(set, ph->flow[k].from), b = find_set(set, ph->flow[k].to);

        sets -= a != b;
        set[a] = b;
    }
    return sets == 1;
}

/* Messages that the slot with the fewest sends. */
static uint32_t fewest_sent(const struct phase *ph, uint32_t slots, uint32_t *sent)
{
    uint32_t fewest = UINT32_MAX;

    memset(sent, 0, slots * sizeof(*sent));
    for (size_t k = 0; k < ph->n_flows; k++)
        sent[ph->flow[k].from] += ph->flow[k].messages;
    for (uint32_t i = 0; i < slots; i++)
        fewest = sent[i] < fewest ? sent[i] : fewest;
    return fewest;
}

/* Seconds from the nearest node up to v. */
static double nearest_s(const struct layout *l, uint32_t v)
{
    double nearest = INFINITY;

    if (v < l->nodes)
        return 0;
    for (uint32_t k = l->vertex[v].child; k != TOPOLOGY_NONE; k = l->vertex[k].sibling)
        nearest = fmin(nearest, l->vertex[k].latency_s + nearest_s(l, k));
    return nearest;
}

/* Some message crosses the top switch: the least latency of one. */
static double across_top_s(const struct layout *l)
{
    double first = INFINITY, second = INFINITY;

    for (uint32_t k = l->vertex[l->top].child; k != TOPOLOGY_NONE; k = l->vertex[k].sibling) {
        double s = l->vertex[k].latency_s + nearest_s(l, k);

        second = fmin(second, fmax(first, s));
        first = fmin(first, s);
    }
    return first + second;
}

double layout_bound_s(const struct layout *l, const struct flows *f)
{
    uint32_t *scratch = calloc(f->slots + 1, sizeof(*scratch));
    double bound_s = 0, top_s = l->nodes > 1 ? across_top_s(l) : 0;

    for (size_t i = 0; scratch && i < f->n_phases; i++) {
        const struct phase *ph = &f->phase[i];
        bool connected = connects(ph, f->slots, scratch);
        double sent = f->slots == l->nodes ? fewest_sent(ph, f->slots, scratch) : 0, s_per_byte = 0;

        for (uint32_t v = 0; v < l->vertices; v++) {
            double least = fmax(v < l->nodes ? sent : 0, connected && l->vertex[v].nodes < l->nodes);

            s_per_byte = fmax(s_per_byte, layout_link_s(&l->vertex[v], least));
        }
        bound_s += ph->rounds * ((connected ? top_s : 0) + ph->bytes * s_per_byte);
    }
    free(scratch);
    return bound_s;
}
