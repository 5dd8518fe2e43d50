#include "topology/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "topology/fold.h"

/* Stands above all blocks: no switch of a file can be called this. */
#define BLOCKS_ROOT "(between blocks)"

const struct topology_assumption topology_usual = {
    .node_bytes_per_s = 12.5e9, .latency_s = 1e-6, .oversubscription = { 2 }, .n_oversubscription = 1
};

static const struct topology_link unknown = { NAN, NAN, 1, 0, NAN, NAN, 1 };

struct topology *topology_new(const char *origin)
{
    struct topology *t = calloc(1, sizeof(*t));

    if (!t || !(t->origin = strdup(origin))) {
        free(t);
        return NULL;
    }
    return t;
}

void topology_free(struct topology *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_nodes; i++)
        free(t->node[i].name);
    for (size_t i = 0; i < t->n_switches; i++) {
        free(t->a_switch[i].name);
        free(t->a_switch[i].switches);
    }
    free(t->node);
    free(t->a_switch);
    free(t->by_name);
    free(t->pair);
    free(t->origin);
    free(t);
}

static int no_memory(struct err *err)
{
    return err_set(err, "out of memory");
}

/* "FILE:LINE: switch NAME: " and the reason. */
static int fail_at(const struct topology *t, const struct topology_switch *s, struct err *err)
{
    if (s)
        err_prefix(err, "switch %.80s", s->name);
    if (s && s->line)
        return err_prefix(err, "%.200s:%u", t->origin, s->line);
    return err_prefix(err, "%.200s", t->origin);
}

/* ---- adding ---- */

/* Room for one more of the array's elements; NULL: no memory, and the array is as it was. */
static void *grow_array(void *array, size_t *cap, size_t n, size_t size)
{
    size_t more = *cap ? 2 * *cap : 64;
    void *larger;

    if (n < *cap)
        return array;
    larger = reallocarray(array, more, size);
    if (larger)
        *cap = more;
    return larger;
}

static int add_node(void *arg, const char *name, struct err *err)
{
    struct topology *t = arg;
    struct topology_node *nodes = grow_array(t->node, &t->cap_nodes, t->n_nodes, sizeof(*nodes)), *n;

    if (!nodes)
        return no_memory(err);
    t->node = nodes;
    if (t->n_nodes == TOPOLOGY_LINKS_MAX)
        return err_set(err, "at most %u links are accepted", TOPOLOGY_LINKS_MAX);
    n = &t->node[t->n_nodes];
    *n = (struct topology_node){ .name = strdup(name), .parent = (uint32_t)t->n_switches - 1, .up = unknown };
    if (!n->name)
        return no_memory(err);
    t->n_nodes++;
    return 0;
}

int topology_add(struct topology *t, const char *name, const char *nodes, const char *switches,
                 double link_speed, unsigned line, struct err *err)
{
    struct topology_switch *all = grow_array(t->a_switch, &t->cap_switches, t->n_switches, sizeof(*all)), *s;

    if (!all)
        return no_memory(err);
    t->a_switch = all;
    if (t->n_switches == TOPOLOGY_SWITCHES_MAX) {
        err_set(err, "at most %u switches are accepted", TOPOLOGY_SWITCHES_MAX);
        return fail_at(t, NULL, err);
    }
    s = &all[t->n_switches];
    *s = (struct topology_switch){
        .parent = TOPOLOGY_NONE, .alike = TOPOLOGY_NONE, .line = line, .link_speed = link_speed, .up = unknown
    };
    s->name = strdup(name);
    s->switches = strdup(switches ? switches : "");
    if (!s->name || !s->switches) {
        free(s->name);
        free(s->switches);
        return no_memory(err);
    }
    t->n_switches++;
    if (nodes && *nodes && *s->switches) {
        err_set(err, "nodes or switches are accepted below it, and not both");
        return fail_at(t, s, err);
    }
    if (nodes && hostlist_each_written(nodes, TOPOLOGY_NODES_MAX, add_node, t, err) < 0)
        return fail_at(t, s, err);
    return 0;
}

/* ---- names ---- */

static int by_node_name(const void *a, const void *b)
{
    const struct topology_node *one = a, *two = b;

    return strcmp(one->name, two->name);
}

static int by_switch_name(const void *a, const void *b, void *arg)
{
    const struct topology *t = arg;

    return strcmp(t->a_switch[*(const uint32_t *)a].name, t->a_switch[*(const uint32_t *)b].name);
}

