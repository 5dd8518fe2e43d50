#include "report/report_strategies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "view/scaling.h"
#include "wire/json.h"

static const struct json_field shares_fields[] = {
    { "work", FIELD_SHARE, FIELD(struct report_shares, work) },
    { "waiting", FIELD_SHARE, FIELD(struct report_shares, waiting) },
    { "exchange", FIELD_SHARE, FIELD(struct report_shares, exchange) },
    { "other", FIELD_SHARE, FIELD(struct report_shares, other) },
    { 0 },
};

static const struct json_field strategy_fields[] = {
    { "kind", FIELD_TEXT, FIELD(struct report_strategy, kind) },
    { "parameter", FIELD_NUMBER, FIELD(struct report_strategy, parameter) },
    { "strategy", FIELD_TEXT, FIELD(struct report_strategy, name) },
    { "step_s", FIELD_RANGE, FIELD(struct report_strategy, step_s) },
    { "throughput_ratio", FIELD_RANGE, FIELD(struct report_strategy, ratio) },
    { "shares", FIELD_OBJECT, PART(struct report_strategy, shares, shares_fields) },
    { "iterations_ratio", FIELD_AMOUNT, FIELD(struct report_strategy, growth) },
    { "time_s", FIELD_AMOUNT, FIELD(struct report_strategy, time_s) },
    { "per_sample", FIELD_TRUE, FIELD(struct report_strategy, per_sample) },
    { "assumed", FIELD_TRUE, FIELD(struct report_strategy, assumed) },
    { "reason", FIELD_TEXT, FIELD(struct report_strategy, reason) },
    { "assumes", FIELD_TEXT, FIELD(struct report_strategy, assumes) },
    { 0 },
};

static const struct json_field strategies_fields[] = {
    { "step_s", FIELD_AMOUNT, FIELD(struct report_strategies, step_s) },
    { "shares", FIELD_OBJECT, PART(struct report_strategies, shares, shares_fields) },
    { "ranks", FIELD_COUNT, FIELD(struct report_strategies, ranks) },
    { "steps", FIELD_COUNT, FIELD(struct report_strategies, steps) },
    { 0 },
};

static struct report_shares shares_of(double step_s, double work_s, double waiting_s, double exchange_s,
                                      double other_s)
{
    return (struct report_shares){ work_s / step_s, waiting_s / step_s, exchange_s / step_s,
                                   other_s / step_s };
}

void report_strategies_put(struct report_strategies *r, const struct strategies *s)
{
    *r = (struct report_strategies){
        .ranks = -1,
        .steps = -1,
        .step_s = s->step_s,
        .shares = shares_of(s->step_s, s->compute_s, s->waiting_s, s->exchange_s, s->other_s),
        .n = s->n,
    };
    for (size_t i = 0; i < s->n; i++) {
        const struct strategy *x = &s->list[i];
        struct report_strategy *to = &r->list[i];

        *to = (struct report_strategy){
            .parameter = x->parameter,
            .step_s = x->step_s,
            .ratio = x->ratio,
            .shares = shares_of(x->step_s.p50, x->work_s, x->waiting_s, x->exchange_s, x->other_s),
            .growth = x->growth,
            .time_s = strategy_time_s(x),
            .per_sample = isnan(x->growth),
            .assumed = x->assumed,
        };
        snprintf(to->kind, sizeof(to->kind), "%s", strategy_kinds[x->kind]);
        snprintf(to->name, sizeof(to->name), "%s", x->name);
        snprintf(to->reason, sizeof(to->reason), "%s", x->reason);
        snprintf(to->assumes, sizeof(to->assumes), "%s", x->assumes);
    }
}

/* The assumptions behind the figures of this job. */
static void put_assumes(struct report_strategies *r, const struct view_strategies *s)
{
    const char *const assumes[] = {
        "the ranks' work continues as in the latest steps",
        s->algorithm_known ? NULL
                           : "the algorithm of the all-reduce is not known: the ranges include all that fit "
                             "the measurements",
        s->fixed_known
            ? NULL
            : "messages of one size do not show the latency: that of usual networks, 1.3 to 19 us per hop, "
              "is assumed",
        s->several_nodes && !s->inside_seen
            ? "the speed within nodes was not measured: the usual 30 to 300 GB/s are assumed"
            : NULL,
        "nothing is known of how many more samples staleness, local steps or asynchrony need: theirs is time "
        "per sample",
    };

    for (size_t i = 0; i < ARRAY_SIZE(assumes); i++)
        if (assumes[i])
            snprintf(r->assumes[r->n_assumes++], sizeof(r->assumes[0]), "%s", assumes[i]);
}

void report_strategies_get(struct report_strategies *r, const struct view *v,
                           const struct view_strategy_options *options)
{
    struct view_strategies *s = xcalloc(1, sizeof(*s));
    const char *missing = view_strategies_get(v, options, s);

    if (missing) {
        *r = (struct report_strategies){ .ranks = -1, .steps = -1 };
        snprintf(r->missing, sizeof(r->missing), "%s", missing);
    } else {
        report_strategies_put(r, &s->s);
        r->ranks = s->ranks;
        r->steps = s->steps;
        put_assumes(r, s);
    }
    free(s);
}

json_t *report_strategies_json(const struct report_strategies *r)
{
    json_t *o = json_object();

    if (r->missing[0]) {
        json_put_text(o, "missing", r->missing);
        return o;
    }
    json_put_fields(o, r, strategies_fields);
    json_put_rows(o, "strategies", r->list, sizeof(r->list[0]), r->n, strategy_fields);
    json_put_lines(o, "assumes", r->assumes[0], sizeof(r->assumes[0]), r->n_assumes);
    return o;
}

void report_strategies_read(struct report_strategies *r, const json_t *o)
{
    json_get_fields(r, o, strategies_fields);
    json_get_text(o, "missing", r->missing, sizeof(r->missing));
    r->n = json_get_rows(r->list, sizeof(r->list[0]), STRATEGY_MAX, o, "strategies", strategy_fields);
    r->n_assumes = json_get_lines(r->assumes[0], sizeof(r->assumes[0]), REPORT_ASSUMES_MAX, o, "assumes");
}

void report_strategy_options(struct view_strategy_options *o, const json_t *question)
{
    *o = (struct view_strategy_options){
        .algorithm = traffic_algorithm_find(json_get_word(question, "algorithm")),
        .shards = json_get_real(question, "shards", 1, 1e6),
        .every = floor(json_get_real(question, "every", 1, 1000)),
        .staleness_penalty = json_get_real(question, "staleness_penalty", 0, 1e6),
        .local_penalty = json_get_real(question, "local_penalty", 0, 1e6),
        .async_growth = json_get_real(question, "async_growth", 1e-6, 1e6),
    };
}

json_t *report_strategy_question(const struct view_strategy_options *o)
{
    json_t *q = json_object();

    json_put_string(q, "query", "strategies");
    json_put_string(q, "algorithm", traffic_algorithm_name(o->algorithm));
    json_put_known(q, "shards", o->shards);
    json_put_known(q, "every", o->every);
    json_put_known(q, "staleness_penalty", o->staleness_penalty);
    json_put_known(q, "local_penalty", o->local_penalty);
    json_put_known(q, "async_growth", o->async_growth);
    return q;
}
