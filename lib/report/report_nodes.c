#include "report/report_nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "view/figures.h"
#include "view/verdicts.h"
#include "wire/json.h"

struct report_node_sums *report_nodes_get(struct report_nodes *t, const char *name)
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
    t->row[t->n] = (struct report_node_sums){ .name = name, .switch_name = "", .slowdown = NAN };
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

struct report_node_sums *report_nodes_of(struct report_nodes *t, const struct view *v, const char *job,
                                         const char *name, const char *switch_name, double now_s)
{
    struct report_node_sums *row = report_nodes_get(t, name);
    const struct view_verdict *d;
    size_t n;

    if (*switch_name)
        row->switch_name = switch_name;
    if (row->n_jobs && row->job[row->n_jobs - 1] == job)
        return row;
    row->job = xgrow(row->job, &row->jobs_cap, row->n_jobs + 1, sizeof(*row->job));
    row->job[row->n_jobs++] = job;
    /* A verdict names the node itself, its switch, or a rank on it. */
    n = view_verdicts_get(v, &d);
    for (size_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < d[i].n_culprits && !d[i].minor; c++)
            if (!strcmp(report_culprit_node(v, &d[i], c, now_s), row->name) ||
                (*row->switch_name && !strcmp(d[i].culprit[c], row->switch_name)))
                row->verdict = d[i].text;
    return row;
}

void report_nodes_add(struct report_nodes *t, const struct view *v, const char *job, double now_s)
{
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        struct view_rank_figures f;
        struct report_node_sums *n;

        if (!view_rank_get(v, now_s, r, &f) || !*f.node)
            continue;
        n = report_nodes_of(t, v, job, f.node, f.switch_name, now_s);
        n->ranks += !f.ended;
        n->recorded++;
        if (!isnan(f.lateness_s)) {
            n->lateness_s += f.lateness_s;
            n->joined++;
        }
        if (!isnan(f.slowdown) && !(f.slowdown <= n->slowdown))
            n->slowdown = f.slowdown;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct report_node_sums *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void report_nodes_sort(struct report_nodes *t)
{
    if (t->n)
        qsort(t->row, t->n, sizeof(*t->row), by_name);
}

void report_nodes_free(struct report_nodes *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->row[i].job);
    free(t->row);
    map_free(&t->at);
}

/* ---- as it is reported ---- */

static const struct json_field node_fields[] = {
    { "node", FIELD_TEXT, FIELD(struct report_node, node) },
    { "switch", FIELD_TEXT, FIELD(struct report_node, switch_name) },
    { "jobs", FIELD_TEXTS, FIELD(struct report_node, jobs) },
    { "ranks", FIELD_COUNT, FIELD(struct report_node, ranks) },
    { "ranks_recorded", FIELD_COUNT, FIELD(struct report_node, ranks_recorded) },
    { "lateness_s", FIELD_AMOUNT, FIELD(struct report_node, lateness_s) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_node, slowdown) },
    { "verdict", FIELD_TEXT, FIELD(struct report_node, verdict) },
    { 0 },
};

static const struct json_field history_fields[] = {
    { "culprit_count", FIELD_COUNT, FIELD(struct report_node, culprit_count) },
    { "last_culprit", FIELD_AMOUNT, FIELD(struct report_node, last_culprit) },
    { "lemon_score", FIELD_SHARE, FIELD(struct report_node, lemon_score) },
    { "culprit_jobs", FIELD_COUNT, FIELD(struct report_node, culprit_jobs) },
    { "seen_jobs", FIELD_COUNT, FIELD(struct report_node, seen_jobs) },
    { 0 },
};

void report_node_get(struct report_node *r, const struct report_node_sums *n)
{
    *r = (struct report_node){
        .ranks = n->ranks,
        .ranks_recorded = n->recorded,
        .lateness_s = n->joined ? n->lateness_s / n->joined : NAN,
        .slowdown = n->slowdown,
        .culprit_count = -1,
        .last_culprit = NAN,
        .last_culprit_age_s = NAN,
        .lemon_score = NAN,
        .culprit_jobs = -1,
        .seen_jobs = -1,
    };
    report_agent_read(&r->agent, NULL); /* all is unknown */
    snprintf(r->node, sizeof(r->node), "%s", n->name);
    snprintf(r->switch_name, sizeof(r->switch_name), "%s", n->switch_name);
    if (n->verdict)
        snprintf(r->verdict, sizeof(r->verdict), "%s", n->verdict);
    for (size_t i = 0; i < n->n_jobs; i++)
        json_texts_add(&r->jobs, n->job[i]);
    json_texts_show(&r->jobs, r->jobs.n, r->jobs_text, sizeof(r->jobs_text));
}

