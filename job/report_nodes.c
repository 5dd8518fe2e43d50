/* report_nodes.c - the nodes under guarded steps, worst first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/job.h"
#include "job/report.h"
#include "wire/json.h"

struct node_row {
    const char *name, *leaf;
    const struct job *last; /* of jobs */
    json_t *jobs;
    uint32_t ranks, joined;
    double lateness_s, slowdown;
    const char *verdict;
    const struct job_agent *agent;
};

struct node_rows {
    struct node_row *row;
    size_t n, cap;
};

static struct node_row *node_row(struct node_rows *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->row[i].name, name))
            return &t->row[i];
    t->row = xgrow(t->row, &t->cap, t->n + 1, sizeof(*t->row));
    t->row[t->n] = (struct node_row){ .name = name, .leaf = "", .jobs = json_array(), .slowdown = NAN };
    return &t->row[t->n++];
}

/* Does the verdict name this node: itself, its switch, or a rank on it? */
static bool accused(const struct job *j, const struct view_verdict *d, const struct node_row *n, double now_s)
{
    for (uint32_t i = 0; i < d->n_culprits; i++) {
        struct view_rank_figures f;

        if (!strcmp(d->culprit[i], n->name) || (*n->leaf && !strcmp(d->culprit[i], n->leaf)))
            return true;
        if (d->finding.scope == SCOPE_RANK &&
            view_rank_get(j->view, now_s, (uint32_t)atoi(d->culprit[i] + 1), &f) && !strcmp(f.node, n->name))
            return true;
    }
    return false;
}

/* The node's row, which lists the job. */
static struct node_row *node_of_job(struct node_rows *t, const struct job *j, const char *name,
                                    const char *leaf, double now_s)
{
    struct node_row *row = node_row(t, name);
    const struct view_verdict *d;
    size_t n;

    if (*leaf)
        row->leaf = leaf;
    if (row->last == j)
        return row;
    row->last = j;
    json_array_append_new(row->jobs, json_string(j->text_id));
    n = view_verdicts_get(j->view, &d);
    for (size_t i = 0; i < n; i++)
        if (accused(j, &d[i], row, now_s))
            row->verdict = d[i].text;
    return row;
}

static void add_rank(struct node_row *n, const struct view_rank_figures *f)
{
    n->ranks += !f->ended;
    if (!isnan(f->lateness_s)) {
        n->lateness_s += f->lateness_s;
        n->joined++;
    }
    if (!isnan(f->slowdown) && !(f->slowdown <= n->slowdown))
        n->slowdown = f->slowdown;
}

/* A trace has ranks and no agents. */
static void add_job(struct node_rows *t, const struct job *j, double now_s)
{
    for (size_t i = 0; i < j->n_agents; i++)
        node_of_job(t, j, j->agent[i]->node, j->agent[i]->leaf, now_s)->agent = j->agent[i];
    for (uint32_t r = 0; r < view_rank_limit(j->view); r++) {
        struct view_rank_figures f;

        if (view_rank_get(j->view, now_s, r, &f) && *f.node)
            add_rank(node_of_job(t, j, f.node, f.leaf, now_s), &f);
    }
}

static int worst_first(const void *a, const void *b)
{
    const struct node_row *x = a, *y = b;
    double lx = x->joined ? x->lateness_s / x->joined : -1, ly = y->joined ? y->lateness_s / y->joined : -1;

    if (!x->verdict != !y->verdict)
        return x->verdict ? -1 : 1;
    if (lx != ly)
        return lx < ly ? 1 : -1;
    return strcmp(x->name, y->name);
}

static json_t *node_json(const struct node_row *n, double now_s)
{
    return json_pack("{s:s,s:s?,s:O,s:i,s:o,s:o,s:s?,s:o}", "node", n->name, "switch",
                     *n->leaf ? n->leaf : NULL, "jobs", n->jobs, "ranks", (int)n->ranks, "lateness_s",
                     real_json(n->joined ? n->lateness_s / n->joined : NAN), "slowdown",
                     real_json(n->slowdown), "verdict", n->verdict, "agent",
                     n->agent ? report_agent(n->agent, now_s) : json_null());
}

json_t *report_nodes(const struct job *const *jobs, size_t n, double now_s)
{
    struct node_rows t = { 0 };
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        add_job(&t, jobs[i], now_s);
    if (t.n)
        qsort(t.row, t.n, sizeof(*t.row), worst_first);
    for (size_t i = 0; i < t.n; i++) {
        json_array_append_new(list, node_json(&t.row[i], now_s));
        json_decref(t.row[i].jobs);
    }
    free(t.row);
    return list;
}
