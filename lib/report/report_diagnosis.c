/* report_diagnosis.c - verdicts, efficiencies, the critical path and the trend as JSON. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "report/report_view.h"
#include "view/figures.h"
#include "view/timeline.h"
#include "view/verdicts.h"
#include "wire/json.h"

/* ---- verdicts ---- */

static json_t *named(const struct view_verdict *d)
{
    json_t *o = json_object(), *culprits = json_array();
    struct interval slowdown = finding_slowdown_interval(&d->finding);

    for (uint32_t c = 0; c < d->n_culprits; c++)
        json_array_append_new(culprits, text_json(d->culprit[c]));
    put_text(o, "class", finding_class_name(d->finding.class));
    put_text(o, "scope", finding_scope_name(d->finding.scope));
    json_object_set_new(o, "culprits", culprits);
    put_real(o, "slowdown", d->finding.slowdown);
    put_real(o, "slowdown_low", slowdown.low);
    put_real(o, "slowdown_high", slowdown.high);
    put_bool(o, "minor", d->minor);
    put_text(o, "text", d->text);
    return o;
}

json_t *report_verdict(const struct view_verdict *d, double now_s)
{
    json_t *o = named(d);

    put_count(o, "since_step", d->since_step);
    put_count(o, "found_step", d->found_step);
    put_count(o, "onset_seq", d->finding.onset_seq);
    put_count(o, "detected_seq", d->finding.named_seq);
    put_real(o, "since_s", now_s - d->since_s);
    put_real(o, "found_s", now_s - d->found_s);
    put_bool(o, "standing", d->finding.standing);
    put_real(o, "over_s", d->finding.standing ? NAN : now_s - d->over_s);
    put_real(o, "lost_s", d->finding.saved_s);
    put_int(o, "times", d->times);
    put_text(o, "cause", d->cause);
    return o;
}

json_t *report_verdicts(const struct view *v, double now_s)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_reported(v, &d);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, report_verdict(&d[i], now_s));
    return list;
}

static int by_onset(const void *a, const void *b)
{
    const struct view_verdict *const *x = a, *const *y = b;

    double a_s = view_verdict_from_s(*x), b_s = view_verdict_from_s(*y);

    return (a_s > b_s) - (a_s < b_s);
}

json_t *report_timeline(const struct view *v, double now_s)
{
    const struct view_verdict *raised, *order[VIEW_RAISED_MAX];
    size_t n = view_verdicts_raised(v, &raised);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        order[i] = &raised[i];
    qsort(order, n, sizeof(order[0]), by_onset);
    for (size_t i = 0; i < n; i++) {
        json_t *o = named(order[i]);

        put_real(o, "from_s", fmax(0, now_s - view_verdict_from_s(order[i])));
        put_real(o, "to_s", order[i]->finding.standing ? NAN : fmax(0, now_s - order[i]->over_s));
        json_array_append_new(list, o);
    }
    return list;
}

/* ---- efficiency ---- */

json_t *report_efficiency(const struct efficiency *recent, const struct efficiency *run)
{
    json_t *o = json_object();

    put_real(o, "parallel", recent->parallel);
    put_real(o, "load_balance", recent->load_balance);
    put_real(o, "serialisation", recent->serialisation);
    put_real(o, "transfer", recent->transfer);
    if (run)
        put_json(o, "run", report_efficiency(run, NULL));
    return o;
}

static json_t *moves_json(const struct view_critical_path *c, double now_s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->moves; i++) {
        json_t *o = json_object();

        put_text(o, "from", c->move[i].from);
        put_text(o, "to", c->move[i].to);
        put_real(o, "age_s", fmax(0, now_s - c->move[i].at_s));
        put_count(o, "step", c->move[i].step);
        json_array_append_new(list, o);
    }
    return list;
}

json_t *report_critical_path(const struct view *v, double now_s)
{
    json_t *o = json_object(), *ranks = json_array();
    struct view_critical_path c;

    view_critical_path_get(v, &c);
    for (size_t i = 0; i < c.n; i++) {
        json_t *rank = json_object();

        put_count(rank, "rank", c.rank[i].rank);
        put_text(rank, "node", c.rank[i].node);
        put_real(rank, "path_ratio", c.rank[i].path_ratio);
        put_real(rank, "last_ratio", c.rank[i].last_ratio);
        put_real(rank, "delay_s", c.rank[i].delay_s);
        json_array_append_new(ranks, rank);
    }
    put_real(o, "concentration", c.concentration);
    json_object_set_new(o, "ranks", ranks);
    put_json(o, "moves", moves_json(&c, now_s));
    return o;
}

/* ---- projection ---- */

static json_t *reach_json(const struct trend_reach *r)
{
    json_t *o;

    if (isnan(r->p50))
        return json_null();
    o = json_object();
    put_real(o, "p10", r->p10);
    put_real(o, "p50", r->p50);
    put_real(o, "p90", r->p90);
    return o;
}

json_t *report_projection(const struct view *v, double now_s)
{
    struct view_projection p;
    json_t *o = json_object();

    view_projection_get(v, now_s, &p);
    put_real(o, "synchronisation_ratio", p.synchronisation_ratio);
    put_text(o, "trend", trend_name(p.trend));
    put_real(o, "per_hour", p.per_hour);
    put_real(o, "limit", p.limit);
    put_json(o, "reach_s", reach_json(&p.reach));
    put_real(o, "step_per_hour", p.step_per_hour);
    put_bool(o, "warning", p.warning);
    put_text(o, "text", p.text);
    return o;
}
