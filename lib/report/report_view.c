#include "report/report_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/report.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/view.h"
#include "wire/json.h"

#define COLUMNS_MAX VIEW_COLUMNS

static const char *const sorts[] = { "lateness", "rank", "node", "last", "compute" };

/* A whole number out of range is the nearest in it. */
static uint32_t bounded(const json_t *o, const char *key, int64_t max, uint32_t otherwise)
{
    int64_t n = json_get_int(o, key, INT64_MIN, INT64_MAX, otherwise);

    return n == otherwise ? otherwise : (uint32_t)(n < 0 ? 0 : n < max ? n : max);
}

enum report_sort report_sort_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_SIZE(sorts); i++)
        if (!strcmp(name, sorts[i]))
            return (enum report_sort)i;
    return REPORT_BY_LATENESS;
}

void report_selection_parse(struct report_selection *s, const json_t *view)
{
    *s = REPORT_ALL;
    s->sort = report_sort_find(json_get_string(view, "sort"));
    snprintf(s->filter, sizeof(s->filter), "%s", json_get_word(view, "filter"));
    s->offset = bounded(view, "offset", VIEW_RANKS_MAX, s->offset);
    s->count = bounded(view, "count", VIEW_RANKS_MAX, s->count);
    s->columns = bounded(view, "columns", COLUMNS_MAX, s->columns);
    s->picture = bounded(view, "picture", PICTURE_ROWS_MAX, s->picture);
    s->agents = bounded(view, "agents", UINT32_MAX, s->agents);
    s->switches = bounded(view, "switches", REPORT_SWITCHES_MAX, s->switches);
}

json_t *report_selection_json(const struct report_selection *s)
{
    json_t *q = json_object();

    json_put_string(q, "sort", sorts[s->sort]);
    json_put_int(q, "offset", s->offset);
    json_put_int(q, "count", s->count);
    json_put_int(q, "columns", s->columns);
    json_put_int(q, "agents", s->agents);
    if (s->picture)
        json_put_int(q, "picture", s->picture);
    if (s->switches)
        json_put_int(q, "switches", s->switches);
    if (*s->filter)
        json_put_text(q, "filter", s->filter);
    return q;
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

/* Does the verdict name the rank, or the node that it runs on? */
static bool names(const struct view_verdict *d, const struct view_rank_figures *f)
{
    char rank[16];

    snprintf(rank, sizeof(rank), "r%u", f->rank);
    for (uint32_t i = 0; i < d->n_culprits; i++)
        if (!strcmp(d->culprit[i], rank) || !strcmp(d->culprit[i], f->node))
            return true;
    return false;
}

/* While nothing goes on nobody is late: who holds the job up comes first, also before that is a verdict, and
 * the order of the others stays. */
static void put_named_first(struct report_ranks *r, const struct view *v)
{
    const struct view_verdict *d;
    bool verdict = view_verdicts_get(v, &d) && finding_stops(d->finding.class);
    struct view_rank_figures *rest = xcalloc(r->n, sizeof(*rest));
    size_t named = 0, others = 0;

    for (size_t i = 0; i < r->n; i++)
        if (verdict ? names(d, &r->f[i]) : view_rank_holds_up(v, r->f[i].rank))
            r->f[named++] = r->f[i];
        else
            rest[others++] = r->f[i];
    if (others)
        memcpy(r->f + named, rest, others * sizeof(*rest));
    free(rest);
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
    if (sort == REPORT_BY_LATENESS)
        put_named_first(r, v);
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

struct selected_rank {
    struct view_rank_figures f; /* first: compare_ranks() takes it */
    struct report_rank row;
};

void report_select_ranks(struct report *r, const struct report_selection *s)
{
    struct selected_rank *selected = xcalloc(r->n_ranks, sizeof(*selected));
    enum report_sort sort = s->sort;
    size_t n = 0;

    for (size_t i = 0; i < r->n_ranks; i++) {
        const struct report_rank *row = &r->rank[i];
        struct view_rank_figures f = { .rank = (uint32_t)row->rank,
                                       .node = row->node,
                                       .switch_name = row->switch_name,
                                       .lateness_s = row->lateness_s,
                                       .last_ratio = row->last_ratio,
                                       .compute_s = row->compute_s };

        if (!filtered(&f, s->filter))
            selected[n++] = (struct selected_rank){ f, *row };
    }
    if (n && sort != REPORT_BY_LATENESS)
        qsort_r(selected, n, sizeof(*selected), compare_ranks, &sort);
    for (size_t i = 0; i < n; i++)
        r->rank[i] = selected[i].row;
    r->n_ranks = n;
    free(selected);
}

/* ---- the whole view ---- */

void report_projections_get(struct report *r, const struct view *v, double now_s)
{
    report_scaling_get(&r->scaling, v, false);
    report_strategies_get(&r->strategies, v, &VIEW_STRATEGY_OPTIONS);
    report_overlap_get(&r->overlap, v, now_s);
}

void report_view_get(struct report *r, const struct view *v, double now_s, const struct report_selection *s,
                     const struct report_ranks *ranks)
{
    const struct view_verdict *verdict;
    size_t verdicts = view_verdicts_get(v, &verdict);
    double step_s = view_newest_steps_s(v, now_s);
    float late_s[VIEW_COLUMNS];
    size_t have = ranks->n ? view_rank_columns(v, ranks->f[0].rank, late_s) : 0;
    struct view_efficiency e;

    view_efficiency_get(v, &e);
    report_efficiency_get(&r->efficiency, &e.recent, &e.run);
    report_path_get(&r->path, v, now_s);
    report_projection_get(&r->projection, v, now_s);
    report_cpu_lack_get(&r->cpu_lack, v);
    report_updates_get(&r->updates, v, now_s);
    report_values_get(&r->values, v, now_s);
    report_step_phases_get(&r->step_phases, v, now_s, &r->overlap);
    report_timeline_get(&r->timeline, v, now_s);
    report_comms_get(&r->comms, v, now_s);
    report_shortfalls_get(&r->shortfalls, v);
    report_heat_get(&r->heat, v, have < s->columns ? (uint32_t)have : s->columns);
    report_history_get(&r->history, v, now_s, s->columns);
    r->rank_total = (int64_t)ranks->n;
    r->rank = xcalloc(ranks->end - ranks->begin, sizeof(*r->rank));
    for (size_t i = ranks->begin; i < ranks->end; i++) {
        struct report_rank *rank = &r->rank[r->n_ranks++];

        report_rank_get(rank, v, now_s, &ranks->f[i]);
        report_rank_heat_get(rank, v, step_s, s->columns);
    }
    r->has_picture = s->picture;
    r->picture = s->picture ? view_picture(v, now_s, s->picture) : NULL;
    r->has_switches = s->switches;
    r->switches = s->switches ? report_switches_get(v, verdict, verdicts, now_s, s->switches) : NULL;
}
