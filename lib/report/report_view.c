#include "report/report_verdict.h"
#include "report/report_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/report_step.h"
#include "report/report_switches.h"
#include "ring/ring.h"
#include "view/comms.h"
#include "view/health.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/view.h"
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

void report_selection_parse(struct report_selection *s, const json_t *view)
{
    const char *sort, *filter;

    *s = REPORT_ALL;
    if (!json_is_object(view))
        return;
    sort = get_string(view, "sort");
    filter = get_string(view, "filter");
    for (size_t i = 0; sort && i < ARRAY_SIZE(sorts); i++)
        if (!strcmp(sort, sorts[i]))
            s->sort = (enum report_sort)i;
    if (filter)
        snprintf(s->filter, sizeof(s->filter), "%s", filter);
    s->offset = bounded(view, "offset", VIEW_RANKS_MAX, s->offset);
    s->count = bounded(view, "count", VIEW_RANKS_MAX, s->count);
    s->columns = bounded(view, "columns", COLUMNS_MAX, s->columns);
    s->picture = bounded(view, "picture", PICTURE_ROWS_MAX, s->picture);
    s->agents = bounded(view, "agents", UINT32_MAX, s->agents);
    s->switches = bounded(view, "switches", REPORT_SWITCHES_MAX, s->switches);
}

/* ---- the row: keys down to `worst` ---- */

static json_t *worst_json(const struct view *v, double now_s)
{
    struct view_rank_figures r;
    json_t *o;

    if (!view_latest_get(v, now_s, &r))
        return json_null();
    o = json_object();
    put_int(o, "rank", r.rank);
    put_text(o, "node", r.node);
    put_real(o, "lateness_s", r.lateness_s);
    put_real(o, "last_ratio", r.last_ratio);
    return o;
}

static json_t *quantiles_json(double p50, double p95)
{
    json_t *o = json_object();

    put_real(o, "p50", p50);
    put_real(o, "p95", p95);
    return o;
}

static json_t *phases_json(const struct view *v)
{
    json_t *o = json_object();
    struct view_phases p;

    view_phases_get(v, &p);
    put_count(o, "warm_up_steps", p.warm_up_steps);
    put_int(o, "pauses", (int64_t)p.pauses);
    put_real(o, "pause_s", p.pause_s);
    put_int(o, "evaluations", (int64_t)p.evaluations);
    put_int(o, "foreign_collectives", (int64_t)p.foreign_collectives);
    put_count(o, "rhythm_steps", p.rhythm_steps ? (int64_t)p.rhythm_steps : -1);
    put_count(o, "rhythm_heavy", p.rhythm_steps ? (int64_t)p.rhythm_heavy : -1);
    put_real(o, "rhythm_ratio", p.rhythm_ratio);
    return o;
}

/* What would be seen; unknown where only what nobody would call healthy is. */
static double limit_of(double mds)
{
    return mds <= VIEW_MDS_MAX ? mds - 1 : NAN;
}

static json_t *limits_json(const struct view_figures *f)
{
    json_t *o = json_object();

    put_real(o, "work", limit_of(f->mds));
    put_real(o, "transfers", limit_of(f->transfer_mds));
    put_real(o, "node_transfers", limit_of(f->transfer_node_mds));
    put_real(o, "link_transfers", limit_of(f->transfer_link_mds));
    return o;
}

void report_put_row(json_t *o, const struct view *v, double now_s, const struct view_figures *f)
{
    json_t *step = quantiles_json(f->step_p50_s, f->step_p95_s), *shares = json_object();
    char sentence[512];

    put_count(o, "steps", f->period ? (int64_t)f->steps : -1);
    put_count(o, "period", f->period ? (int64_t)f->period : -1);
    put_json(o, "phases", phases_json(v));
    put_real(step, "p99", f->step_p99_s);
    put_int(step, "p99_steps", f->p99_steps);
    put_real(step, "mean", f->step_mean_s);
    put_real(step, "cv", f->step_cv);
    put_json(o, "step_s", step);
    put_real(o, "steps_per_s", f->steps_per_s);
    put_json(o, "skew_s", quantiles_json(f->skew_p50_s, f->skew_p95_s));
    put_real(o, "synchronisation_ratio", f->synchronisation_ratio);
    put_real(shares, "compute", f->compute_ratio);
    put_real(shares, "communication", f->communication_ratio);
    put_real(shares, "synchronisation", f->synchronisation_ratio);
    put_real(shares, "point_to_point", f->p2p_ratio);
    put_json(o, "shares", shares);
    put_text(o, "regime", view_regime_name(f->regime));
    put_json(o, "non_finite", view_values_known(v) ? json_boolean(view_non_finite(v)) : NULL);
    put_text(o, "judged", view_judged_name(view_judged_get(v, now_s)));
    put_real(o, "mds_ratio", limit_of(f->mds));
    put_json(o, "limits", limits_json(f));
    put_text(o, "sentence", view_sentence(v, now_s, sentence, sizeof(sentence)));
    put_json(o, "worst", worst_json(v, now_s));
}