static int sort_names(struct topology *t, struct err *err)
{
    t->by_name = calloc(t->n_switches, sizeof(*t->by_name));
    if (!t->by_name)
        return no_memory(err);
    for (uint32_t i = 0; i < t->n_switches; i++)
        t->by_name[i] = i;
    qsort_r(t->by_name, t->n_switches, sizeof(*t->by_name), by_switch_name, t);
    for (size_t i = 1; i < t->n_switches; i++) {
        const struct topology_switch *one = &t->a_switch[t->by_name[i - 1]],
                                     *two = &t->a_switch[t->by_name[i]];

        if (strcmp(one->name, two->name) != 0)
            continue;
        if (one->line)
            err_set(err, "is already in line %u; one line per switch is accepted", one->line);
        else
            err_set(err, "exists twice");
        return fail_at(t, two, err);
    }
    return 0;
}

/* Among n switches in the order by_name; by_name NULL: n nodes, which are sorted. */
static uint32_t find_name(const struct topology *t, const uint32_t *by_name, size_t n, const char *name)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        uint32_t i = by_name ? by_name[middle] : (uint32_t)middle;
        int order = strcmp(by_name ? t->a_switch[i].name : t->node[i].name, name);

        if (!order)
            return i;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return TOPOLOGY_NONE;
}

uint32_t topology_find_node(const struct topology *t, const char *name)
{
    return find_name(t, NULL, t->n_nodes, name);
}

uint32_t topology_find_switch(const struct topology *t, const char *name)
{
    return find_name(t, t->by_name, t->n_switches, name);
}

/* ---- the tree ---- */

struct edges {
    struct topology *t;
    struct fold_edge *edge;
    size_t n, cap;
    uint32_t parent;
};

static int add_edge(struct edges *e, uint32_t child, uint32_t parent, struct err *err)
{
    struct fold_edge *more = grow_array(e->edge, &e->cap, e->n, sizeof(*more));

    if (!more)
        return no_memory(err);
    e->edge = more;
    if (e->n == TOPOLOGY_LINKS_MAX)
        return err_set(err, "at most %u links are accepted", TOPOLOGY_LINKS_MAX);
    e->edge[e->n++] = (struct fold_edge){ child, parent };
    return 0;
}

/* Each node once, with an edge for each time that it was named. */
static int merge_nodes(struct edges *e, struct err *err)
{
    struct topology *t = e->t;
    size_t n = 0;

    if (t->n_nodes)
        qsort(t->node, t->n_nodes, sizeof(*t->node), by_node_name);
    for (size_t i = 0; i < t->n_nodes; i++)
        if (add_edge(e, 0, t->node[i].parent, err) < 0)
            return -1;
    for (size_t i = 0; i < t->n_nodes; i++) {
        if (n && !strcmp(t->node[n - 1].name, t->node[i].name))
            free(t->node[i].name);
        else {
            t->node[n] = t->node[i];
            t->node[n++].parent = TOPOLOGY_NONE;
        }
        e->edge[i].child = (uint32_t)n - 1;
    }
    t->n_nodes = n;
    if (n > TOPOLOGY_NODES_MAX)
        return err_set(err, "at most %u nodes are accepted", TOPOLOGY_NODES_MAX);
    return 0;
}

static int adopt_switch(void *arg, const char *name, struct err *err)
{
    struct edges *e = arg;
    uint32_t i = topology_find_switch(e->t, name);

    if (i == TOPOLOGY_NONE && topology_find_node(e->t, name) != TOPOLOGY_NONE)
        return err_set(err, "%.80s is a node, not a switch", name);
    if (i == TOPOLOGY_NONE)
        return err_set(err, "switch %.80s below it is nowhere described", name);
    return add_edge(e, (uint32_t)e->t->n_nodes + i, e->parent, err);
}

int topology_join(struct topology *t, struct err *err)
{
    size_t bytes = 1, used = 0;
    char *names;
    int rc;

    for (size_t i = 0; i < t->n_switches; i++)
        bytes += strlen(t->a_switch[i].name) + 1;
    names = malloc(bytes);
    if (!names)
        return err_set(err, "out of memory");
    for (size_t i = 0; i < t->n_switches; i++)
        used += (size_t)snprintf(names + used, bytes - used, "%s%s", i ? "," : "", t->a_switch[i].name);
    t->blocks = true;
    rc = topology_add(t, BLOCKS_ROOT, NULL, names, NAN, 0, err);
    free(names);
    return rc;
}

