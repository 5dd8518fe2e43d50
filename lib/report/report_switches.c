#include "report/report_switches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "view/figures.h"
#include "view/switches.h"
#include "view/view.h"
#include "wire/json.h"

/* ---- the nodes ---- */

struct mean {
    double sum;
    int64_t n;
};

static void mean_add(struct mean *m, double value)
{
    if (isnan(value))
        return;
    m->sum += value;
    m->n++;
}

static double mean_get(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : NAN;
}

struct node {
    const char *name, *switch_name; /* lent by the view */
    int64_t ranks, worst_rank;
    double worst_slowdown;
    struct mean slowdown, wait_s;
};

struct nodes {
    struct node *node;
    size_t n, cap;
};

static int by_place(const void *pa, const void *pb)
{
    const struct view_rank_figures *a = pa, *b = pb;
    int by = strverscmp(a->switch_name, b->switch_name);

    if (!by)
        by = strverscmp(a->node, b->node);
    return by ? by : (a->rank > b->rank) - (a->rank < b->rank);
}

static void add_rank(struct nodes *t, const struct view_rank_figures *f)
{
    struct node *k = t->n ? &t->node[t->n - 1] : NULL;

    if (!k || strcmp(k->name, f->node) != 0 || strcmp(k->switch_name, f->switch_name) != 0) {
        t->node = xgrow(t->node, &t->cap, t->n + 1, sizeof(*t->node));
        k = &t->node[t->n++];
        *k = (struct node){ f->node, f->switch_name, .worst_rank = -1, .worst_slowdown = NAN };
    }
    k->ranks++;
    mean_add(&k->slowdown, f->slowdown);
    mean_add(&k->wait_s, f->wait_s);
    if (!isnan(f->slowdown) && !(f->slowdown <= k->worst_slowdown)) {
        k->worst_slowdown = f->slowdown;
        k->worst_rank = f->rank;
    }
}

/* By switch, then by name. */
static void collect(struct nodes *t, const struct view *v, double now_s)
{
    uint32_t limit = view_rank_limit(v);
    struct view_rank_figures *f = xcalloc(limit, sizeof(*f));
    size_t n = 0;

    for (uint32_t r = 0; r < limit; r++)
        if (view_rank_get(v, now_s, r, &f[n]) && *f[n].node)
            n++;
    if (n)
        qsort(f, n, sizeof(*f), by_place);
    for (size_t i = 0; i < n; i++)
        add_rank(t, &f[i]);
    free(f);
}

/* ---- the switches that nodes are directly below ---- */

struct leaf {
    char *path;            /* a line a switch, from the root down: it sorts as the tree */
    struct node *node;     /* lent */
    size_t n;              /* nodes */
    size_t first, n_named; /* in report_switches.named */
    bool eventful;
};

struct tree {
    struct report_switches *s;
    struct leaf *leaf;
    size_t n;
    const struct view_verdict *verdict;
    size_t verdicts;
    const struct view *v;
    double now_s;
};

static int by_path(const void *pa, const void *pb)
{
    const struct leaf *a = pa, *b = pb;

    return strverscmp(a->path, b->path);
}

static void find_leaves(struct tree *t, const struct nodes *nodes)
{
    char path[SWITCHES_PATH];
    size_t end;

    t->leaf = xcalloc(nodes->n + 1, sizeof(*t->leaf));
    for (size_t i = 0; i < nodes->n; i = end) {
        struct node *k = &nodes->node[i];

        for (end = i; end < nodes->n && !strcmp(nodes->node[end].switch_name, k->switch_name); end++)
            t->s->ranks += nodes->node[end].ranks;
        if (!k->switch_name[0])
            t->s->unknown_nodes = (int64_t)(end - i);
        else
            t->leaf[t->n++] =
                (struct leaf){ .path = xstrdup(switches_path(view_switches(t->v), k->switch_name, path)),
                               .node = k,
                               .n = end - i };
    }
    qsort(t->leaf, t->n, sizeof(*t->leaf), by_path);
}