/* ---- communicators ---- */

static json_t *shortfalls_json(const struct view *v)
{
    static const char *const sources[] = { [BASELINE_BY_ADAPTER] = "adapter",
                                           [BASELINE_BY_PEERS] = "peers",
                                           [BASELINE_BY_SIZES] = "smaller sizes" };
    const struct view_shortfall *s;
    size_t n = view_shortfalls_get(v, &s);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        char label[64];

        put_text(o, "label", view_comm_label(v, s[i].s.comm, label, sizeof(label)));
        put_text(o, "op", ring_op_name(s[i].s.op));
        put_int(o, "ranks", s[i].s.ranks);
        put_int(o, "nodes", s[i].s.nodes);
        put_real(o, "bytes", s[i].s.bytes);
        put_real(o, "time_s", s[i].s.time_s);
        put_real(o, "expected_s", s[i].s.expected_s);
        put_text(o, "source", sources[s[i].s.source]);
        put_text(o, "text", s[i].text);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *comms_json(const struct view *v, double now_s)
{
    struct view_comm comm[COMMS_MAX];
    size_t n = view_comms_get(v, now_s, comm, COMMS_MAX);
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
            put_text(o, "label", view_comm_label(v, comm[i].name, label, sizeof(label)));
        }
        put_int(o, "size", comm[i].size);
        put_int(o, "instances", comm[i].instances);
        put_real(o, "collectives_per_s", comm[i].collectives_per_s);
        put_real(o, "bytes_per_s", comm[i].bytes_per_s);
        put_real(o, "skew_s", comm[i].skew_s);
        put_real(o, "transfer_s", comm[i].transfer_s);
        put_json(o, "efficiency", report_efficiency(&comm[i].recent, &comm[i].run));
        json_array_append_new(list, o);
    }
    return list;
}

/* ---- the selected ranks ---- */

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
    return *filter && !strstr(f->node, filter) && !strstr(f->switch_name, filter) && strcmp(name, filter);
}

void report_ranks_get(struct report_ranks *r, const struct view *v, double now_s,
                      const struct report_selection *s)
{
    uint32_t limit = view_rank_limit(v);
    enum report_sort sort = s->sort;

    *r = (struct report_ranks){ .f = xcalloc(limit, sizeof(*r->f)) };
    for (uint32_t i = 0; i < limit; i++)
        if (view_rank_get(v, now_s, i, &r->f[r->n]) && !filtered(&r->f[r->n], s->filter))
            r->n++;
    qsort_r(r->f, r->n, sizeof(*r->f), compare_ranks, &sort);
    r->end = (uint64_t)s->offset + s->count < r->n ? s->offset + s->count : r->n;
    r->begin = s->offset < r->end ? s->offset : r->end;
}

void report_ranks_of(struct report_ranks *r, const struct view *v, double now_s, const uint32_t *rank,
                     size_t n)
{
    *r = (struct report_ranks){ .f = xcalloc(n, sizeof(*r->f)) };
    for (size_t i = 0; i < n; i++)
        r->n += view_rank_get(v, now_s, rank[i], &r->f[r->n]);
    r->end = r->n;
}

void report_ranks_free(struct report_ranks *r)
{
    free(r->f);
}

