#include "analysis/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diagnosis.h"
#include "analysis/join.h"
#include "common/config.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#include "analysis/view_private.h"

static const char *const regimes[] = { "starting",    "compute",    "communication", "synchronisation",
                                       "oscillating", "checkpoint", "stalled" };
const char *view_regime_name(enum view_regime r)
{
    return r < ARRAY_SIZE(regimes) ? regimes[r] : "unknown";
}

struct view_params view_params_of(const struct config_policy *policy)
{
    return (struct view_params){ .min_slowdown = policy->min_slowdown_ratio,
                                 .hang_timeout_s = policy->hang_timeout_s };
}

struct view *view_new(const struct view_params *p, double now_s)
{
    struct view *v = xcalloc(1, sizeof(*v));

    v->params = *p;
    v->places = names_new();
    v->diagnosis = diagnosis_new();
    v->scaling = view_scaling_new();
    v->column_s = 1;
    v->column_begin_s = v->now_s = v->added_s = now_s;
    v->begun_s = NAN;
    v->n_columns = 1;
    return v;
}

void view_free(struct view *v)
{
    if (!v)
        return;
    view_forget_comms(v);
    for (size_t i = 0; i < STEPS_OPEN; i++)
        free(v->open[i].rank);
    names_free(v->places);
    free(v->node_health);
    for (uint32_t r = 0; r < v->n_ranks; r++)
        free(v->rank[r].health);
    free(v->work_s);
    free(v->comm);
    free(v->rank);
    diagnosis_free(v->diagnosis);
    view_scaling_free(v->scaling);
    free(v);
}

void view_params_set(struct view *v, const struct view_params *p)
{
    v->params = *p;
}

void view_event(struct view *v, double now_s, const char *fmt, ...)
{
    struct view_event *e = &v->event[v->events_in++ % EVENTS];
    va_list ap;

    e->at_s = now_s;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    if (v->events_in - v->events_out > EVENTS)
        v->events_out = v->events_in - EVENTS;
}

bool view_event_take(struct view *v, struct view_event *e)
{
    if (v->events_out == v->events_in)
        return false;
    *e = v->event[v->events_out++ % EVENTS];
    return true;
}

/* ---- ranks ---- */

/* The number of a node's or switch's name is the place that the diagnosis works with. */
static uint32_t place_of(struct view *v, const char *name)
{
    return name && *name ? names_add(v->places, name, strlen(name)) : WORK_PLACE_NONE;
}

const char *view_place_name(const struct view *v, uint32_t place)
{
    return place < names_count(v->places) ? names_text(v->places, place) : "";
}

/* Another program began: what was measured of the one before does not apply. */
static void next_app(struct view *v, uint16_t app)
{
    v->app = app;
    view_forget_comms(v);
    diagnosis_restart(v->diagnosis);
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        free(v->rank[r].health);
        v->rank[r] = (struct view_rank){ .node = WORK_PLACE_NONE, .leaf = WORK_PLACE_NONE };
    }
    view_forget_steps(v);
    view_forget_sums(v);
    view_forget_series(v);
    view_forget_scaling(v);
    v->ranks = v->ranks_most = 0;
    v->period = 0;
    v->step_comm = 0;
    v->step_size = v->main_size = 0;
    v->steps_kept = 0;
    v->skews_kept = 0;
}

int view_rank_add(struct view *v, uint32_t rank, uint16_t app, const char *node, const char *leaf)
{
    struct view_rank *k;

    if (rank >= VIEW_RANKS_MAX || app < v->app)
        return -1;
    if (app > v->app)
        next_app(v, app);
    if (rank >= v->n_ranks) {
        v->rank = xgrow(v->rank, &v->ranks_cap, rank + 1, sizeof(*v->rank));
        for (; v->n_ranks <= rank; v->n_ranks++)
            v->rank[v->n_ranks].node = v->rank[v->n_ranks].leaf = WORK_PLACE_NONE;
    }
    k = &v->rank[rank];
    v->ranks += !k->known || k->ended;
    v->ranks_most = v->ranks > v->ranks_most ? v->ranks : v->ranks_most;
    k->known = true;
    k->ended = k->vanished = false;
    k->node = place_of(v, node);
    k->leaf = place_of(v, leaf);
    diagnosis_place(v->diagnosis, rank, k->node, k->leaf);
    v->added_s = v->now_s;
    return 0;
}

void view_rank_end(struct view *v, uint32_t rank, uint16_t app, bool vanished)
{
    struct view_rank *k = app == v->app && rank < v->n_ranks ? &v->rank[rank] : NULL;

    if (!k || !k->known || k->ended)
        return;
    k->ended = true;
    k->vanished = vanished;
    k->inside_op = RING_OP_NONE;
    v->ranks--;
    for (size_t i = 0; i < v->n_comms; i++)
        join_leave(v->comm[i].join, rank);
}

struct view_rank *view_rank_told(struct view *v, uint32_t rank, uint16_t app)
{
    if (app != v->app || rank >= v->n_ranks || !v->rank[rank].known) {
        v->refused++;
        return NULL;
    }
    return &v->rank[rank];
}

/* ---- items ---- */

static void take_live(struct view *v, double now_s, const struct live *l)
{
    struct view_rank *k = view_rank_told(v, l->rank, l->app);

    if (!k)
        return;
    if ((l->age_ns > TIME_MAX_NS && l->age_ns != LIVE_NEVER_LEFT) || l->op >= RING_OP_MAX) {
        v->refused++;
        return;
    }
    k->live_op = l->op;
    k->inside_op = l->op;
    k->inside_comm = l->comm;
    k->inside_ns = l->enter_ns;
    k->inside_seq = l->seq;
    k->never_left = l->age_ns == LIVE_NEVER_LEFT && l->op != RING_OP_NONE;
    k->inside_since_s = now_s - (k->never_left ? 0 : (double)l->age_ns * 1e-9);
    if (l->comm == v->step_comm && l->op != RING_OP_NONE && l->seq > v->main_seq)
        v->main_seq = l->seq;
    k->live_at_s = now_s;
}

static void take_counts(struct view *v, const struct counts *c)
{
    struct view_rank *k = view_rank_told(v, c->rank, c->app);

    if (!k)
        return;
    k->events = c->events;
    k->dropped = c->dropped;
    k->missed = c->missed;
}

void view_item(struct view *v, double now_s, const struct telemetry_item *item)
{
    v->now_s = now_s;
    if (isnan(v->begun_s))
        v->begun_s = now_s;
    switch (item->kind) {
    case TELEMETRY_SAMPLE:
        view_take_sample(v, &item->sample);
        break;
    case TELEMETRY_STEP:
        view_take_step(v, now_s, &item->step);
        break;
    case TELEMETRY_LIVE:
        take_live(v, now_s, &item->live);
        break;
    case TELEMETRY_COUNTS:
        take_counts(v, &item->counts);
        break;
    case TELEMETRY_COMM:
        view_take_comm(v, &item->comm);
        break;
    case TELEMETRY_NODE:
        view_take_node(v, now_s, &item->node);
        break;
    case TELEMETRY_TASK:
        view_take_task(v, now_s, &item->task);
        break;
    case TELEMETRY_GPU:
        view_take_gpu(v, now_s, &item->gpu);
        break;
    }
}

void view_tick(struct view *v, double now_s)
{
    v->now_s = now_s;
    view_roll_columns(v, now_s);
    view_roll_comms(v, now_s);
    view_roll_health(v, now_s);
    view_judge(v, now_s);
}

void view_finish(struct view *v, double now_s)
{
    v->finished = true;
    view_finish_steps(v, now_s);
    view_tick(v, now_s);
}