/* ---- what verdicts name ---- */

/* The link's other node, or "": it has none there. */
static const char *other_end(const struct view *v, const struct view_verdict *d, const char *node)
{
    const char *a = view_place_name(v, d->finding.place), *b = view_place_name(v, d->finding.other);

    return !strcmp(node, a) ? b : !strcmp(node, b) ? a : "";
}

static bool is_named(const struct tree *t, const struct view_verdict *d, const char *culprit,
                     const char *node)
{
    struct view_rank_figures f;

    switch (d->finding.scope) {
    case SCOPE_NODE:
        return !strcmp(culprit, node);
    case SCOPE_RANK:
    case SCOPE_RANKS:
        return culprit[0] == 'r' && view_rank_get(t->v, t->now_s, (uint32_t)atoi(culprit + 1), &f) &&
               !strcmp(f.node, node);
    case SCOPE_LINK:
        return *other_end(t->v, d, node);
    default:
        return false;
    }
}

static void add_named(struct tree *t, struct leaf *w, const struct node *k, const struct view_verdict *d)
{
    struct report_named *named = &t->s->named[t->s->n_named];

    for (uint32_t i = 0; i < d->n_culprits; i++) {
        if (t->s->n_named == REPORT_NAMED_MAX || !is_named(t, d, d->culprit[i], k->name))
            continue;
        *named = (struct report_named){ .ranks = k->ranks,
                                        .slowdown = mean_get(&k->slowdown),
                                        .wait_s = mean_get(&k->wait_s) };
        snprintf(named->name, sizeof(named->name), "%s", k->name);
        snprintf(named->class, sizeof(named->class), "%s", finding_class_name(d->finding.class));
        snprintf(named->scope, sizeof(named->scope), "%s", finding_scope_name(d->finding.scope));
        snprintf(named->culprit, sizeof(named->culprit), "%s",
                 d->finding.scope == SCOPE_LINK ? other_end(t->v, d, k->name) : d->culprit[i]);
        t->s->n_named++;
        w->n_named++;
        return; /* a node has one row per verdict */
    }
}

/* Of a verdict on the switch itself, or NULL. */
static const struct view_verdict *verdict_on(const struct tree *t, const struct leaf *w)
{
    for (size_t i = 0; i < t->verdicts; i++)
        for (uint32_t c = 0; c < t->verdict[i].n_culprits; c++)
            if (!t->verdict[i].minor && t->verdict[i].finding.scope == SCOPE_SWITCH &&
                !strcmp(t->verdict[i].culprit[c], w->node->switch_name))
                return &t->verdict[i];
    return NULL;
}

static bool is_below(const struct tree *t, size_t first, size_t end, uint32_t place)
{
    const char *name = view_place_name(t->v, place);

    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < t->leaf[i].n; k++)
            if (!strcmp(t->leaf[i].node[k].name, name))
                return true;
    return false;
}

/* Slow links of which one end is below these leaves, and the other below others: their routes pass the
 * uplink. */
static int64_t slow_routes(const struct tree *t, size_t first, size_t end)
{
    int64_t n = 0;

    for (size_t i = 0; i < t->verdicts; i++) {
        const struct finding *f = &t->verdict[i].finding;

        if (!t->verdict[i].minor && f->scope == SCOPE_LINK && is_below(t, 0, t->n, f->place) &&
            is_below(t, 0, t->n, f->other))
            n += is_below(t, first, end, f->place) != is_below(t, first, end, f->other);
    }
    return n;
}

/* ---- the tree ---- */

