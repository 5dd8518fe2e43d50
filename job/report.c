#include "job/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "job/job.h"
#include "job/pacing.h"
#include "ring/ring.h"
#include "wire/json.h"

#define COLUMNS_MAX VIEW_COLUMNS
#define COMMS_MAX   32u

/* Mean lateness over mean step time: the steps of the heat map, about a factor of two each. */
static const double heat_scale[] = { 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6 };

static const char *const sorts[] = { "lateness", "rank", "node", "last", "compute" };

/* A whole number out of range is the nearest in it. */
static uint32_t bounded(const json_t *o, const char *key, int64_t max, uint32_t otherwise)
{
    int64_t n = get_int(o, key, INT64_MIN, INT64_MAX, otherwise);

    return n == otherwise ? otherwise : (uint32_t)(n < 0 ? 0 : n < max ? n : max);
}

void report_view_parse(struct report_view *v, const json_t *view)
{
    const char *sort, *filter;

    *v = REPORT_VIEW_ALL;
    if (!json_is_object(view))
        return;
    sort = get_string(view, "sort");
    filter = get_string(view, "filter");
    for (size_t i = 0; sort && i < ARRAY_SIZE(sorts); i++)
        if (!strcmp(sort, sorts[i]))
            v->sort = (enum report_sort)i;
    if (filter)
        snprintf(v->filter, sizeof(v->filter), "%s", filter);
    v->offset = bounded(view, "offset", VIEW_RANKS_MAX, v->offset);
    v->count = bounded(view, "count", VIEW_RANKS_MAX, v->count);
    v->columns = bounded(view, "columns", COLUMNS_MAX, v->columns);
}

/* ---- the row: keys down to `worst` ---- */

static json_t *worst_json(const struct job *j, double now_s, const struct view_figures *f)
{
    struct view_rank_figures r;
    json_t *o;

    if (isnan(f->worst_lateness_s) || !view_rank_get(j->view, now_s, f->worst_rank, &r))
        return json_null();
    o = json_object();
    put_int(o, "rank", f->worst_rank);
    put_text(o, "node", r.node);
    put_real(o, "lateness_s", f->worst_lateness_s);
    put_real(o, "last_ratio", f->worst_last_ratio);
    return o;
}

static json_t *quantiles_json(double p50, double p95)
{
    json_t *o = json_object();

    put_real(o, "p50", p50);
    put_real(o, "p95", p95);
    return o;
}

static void put_identity(json_t *o, const struct job *j, double now_s, const struct view_figures *f)
{
    bool ended = j->state == JOB_FINISHED || j->state == JOB_LOST;

    put_int(o, "job", j->id.job);
    put_int(o, "step", j->id.step);
    put_text(o, "id", j->text_id);
    put_text(o, "name", j->name);
    put_text(o, "user", j->user);
    put_text(o, "partition", j->partition);
    put_text(o, "policy", j->policy);
    put_text(o, "state", job_state_name(j->state));
    put_real(o, "start", j->start_wall_s);
    put_real(o, "elapsed_s", (ended ? j->end_s : now_s) - j->start_s);
    put_real(o, "age_s", now_s - j->heard_s);
    put_int(o, "ranks", f->ranks_known);
    put_int(o, "nodes",
            (int64_t)(!j->n_agents ? j->nodes_total
                      : ended      ? j->n_agents
                                   : job_agents_connected(j)));
    put_int(o, "nodes_total", j->nodes_total);
}

static json_t *phases_json(const struct job *j)
{
    json_t *o = json_object();
    struct view_phases p;

    view_phases_get(j->view, &p);
    json_object_set_new(o, "warm_up_steps",
                        p.warm_up_steps < 0 ? json_null() : json_integer(p.warm_up_steps));
    put_int(o, "pauses", (int64_t)p.pauses);
    put_real(o, "pause_s", p.pause_s);
    put_int(o, "evaluations", (int64_t)p.evaluations);
    put_int(o, "foreign_collectives", (int64_t)p.foreign_collectives);
    return o;
}

