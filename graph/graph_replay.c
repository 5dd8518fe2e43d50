/* graph_replay.c - the steps again, with something changed. */
#include <math.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

static double transfer_s(const struct graph *g, uint32_t number, const struct graph_step *s,
                         const struct graph_change *change)
{
    const struct graph_meeting *m = &meeting_at(g, number)->m;

    return change && change->transfer ? change->transfer(m, s, change->arg) : m->over_s;
}

/* When the meeting is over: a transfer after the last arrival, and after the one before it. */
static double over_s(struct graph *g, uint32_t number, const struct graph_step *s,
                     const struct graph_change *change)
{
    const struct meeting *m = meeting_at(g, number);
    double *over = &g->over_s[number - g->base], start_s = g->start_s[number - g->base];

    if (!isnan(*over))
        return *over;
    if (m->m.before != GRAPH_NONE && m->m.before >= g->base)
        start_s = fmax(start_s, g->over_s[m->m.before - g->base]);
    return *over = start_s + transfer_s(g, number, s, change);
}

static void replay_op(struct graph *g, const struct graph_op *op, const struct graph_step *s,
                      const struct graph_change *change)
{
    double *now = &g->now_s[op->rank], *start = &g->start_s[op->meeting - g->base];
    bool watched = change && change->stay;
    struct graph_stay stay = { .begin_s = NAN, .over_s = NAN };

    if (isnan(*now))
        return;
    *now += change && change->work ? change->work(op, s, change->arg) : op->work_s;
    stay.enter_s = *now;
    if (op->does & GRAPH_ARRIVES)
        *start = fmax(*start, *now);
    if (op->does & GRAPH_IS_HELD) {
        stay.over_s = over_s(g, op->meeting, s, change);
        *now = fmax(*now, stay.over_s);
    }
    *now += op->lag_s;
    if (!watched)
        return;
    stay.leave_s = *now;
    stay.begin_s = stay.over_s - transfer_s(g, op->meeting, s, change);
    change->stay(op, s, &stay, change->arg);
}

double graph_replay(struct graph *g, uint32_t steps, const struct graph_change *change)
{
    double begin_s = INFINITY, end_s = -INFINITY;

    steps = steps < g->n_kept ? steps : g->n_kept;
    if (!steps)
        return 0;
    g->now_s = xgrow(g->now_s, &g->now_cap, g->n_ranks, sizeof(*g->now_s));
    g->start_s = xgrow(g->start_s, &g->start_cap, g->n_meetings, sizeof(*g->start_s));
    g->over_s = xgrow(g->over_s, &g->over_cap, g->n_meetings, sizeof(*g->over_s));
    for (uint32_t r = 0; r < g->n_ranks; r++)
        g->now_s[r] = NAN;
    for (uint32_t i = 0; i < g->n_meetings; i++) {
        g->start_s[i] = -INFINITY;
        g->over_s[i] = NAN;
    }
    for (uint32_t back = steps; back-- > 0;) {
        const struct kept *k = &g->kept[(g->steps - 1 - back) % GRAPH_STEPS];

        for (uint32_t r = 0; r < k->ranks; r++) /* others came later */
            if (isnan(g->now_s[r]) && !isnan(k->begin_s[r])) {
                g->now_s[r] = k->begin_s[r];
                begin_s = fmin(begin_s, k->begin_s[r]);
            }
        for (size_t i = 0; i < k->s.n; i++)
            replay_op(g, &k->op[i], &k->s, change);
    }
    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (!isnan(g->now_s[r]))
            end_s = fmax(end_s, g->now_s[r]);
    return end_s - begin_s;
}
