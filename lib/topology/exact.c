#include "topology/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LESS (1 - 1e-9) /* differences below are rounding */

struct load {                                 /* of a phase */
    double *up, *down, s_per_byte, latency_s; /* up, down: by vertex, then by pair */
    size_t next;                              /* first flow that has not been added */
};

struct search {
    const struct layout *l;
    struct flows *f;
    struct load *load; /* by phase */
    uint32_t *class;   /* by vertex: the same for isomorphic subtrees with equal links */
    uint32_t *placed;  /* by vertex: nodes placed below */
    uint32_t *slot_node;
    uint32_t *order, *now; /* the best one, and the present beginning */
    double best_s;
    uint64_t work;
};

/* ---- symmetry ---- */

static int compare_numbers(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

    return (one > two) - (one < two);
}

/* The classes of v's children, sorted; returns their number. */
static uint32_t classes_below(const struct search *s, uint32_t v, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t k = s->l->vertex[v].child; k != TOPOLOGY_NONE; k = s->l->vertex[k].sibling)
        out[n++] = s->class[k];
    qsort(out, n, sizeof(*out), compare_numbers);
    return n;
}

static bool isomorphic(const struct search *s, uint32_t a, uint32_t b)
{
    const struct layout_vertex *one = &s->l->vertex[a], *two = &s->l->vertex[b];
    uint32_t below[EXACT_NODES], below_two[EXACT_NODES], n;

    if (s->l->paired && ((a < s->l->nodes && s->l->paired[a]) || (b < s->l->nodes && s->l->paired[b])))
        return false;
    if ((a < s->l->nodes) != (b < s->l->nodes) || one->ranks != two->ranks || one->nodes != two->nodes ||
        memcmp(&one->cables, &two->cables, sizeof(one->cables)) != 0 ||
        memcmp(&one->s_per_byte, &two->s_per_byte, sizeof(one->s_per_byte)) != 0 ||
        memcmp(&one->latency_s, &two->latency_s, sizeof(one->latency_s)) != 0)
        return false;
    n = classes_below(s, a, below);
    return n == classes_below(s, b, below_two) && !memcmp(below, below_two, n * sizeof(*below));
}

/* A class is the first vertex of it. */
static void classify(struct search *s, uint32_t v)
{
    for (uint32_t k = s->l->vertex[v].child; k != TOPOLOGY_NONE; k = s->l->vertex[k].sibling)
        classify(s, k);
    s->class[v] = v;
    for (uint32_t k = 0; k < s->l->vertices; k++)
        if (k != v && s->class[k] == k && isomorphic(s, v, k)) {
            s->class[v] = k;
            return;
        }
}

/* Does an automorphism of the tree that leaves the placed nodes alone put one node in the other's place? */
static bool equal_now(const struct search *s, uint32_t a, uint32_t b)
{
    for (; a != b; a = s->l->vertex[a].parent, b = s->l->vertex[b].parent)
        if (a == TOPOLOGY_NONE || b == TOPOLOGY_NONE || s->class[a] != s->class[b] || s->placed[a] ||
            s->placed[b])
            return false;
    return true;
}

/* ---- branch and bound ---- */

static void load_link(const struct search *s, double *links, uint32_t v, double messages, struct load *load)
{
    links[v] += messages;
    if (messages > 0)
        load->s_per_byte = fmax(load->s_per_byte, layout_link_s(&s->l->vertex[v], links[v]));
}

/* messages are negative where a node is taken off again; then the caller restores the maxima. */
static void walk_flow(const struct search *s, struct load *load, const struct flow *flow, double messages)
{
    const struct layout_vertex *v = s->l->vertex;
    uint32_t from = s->slot_node[flow->from], to = s->slot_node[flow->to],
             pair = from == to ? TOPOLOGY_NONE : layout_find_pair(s->l, from, to);
    double latency_s = 0;

    if (pair != TOPOLOGY_NONE) {
        double *on = (from < to ? load->up : load->down) + s->l->vertices + pair;

        *on += messages;
        latency_s = s->l->pair[pair].delay_s;
        if (messages > 0)
            load->s_per_byte = fmax(load->s_per_byte, *on * s->l->pair[pair].s_per_byte);
    }
    while (from != to) {
        if (v[from].depth >= v[to].depth) {
            load_link(s, load->up, from, messages, load);
            latency_s += v[from].latency_s;
            from = v[from].parent;
        } else {
            load_link(s, load->down, to, messages, load);
            latency_s += v[to].latency_s;
            to = v[to].parent;
        }
    }
    load->latency_s = fmax(load->latency_s, latency_s);
}