json_t *report_node_json(const struct report_node *r, enum report_node_of of)
{
    json_t *o = json_of_fields(r, node_fields);

    json_put_json(o, "agent", r->has_agent ? report_agent_json(&r->agent) : NULL);
    if (of == NODE_OF_JOBS)
        json_put_fields(o, r, history_fields);
    return o;
}

void report_node_free(struct report_node *r)
{
    json_texts_free(&r->jobs);
}

struct report_node_rows *report_node_rows_read(const json_t *answer, struct err *err)
{
    struct report_node_rows *s;
    const json_t *nodes;

    if (json_check_answer(answer, "nodes", JSON_ARRAY, err) < 0)
        return NULL;
    s = xcalloc(1, sizeof(*s));
    nodes = json_get_list(answer, "nodes", REPORT_NODE_ROWS_MAX, &s->n);
    s->node = xcalloc(s->n, sizeof(*s->node));
    for (size_t i = 0; i < s->n; i++) {
        const json_t *o = json_array_get(nodes, i);
        struct report_node *r = &s->node[i];

        json_get_fields(r, o, node_fields);
        json_texts_show(&r->jobs, r->jobs.n, r->jobs_text, sizeof(r->jobs_text));
        r->has_agent = json_get_object(o, "agent") != NULL;
        report_agent_read(&r->agent, json_get_object(o, "agent"));
        json_get_fields(r, o, history_fields);
        r->last_culprit_age_s = json_get_number(answer, "now") - r->last_culprit;
    }
    return s;
}

void report_node_rows_free(struct report_node_rows *s)
{
    for (size_t i = 0; s && i < s->n; i++)
        report_node_free(&s->node[i]);
    if (s)
        free(s->node);
    free(s);
}

/* ---- the steps of a node ---- */

static const struct json_field step_fields[] = {
    { "id", FIELD_TEXT, FIELD(struct report_node_step, id) },
    { "user", FIELD_TEXT, FIELD(struct report_node_step, user) },
    { "name", FIELD_TEXT, FIELD(struct report_node_step, name) },
    { "running", FIELD_TRUE, FIELD(struct report_node_step, running) },
    { "at", FIELD_AMOUNT, FIELD(struct report_node_step, at) },
    { "time_s", FIELD_AMOUNT, FIELD(struct report_node_step, seconds) },
    { "culprit_s", FIELD_AMOUNT, FIELD(struct report_node_step, culprit_s) },
    { "lost_s", FIELD_AMOUNT, FIELD(struct report_node_step, lost_s) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_node_step, slowdown) },
    { "class", FIELD_TEXT, FIELD(struct report_node_step, class) },
    { "verdict", FIELD_TEXT, FIELD(struct report_node_step, verdict) },
    { 0 },
};

json_t *report_node_step_json(const struct report_node_step *r)
{
    return json_of_fields(r, step_fields);
}

int report_node_steps_read(struct report_node_steps *s, const json_t *answer, struct err *err)
{
    *s = (struct report_node_steps){ .step = NULL };
    if (json_check_answer(answer, "steps", JSON_ARRAY, err) < 0)
        return -1;
    json_get_text(answer, "node", s->node, sizeof(s->node));
    s->step = xcalloc(REPORT_NODE_STEPS_MAX, sizeof(*s->step));
    s->n = json_get_rows(s->step, sizeof(*s->step), REPORT_NODE_STEPS_MAX, answer, "steps", step_fields);
    for (size_t i = 0; i < s->n; i++)
        s->step[i].age_s = json_get_number(answer, "now") - s->step[i].at;
    return 0;
}

void report_node_steps_free(struct report_node_steps *s)
{
    free(s->step);
}
