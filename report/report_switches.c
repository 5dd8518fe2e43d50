#include "report/report_switches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
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

/* ---- what verdicts name ---- */

static bool is_named(const struct view *v, const struct view_verdict *d, const char *culprit, const char *node,
                     double now_s)
{
    struct view_rank_figures f;
    size_t length = strlen(node);
    const char *other;

    switch (d->finding.scope) {
    case SCOPE_NODE:
        return !strcmp(culprit, node);
    case SCOPE_RANK:
    case SCOPE_RANKS:
        return culprit[0] == 'r' && view_rank_get(v, now_s, (uint32_t)atoi(culprit + 1), &f) && !strcmp(f.node, node);
    case SCOPE_LINK: /* "node1-node2" */
        other = strlen(culprit) > length ? culprit + strlen(culprit) - length : culprit;
        return (!strncmp(culprit, node, length) && culprit[length] == '-') ||
               (other > culprit && other[-1] == '-' && !strcmp(other, node));
    default:
        return false;
    }
}

static void add_named(struct report_switches *s, struct report_switch *w, const struct node *k, const struct view *v,
                      const struct view_verdict *d, double now_s)
{
    struct report_named *named = &s->named[s->n_named];

    for (uint32_t i = 0; i < d->n_culprits; i++) {
        if (s->n_named == REPORT_NAMED_MAX || !is_named(v, d, d->culprit[i], k->name, now_s))
            continue;
        *named = (struct report_named){ .ranks = k->ranks,
                                        .slowdown = mean_get(&k->slowdown),
                                        .wait_s = mean_get(&k->wait_s) };
        snprintf(named->name, sizeof(named->name), "%s", k->name);
        snprintf(named->class, sizeof(named->class), "%s", finding_class_name(d->finding.class));
        snprintf(named->scope, sizeof(named->scope), "%s", finding_scope_name(d->finding.scope));
        snprintf(named->culprit, sizeof(named->culprit), "%s", d->culprit[i]);
        s->n_named++;
        w->n_named++;
        return; /* a node has one row per verdict */
    }
}

static void add_verdicts(struct report_switches *s, struct report_switch *w, const struct node *node, size_t n,
                         const struct view *v, double now_s)
{
    const struct view_verdict *d;
    size_t verdicts = view_verdicts_get(v, &d);

    w->first = s->n_named;
    for (size_t i = 0; i < verdicts; i++) {
        if (d[i].minor)
            continue;
        for (uint32_t c = 0; d[i].finding.scope == SCOPE_SWITCH && c < d[i].n_culprits; c++)
            if (!strcmp(d[i].culprit[c], w->name))
                snprintf(w->class, sizeof(w->class), "%s", finding_class_name(d[i].finding.class));
        for (size_t k = 0; k < n; k++)
            add_named(s, w, &node[k], v, &d[i], now_s);
    }
}

/* ---- the switches ---- */

static struct report_switch of_nodes(const struct node *node, size_t n)
{
    struct report_switch w = { .nodes = (int64_t)n, .worst_slowdown = NAN, .worst_rank = -1 };
    struct mean slowdown = { 0 }, wait_s = { 0 };

    snprintf(w.name, sizeof(w.name), "%s", node->switch_name);
    for (size_t i = 0; i < n; i++) {
        w.ranks += node[i].ranks;
        slowdown.sum += node[i].slowdown.sum;
        slowdown.n += node[i].slowdown.n;
        wait_s.sum += node[i].wait_s.sum;
        wait_s.n += node[i].wait_s.n;
        if (!isnan(node[i].worst_slowdown) && !(node[i].worst_slowdown <= w.worst_slowdown)) {
            w.worst_slowdown = node[i].worst_slowdown;
            w.worst_rank = node[i].worst_rank;
            snprintf(w.worst_node, sizeof(w.worst_node), "%s", node[i].name);
        }
    }
    w.slowdown = mean_get(&slowdown);
    w.wait_s = mean_get(&wait_s);
    return w;
}

static bool is_eventful(const struct report_switch *w)
{
    return w->n_named || w->class[0];
}

/* Eventful ones first; both parts stay in their order. */
static void put_in_order(struct report_switches *s, const struct report_switch *all, size_t n)
{
    for (int eventful = 1; eventful >= 0; eventful--)
        for (size_t i = 0; i < n && s->n < REPORT_SWITCHES_MAX; i++)
            if (is_eventful(&all[i]) == eventful)
                s->list[s->n++] = all[i];
}

struct report_switches *report_switches_get(const struct view *v, double now_s, size_t max)
{
    struct report_switches *s = xcalloc(1, sizeof(*s));
    struct nodes t = { 0 };
    struct report_switch *all;
    size_t n = 0, end;

    collect(&t, v, now_s);
    all = xcalloc(t.n, sizeof(*all));
    s->list = xcalloc(REPORT_SWITCHES_MAX, sizeof(*s->list));
    s->named = xcalloc(REPORT_NAMED_MAX + 1, sizeof(*s->named));
    s->nodes = (int64_t)t.n;
    for (size_t i = 0; i < t.n; i = end) {
        for (end = i; end < t.n && !strcmp(t.node[end].switch_name, t.node[i].switch_name); end++)
            s->ranks += t.node[end].ranks;
        if (!t.node[i].switch_name[0]) {
            s->unknown_nodes = (int64_t)(end - i);
            continue;
        }
        all[n] = of_nodes(&t.node[i], end - i);
        add_verdicts(s, &all[n], &t.node[i], end - i, v, now_s);
        s->eventful += is_eventful(&all[n++]);
    }
    s->total = (int64_t)n;
    put_in_order(s, all, n);
    s->n = s->n < max ? s->n : max;
    free(all);
    free(t.node);
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

    put_fields(o, s, fields);
    for (size_t i = 0; i < s->n; i++) {
        const struct report_switch *w = &s->list[i];
        json_t *item = json_object();

        put_fields(item, w, switch_fields);
        put_rows(item, "named", &s->named[w->first], sizeof(*s->named), w->n_named, named_fields);
        json_array_append_new(list, item);
    }
    put_json(o, "list", list);
    return o;
}

struct report_switches *report_switches_read(const json_t *o)
{
    struct report_switches *s;

    if (!json_is_object(o))
        return NULL;
    s = xcalloc(1, sizeof(*s));
    get_fields(s, o, fields);
    s->list = xcalloc(REPORT_SWITCHES_MAX, sizeof(*s->list));
    s->named = xcalloc(REPORT_NAMED_MAX, sizeof(*s->named));
    s->n = get_rows(s->list, sizeof(*s->list), REPORT_SWITCHES_MAX, o, "list", switch_fields);
    for (size_t i = 0; i < s->n; i++) {
        struct report_switch *w = &s->list[i];

        w->first = s->n_named;
        w->n_named = get_rows(&s->named[w->first], sizeof(*s->named), REPORT_NAMED_MAX - s->n_named,
                              json_array_get(get_array(o, "list"), i), "named", named_fields);
        s->n_named += w->n_named;
    }
    return s;
}