int topology_finish(struct topology *t, struct err *err)
{
    struct edges e = { .t = t };
    uint32_t at = TOPOLOGY_NONE;
    int rc;

    if (!t->n_switches)
        return 0;
    if (sort_names(t, err) < 0)
        return -1;
    rc = merge_nodes(&e, err);
    for (uint32_t i = 0; i < t->n_switches && rc == 0; i++) {
        e.parent = i;
        rc = hostlist_each(t->a_switch[i].switches, TOPOLOGY_LINKS_MAX, adopt_switch, &e, err);
        at = rc < 0 ? i : TOPOLOGY_NONE;
    }
    if (rc == 0)
        rc = fold_edges(t, e.edge, e.n, &at, err);
    free(e.edge);
    return rc < 0 ? fail_at(t, at == TOPOLOGY_NONE ? NULL : &t->a_switch[at], err) : 0;
}

int topology_needed(const struct topology *t, struct err *err)
{
    if (t->n_switches)
        return 0;
    err_set(
        err, "%s",
        t->flat
            ? "a flat topology has no switches"
            : "no switch: lines such as SwitchName=s1 Nodes=node[1-16] or BlockName=b1 Nodes=node[1-16] are needed");
    return fail_at(t, NULL, err);
}

/* ---- what was measured ---- */

int topology_slow_pair(struct topology *t, uint32_t a, uint32_t b, double slower, double delay_s)
{
    struct topology_pair p = { a < b ? a : b, a < b ? b : a, slower, delay_s }, *more;

    for (size_t i = 0; i < t->n_pairs; i++)
        if (t->pair[i].a == p.a && t->pair[i].b == p.b) {
            t->pair[i].slower = fmax(t->pair[i].slower, slower);
            t->pair[i].delay_s = fmax(t->pair[i].delay_s, delay_s);
            return 0;
        }
    more = grow_array(t->pair, &t->cap_pairs, t->n_pairs, sizeof(*more));
    if (!more)
        return -1;
    t->pair = more;
    t->pair[t->n_pairs++] = p;
    return 0;
}

void topology_move(struct topology *t, uint32_t node, uint32_t a_switch)
{
    t->a_switch[t->node[node].parent].n_below--;
    a_switch = t->a_switch[a_switch].same;
    t->a_switch[a_switch].n_below++;
    t->node[node].parent = a_switch;
}

/* ---- links ---- */

/* Returns the rate that it has without what slows it. */
static double assume_link(struct topology_link *l, double bytes_per_s, double latency_s)
{
    double usual = isnan(l->measured_bytes_per_s) ? bytes_per_s : l->measured_bytes_per_s;

    l->bytes_per_s = usual / l->slower;
    l->latency_s = (isnan(l->measured_latency_s) ? latency_s : l->measured_latency_s) + l->delay_s;
    return usual;
}

/* The switches like this one share what is below them. */
static void assume_alike(struct topology *t, uint32_t first, double over, double highest,
                         const struct topology_assumption *a)
{
    double below = t->a_switch[first].up.bytes_per_s, alike = 0;

    for (uint32_t i = first; i != TOPOLOGY_NONE; i = t->a_switch[i].alike)
        alike++;
    for (uint32_t i = first; i != TOPOLOGY_NONE; i = t->a_switch[i].alike) {
        struct topology_switch *s = &t->a_switch[i];
        double share = s->link_speed > 0 ? s->link_speed / highest : 1,
               usual = assume_link(&s->up, below / alike / over * share, a->latency_s);

        s->up.cables =
            (uint32_t)fmax(s->ways, fmax(1, fmin(TOPOLOGY_CABLES_MAX, round(usual / a->node_bytes_per_s))));
        if (s->parent != TOPOLOGY_NONE)
            t->a_switch[s->parent].up.bytes_per_s += usual;
    }
}

/* While a switch's own link is not set, its bytes_per_s is the sum of those below it. */
void topology_assume(struct topology *t, const struct topology_assumption *a)
{
    for (size_t i = 0; i < t->n_switches; i++)
        t->a_switch[i].up.bytes_per_s = 0;
    for (size_t i = 0; i < t->n_nodes; i++) {
        t->a_switch[t->node[i].parent].up.bytes_per_s +=
            assume_link(&t->node[i].up, t->node[i].up.cables * a->node_bytes_per_s, a->latency_s);
    }
    for (uint32_t height = 0; height < TOPOLOGY_LEVELS_MAX; height++) {
        size_t last = a->n_oversubscription - 1;
        double over = a->oversubscription[height < last ? height : last], highest = NAN;

        for (size_t i = 0; i < t->n_switches; i++)
            if (t->a_switch[i].height == height)
                highest = fmax(highest, t->a_switch[i].link_speed);
        for (uint32_t i = 0; i < t->n_switches; i++)
            if (t->a_switch[i].height == height && t->a_switch[i].same == i)
                assume_alike(t, i, over, highest, a);
    }
}