static void add_up(struct report_switch *w, const struct leaf *leaf, size_t n)
{
    struct mean slowdown = { 0 }, wait_s = { 0 };

    for (size_t i = 0; i < n; i++) {
        w->nodes += (int64_t)leaf[i].n;
        for (const struct node *k = leaf[i].node; k < leaf[i].node + leaf[i].n; k++) {
            w->ranks += k->ranks;
            slowdown.sum += k->slowdown.sum;
            slowdown.n += k->slowdown.n;
            wait_s.sum += k->wait_s.sum;
            wait_s.n += k->wait_s.n;
            if (!isnan(k->worst_slowdown) && !(k->worst_slowdown <= w->worst_slowdown)) {
                w->worst_slowdown = k->worst_slowdown;
                w->worst_rank = k->worst_rank;
                snprintf(w->worst_node, sizeof(w->worst_node), "%s", k->name);
            }
        }
    }
    w->slowdown = mean_get(&slowdown);
    w->wait_s = mean_get(&wait_s);
}

/* The leaves from first whose paths begin with the same `length` characters. */
static size_t end_of(const struct tree *t, size_t first, size_t end, size_t length)
{
    const char *path = t->leaf[first].path;

    while (++first < end && !strncmp(t->leaf[first].path, path, length) &&
           (!t->leaf[first].path[length] || t->leaf[first].path[length] == '\n'))
        ;
    return first;
}

static void add_level(struct tree *t, size_t first, size_t end, size_t at, int64_t depth);

/* A switch, of which the name begins at `at` in the paths of these leaves, and what is below it. */
static void add_switch(struct tree *t, size_t first, size_t end, size_t at, int64_t depth)
{
    struct report_switches *s = t->s;
    struct report_switch w = { .depth = depth, .worst_slowdown = NAN, .worst_rank = -1 };
    struct leaf *f = &t->leaf[first];
    size_t length = strcspn(f->path + at, "\n");
    const struct view_verdict *d;

    s->total++;
    snprintf(w.name, sizeof(w.name), "%.*s", (int)length, f->path + at);
    add_up(&w, f, end - first);
    w.slow_routes = slow_routes(t, first, end);
    if (!f->path[at + length]) { /* nodes are directly below it */
        d = verdict_on(t, f);
        if (d)
            snprintf(w.class, sizeof(w.class), "%s", finding_class_name(d->finding.class));
        w.first = f->first;
        w.n_named = f->n_named;
        first++;
    }
    if (s->n < REPORT_SWITCHES_MAX)
        s->list[s->n++] = w;
    if (first < end)
        add_level(t, first, end, at + length + 1, depth + 1);
}

static bool is_eventful(const struct tree *t, size_t first, size_t end)
{
    while (first < end && !t->leaf[first].eventful)
        first++;
    return first < end;
}

/* Eventful ones first; both parts stay in the order of their names. */
static void add_level(struct tree *t, size_t first, size_t end, size_t at, int64_t depth)
{
    for (int eventful = 1; eventful >= 0; eventful--)
        for (size_t i = first, next; i < end; i = next) {
            next = end_of(t, i, end, at + strcspn(t->leaf[i].path + at, "\n"));
            if (is_eventful(t, i, next) == eventful)
                add_switch(t, i, next, at, depth);
        }
}

struct report_switches *report_switches_get(const struct view *v, const struct view_verdict *verdict,
                                            size_t verdicts, double now_s, size_t max)
{
    struct report_switches *s = xcalloc(1, sizeof(*s));
    struct tree t = { .s = s, .verdict = verdict, .verdicts = verdicts, .v = v, .now_s = now_s };
    struct nodes nodes = { 0 };

    s->list = xcalloc(REPORT_SWITCHES_MAX, sizeof(*s->list));
    s->named = xcalloc(REPORT_NAMED_MAX + 1, sizeof(*s->named));
    collect(&nodes, v, now_s);
    s->nodes = (int64_t)nodes.n;
    find_leaves(&t, &nodes);
    for (struct leaf *w = t.leaf; w < t.leaf + t.n; w++) {
        w->first = s->n_named;
        for (size_t i = 0; i < verdicts; i++)
            for (size_t k = 0; k < w->n && !verdict[i].minor; k++)
                add_named(&t, w, &w->node[k], &verdict[i]);
        w->eventful = w->n_named || verdict_on(&t, w);
        s->eventful += w->eventful;
    }
    add_level(&t, 0, t.n, 0, 0);
    s->n = s->n < max ? s->n : max;
    for (size_t i = 0; i < t.n; i++)
        free(t.leaf[i].path);
    free(t.leaf);
    free(nodes.node);
    return s;
}

