/* graph_replay.c - the steps again, with something changed. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define BOTH 2u

/* A meeting in a replay: the last arrival, the end (NaN: not known yet). */
struct moments {
    double start_s, over_s;
};

/* A step and its meetings; of each meeting the moments in each replay. */
struct shown {
    const struct kept *k;
    struct moments *at;
};

/* One replay, or several at once: reading the steps takes as long as replaying them. */
struct replay {
    struct graph *g;
    const struct graph_change *change[BOTH]; /* NULL: as it was */
    uint32_t n;
    double begin_s;
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

static inline struct moments *moments_of(const struct replay *p, const struct shown *in, uint32_t at,
                                         uint32_t which)
{
    return &in->at[(size_t)at * p->n + which];
}

static double transfer_s(const struct replay *p, const struct shown *in, uint32_t at, uint32_t which)
{
    const struct graph_change *change = p->change[which];
    struct graph_meeting m;

    if (!change || !change->transfer)
        return kept_unpack(in->k->past[at].over);
    m = kept_meeting(in->k, at);
    return change->transfer(&m, &p->s, change->arg);
}

/* When the meeting is over: a transfer after the last arrival, and after the one before it. */
static double over_s(const struct replay *p, const struct shown *in, uint32_t at, uint32_t which)
{
    struct moments *m = moments_of(p, in, at, which);
    int32_t before = in->k->shape->meeting[at].before;
    double start_s = m->start_s;

    if (!isnan(m->over_s))
        return m->over_s;
    if (before != SHAPED_NONE) {
        uint32_t number = in->k->first + (uint32_t)before;
        const struct shown *of = shown_in(p, number);

        if (of)
            start_s = later(start_s, moments_of(p, of, number - of->k->first, which)->over_s);
    }
    return m->over_s = start_s + transfer_s(p, in, at, which);
}

static void replay_op(const struct replay *p, const struct graph_op *op, const struct shown *in,
                      uint32_t which)
{
    const struct graph_change *change = p->change[which];
    uint32_t at = in ? op->meeting - in->k->first : 0;
    double *now = &p->g->now_s[(size_t)op->rank * p->n + which];
    struct graph_stay stay = { .begin_s = NAN, .over_s = NAN };

    if (isnan(*now))
        return;
    *now += change && change->work && op->has_work ? change->work(op, &p->s, change->arg) : op->work_s;
    stay.enter_s = *now;
    if (in && (op->does & GRAPH_ARRIVES))
        moments_of(p, in, at, which)->start_s = later(moments_of(p, in, at, which)->start_s, *now);
    if (in && (op->does & GRAPH_IS_HELD)) {
        stay.over_s = over_s(p, in, at, which);
        *now = later(*now, stay.over_s);
    }
    *now += op->lag_s;
    if (!change || !change->stay)
        return;
    stay.leave_s = *now;
    if (in)
        stay.begin_s = stay.over_s - transfer_s(p, in, at, which);
    change->stay(op, &p->s, &stay, change->arg);
}

static struct shown show_step(const struct replay *p, const struct kept *k)
{
    struct shown s = { k, xcalloc((size_t)k->n_past * p->n, sizeof(*s.at)) };

    for (size_t i = 0; i < (size_t)k->n_past * p->n; i++)
        s.at[i] = (struct moments){ -INFINITY, NAN };
    return s;
}

/* Ranks that take part in it for the first time begin as they did. */
static void replay_step(struct replay *p, const struct kept *k)
{
    double *now_s = p->g->now_s;
    const uint16_t *value = k->value;

    for (uint32_t r = 0; r < k->ranks; r++)
        if (isnan(now_s[r * p->n]) && !isnan(k->begin_s[r])) {
            for (uint32_t i = 0; i < p->n; i++)
                now_s[r * p->n + i] = k->s.begin_s + (double)k->begin_s[r];
            p->begin_s = fmin(p->begin_s, now_s[r * p->n]);
        }
    p->now = show_step(p, k);
    p->s = k->s;
    for (size_t i = 0; i < k->s.n; i++) {
        const struct shown *in;
        struct graph_op op;

        value = kept_op(k, i, value, &op);
        in = shown_in(p, op.meeting);
        for (uint32_t which = 0; which < p->n; which++)
            replay_op(p, &op, in, which);
    }
    free(p->before.at);
    p->before = p->now;
}

/* When the last rank was through what has been replayed, from the first begin on. */
static double end_s(const struct replay *p, uint32_t which)
{
    double latest_s = -INFINITY;

    for (uint32_t r = 0; r < p->g->n_ranks; r++)
        latest_s = fmax(latest_s, p->g->now_s[(size_t)r * p->n + which]);
    return latest_s - p->begin_s;
}

/* The newest steps; returns how many there are.  ends: of each, or NULL. */
static uint32_t replay_steps(struct replay *p, uint32_t steps, struct graph_ends *ends)
{
    struct graph *g = p->g;

    steps = steps < g->n_kept ? steps : g->n_kept;
    if (!steps)
        return 0;
    p->begin_s = INFINITY;
    g->now_s = xgrow(g->now_s, &g->now_cap, (size_t)g->n_ranks * p->n, sizeof(*g->now_s));
    for (size_t i = 0; i < (size_t)g->n_ranks * p->n; i++)
        g->now_s[i] = NAN;
    if (steps < g->steps)
        p->before = show_step(p, kept_at(g, steps));
    for (uint32_t back = steps; back-- > 0;) {
        replay_step(p, kept_at(g, back));
        if (ends)
            *ends++ = (struct graph_ends){ end_s(p, 0), end_s(p, 1) };
    }
    free(p->before.at);
    return steps;
}

double graph_replay(struct graph *g, uint32_t steps, const struct graph_change *change)
{
    struct replay p = { .g = g, .change = { change }, .n = 1 };

    return replay_steps(&p, steps, NULL) ? end_s(&p, 0) : 0;
}

uint32_t graph_replay_both(struct graph *g, uint32_t steps, const struct graph_change *change,
                           struct graph_ends *ends)
{
    struct replay p = { .g = g, .change = { NULL, change }, .n = BOTH };

    return replay_steps(&p, steps, ends);
}
