#include "analysis/price.h"

#include <math.h>

#define PAUSE 2.2 /* times the usual work at that place; more is no work of the rank's */

/* Share of the work that goes with the excess. */
static double share_of(double excess)
{
    return excess > 0 ? excess / (1 + excess) : 0;
}

static double without_excess(const struct graph_op *op, const struct graph_step *s,
                             const struct price_work *k, double work_s)
{
    double excess = k->excess, base = work_s;

    if (!(excess > 0) || s->number < k->from)
        return work_s;
    if (s->number < k->until)
        excess *= (s->number - k->from) / (double)(k->until - k->from);
    if (op->usual_s > 0 && base > PAUSE * op->usual_s)
        base = op->usual_s;
    return work_s - base * share_of(excess);
}

static double work(const struct graph_op *op, const struct graph_step *s, void *arg)
{
    const struct price_change *c = arg;
    double work_s = op->work_s, usual_s = op->usual_s * s->factor;

    if (s->number < c->from)
        return work_s;
    if (c->work)
        work_s = without_excess(op, s, &c->work[op->rank], work_s);
    if (!(usual_s > 0))
        return work_s;
    if (c->other && s->number >= c->other[op->rank].from)
        usual_s *= 1 + c->other[op->rank].excess;
    if (c->struck_s > 0 && !s->pause && work_s > usual_s + c->struck_s)
        work_s = usual_s;
    if (c->even >= 0 && work_s < PAUSE * usual_s)
        work_s = usual_s + c->even * (work_s - usual_s);
    return work_s;
}

static double transfer(const struct graph_meeting *m, const struct graph_step *s, void *arg)
{
    const struct price_change *c = arg;
    double most_s = c->transfer_s[m->kind];

    return s->number >= c->from && most_s > 0 && m->over_s > most_s ? most_s : m->over_s;
}

double price_saved_s(struct graph *g, const struct price_change *c, double *of_s)
{
    struct graph_change change = { .work = work,
                                   .transfer = c->transfer_s ? transfer : NULL,
                                   .arg = (void *)(uintptr_t)c };
    uint32_t steps = 0;

    while (steps < graph_steps(g) && graph_step_get(g, steps).number >= c->from)
        steps++;
    *of_s = graph_replay(g, steps, NULL);
    return fmax(0, *of_s - graph_replay(g, steps, &change));
}
