/* report_strategies.c - other ways to run a job on the ranks it has, as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view.h"
#include "common/xalloc.h"
#include "job/job.h"
#include "job/report.h"
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
    json_object_set_new(o, "step_s", report_range(&s->step_s));
    json_object_set_new(o, "throughput_ratio", report_range(&s->ratio));
    json_object_set_new(o, "shares",
                        shares_json(s->step_s.p50, s->work_s, s->waiting_s, s->exchange_s, s->other_s));
    put_real(o, "iterations_ratio", s->growth);
    put_real(o, "time_s", strategy_time_s(s));
    json_object_set_new(o, "per_sample", json_boolean(isnan(s->growth)));
    json_object_set_new(o, "assumed", json_boolean(s->assumed));
    put_string(o, "reason", s->reason);
    json_object_set_new(o, "assumes", s->assumes[0] ? json_string(s->assumes) : json_null());
    return o;
}

json_t *report_strategy_list(const struct strategies *s)
{
    json_t *o = json_object(), *list = json_array();

    put_real(o, "step_s", s->step_s);
    json_object_set_new(o, "shares",
                        shares_json(s->step_s, s->compute_s, s->waiting_s, s->exchange_s, s->other_s));
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(list, strategy_json(&s->list[i]));
    json_object_set_new(o, "strategies", list);
    return o;
}

/* What the figures take for granted, for this job. */
static json_t *assumes_json(const struct view_strategies *s)
{
    json_t *list = json_array();

    json_array_append_new(list, json_string("the ranks' work goes on as in the newest steps"));
    if (!s->algorithm_known)
        json_array_append_new(list, json_string("which algorithm the all-reduce has is not known: all that "
                                                "fit are weighed, the ranges hold them"));
    if (!s->fixed_known)
        json_array_append_new(list, json_string("one size of message tells no latency: that of usual "
                                                "networks, 1.3 to 19 us a hop, is assumed"));
    if (s->several_nodes && !s->inside_seen)
        json_array_append_new(list,
                              json_string("inside of nodes a byte costs what is usual, 30 to 300 GB/s"));
    json_array_append_new(list,
                          json_string("nothing is known of how many more samples staleness, local steps or "
                                      "asynchrony need: theirs is time per sample"));
    return list;
}

json_t *report_strategies(const struct view *v, const struct view_strategy_options *options)
{
    struct view_strategies *s = xcalloc(1, sizeof(*s));
    const char *missing = view_strategies_get(v, options, s);
    json_t *o;

    if (missing) {
        o = json_pack("{s:s}", "missing", missing);
    } else {
        o = report_strategy_list(&s->s);
        json_object_set_new(o, "ranks", json_integer(s->ranks));
        json_object_set_new(o, "steps", json_integer(s->steps));
        json_object_set_new(o, "assumes", assumes_json(s));
    }
    free(s);
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