void report_switches_free(struct report_switches *s)
{
    if (!s)
        return;
    free(s->list);
    free(s->named);
    free(s);
}

/* ---- as JSON ---- */

static const struct json_field named_fields[] = {
    { "node", FIELD_TEXT, FIELD(struct report_named, name) },
    { "class", FIELD_TEXT, FIELD(struct report_named, class) },
    { "scope", FIELD_TEXT, FIELD(struct report_named, scope) },
    { "culprit", FIELD_TEXT, FIELD(struct report_named, culprit) },
    { "ranks", FIELD_COUNT, FIELD(struct report_named, ranks) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_named, slowdown) },
    { "wait_s", FIELD_AMOUNT, FIELD(struct report_named, wait_s) },
    { 0 },
};

static const struct json_field switch_fields[] = {
    { "switch", FIELD_TEXT, FIELD(struct report_switch, name) },
    { "class", FIELD_TEXT, FIELD(struct report_switch, class) },
    { "depth", FIELD_COUNT, FIELD(struct report_switch, depth) },
    { "slow_routes", FIELD_COUNT, FIELD(struct report_switch, slow_routes) },
    { "nodes", FIELD_COUNT, FIELD(struct report_switch, nodes) },
    { "ranks", FIELD_COUNT, FIELD(struct report_switch, ranks) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_switch, slowdown) },
    { "wait_s", FIELD_AMOUNT, FIELD(struct report_switch, wait_s) },
    { "worst_slowdown", FIELD_AMOUNT, FIELD(struct report_switch, worst_slowdown) },
    { "worst_rank", FIELD_COUNT, FIELD(struct report_switch, worst_rank) },
    { "worst_node", FIELD_TEXT, FIELD(struct report_switch, worst_node) },
    { 0 },
};

static const struct json_field fields[] = {
    { "total", FIELD_COUNT, FIELD(struct report_switches, total) },
    { "eventful", FIELD_COUNT, FIELD(struct report_switches, eventful) },
    { "nodes", FIELD_COUNT, FIELD(struct report_switches, nodes) },
    { "unknown_nodes", FIELD_COUNT, FIELD(struct report_switches, unknown_nodes) },
    { "ranks", FIELD_COUNT, FIELD(struct report_switches, ranks) },
    { 0 },
};

json_t *report_switches_json(const struct report_switches *s)
{
    json_t *o = json_object(), *list = json_array();

    json_put_fields(o, s, fields);
    for (size_t i = 0; i < s->n; i++) {
        const struct report_switch *w = &s->list[i];
        json_t *item = json_object();

        json_put_fields(item, w, switch_fields);
        json_put_rows(item, "named", &s->named[w->first], sizeof(*s->named), w->n_named, named_fields);
        json_array_append_new(list, item);
    }
    json_put_json(o, "list", list);
    return o;
}

struct report_switches *report_switches_read(const json_t *o)
{
    struct report_switches *s;

    if (!json_is_object(o))
        return NULL;
    s = xcalloc(1, sizeof(*s));
    json_get_fields(s, o, fields);
    s->list = xcalloc(REPORT_SWITCHES_MAX, sizeof(*s->list));
    s->named = xcalloc(REPORT_NAMED_MAX, sizeof(*s->named));
    s->n = json_get_rows(s->list, sizeof(*s->list), REPORT_SWITCHES_MAX, o, "list", switch_fields);
    for (size_t i = 0; i < s->n; i++) {
        struct report_switch *w = &s->list[i];

        w->first = s->n_named;
        w->n_named = json_get_rows(&s->named[w->first], sizeof(*s->named), REPORT_NAMED_MAX - s->n_named,
                                   json_array_get(json_get_array(o, "list"), i), "named", named_fields);
        s->n_named += w->n_named;
    }
    return s;
}