static json_t *row(const struct job *j, double now_s, const struct view_figures *f)
{
    json_t *o = json_object(), *step = quantiles_json(f->step_p50_s, f->step_p95_s), *shares = json_object();
    char sentence[512];

    put_identity(o, j, now_s, f);
    json_object_set_new(o, "steps", f->period ? json_integer((json_int_t)f->steps) : json_null());
    json_object_set_new(o, "period", f->period ? json_integer(f->period) : json_null());
    json_object_set_new(o, "phases", phases_json(j));
    put_real(step, "mean", f->step_mean_s);
    put_real(step, "cv", f->step_cv);
    json_object_set_new(o, "step_s", step);
    put_real(o, "steps_per_s", f->steps_per_s);
    put_real(o, "samples_per_s", cadence_samples_per_s(j));
    json_object_set_new(o, "skew_s", quantiles_json(f->skew_p50_s, f->skew_p95_s));
    put_real(o, "lost_ratio", f->synchronisation_ratio);
    put_real(shares, "compute", f->compute_ratio);
    put_real(shares, "communication", f->communication_ratio);
    put_real(shares, "synchronisation", f->synchronisation_ratio);
    put_real(shares, "point_to_point", f->p2p_ratio);
    json_object_set_new(o, "shares", shares);
    put_text(o, "regime", view_regime_name(f->regime));
    put_real(o, "mds_ratio", f->mds - 1);
    json_object_set_new(o, "verdicts", report_verdicts(j, now_s));
    put_text(o, "sentence", view_sentence(j->view, now_s, sentence, sizeof(sentence)));
    json_object_set_new(o, "worst", worst_json(j, now_s, f));
    return o;
}

json_t *report_row(const struct job *j, double now_s)
{
    struct view_figures f;

    view_figures_get(j->view, now_s, &f);
    return row(j, now_s, &f);
}

/* ---- the rest of the job object ---- */

static json_t *probe_json(const struct job *j, double now_s, const struct view_figures *f)
{
    json_t *o = json_object();
    double time_s = f->ranks_known * (now_s - j->start_s);

    put_int(o, "events", (int64_t)f->events);
    put_int(o, "dropped", (int64_t)f->dropped);
    put_int(o, "missed", (int64_t)f->missed);
    put_int(o, "ranks_guarded", f->ranks_known);
    put_int(o, "ranks_total", j->tasks);
    put_real(o, "overhead_ratio", time_s > 0 ? (double)f->events * REPORT_HOOK_S / time_s : NAN);
    return o;
}

json_t *report_agent(const struct job_agent *a, double now_s)
{
    json_t *o = json_object();

    put_text(o, "node", a->node);
    put_text(o, "switch", a->leaf);
    json_object_set_new(o, "connected", json_boolean(a->link != NULL));
    json_object_set_new(o, "ended", json_boolean(a->bye));
    put_real(o, "cpu_ratio", a->cpu_ratio);
    put_real(o, "rss_bytes", a->rss_bytes);
    put_real(o, "backlog_bytes", a->backlog_bytes);
    put_real(o, "lost_batches", a->lost_batches);
    put_real(o, "age_s", now_s - a->heard_s);
    return o;
}

static void put_health(json_t *o, json_t *health)
{
    if (health)
        json_object_set_new(o, "health", health);
}

