#include "calls/path.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

/* what is shorter is left to the piece before it: clocks are not better */
#define LEAST_S    1e-6
#define TOGETHER_S 2e-5 /* ranks that end so close end together */

/* ---- when each operation was ---- */

static void follow_ranks(struct path *p, const struct graph *g, uint32_t back)
{
    uint32_t *last = xcalloc(p->ranks, sizeof(*last));
    double *now_s = xcalloc(p->ranks, sizeof(*now_s));

    for (uint32_t r = 0; r < p->ranks; r++) {
        now_s[r] = graph_begin_s(g, back, r);
        last[r] = p->first[r] = GRAPH_NONE;
    }
    for (uint32_t i = 0; i < p->step.n; i++) {
        const struct graph_op *op = &p->step.op[i];
        double enter_s = now_s[op->rank] + op->work_s, out_s = enter_s;

        if (op->does & GRAPH_IS_HELD)
            out_s = fmax(out_s, graph_meeting_get(g, op->meeting)->end_s);
        p->enter_s[i] = enter_s;
        p->out_s[i] = now_s[op->rank] = out_s + op->lag_s;
        p->before[i] = last[op->rank];
        p->after[i] = GRAPH_NONE;
        if (last[op->rank] == GRAPH_NONE)
            p->first[op->rank] = i;
        else
            p->after[last[op->rank]] = i;
        last[op->rank] = i;
    }
    free(last);
    free(now_s);
}

static void find_arrivals(struct path *p)
{
    uint32_t low = UINT32_MAX, high = 0;

    for (size_t i = 0; i < p->step.n; i++) {
        low = p->step.op[i].meeting < low ? p->step.op[i].meeting : low;
        high = p->step.op[i].meeting > high ? p->step.op[i].meeting : high;
    }
    p->base = low;
    p->meetings = high - low + 1;
    p->arrival = xcalloc(p->meetings, sizeof(*p->arrival));
    for (uint32_t i = 0; i < p->meetings; i++)
        p->arrival[i] = GRAPH_NONE;
    for (uint32_t i = 0; i < p->step.n; i++) {
        uint32_t *at = &p->arrival[p->step.op[i].meeting - p->base];

        if ((p->step.op[i].does & GRAPH_ARRIVES) && (*at == GRAPH_NONE || p->enter_s[i] >= p->enter_s[*at]))
            *at = i;
    }
}

/* The last operation that arrives at this meeting in this step; GRAPH_NONE: none does. */
static uint32_t last_arrival(const struct path *p, uint32_t meeting)
{
    return meeting >= p->base && meeting - p->base < p->meetings ? p->arrival[meeting - p->base] : GRAPH_NONE;
}

double path_begin_s(const struct path *p, const struct graph *g, uint32_t op)
{
    const struct graph_meeting *m = graph_meeting_get(g, p->step.op[op].meeting);

    return m->end_s - m->over_s;
}

/* ---- the walk ---- */

struct walk {
    struct path *p;
    const struct graph *g;
    double at_s; /* everything from here on is explained */
    size_t cap;
};

/* What the path did from begin_s on, until what comes after it. */
static void add_piece(struct walk *w, enum path_kind kind, uint32_t rank, uint32_t from, uint32_t meeting,
                      double begin_s)
{
    struct path *p = w->p;
    struct path_piece *last = p->n ? &p->piece[p->n - 1] : NULL;

    if (!(begin_s < w->at_s - LEAST_S))
        return;
    if (last && last->kind == kind && last->rank == rank && last->meeting == meeting && last->from == rank) {
        last->from = from;
        last->begin_s = w->at_s = begin_s;
        return;
    }
    p->piece = xgrow(p->piece, &w->cap, p->n + 1, sizeof(*p->piece));
    p->piece[p->n++] = (struct path_piece){ rank, from, meeting, (uint8_t)kind, begin_s, w->at_s };
    w->at_s = begin_s;
}

/* Back through a transfer that ended at rank, and those before it that its communicator waited for; returns
 * the operation on whose arrival it began, GRAPH_NONE: that was in an earlier step. */
static uint32_t through_transfer(struct walk *w, uint32_t meeting, uint32_t rank)
{
    for (;;) {
        const struct graph_meeting *m = graph_meeting_get(w->g, meeting);
        uint32_t j = last_arrival(w->p, meeting);
        uint32_t from = j == GRAPH_NONE ? rank : w->p->step.op[j].rank;

        add_piece(w, PATH_TRANSFER, rank, from, meeting, m->end_s - m->over_s);
        if (j == GRAPH_NONE)
            return GRAPH_NONE;
        if (!(w->p->enter_s[j] < w->at_s - LEAST_S) || last_arrival(w->p, m->before) == GRAPH_NONE) {
            add_piece(w, PATH_WAIT, from, from, GRAPH_NONE, w->p->enter_s[j]);
            return j;
        }
        meeting = m->before;
        rank = from;
    }
}