static json_t *inside_json(const struct view *v, const struct view_rank_figures *f)
{
    char label[64];
    json_t *o;

    if (f->inside_op == RING_OP_NONE)
        return json_null();
    o = json_object();
    put_text(o, "op", ring_op_name(f->inside_op));
    put_text(o, "comm", view_comm_label(v, f->inside_comm, label, sizeof(label)));
    put_int(o, "seq", f->inside_seq);
    put_real(o, "age_s", f->inside_s);
    if (f->partner) {
        put_text(o, "message", ring_op_name(f->partner->op));
        put_int(o, "peer", f->partner->peer);
        put_int(o, "tag", f->partner->tag);
    }
    return o;
}

json_t *report_rank_json(const struct view *v, double now_s, const struct view_rank_figures *f)
{
    json_t *o = json_object(), *health;
    enum marks_phase phase;
    double phase_s;

    put_int(o, "rank", f->rank);
    put_text(o, "node", f->node);
    put_text(o, "switch", f->switch_name);
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
    put_json(o, "inside", inside_json(v, f));
    phase = view_rank_phase(v, now_s, f->rank, &phase_s);
    if (phase != MARKS_PHASES) {
        put_text(o, "phase", marks_phase_name(phase));
        put_real(o, "phase_s", phase_s);
    }
    health = report_rank_health(v, now_s, f->rank);
    if (health)
        put_json(o, "health", health);
    return o;
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

json_t *report_heat_rows(const struct view *v, double now_s, const struct report_ranks *ranks, uint32_t max)
{
    double step_s = view_newest_steps_s(v, now_s);
    json_t *rows = json_array();

    for (size_t i = ranks->begin; i < ranks->end; i++) {
        float late_s[VIEW_COLUMNS];
        char levels[VIEW_COLUMNS + 1];
        size_t have = view_rank_columns(v, ranks->f[i].rank, late_s), columns = have < max ? have : max;

        for (size_t c = 0; c < columns; c++)
            levels[c] = heat_level(late_s[have - columns + c], step_s);
        levels[columns] = '\0';
        json_array_append_new(rows, json_pack("{s:i,s:s}", "rank", (int)ranks->f[i].rank, "levels", levels));
    }
    return rows;
}

static json_t *heat_json(const struct view *v, double now_s, const struct report_ranks *ranks, uint32_t max)
{
    json_t *o = json_object(), *scale = json_array();
    float late_s[VIEW_COLUMNS];
    size_t have = ranks->n ? view_rank_columns(v, ranks->f[0].rank, late_s) : 0;

    for (size_t i = 0; i < ARRAY_SIZE(heat_scale); i++)
        json_array_append_new(scale, json_real(heat_scale[i]));
    put_real(o, "column_s", view_column_s(v));
    put_int(o, "columns", (int64_t)(have < max ? have : max));
    put_json(o, "scale", scale);
    put_json(o, "rows", report_heat_rows(v, now_s, ranks, max));
    return o;
}

static json_t *reals_json(const float *value, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, real_json(value[i]));
    return list;
}

/* The run in longer stretches; null: none is over. */
static json_t *stretches_json(const struct view *v, double now_s, uint32_t max)
{
    struct view_stretches s;
    size_t have = view_stretches_get(v, &s), n = have < max ? have : max, skip = have - n;
    json_t *o, *ages;

    if (!n)
        return NULL;
    o = json_object();
    ages = json_array();
    for (size_t i = skip; i < have; i++)
        json_array_append_new(ages, real_json(fmax(0, now_s - s.at_s[i])));
    put_real(o, "width_s", s.width_s);
    put_json(o, "age_s", ages);
    put_json(o, "step_s", reals_json(s.step_s + skip, n));
    put_json(o, "synchronisation_ratio", reals_json(s.synchronisation_ratio + skip, n));
    return o;
}

static json_t *history_json(const struct view *v, double now_s, uint32_t max)
{
    struct view_columns c;
    size_t have = view_columns_get(v, &c), n = have < max ? have : max, skip = have - n;
    json_t *o = json_object();

    put_real(o, "column_s", view_column_s(v));
    put_json(o, "step_s", reals_json(c.step_s + skip, n));
    put_json(o, "steps_per_s", reals_json(c.steps_per_s + skip, n));
    put_json(o, "skew_s", reals_json(c.skew_s + skip, n));
    put_json(o, "synchronisation_ratio", reals_json(c.synchronisation_ratio + skip, n));
    put_json(o, "run", stretches_json(v, now_s, max));
    return o;
}

