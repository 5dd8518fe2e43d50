#include "calls/lasting_noise.h"

#include <math.h>
#include <stdlib.h>

#include "calls/pieces.h"
#include "common/xalloc.h"
#include "model/deviate.h"
#include "model/interval.h"

struct lasting_noise {
    uint32_t steps, ranks, at; /* at: the row that was asked for last */
    uint32_t *number;          /* of each step, newest first */
    double *off; /* steps rows of ranks: how much longer the pieces are, over what they should be */
    double sigma, most;
    double unit; /* standard deviation of `off` */
    size_t number_cap, off_cap;
};

struct lasting_noise *lasting_noise_new(void)
{
    return xcalloc(1, sizeof(struct lasting_noise));
}

void lasting_noise_free(struct lasting_noise *l)
{
    if (!l)
        return;
    free(l->number);
    free(l->off);
    free(l);
}

double lasting_noise_sigma(const struct lasting_noise *l)
{
    return l->sigma;
}

double lasting_noise_most(const struct lasting_noise *l)
{
    return l->most;
}

double lasting_noise_off(struct lasting_noise *l, uint32_t rank, uint32_t number)
{
    uint32_t back = l->at;

    if (rank >= l->ranks || !(l->unit > 0))
        return 0;
    if (back >= l->steps || l->number[back] != number) {
        for (back = 0; back < l->steps && l->number[back] != number; back++)
            ;
        l->at = back;
    }
    return back < l->steps ? l->off[(size_t)back * l->ranks + rank] / l->unit : 0;
}

/* The pieces of a rank in a step: what they should take, and by how much they are longer. */
struct together {
    double should_s, off_s;
    double squares, off_squares; /* of each piece */
};

/* The same of all ranks and steps: products of two different pieces. */
struct products {
    double off, should;
    double squares, both, should_squares; /* of those of each rank and step */
    double off_s2, should_s2;             /* of their sums */
};

static void add_products(struct products *p, const struct together *t)
{
    double off = t->off_s * t->off_s - t->off_squares, should = t->should_s * t->should_s - t->squares;

    p->off += off;
    p->should += should;
    p->squares += off * off;
    p->both += off * should;
    p->should_squares += should * should;
    p->off_s2 += t->off_s * t->off_s;
    p->should_s2 += t->should_s * t->should_s;
}

/* Chance explains what is less; and pieces that hang together by more than is ordinary do so for the work's
 * own reasons, and show nothing of the machine. */
static void find_sigma(struct lasting_noise *l, double variance, double error)
{
    double chance = deviate_normal(INTERVAL_SIDE) * error, most = PIECES_ORDINARY * PIECES_ORDINARY;

    if (variance - chance > most)
        return;
    l->most = sqrt(fmin(most, fmax(0, variance) + chance));
    l->sigma = variance > chance ? sqrt(fmin(most, variance)) : 0;
}

static void begin_steps(struct lasting_noise *l, const struct graph *g, uint32_t steps)
{
    l->steps = steps;
    l->ranks = l->at = 0;
    l->sigma = l->most = l->unit = 0;
    l->number = xgrow(l->number, &l->number_cap, steps, sizeof(*l->number));
    for (uint32_t back = 0; back < steps; back++) {
        struct graph_step s = graph_step_get(g, back);

        l->number[back] = s.number;
        for (size_t i = 0; i < s.n; i++)
            l->ranks = s.op[i].rank >= l->ranks ? s.op[i].rank + 1 : l->ranks;
    }
    l->off = xgrow(l->off, &l->off_cap, (size_t)steps * l->ranks, sizeof(*l->off));
}

void lasting_noise_take(struct lasting_noise *l, struct expected *e, const struct graph *g, uint32_t steps,
                        bool (*leave_out)(const struct graph_op *op, const struct graph_step *s, void *arg),
                        void *arg)
{
    struct products p = { 0 };
    struct together *together;
    double variance, error;

    begin_steps(l, g, steps < graph_steps(g) ? steps : graph_steps(g));
    together = xcalloc(l->ranks + 1, sizeof(*together));
    for (uint32_t back = 0; back < l->steps; back++) {
        struct graph_step s = graph_step_get(g, back);

        for (uint32_t r = 0; r < l->ranks; r++)
            together[r] = (struct together){ 0 };
        for (size_t i = 0; i < s.n; i++) {
            const struct graph_op *op = &s.op[i];
            double should_s = expected_s(e, g, op, &s), off_s = op->work_s - should_s;
            struct together *t = &together[op->rank];

            if (!(should_s > 0) || op->work_s > expected_most(e) * should_s || leave_out(op, &s, arg))
                continue;
            t->should_s += should_s;
            t->off_s += off_s;
            t->squares += should_s * should_s;
            t->off_squares += off_s * off_s;
        }
        for (uint32_t r = 0; r < l->ranks; r++) {
            add_products(&p, &together[r]);
            l->off[(size_t)back * l->ranks + r] =
                together[r].should_s > 0 ? together[r].off_s / together[r].should_s : 0;
        }
    }
    free(together);
    if (!(p.should > 0) || !(p.off_s2 > 0))
        return;
    l->unit = sqrt(p.off_s2 / p.should_s2);
    variance = p.off / p.should;
    error =
        sqrt(fmax(0, p.squares - 2 * variance * p.both + variance * variance * p.should_squares)) / p.should;
    if (error > 0)
        find_sigma(l, variance, error);
}
