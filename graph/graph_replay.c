/* graph_replay.c - the steps again, with something changed. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

/* A step's meetings in the replay: the last arrival, the end (NaN: not known yet). */
struct shown {
    const struct kept *k;
    struct {
        double start_s, over_s;
    } * at;
};

struct replay {
    struct graph *g;
    const struct graph_change *change;
    struct graph_step s;
    struct shown now, before; /* the step at hand, and the one before it */
};

static inline double later(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

/* The step that has the meeting; NULL: it is forgotten, or older than the first step that is replayed. */
static const struct shown *shown_in(const struct replay *p, uint32_t number)
{
    if (number - p->now.k->first < p->now.k->n_past)
        return &p->now;
    return p->before.k && number - p->before.k->first < p->before.k->n_past ? &p->before : NULL;
}

static double transfer_s(const struct replay *p, const struct shown *in, uint32_t at)
{
    struct graph_meeting m;

    if (!p->change || !p->change->transfer)
        return kept_unpack(in->k->past[at].over);
    m = kept_meeting(in->k, at);
    return p->change->transfer(&m, &p->s, p->change->arg);
}

/* When the meeting is over: a transfer after the last arrival, and after the one before it. */
static double over_s(const struct replay *p, const struct shown *in, uint32_t at)
{
    int32_t before = in->k->shape->meeting[at].before;
    double start_s = in->at[at].start_s;

    if (!isnan(in->at[at].over_s))
        return in->at[at].over_s;
    if (before != SHAPED_NONE) {
        uint32_t number = in->k->first + (uint32_t)before;
        const struct shown *of = shown_in(p, number);

        if (of)
            start_s = later(start_s, of->at[number - of->k->first].over_s);
    }
    return in->at[at].over_s = start_s + transfer_s(p, in, at);
}

static void replay_op(const struct replay *p, const struct graph_op *op)
{
    const struct graph_change *change = p->change;
    const struct shown *in = shown_in(p, op->meeting);
    uint32_t at = in ? op->meeting - in->k->first : 0;
    double *now = &p->g->now_s[op->rank];
    struct graph_stay stay = { .begin_s = NAN, .over_s = NAN };

    if (isnan(*now))
        return;
    *now += change && change->work && op->has_work ? change->work(op, &p->s, change->arg) : op->work_s;
    stay.enter_s = *now;
    if (in && (op->does & GRAPH_ARRIVES))
        in->at[at].start_s = later(in->at[at].start_s, *now);
    if (in && (op->does & GRAPH_IS_HELD)) {
        stay.over_s = over_s(p, in, at);
        *now = later(*now, stay.over_s);
    }
    *now += op->lag_s;
    if (!change || !change->stay)
        return;
    stay.leave_s = *now;
    if (in)
        stay.begin_s = stay.over_s - transfer_s(p, in, at);
    change->stay(op, &p->s, &stay, change->arg);
}

static struct shown show(const struct kept *k)
{
    struct shown s = { k, xcalloc(k->n_past, sizeof(*s.at)) };

    for (uint32_t i = 0; i < k->n_past; i++) {
        s.at[i].start_s = -INFINITY;
        s.at[i].over_s = NAN;
    }
    return s;
}

double graph_replay(struct graph *g, uint32_t steps, const struct graph_change *change)
{
    struct replay p = { .g = g, .change = change };
    double begin_s = INFINITY, end_s = -INFINITY;

    steps = steps < g->n_kept ? steps : g->n_kept;
    if (!steps)
        return 0;
    g->now_s = xgrow(g->now_s, &g->now_cap, g->n_ranks, sizeof(*g->now_s));
    for (uint32_t r = 0; r < g->n_ranks; r++)
        g->now_s[r] = NAN;
    if (steps < g->steps)
        p.before = show(kept_at(g, steps));
    for (uint32_t back = steps; back-- > 0;) {
        const struct kept *k = kept_at(g, back);
        const uint16_t *value = k->value;

        for (uint32_t r = 0; r < k->ranks; r++)
            if (isnan(g->now_s[r]) && !isnan(k->begin_s[r])) {
                g->now_s[r] = k->s.begin_s + (double)k->begin_s[r];
                begin_s = fmin(begin_s, g->now_s[r]);
            }
        p.now = show(k);
        p.s = k->s;
        for (size_t i = 0; i < k->s.n; i++) {
            struct graph_op op;

            value = kept_op(k, i, value, &op);
            replay_op(&p, &op);
        }
        free(p.before.at);
        p.before = p.now;
    }
    free(p.before.at);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (!isnan(g->now_s[r]))
            end_s = fmax(end_s, g->now_s[r]);
    return end_s - begin_s;
}
