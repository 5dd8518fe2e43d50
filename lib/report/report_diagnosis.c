/* report_diagnosis.c - efficiencies, the critical path and the trend as JSON. */
#include <math.h>

#include "report/report_view.h"
#include "view/figures.h"
#include "view/timeline.h"
#include "view/verdicts.h"
#include "wire/json.h"

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
