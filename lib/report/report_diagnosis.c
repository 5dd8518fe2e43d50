#include "report/report_diagnosis.h"

#include <math.h>
#include <stdio.h>

#include "view/health.h"
#include "view/timeline.h"

/* ---- efficiency ---- */

const struct json_field report_efficiency_fields[] = {
    { "parallel", FIELD_SHARE, FIELD(struct report_efficiency, parallel) },
    { "load_balance", FIELD_SHARE, FIELD(struct report_efficiency, load_balance) },
    { "serialisation", FIELD_SHARE, FIELD(struct report_efficiency, serialisation) },
    { "transfer", FIELD_SHARE, FIELD(struct report_efficiency, transfer) },
    { "run.parallel", FIELD_SHARE, FIELD(struct report_efficiency, run.parallel) },
    { "run.load_balance", FIELD_SHARE, FIELD(struct report_efficiency, run.load_balance) },
    { "run.serialisation", FIELD_SHARE, FIELD(struct report_efficiency, run.serialisation) },
    { "run.transfer", FIELD_SHARE, FIELD(struct report_efficiency, run.transfer) },
    { 0 },
};

void report_efficiency_get(struct report_efficiency *e, const struct efficiency *now,
                           const struct efficiency *run)
{
    *e = (struct report_efficiency){
        now->parallel,
        now->load_balance,
        now->serialisation,
        now->transfer,
        { run->parallel, run->load_balance, run->serialisation, run->transfer },
    };
}

/* ---- critical path ---- */

static const struct json_field path_fields[] = {
    { "concentration", FIELD_SHARE, FIELD(struct report_path, concentration) },
    { 0 },
};

static const struct json_field path_rank_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct report_path_rank, rank) },
    { "node", FIELD_TEXT, FIELD(struct report_path_rank, node) },
    { "path_ratio", FIELD_SHARE, FIELD(struct report_path_rank, path_ratio) },
    { "last_ratio", FIELD_SHARE, FIELD(struct report_path_rank, last_ratio) },
    { "delay_s", FIELD_AMOUNT, FIELD(struct report_path_rank, delay_s) },
    { 0 },
};

static const struct json_field move_fields[] = {
    { "from", FIELD_TEXT, FIELD(struct report_move, from) },
    { "to", FIELD_TEXT, FIELD(struct report_move, to) },
    { "age_s", FIELD_AMOUNT, FIELD(struct report_move, age_s) },
    { "step", FIELD_COUNT, FIELD(struct report_move, step) },
    { 0 },
};

void report_path_get(struct report_path *p, const struct view *v, double now_s)
{
    struct view_critical_path c;

    view_critical_path_get(v, &c);
    *p = (struct report_path){ .concentration = c.concentration, .n = c.n, .moves = c.moves };
    for (size_t i = 0; i < c.n; i++) {
        struct report_path_rank *r = &p->rank[i];

        r->rank = c.rank[i].rank;
        snprintf(r->node, sizeof(r->node), "%s", c.rank[i].node);
        r->path_ratio = c.rank[i].path_ratio;
        r->last_ratio = c.rank[i].last_ratio;
        r->delay_s = c.rank[i].delay_s;
    }
    for (size_t i = 0; i < c.moves; i++) {
        struct report_move *m = &p->move[i];

        snprintf(m->from, sizeof(m->from), "%s", c.move[i].from);
        snprintf(m->to, sizeof(m->to), "%s", c.move[i].to);
        m->age_s = fmax(0, now_s - c.move[i].at_s);
        m->step = c.move[i].step;
    }
}

json_t *report_path_json(const struct report_path *p)
{
    json_t *o = json_of_fields(p, path_fields);

    json_put_rows(o, "ranks", p->rank, sizeof(p->rank[0]), p->n, path_rank_fields);
    json_put_rows(o, "moves", p->move, sizeof(p->move[0]), p->moves, move_fields);
    return o;
}

void report_path_read(struct report_path *p, const json_t *o)
{
    json_get_fields(p, o, path_fields);
    p->n = json_get_rows(p->rank, sizeof(p->rank[0]), REPORT_PATH_MAX, o, "ranks", path_rank_fields);
    p->moves = json_get_rows(p->move, sizeof(p->move[0]), REPORT_PATH_MAX, o, "moves", move_fields);
}

/* ---- CPU time that all ranks lack ---- */

const struct json_field report_cpu_lack_fields[] = {
    { "ratio", FIELD_AMOUNT, FIELD(struct report_cpu_lack, ratio) },
    { "text", FIELD_TEXT, FIELD(struct report_cpu_lack, text) },
    { 0 },
};

void report_cpu_lack_get(struct report_cpu_lack *c, const struct view *v)
{
    *c = (struct report_cpu_lack){ 0 };
    c->ratio = view_cpu_lack(v, c->text, sizeof(c->text));
    c->known = c->ratio > 0;
}

/* ---- projection ---- */

const struct json_field report_projection_fields[] = {
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
