/* report_diagnosis.c - efficiencies, the critical path and the trend as JSON. */
#include <math.h>
#include <stdio.h>

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

static const struct json_field projection_fields[] = {
    { "synchronisation_ratio", FIELD_AMOUNT, FIELD(struct report_projection, synchronisation_ratio) },
    { "trend", FIELD_TEXT, FIELD(struct report_projection, trend) },
    { "per_hour", FIELD_NUMBER, FIELD(struct report_projection, per_hour) },
    { "limit", FIELD_AMOUNT, FIELD(struct report_projection, limit) },
    { "reach_s", FIELD_REACH, FIELD(struct report_projection, reach_s) },
    { "step_per_hour", FIELD_NUMBER, FIELD(struct report_projection, step_per_hour) },
    { "warning", FIELD_TRUE, FIELD(struct report_projection, warning) },
    { "text", FIELD_TEXT, FIELD(struct report_projection, text) },
    { 0 },
};

void report_projection_get(struct report_projection *r, const struct view *v, double now_s)
{
    struct view_projection p;

    view_projection_get(v, now_s, &p);
    *r = (struct report_projection){ .known = true,
                                     .synchronisation_ratio = p.synchronisation_ratio,
                                     .per_hour = p.per_hour,
                                     .limit = p.limit,
                                     .reach_s = { p.reach.p10, p.reach.p50, p.reach.p90 },
                                     .step_per_hour = p.step_per_hour,
                                     .warning = p.warning };
    snprintf(r->trend, sizeof(r->trend), "%s", trend_name(p.trend));
    snprintf(r->text, sizeof(r->text), "%s", p.text);
}

json_t *report_projection_json(const struct report_projection *p)
{
    json_t *o = json_object();

    put_fields(o, p, projection_fields);
    return o;
}

void report_projection_read(struct report_projection *p, const json_t *o)
{
    get_fields(p, o, projection_fields);
    p->known = json_is_object(o);
}
