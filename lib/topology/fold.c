#include "topology/fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct fold {
    struct topology *t;
    struct fold_edge *edge; /* sorted by parent */
    size_t n;
    size_t *first;     /* by switch, its first edge down; one more at the end */
    uint32_t *order;   /* switches, those of a height after one another */
    uint32_t *highest; /* by switch: height of the highest one above it */
};

static int by_parent(const void *a, const void *b)
{
    const struct fold_edge *one = a, *two = b;

    if (one->parent != two->parent)
        return one->parent < two->parent ? -1 : 1;
    return (one->child > two->child) - (one->child < two->child);
}

/* Sort the edges of one switch, or of all, and keep one of each; returns how many. */
static size_t sort_edges(struct fold_edge *edge, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(edge, n, sizeof(*edge), by_parent);
    for (size_t i = 0; i < n; i++)
        if (!kept || by_parent(&edge[kept - 1], &edge[i]) != 0)
            edge[kept++] = edge[i];
    return kept;
}

static struct topology_switch *switch_below(const struct fold *f, const struct fold_edge *e)
{
    return e->child < f->t->n_nodes ? NULL : &f->t->a_switch[e->child - f->t->n_nodes];
}

/* ---- heights ---- */

/* A switch that is above itself, from one that is above such a switch. */
static uint32_t find_circle(const struct fold *f, const uint8_t *known, uint32_t s)
{
    for (size_t step = 0; step < f->t->n_switches; step++)
        for (size_t i = f->first[s]; i < f->first[s + 1]; i++) {
            struct topology_switch *below = switch_below(f, &f->edge[i]);

            if (below && !known[below - f->t->a_switch]) {
                s = (uint32_t)(below - f->t->a_switch);
                break;
            }
        }
    return s;
}

/* One height after the other: of the switches whose switches below all have theirs. */
static int set_heights(struct fold *f, uint32_t *at, struct err *err)
{
    uint8_t *known = calloc(f->t->n_switches, sizeof(*known));
    uint32_t n = 0, left = 0, height;

    if (!known)
        return err_set(err, "out of memory");
    for (height = 0; height < TOPOLOGY_LEVELS_MAX && n < f->t->n_switches; height++) {
        uint32_t before = n;

        for (uint32_t s = 0; s < f->t->n_switches; s++) {
            bool ready = !known[s];

            for (size_t i = f->first[s]; ready && i < f->first[s + 1]; i++) {
                const struct topology_switch *below = switch_below(f, &f->edge[i]);

                ready = !below || known[below - f->t->a_switch];
            }
            if (!ready)
                continue;
            f->t->a_switch[s].height = height;
            f->order[n++] = s;
        }
        for (uint32_t i = before; i < n; i++)
            known[f->order[i]] = 1;
        if (n == before)
            break;
    }
    while (left < f->t->n_switches && known[left])
        left++;
    if (left < f->t->n_switches) {
        *at = height < TOPOLOGY_LEVELS_MAX ? find_circle(f, known, left) : left;
        err_set(err,
                height < TOPOLOGY_LEVELS_MAX ? "is above itself; no circle is accepted"
                                             : "more than %u switches above each other",
                TOPOLOGY_LEVELS_MAX);
    }
    free(known);
    return left < f->t->n_switches ? -1 : 0;
}

/* ---- what is alike ---- */

