#include "report/report_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "view/figures.h"
#include "view/verdicts.h"
#include "wire/json.h"

struct report_node *report_nodes_get(struct report_nodes *t, const char *name)
{
    uint64_t key = hash_bytes(HASH_START, name, strlen(name));
    uint32_t at;

    while ((at = map_get(&t->at, key)) != MAP_NONE) {
        if (!strcmp(t->row[at].name, name))
            return &t->row[at];
        key++;
    }
    map_put(&t->at, key, (uint32_t)t->n);
    t->row = xgrow(t->row, &t->cap, t->n + 1, sizeof(*t->row));
    t->row[t->n] = (struct report_node){ .name = name, .switch_name = "", .slowdown = NAN };
    return &t->row[t->n++];
}

const char *report_culprit_node(const struct view *v, const struct view_verdict *d, uint32_t i, double now_s)
{
    struct view_rank_figures f;

    if (d->finding.scope == SCOPE_NODE)
        return d->culprit[i];
    if (d->finding.scope == SCOPE_RANK && view_rank_get(v, now_s, (uint32_t)atoi(d->culprit[i] + 1), &f))
        return f.node;
    return "";
}

/* Whether the verdict names this node: itself, its switch, or a rank on it. */
static bool accused(const struct view *v, const struct view_verdict *d, const struct report_node *n,
                    double now_s)
{
    for (uint32_t i = 0; i < d->n_culprits; i++)
        if (!strcmp(report_culprit_node(v, d, i, now_s), n->name) ||
            (*n->switch_name && !strcmp(d->culprit[i], n->switch_name)))
            return true;
    return false;
}

struct report_node *report_nodes_of(struct report_nodes *t, const struct view *v, const char *job,
                                    const char *name, const char *switch_name, double now_s)
{
    struct report_node *row = report_nodes_get(t, name);
    const struct view_verdict *d;
    size_t n;

    if (*switch_name)
        row->switch_name = switch_name;
    if (row->n_jobs && row->job[row->n_jobs - 1] == job)
        return row;
    row->job = xgrow(row->job, &row->jobs_cap, row->n_jobs + 1, sizeof(*row->job));
    row->job[row->n_jobs++] = job;
    n = view_verdicts_get(v, &d);
    for (size_t i = 0; i < n; i++)
        if (!d[i].minor && accused(v, &d[i], row, now_s))
            row->verdict = d[i].text;
    return row;
}

static void add_rank(struct report_node *n, const struct view_rank_figures *f)
{
    n->ranks += !f->ended;
    n->recorded++;
    if (!isnan(f->lateness_s)) {
        n->lateness_s += f->lateness_s;
        n->joined++;
    }
    if (!isnan(f->slowdown) && !(f->slowdown <= n->slowdown))
        n->slowdown = f->slowdown;
}

void report_nodes_add(struct report_nodes *t, const struct view *v, const char *job, double now_s)
{
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        struct view_rank_figures f;

        if (view_rank_get(v, now_s, r, &f) && *f.node)
            add_rank(report_nodes_of(t, v, job, f.node, f.switch_name, now_s), &f);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct report_node *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void report_nodes_sort(struct report_nodes *t)
{
    if (t->n)
        qsort(t->row, t->n, sizeof(*t->row), by_name);
}

json_t *report_node_json(const struct report_node *n)
{
    json_t *o = json_object();

    put_text(o, "node", n->name);
    put_text(o, "switch", n->switch_name);
    put_json(o, "jobs", texts_json(n->job, n->n_jobs));
    put_int(o, "ranks", n->ranks);
    put_int(o, "ranks_recorded", n->recorded);
    put_real(o, "lateness_s", n->joined ? n->lateness_s / n->joined : NAN);
    put_real(o, "slowdown", n->slowdown);
    put_text(o, "verdict", n->verdict);
    put_json(o, "agent", NULL);
    return o;
}

void report_nodes_free(struct report_nodes *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->row[i].job);
    free(t->row);
    map_free(&t->at);
}
