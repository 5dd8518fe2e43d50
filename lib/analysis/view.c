/* view.c - the parts of a view together: items and time go to each of them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/switches.h"
#include "analysis/view_private.h"
#include "common/config.h"
#include "common/xalloc.h"

static const char *const regimes[] = { "starting",    "compute",    "communication", "synchronisation",
                                       "oscillating", "checkpoint", "stalled",
                                       "suspended",   "unknown" };
const char *view_regime_name(enum view_regime r)
{
    return r < ARRAY_SIZE(regimes) ? regimes[r] : NULL;
}

struct view_params view_params_of(const struct config_policy *policy)
{
    return (struct view_params){ .min_slowdown = policy->min_slowdown_ratio,
                                 .hang_timeout_s = policy->hang_timeout_s };
}

/* The newest events; older ones that nobody took are lost. */
#define EVENTS 64u
struct events {
    struct view_event event[EVENTS];
    uint64_t in, out;
};

/* Estimates from above, in bytes, without what is kept of calls one by one; tests/unit/view_bounds compares them with what is allocated. */
#define VIEW_BYTES       (512.0 * 1024)
#define VIEW_RANK_BYTES  2560.0
#define VIEW_PLACE_BYTES 4096.0

struct view *view_new(const struct view_params *p, double now_s)
{
    struct view *v = xcalloc(1, sizeof(*v));

    *v = (struct view){ .params = *p,
                        .bounds = { VIEW_RANKS_MAX, INFINITY },
                        .now_s = now_s,
                        .began_s = NAN,
                        .watched_s = NAN,
                        .item_s = -INFINITY,
                        .still_s = -INFINITY,
                        .steady_s = -INFINITY,
                        .active_s = INFINITY,
                        .ranks = view_ranks_new(now_s),
                        .comms = view_comms_new(),
                        .steps = view_steps_new(),
                        .history = view_history_new(now_s),
                        .sums = view_sums_new(),
                        .series = view_series_new(),
                        .phases = view_phases_new(),
                        .health = view_health_new(),
                        .pairs = view_pairs_new(),
                        .marks = view_marks_new(),
                        .scaling = view_scaling_new(),
                        .reach = view_reach_new(),
                        .verdicts = view_verdicts_new(),
                        .presence = view_presence_new(),
                        .events = xcalloc(1, sizeof(struct events)),
                        .diagnosis = diagnosis_new(),
                        .course = view_course_new(),
                        .drawn = view_drawn_new(),
                        .switches = switches_new() };
    return v;
}

void view_free(struct view *v)
{
    if (!v)
        return;
    view_ranks_free(v->ranks);
    view_comms_free(v);
    view_steps_free(v->steps);
    view_history_free(v->history);
    view_sums_free(v->sums);
    free(v->series);
    free(v->phases);
    view_health_free(v->health);
    view_pairs_free(v->pairs);
    view_marks_free(v->marks);
    view_scaling_free(v->scaling);
    view_reach_free(v->reach);
    view_verdicts_free(v->verdicts);
    view_presence_free(v->presence);
    view_run_free(v->run);
    free(v->events);
    diagnosis_free(v->diagnosis);
    view_course_free(v->course);
    view_drawn_free(v->drawn);
    switches_free(v->switches);
    view_calls_free(v->calls);
    free(v);
}

void view_params_set(struct view *v, const struct view_params *p)
{
    v->params = *p;
}

void view_bound(struct view *v, const struct view_bounds *b)
{
    v->bounds = *b;
}

/* xgrow() doubles the arrays of ranks. */
static double rank_bytes(uint32_t limit)
{
    uint32_t cap = 8;

    while (cap < limit)
        cap *= 2;
    return limit ? VIEW_RANK_BYTES * cap : 0;
}

double view_bytes(const struct view *v)
{
    return VIEW_BYTES + rank_bytes(view_rank_limit(v)) + VIEW_PLACE_BYTES * view_places(v) +
           view_comms_bytes(v) + view_pairs_bytes(v) + v->calls_bytes;
}

