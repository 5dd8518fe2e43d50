#include "report/report_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/report_comm.h"
#include "report/report_diagnosis.h"
#include "report/report_history.h"
#include "report/report_marks.h"
#include "report/report_overlap.h"
#include "report/report_rank.h"
#include "report/report_scaling.h"
#include "report/report_step.h"
#include "report/report_strategies.h"
#include "report/report_switches.h"
#include "report/report_verdict.h"
#include "view/health.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/view.h"
#include "wire/json.h"

#define COLUMNS_MAX VIEW_COLUMNS

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

static json_t *heat_json(const struct view *v, double now_s, const struct report_ranks *ranks, uint32_t max)
{
    struct report_heat heat;
    float late_s[VIEW_COLUMNS];
    size_t have = ranks->n ? view_rank_columns(v, ranks->f[0].rank, late_s) : 0;
    json_t *o;

    report_heat_get(&heat, v, have < max ? (uint32_t)have : max);
    o = report_heat_json(&heat);
    put_json(o, "rows", report_heat_rows(v, now_s, ranks, max));
    return o;
}

static json_t *history_json(const struct view *v, double now_s, uint32_t max)
{
    struct report_history h;

    report_history_get(&h, v, now_s, max);
    return report_history_json(&h);
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
    struct report_step_phases phases;

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
    report_step_phases_get(&phases, v, now_s, overlap);
    put_json(o, "step_phases", report_step_phases_json(&phases));
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
    struct report_efficiency efficiency;
    struct report_path path;
    struct report_projection projection;
    struct report_comms comms;
    struct report_shortfalls shortfalls;
    struct report_cpu_lack cpu_lack;
    struct report_values values;

    view_efficiency_get(v, &e);
    report_efficiency_get(&efficiency, &e.recent, &e.run);
    report_path_get(&path, v, now_s);
    report_projection_get(&projection, v, now_s);
    report_cpu_lack_get(&cpu_lack, v);
    report_values_get(&values, v, now_s);
    put_json(o, "timeline", report_timeline(v, now_s));
    put_json(o, "efficiency", report_efficiency_json(&efficiency));
    put_json(o, "critical_path", report_path_json(&path));
    if (selection->picture)
        put_json(o, "picture", report_step(v, now_s, selection->picture));
    if (selection->switches)
        put_json(o, "switches", switches_json(v, now_s, selection->switches));
    put_json(o, "projection", report_projection_json(&projection));
    put_json(o, "cpu_lack", report_cpu_lack_json(&cpu_lack));
    put_json(o, "values", report_values_json(&values));
    put_projections(o, v, now_s, scaling, strategies, overlap);
    report_comms_get(&comms, v, now_s);
    put_json(o, "communicators", report_comms_json(&comms));
    report_shortfalls_get(&shortfalls, v);
    put_json(o, "shortfalls", report_shortfalls_json(&shortfalls));
    put_int(o, "rank_table_total", (int64_t)ranks->n);
    put_json(o, "heat", heat_json(v, now_s, ranks, selection->columns));
    put_json(o, "history", history_json(v, now_s, selection->columns));
}