static const char *rank_state(const struct view_rank_figures *f)
{
    static const char *const states[PROCESS_STATES] = {
        [PROCESS_RUNS] = "running",
        [PROCESS_STOPPED] = "stopped",
        [PROCESS_TRACED] = "traced",
        [PROCESS_BLOCKED] = "blocked",
    };

    return f->ended ? "ended" : states[f->process];
}

json_t *report_rank_table(const struct view *v, double now_s, const struct report_ranks *ranks)
{
    json_t *list = json_array();

    for (size_t i = ranks->begin; i < ranks->end; i++) {
        json_t *o = report_rank_json(v, now_s, &ranks->f[i]);

        put_string(o, "state", rank_state(&ranks->f[i]));
        put_real(o, "state_s", ranks->f[i].process == PROCESS_RUNS ? NAN : ranks->f[i].process_s);
        json_array_append_new(list, o);
    }
    return list;
}

/* NULL: none. */
static json_t *cpu_lack_json(const struct view *v)
{
    char text[80];
    double ratio = view_cpu_lack(v, text, sizeof(text));
    json_t *o = ratio > 0 ? json_object() : NULL;

    if (o) {
        put_real(o, "ratio", ratio);
        put_text(o, "text", text);
    }
    return o;
}

/* ---- the whole view ---- */

static void put_projections(json_t *o, const struct view *v, double now_s,
                            const struct report_scaling *scaling, const struct report_strategies *strategies,
                            const struct report_overlap *overlap)
{
    struct {
        struct report_scaling scaling;
        struct report_strategies strategies;
        struct report_overlap overlap;
    } *now = scaling ? NULL : xcalloc(1, sizeof(*now));

    if (now) {
        report_scaling_get(&now->scaling, v, false);
        report_strategies_get(&now->strategies, v, &VIEW_STRATEGY_OPTIONS);
        report_overlap_get(&now->overlap, v, now_s);
        scaling = &now->scaling;
        overlap = &now->overlap;
        strategies = &now->strategies;
    }
    put_json(o, "scaling", report_scaling_json(scaling));
    put_json(o, "strategies", report_strategies_json(strategies));
    put_json(o, "overlap", report_overlap_json(overlap));
    put_json(o, "step_phases", report_step_phases(v, now_s, overlap));
    free(now);
}

static json_t *switches_json(const struct view *v, double now_s, uint32_t max)
{
    const struct view_verdict *verdict;
    size_t verdicts = view_verdicts_get(v, &verdict);
    struct report_switches *s = report_switches_get(v, verdict, verdicts, now_s, max);
    json_t *o = report_switches_json(s);

    report_switches_free(s);
    return o;
}

void report_put_view(json_t *o, const struct view *v, double now_s, const struct report_ranks *ranks,
                     const struct report_selection *selection, const struct report_scaling *scaling,
                     const struct report_strategies *strategies, const struct report_overlap *overlap)
{
    struct view_efficiency e;
    struct report_projection projection;

    view_efficiency_get(v, &e);
    report_projection_get(&projection, v, now_s);
    put_json(o, "timeline", report_timeline(v, now_s));
    put_json(o, "efficiency", report_efficiency(&e.recent, &e.run));
    put_json(o, "critical_path", report_critical_path(v, now_s));
    if (selection->picture)
        put_json(o, "picture", report_step(v, now_s, selection->picture));
    if (selection->switches)
        put_json(o, "switches", switches_json(v, now_s, selection->switches));
    put_json(o, "projection", report_projection_json(&projection));
    put_json(o, "cpu_lack", cpu_lack_json(v));
    put_json(o, "values", report_values(v, now_s));
    put_projections(o, v, now_s, scaling, strategies, overlap);
    put_json(o, "communicators", comms_json(v, now_s));
    put_json(o, "shortfalls", shortfalls_json(v));
    put_int(o, "rank_table_total", (int64_t)ranks->n);
    put_json(o, "heat", heat_json(v, now_s, ranks, selection->columns));
    put_json(o, "history", history_json(v, now_s, selection->columns));
}