/* Was the rank's time in this operation that of its meeting? */
static bool was_held(const struct path *p, const struct graph *g, uint32_t i)
{
    const struct graph_op *op = &p->step.op[i];

    if (op->does & GRAPH_IS_HELD)
        return graph_meeting_get(g, op->meeting)->end_s > p->enter_s[i];
    /* A sender that stayed until its receiver came. */
    return op->lag_s > 0 && path_begin_s(p, g, i) > p->enter_s[i] && path_begin_s(p, g, i) < p->out_s[i] &&
           last_arrival(p, op->meeting) != i;
}

/* The operation that ends last; of several that end together, that of the rank that they waited for. */
static uint32_t last_of(const struct path *p, const struct graph *g)
{
    uint32_t last = 0, held;

    for (uint32_t i = 1; i < p->step.n; i++)
        if (graph_comparable(g, p->step.op[i].rank, p->step.op[last].rank) && p->out_s[i] >= p->out_s[last])
            last = i;
    held = last_arrival(p, p->step.op[last].meeting);
    held = held == GRAPH_NONE ? GRAPH_NONE : p->after[held];
    if (held != GRAPH_NONE && p->step.op[held].meeting == p->step.op[last].meeting &&
        p->out_s[held] > p->out_s[last] - TOGETHER_S)
        return held;
    return last;
}

static void walk_back(struct path *p, const struct graph *g)
{
    uint32_t i = last_of(p, g);
    struct walk w = { p, g, p->out_s[i], 0 };

    /* Each turn explains an earlier operation; calls that are missing can make a circle of them. */
    for (size_t turns = 0; i != GRAPH_NONE && turns < 2 * p->step.n; turns++) {
        const struct graph_op *op = &p->step.op[i];
        const struct graph_meeting *m = graph_meeting_get(g, op->meeting);
        bool held = op->does & GRAPH_IS_HELD;

        if (was_held(p, g, i)) {
            add_piece(&w, held ? PATH_CALL : PATH_TRANSFER, op->rank, op->rank, op->meeting,
                      held ? m->end_s : path_begin_s(p, g, i));
            i = held ? through_transfer(&w, op->meeting, op->rank) : last_arrival(p, op->meeting);
            if (i == GRAPH_NONE)
                return;
            op = &p->step.op[i];
        } else {
            add_piece(&w, held ? PATH_CALL : PATH_TRANSFER, op->rank, op->rank, op->meeting, p->enter_s[i]);
        }
        add_piece(&w, op->known ? PATH_WORK : PATH_UNKNOWN, op->rank, op->rank, GRAPH_NONE,
                  p->enter_s[i] - op->work_s);
        i = p->before[i];
    }
}

struct path *path_new(const struct graph *g, uint32_t back, uint32_t ranks)
{
    struct path *p;
    struct graph_step step;

    if (back >= graph_steps(g) || !(step = graph_step_get(g, back)).n)
        return NULL;
    p = xcalloc(1, sizeof(*p));
    p->step = step;
    p->ranks = ranks;
    for (size_t i = 0; i < step.n; i++)
        p->ranks = step.op[i].rank >= p->ranks ? step.op[i].rank + 1 : p->ranks;
    p->enter_s = xcalloc(step.n, sizeof(*p->enter_s));
    p->out_s = xcalloc(step.n, sizeof(*p->out_s));
    p->before = xcalloc(step.n, sizeof(*p->before));
    p->after = xcalloc(step.n, sizeof(*p->after));
    p->first = xcalloc(p->ranks, sizeof(*p->first));
    follow_ranks(p, g, back);
    find_arrivals(p);
    walk_back(p, g);
    for (size_t i = 0; i < p->n / 2; i++) {
        struct path_piece early = p->piece[p->n - 1 - i];

        p->piece[p->n - 1 - i] = p->piece[i];
        p->piece[i] = early;
    }
    return p;
}

void path_free(struct path *p)
{
    if (!p)
        return;
    free(p->enter_s);
    free(p->out_s);
    free(p->before);
    free(p->after);
    free(p->first);
    free(p->piece);
    free(p->arrival);
    free(p);
}