static json_t *agents_json(const struct job *j, double now_s, double at_s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < j->n_agents; i++) {
        json_t *o = report_agent(j->agent[i], now_s);

        put_health(o, report_node_health(j, at_s, j->agent[i]->node));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *comms_json(const struct job *j, double now_s)
{
    struct view_comm comm[COMMS_MAX];
    size_t n = view_comms_get(j->view, now_s, comm, COMMS_MAX);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        char label[64], name[24];

        snprintf(name, sizeof(name), "%016llx", (unsigned long long)comm[i].name);
        put_text(o, "name", name);
        if (comm[i].instances > 1) {
            snprintf(label, sizeof(label), "%u groups of %u", comm[i].instances, comm[i].size);
            put_text(o, "label", label);
        } else {
            put_text(o, "label", view_comm_label(j->view, comm[i].name, label, sizeof(label)));
        }
        put_int(o, "size", comm[i].size);
        put_int(o, "instances", comm[i].instances);
        put_real(o, "collectives_per_s", comm[i].collectives_per_s);
        put_real(o, "bytes_per_s", comm[i].bytes_per_s);
        put_real(o, "skew_s", comm[i].skew_s);
        put_real(o, "transfer_s", comm[i].transfer_s);
        json_object_set_new(o, "efficiency", report_efficiency(&comm[i].recent, &comm[i].run));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *events_json(const struct job *j, double now_s)
{
    json_t *list = json_array();

    for (uint64_t i = 1; i <= j->n_events && i <= JOB_EVENTS; i++) {
        uint64_t at = (j->n_events - i) % JOB_EVENTS;
        json_t *o = json_object();

        put_real(o, "age_s", fmax(0, now_s - j->event[at].at_s));
        put_text(o, "text", j->event[at].text);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *params_json(const struct job *j)
{
    json_t *o = json_object();

    put_real(o, "MinSlowdown", j->params.min_slowdown_ratio);
    put_real(o, "HangTimeout", j->params.hang_timeout_s);
    put_real(o, "SampleRate", j->params.sample_rate_hz);
    return o;
}

/* ---- ranks: those that the view asks for ---- */

struct ranks {
    struct view_rank_figures *f;
    size_t n;
};

static double descending(double a, double b)
{
    return isnan(a) ? !isnan(b) : isnan(b) ? -1 : b - a;
}

static int compare_ranks(const void *a, const void *b, void *arg)
{
    const struct view_rank_figures *x = a, *y = b;
    double d = 0;

    switch (*(const enum report_sort *)arg) {
    case REPORT_BY_LATENESS:
        d = descending(x->lateness_s, y->lateness_s);
        break;
    case REPORT_BY_LAST:
        d = descending(x->last_ratio, y->last_ratio);
        break;
    case REPORT_BY_COMPUTE:
        d = descending(x->compute_s, y->compute_s);
        break;
    case REPORT_BY_NODE:
        d = strcmp(x->node, y->node);
        break;
    case REPORT_BY_RANK:
        break;
    }
    if (d == 0)
        d = (double)x->rank - (double)y->rank;
    return d < 0 ? -1 : d > 0;
}

static bool filtered(const struct view_rank_figures *f, const char *filter)
{
    char name[16];

    snprintf(name, sizeof(name), "r%u", f->rank);
    return *filter && !strstr(f->node, filter) && !strstr(f->leaf, filter) && strcmp(name, filter);
}

static struct ranks select_ranks(const struct job *j, double now_s, const struct report_view *v)
{
    uint32_t limit = view_rank_limit(j->view);
    struct ranks ranks = { .f = xcalloc(limit, sizeof(*ranks.f)) };
    enum report_sort sort = v->sort;

    for (uint32_t r = 0; r < limit; r++)
        if (view_rank_get(j->view, now_s, r, &ranks.f[ranks.n]) && !filtered(&ranks.f[ranks.n], v->filter))
            ranks.n++;
    qsort_r(ranks.f, ranks.n, sizeof(*ranks.f), compare_ranks, &sort);
    return ranks;
}

static json_t *inside_json(const struct job *j, const struct view_rank_figures *f)
{
    char label[64];
    json_t *o;

    if (f->inside_op == RING_OP_NONE)
        return json_null();
    o = json_object();
    put_text(o, "op", ring_op_name(f->inside_op));
    put_text(o, "comm", view_comm_label(j->view, f->inside_comm, label, sizeof(label)));
    put_int(o, "seq", f->inside_seq);
    put_real(o, "age_s", f->inside_s);
    return o;
}

static json_t *rank_json(const struct job *j, double now_s, const struct view_rank_figures *f)
{
    json_t *o = json_object();

    put_int(o, "rank", f->rank);
    put_text(o, "node", f->node);
    put_text(o, "switch", f->leaf);
    put_text(o, "state", f->ended ? "ended" : "running");
    put_real(o, "lateness_s", f->lateness_s);
    put_real(o, "lateness_p50_s", f->lateness_p50_s);
    put_real(o, "lateness_p95_s", f->lateness_p95_s);
    put_real(o, "lateness_p99_s", f->lateness_p99_s);
    put_real(o, "wait_s", f->wait_s);
    put_real(o, "delay_s", f->delay_s);
    put_real(o, "last_ratio", f->last_ratio);
    put_real(o, "compute_s", f->compute_s);
    put_real(o, "stay_s", f->stay_s);
    put_real(o, "slowdown", f->slowdown);
    json_object_set_new(o, "inside", inside_json(j, f));
    put_health(o, report_rank_health(j, now_s, f->rank));
    return o;
}

static uint32_t range_end(const struct report_view *v, size_t n)
{
    return (uint64_t)v->offset + v->count < n ? v->offset + v->count : (uint32_t)n;
}

static char heat_level(double lateness_s, double step_s)
{
    char level = '0';

    if (isnan(lateness_s) || !(step_s > 0))
        return '.';
    for (size_t i = 0; i < ARRAY_SIZE(heat_scale); i++)
        level = (char)(level + (lateness_s / step_s >= heat_scale[i]));
    return level;
}

static json_t *heat_json(const struct job *j, const struct ranks *ranks, const struct report_view *v,
                         double step_s)
{
    json_t *o = json_object(), *scale = json_array(), *rows = json_array();
    uint32_t end = range_end(v, ranks->n);
    size_t columns = 0;

    for (size_t i = 0; i < ARRAY_SIZE(heat_scale); i++)
        json_array_append_new(scale, json_real(heat_scale[i]));
    for (uint32_t i = v->offset; i < end; i++) {
        float late_s[VIEW_COLUMNS];
        char levels[VIEW_COLUMNS + 1];
        size_t have = view_rank_columns(j->view, ranks->f[i].rank, late_s);

        columns = have < v->columns ? have : v->columns;
        for (size_t c = 0; c < columns; c++)
            levels[c] = heat_level(late_s[have - columns + c], step_s);
        levels[columns] = '\0';
        json_array_append_new(rows, json_pack("{s:i,s:s}", "rank", (int)ranks->f[i].rank, "levels", levels));
    }
    put_real(o, "column_s", view_column_s(j->view));
    put_int(o, "columns", (int64_t)columns);
    json_object_set_new(o, "scale", scale);
    json_object_set_new(o, "rows", rows);
    return o;
}

static json_t *reals_json(const float *value, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, real_json(value[i]));
    return list;
}

static json_t *history_json(const struct job *j, uint32_t max)
{
    struct view_columns c;
    size_t have = view_columns_get(j->view, &c), n = have < max ? have : max, skip = have - n;
    json_t *o = json_object();

    put_real(o, "column_s", view_column_s(j->view));
    json_object_set_new(o, "step_s", reals_json(c.step_s + skip, n));
    json_object_set_new(o, "steps_per_s", reals_json(c.steps_per_s + skip, n));
    json_object_set_new(o, "skew_s", reals_json(c.skew_s + skip, n));
    json_object_set_new(o, "lost_ratio", reals_json(c.lost_ratio + skip, n));
    return o;
}

static json_t *table_json(const struct job *j, double now_s, const struct ranks *ranks,
                          const struct report_view *v)
{
    uint32_t end = range_end(v, ranks->n);
    json_t *list = json_array();

    for (uint32_t i = v->offset; i < end; i++)
        json_array_append_new(list, rank_json(j, now_s, &ranks->f[i]));
    return list;
}

json_t *report_job(const struct job *j, double now_s, const struct report_view *v)
{
    bool ended = j->state == JOB_FINISHED || j->state == JOB_LOST;
    double at_s = ended ? j->end_s : now_s;
    struct view_efficiency e;
    struct view_figures f;
    struct ranks ranks;
    json_t *o, *notes = json_array();

    view_figures_get(j->view, at_s, &f);
    view_efficiency_get(j->view, &e);
    o = row(j, now_s, &f);
    json_object_set_new(o, "timeline", report_timeline(j, at_s));
    json_object_set_new(o, "checkpoint", cadence_json(j, at_s));
    json_object_set_new(o, "efficiency", report_efficiency(&e.recent, &e.run));
    json_object_set_new(o, "critical_path", report_critical_path(j));
    json_object_set_new(o, "projection", report_projection(j, at_s));
    json_object_set_new(o, "scaling",
                        j->scaling[0].report ? json_incref(j->scaling[0].report)
                                             : report_scaling(j->view, false));
    json_object_set_new(o, "strategies",
                        j->scaling[0].strategies ? json_incref(j->scaling[0].strategies)
                                                 : report_strategies(j->view, &VIEW_STRATEGY_OPTIONS));
    ranks = select_ranks(j, at_s, v);
    json_object_set_new(o, "probe", probe_json(j, at_s, &f));
    json_object_set_new(o, "agents", agents_json(j, now_s, at_s));
    json_object_set_new(o, "communicators", comms_json(j, at_s));
    for (size_t i = 0; i < j->n_notes; i++)
        json_array_append_new(notes, text_json(j->note[i]));
    json_object_set_new(o, "notes", notes);
    json_object_set_new(o, "policy_params", params_json(j));
    json_object_set_new(o, "pace", pacing_report(j));
    json_object_set_new(o, "rank_table_total", json_integer((json_int_t)ranks.n));
    json_object_set_new(o, "rank_table", table_json(j, at_s, &ranks, v));
    json_object_set_new(o, "heat", heat_json(j, &ranks, v, f.step_mean_s));
    json_object_set_new(o, "history", history_json(j, v->columns));
    json_object_set_new(o, "events", events_json(j, now_s));
    free(ranks.f);
    return o;
}