bool view_fits(const struct view *v, double bytes)
{
    return view_bytes(v) + bytes <= v->bounds.bytes;
}

bool view_has_room(struct view *v, double bytes)
{
    if (view_fits(v, bytes))
        return true;
    v->rejected.memory++;
    return false;
}

struct view_rejected view_rejected_get(const struct view *v)
{
    return v->rejected;
}

/* The arrays are as long as the largest number of a rank needs. */
static bool may_add_rank(struct view *v, uint32_t rank)
{
    uint32_t limit = view_rank_limit(v);

    if (rank >= v->bounds.ranks) {
        v->rejected.ranks++;
        return false;
    }
    return rank < limit || view_has_room(v, rank_bytes(rank + 1) - rank_bytes(limit) + 2 * VIEW_PLACE_BYTES);
}

void view_event(struct view *v, double now_s, const char *key, const char *fmt, ...)
{
    struct events *s = v->events;
    struct view_event *e = &s->event[s->in++ % EVENTS];
    va_list ap;

    e->at_s = now_s;
    snprintf(e->key, sizeof(e->key), "%s", key);
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    if (s->in - s->out > EVENTS)
        s->out = s->in - EVENTS;
}

bool view_event_take(struct view *v, struct view_event *e)
{
    if (v->events->out == v->events->in)
        return false;
    *e = v->events->event[v->events->out++ % EVENTS];
    return true;
}

/* Another program began: what was measured of the one before does not apply. */
static void forget(struct view *v, uint16_t app)
{
    view_ranks_forget(v, app);
    view_comms_forget(v);
    view_steps_forget(v);
    view_history_forget(v);
    view_sums_forget(v);
    view_series_forget(v);
    view_health_forget(v);
    view_pairs_forget(v);
    view_marks_forget(v);
    view_scaling_forget(v);
    view_reach_forget(v);
    view_calls_forget(v);
    view_course_forget(v);
    view_drawn_free(v->drawn);
    v->drawn = view_drawn_new();
    diagnosis_restart(v->diagnosis);
}

void view_switches_add(struct view *v, const char *path)
{
    switches_add(v->switches, path);
}

const struct switches *view_switches(const struct view *v)
{
    return v->switches;
}

int view_rank_add(struct view *v, uint32_t rank, uint16_t app, const char *node, const char *switch_name)
{
    if (rank >= VIEW_RANKS_MAX || app < view_ranks_count(v)->app || !may_add_rank(v, rank))
        return -1;
    if (app > view_ranks_count(v)->app)
        forget(v, app);
    view_ranks_add(v, rank, node, switch_name);
    view_steps_reserve(v, rank + 1);
    view_history_reserve(v, rank + 1);
    view_sums_reserve(v, rank + 1);
    diagnosis_place(v->diagnosis, rank, view_ranks_at(v, rank)->node, view_ranks_at(v, rank)->switch_id);
    view_calls_add_rank(v, rank);
    return 0;
}

static void take_sample(struct view *v, const struct sample *s)
{
    if (!view_ranks_find(v, s->rank, s->app))
        return;
    if (!s->n || s->n > 65536 || s->gap_sum_ns > TIME_MAX_NS || s->stay_sum_ns > TIME_MAX_NS ||
        s->stay_ns > TIME_MAX_NS || s->p2p_sum_ns > s->gap_sum_ns) {
        v->refused++;
        return;
    }
    view_steps_take_seq(v, s->comm, s->seq + s->n - 1);
    view_ranks_take_sample(v, s);
    view_calls_take_sample(v, s);
    if (s->flags & SAMPLE_WHOLE)
        return; /* the sample of its block has its times, too; whole ones are for traces */
    if (!view_stood_still(v, v->now_s, (double)(s->gap_sum_ns + s->stay_sum_ns) * 1e-9)) {
        view_history_take_sample(v, s);
        view_sums_take_sample(v, s);
    }
    view_comms_take_sample(v, s); /* it is a collective all the same: what such ones show is known from it, too */
}

