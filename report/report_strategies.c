/* report_strategies.c - other ways to run a job on the ranks it has, as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view.h"
#include "common/xalloc.h"
#include "report/report_view.h"
#include "wire/json.h"

static json_t *shares_json(double step_s, double work_s, double waiting_s, double exchange_s, double other_s)
{
    json_t *o = json_object();

    put_real(o, "work", work_s / step_s);
    put_real(o, "waiting", waiting_s / step_s);
    put_real(o, "exchange", exchange_s / step_s);
    put_real(o, "other", other_s / step_s);
    return o;
}

static json_t *strategy_json(const struct strategy *s)
{
    json_t *o = json_object();

    put_string(o, "kind", strategy_kind_name(s->kind));
    put_real(o, "parameter", s->parameter);
    put_string(o, "strategy", s->name);
    put_range(o, "step_s", s->step_s.p5, s->step_s.p50, s->step_s.p95);
    put_range(o, "throughput_ratio", s->ratio.p5, s->ratio.p50, s->ratio.p95);
    json_object_set_new(o, "shares",
                        shares_json(s->step_s.p50, s->work_s, s->waiting_s, s->exchange_s, s->other_s));
    put_real(o, "iterations_ratio", s->growth);
    put_real(o, "time_s", strategy_time_s(s));
    put_bool(o, "per_sample", isnan(s->growth));
    put_bool(o, "assumed", s->assumed);
    put_string(o, "reason", s->reason);
    put_text(o, "assumes", s->assumes);
    return o;
}

/* What the figures take for granted, for this job. */
static json_t *assumes_json(const struct view_strategies *s)
{
    const char *const assumes[] = {
        "the ranks' work goes on as in the newest steps",
        s->algorithm_known ? NULL
                           : "which algorithm the all-reduce has is not known: all that fit are weighed, the "
                             "ranges hold them",
        s->fixed_known ? NULL
                       : "one size of message tells no latency: that of usual networks, 1.3 to 19 us a hop, "
                         "is assumed",
        s->several_nodes && !s->inside_seen ? "inside of nodes a byte costs what is usual, 30 to 300 GB/s"
                                            : NULL,
        "nothing is known of how many more samples staleness, local steps or asynchrony need: theirs is time "
        "per sample",
    };

    return texts_json(assumes, ARRAY_SIZE(assumes));
}

void report_strategies_get(struct report_strategies *r, const struct view *v,
                           const struct view_strategy_options *options)
{
    r->missing = view_strategies_get(v, options, &r->s);
}

json_t *report_strategies_json(const struct report_strategies *r)
{
    const struct strategies *s = &r->s.s;
    json_t *o = json_object(), *list = json_array();

    if (r->missing) {
        put_string(o, "missing", r->missing);
        json_decref(list);
        return o;
    }
    put_real(o, "step_s", s->step_s);
    put_json(o, "shares", shares_json(s->step_s, s->compute_s, s->waiting_s, s->exchange_s, s->other_s));
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(list, strategy_json(&s->list[i]));
    put_json(o, "strategies", list);
    put_count(o, "ranks", r->s.ranks ? (int64_t)r->s.ranks : -1); /* null: described, not measured */
    put_count(o, "steps", r->s.steps ? (int64_t)r->s.steps : -1);
    put_json(o, "assumes", assumes_json(&r->s));
    return o;
}

static double option(const json_t *question, const char *key, double least, double most, double otherwise)
{
    double value = get_real(question, key, least, most);

    return isnan(value) ? otherwise : value;
}

static enum traffic_algorithm algorithm_of(const char *name)
{
    int a = 0;

    while (a < TRAFFIC_ALGORITHMS && (!name || strcmp(name, traffic_algorithm_name(a)) != 0))
        a++;
    return (enum traffic_algorithm)a;
}

void report_strategy_options(struct view_strategy_options *o, const json_t *question)
{
    *o = VIEW_STRATEGY_OPTIONS;
    o->algorithm = algorithm_of(get_string(question, "algorithm"));
    o->shards = option(question, "shards", 1, 1e6, o->shards);
    o->every = floor(option(question, "every", 1, 1000, o->every));
    o->staleness_penalty = option(question, "staleness_penalty", 0, 1e6, NAN);
    o->local_penalty = option(question, "local_penalty", 0, 1e6, NAN);
    o->async_growth = option(question, "async_growth", 1e-6, 1e6, NAN);
}