static int by_below(const void *a, const void *b, void *arg)
{
    const struct fold *f = arg;
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    size_t n_one = f->t->a_switch[one].n_below, n_two = f->t->a_switch[two].n_below;

    if (n_one != n_two)
        return n_one < n_two ? -1 : 1;
    for (size_t i = 0; i < n_one; i++) {
        uint32_t x = f->edge[f->first[one] + i].child, y = f->edge[f->first[two] + i].child;

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int by_below_and_place(const void *a, const void *b, void *arg)
{
    int order = by_below(a, b, arg);
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

    return order ? order : (one > two) - (one < two);
}

/* n switches of one height, below which everything is folded. */
static void fold_height(struct fold *f, uint32_t *some, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        struct fold_edge *own = f->edge + f->first[some[k]];
        size_t edges = f->first[some[k] + 1] - f->first[some[k]];

        for (size_t i = 0; i < edges; i++) {
            const struct topology_switch *below = switch_below(f, &own[i]);

            if (below)
                own[i].child = (uint32_t)f->t->n_nodes + below->same;
        }
        f->t->a_switch[some[k]].n_below = (uint32_t)sort_edges(own, edges);
    }
    qsort_r(some, n, sizeof(*some), by_below_and_place, f);
    for (size_t k = 0; k < n; k++) {
        struct topology_switch *s = &f->t->a_switch[some[k]];

        s->same = some[k];
        if (k > 0 && by_below(&some[k - 1], &some[k], f) == 0) {
            s->same = f->t->a_switch[some[k - 1]].same;
            f->t->a_switch[some[k - 1]].alike = some[k];
        }
    }
}

/* ---- above ---- */

/* Is a better than b to be the one above? */
static bool is_better(const struct fold *f, uint32_t a, uint32_t b)
{
    const struct topology_switch *s = f->t->a_switch;

    if (b == TOPOLOGY_NONE || f->highest[a] != f->highest[b])
        return b == TOPOLOGY_NONE || f->highest[a] > f->highest[b];
    if (s[a].height != s[b].height)
        return s[a].height < s[b].height;
    return s[a].n_below != s[b].n_below ? s[a].n_below > s[b].n_below : a < b;
}

/* Those of a switch and of those like it were counted together. */
static void share_ways(struct topology *t, uint32_t first)
{
    uint32_t ways = t->a_switch[first].ways, n = 0;

    for (uint32_t i = first; i != TOPOLOGY_NONE; i = t->a_switch[i].alike)
        n++;
    for (uint32_t i = first; i != TOPOLOGY_NONE; i = t->a_switch[i].alike)
        t->a_switch[i].ways = (ways + n - 1) / n;
}

/* From the highest switches down: the one above what is below, and how many ways there are to it. */
static void choose_parents(struct fold *f)
{
    struct topology *t = f->t;

    for (size_t k = t->n_switches; k-- > 0;) {
        uint32_t p = f->order[k], first = t->a_switch[p].same;

        if (f->highest[first] < t->a_switch[first].height)
            f->highest[first] = t->a_switch[first].height;
        for (size_t i = f->first[p]; i < f->first[p] + t->a_switch[p].n_below; i++) {
            struct topology_switch *below = switch_below(f, &f->edge[i]);
            uint32_t *parent = below ? &below->parent : &t->node[f->edge[i].child].parent,
                     *ways = below ? &below->ways : &t->node[f->edge[i].child].up.cables;

            if (below && f->highest[below->same] < f->highest[first])
                f->highest[below->same] = f->highest[first];
            if (*parent == first)
                *ways += *ways < TOPOLOGY_CABLES_MAX;
            else if (is_better(f, first, *parent)) {
                *parent = first;
                *ways = 1;
            }
        }
    }
    for (uint32_t s = 0; s < t->n_switches; s++) {
        const struct topology_switch *first = &t->a_switch[t->a_switch[s].same];

        t->a_switch[s].parent = first->parent;
        t->a_switch[s].n_below = 0;
        if (t->a_switch[s].same == s)
            share_ways(t, s);
    }
    for (uint32_t s = 0; s < t->n_switches; s++)
        if (t->a_switch[s].same == s && t->a_switch[s].parent != TOPOLOGY_NONE)
            t->a_switch[t->a_switch[s].parent].n_below++;
    for (size_t i = 0; i < t->n_nodes; i++)
        t->a_switch[t->node[i].parent].n_below++;
}

int fold_edges(struct topology *t, struct fold_edge *edge, size_t n, uint32_t *at, struct err *err)
{
    struct fold f = { .t = t,
                      .edge = edge,
                      .n = sort_edges(edge, n),
                      .first = calloc(t->n_switches + 1, sizeof(*f.first)),
                      .order = calloc(t->n_switches, sizeof(*f.order)),
                      .highest = calloc(t->n_switches, sizeof(*f.highest)) };
    int rc = -1;

    *at = TOPOLOGY_NONE;
    if (!f.first || !f.order || !f.highest) {
        err_set(err, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < f.n; i++) {
        f.first[edge[i].parent + 1]++;
        if (edge[i].child < t->n_nodes)
            t->node[edge[i].child].n_above++;
    }
    for (size_t s = 0; s < t->n_switches; s++)
        f.first[s + 1] += f.first[s];
    rc = set_heights(&f, at, err);
    for (size_t from = 0, to; rc == 0 && from < t->n_switches; from = to) {
        uint32_t height = t->a_switch[f.order[from]].height;

        for (to = from; to < t->n_switches && t->a_switch[f.order[to]].height == height;)
            to++;
        fold_height(&f, f.order + from, to - from);
    }
    if (rc == 0)
        choose_parents(&f);
done:
    free(f.first);
    free(f.order);
    free(f.highest);
    return rc;
}