void view_begin(struct view *v, double now_s)
{
    if (isnan(v->began_s))
        v->began_s = now_s;
    if (isnan(v->watched_s))
        v->watched_s = now_s;
}

void view_item(struct view *v, double now_s, const struct telemetry_item *item)
{
    v->now_s = now_s;
    v->item_s = now_s;
    view_begin(v, now_s);
    switch (item->kind) {
    case TELEMETRY_SAMPLE:
        take_sample(v, &item->sample);
        break;
    case TELEMETRY_STEP:
        view_steps_take(v, now_s, &item->step);
        break;
    case TELEMETRY_LIVE:
        view_ranks_take_live(v, now_s, &item->live);
        break;
    case TELEMETRY_COUNTS:
        view_ranks_take_counts(v, &item->counts);
        break;
    case TELEMETRY_COMM:
        view_comms_take(v, &item->comm);
        break;
    case TELEMETRY_COMM_END:
        view_comms_take_end(v, &item->comm_end);
        break;
    case TELEMETRY_LOSSES:
        view_ranks_take_losses(v, &item->losses);
        break;
    case TELEMETRY_SIGNALS:
        view_ranks_take_signals(v, &item->signals);
        break;
    case TELEMETRY_NODE:
        view_health_take_node(v, now_s, &item->node);
        break;
    case TELEMETRY_TASK:
        view_health_take_task(v, now_s, &item->task);
        break;
    case TELEMETRY_GPU:
        view_health_take_gpu(v, now_s, &item->gpu);
        break;
    case TELEMETRY_PROCESS:
        view_ranks_take_process(v, now_s, &item->process);
        break;
    case TELEMETRY_PARTNER:
        view_ranks_take_partner(v, &item->partner);
        break;
    case TELEMETRY_TRAFFIC:
        view_pairs_take(v, now_s, &item->traffic);
        break;
    case TELEMETRY_CALL:
        view_calls_take(v, now_s, &item->call);
        break;
    case TELEMETRY_PHASES:
        view_marks_take_phases(v, now_s, &item->phases);
        break;
    case TELEMETRY_VALUE:
        view_marks_take_value(v, &item->value);
        break;
    }
}

void view_position_get(const struct view *v, struct view_position *p)
{
    *p = (struct view_position){ .began_s = v->began_s,
                                 .judged = !isnan(diagnosis_limit(v->diagnosis)),
                                 .app = view_ranks_count(v)->app };
    p->suspended_s = v->now_s - v->began_s - view_run_s(v, v->now_s);
    view_steps_position(v, p);
    view_sums_position(v, p);
    view_comms_position(v, p);
}

void view_position_set(struct view *v, const struct view_position *p, const struct view_verdict *verdict, size_t n)
{
    if (p->app > view_ranks_count(v)->app)
        view_ranks_forget(v, p->app);
    v->began_s = p->began_s;
    if (!p->judged)
        v->watched_s = p->began_s;
    view_steps_go_on(v, p);
    view_sums_go_on(v, p);
    view_comms_go_on(v, p);
    view_presence_go_on(v, p->suspended_s);
    view_verdicts_go_on(v, verdict, n);
}

uint32_t view_findings(const struct view *v)
{
    return diagnosis_next_id(v->diagnosis);
}

void view_tick(struct view *v, double now_s)
{
    v->now_s = now_s;
    view_history_roll(v, now_s);
    view_comms_roll(v, now_s);
    view_health_roll(v, now_s);
    view_marks_roll(v, now_s);
    view_reach_judge(v, now_s);
    view_judge(v, now_s);
    v->calls_bytes = view_calls_bytes(v->calls);
    if (v->finished)
        view_run_take(v, now_s);
}

void view_unseen_set(struct view *v, bool quiet, const char *text)
{
    snprintf(v->unseen, sizeof(v->unseen), "%s", text);
    v->unseen_quiet = quiet;
}

void view_finish(struct view *v, double now_s)
{
    v->finished = true;
    if (v->calls)
        view_calls_finish(v, now_s);
    view_steps_finish(v, now_s);
    view_tick(v, now_s);
}