static uint32_t later_slot(const struct flow *flow)
{
    return flow->from > flow->to ? flow->from : flow->to;
}

/* Add the flows between slots below `slots`; returns the cost so far. */
static double add_flows(struct search *s, uint32_t slots)
{
    double time_s = 0;

    for (size_t i = 0; i < s->f->n_phases; i++) {
        const struct phase *ph = &s->f->phase[i];
        struct load *load = &s->load[i];

        for (; load->next < ph->n_flows && later_slot(&ph->flow[load->next]) < slots;
             load->next++, s->work -= !!s->work)
            walk_flow(s, load, &ph->flow[load->next], ph->flow[load->next].messages);
        time_s += ph->rounds * (load->latency_s + ph->bytes * load->s_per_byte);
    }
    return time_s;
}

static void remove_flows(struct search *s, const struct load *before)
{
    for (size_t i = 0; i < s->f->n_phases; i++) {
        struct load *load = &s->load[i];

        while (load->next > before[i].next) {
            const struct flow *flow = &s->f->phase[i].flow[--load->next];

            walk_flow(s, load, flow, -(double)flow->messages);
        }
        *load = before[i];
    }
}

static void count_placed(struct search *s, uint32_t node, uint32_t change)
{
    for (uint32_t v = node; v != TOPOLOGY_NONE; v = s->l->vertex[v].parent)
        s->placed[v] += change;
}

/* Place a node at position `at`, the first slots being full. */
static void place_node(struct search *s, uint32_t at, uint32_t slots)
{
    const struct layout *l = s->l;
    struct load before[PHASES_MAX];
    uint32_t tried[EXACT_NODES], n_tried = 0;

    if (at == l->nodes) {
        memcpy(s->order, s->now, l->nodes * sizeof(*s->order));
        return;
    }
    memcpy(before, s->load, s->f->n_phases * sizeof(*before));
    for (uint32_t node = 0; node < l->nodes && s->work; node++) {
        uint32_t width = s->f->slots == l->nodes ? 1 : l->vertex[node].ranks;
        bool again = s->placed[node];
        double time_s;

        for (uint32_t k = 0; k < n_tried && !again; k++)
            again = equal_now(s, node, tried[k]);
        if (again)
            continue;
        tried[n_tried++] = node;
        for (uint32_t k = 0; k < width; k++)
            s->slot_node[slots + k] = node;
        s->now[at] = node;
        time_s = add_flows(s, slots + width);
        if (time_s < s->best_s * LESS) {
            if (at + 1 == l->nodes)
                s->best_s = time_s;
            count_placed(s, node, 1);
            place_node(s, at + 1, slots + width);
            count_placed(s, node, (uint32_t)-1);
        }
        remove_flows(s, before);
    }
}

static int by_later(const void *a, const void *b)
{
    uint32_t one = later_slot(a), two = later_slot(b);

    return (one > two) - (one < two);
}

bool exact_search(const struct layout *l, struct flows *f, uint64_t work, uint32_t *order, double time_s)
{
    struct search s = { .l = l, .f = f, .order = order, .best_s = time_s, .work = work + 1 };
    size_t each = (size_t)l->vertices + l->n_pairs;
    double *links = calloc(2 * each * f->n_phases + 1, sizeof(*links));
    struct load load[PHASES_MAX] = { 0 };
    uint32_t now[EXACT_NODES];
    bool whole = false;

    s.load = load;
    s.now = now;
    s.class = malloc(l->vertices * sizeof(*s.class));
    s.placed = calloc(l->vertices, sizeof(*s.placed));
    s.slot_node = calloc(f->slots, sizeof(*s.slot_node));
    if (l->nodes > EXACT_NODES || !links || !s.class || !s.placed || !s.slot_node)
        goto done;
    for (size_t i = 0; i < f->n_phases; i++) {
        load[i].up = links + 2 * each * i;
        load[i].down = load[i].up + each;
        qsort(f->phase[i].flow, f->phase[i].n_flows, sizeof(*f->phase[i].flow), by_later);
    }
    memset(s.class, 0xff, l->vertices * sizeof(*s.class));
    classify(&s, l->top);
    place_node(&s, 0, 0);
    whole = s.work > 0;
done:
    free(links);
    free(s.class);
    free(s.placed);
    free(s.slot_node);
    return whole;
}
