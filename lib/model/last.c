#include "model/last.h"

#include <math.h>

#include "model/deviate.h"

#define LAST_POINTS 200
#define TAIL_POINTS 200

/* Cumulative distributions on an even grid. */
struct grid {
    double from, step, f[LAST_POINTS];
};

static double at(const struct grid *g, int i)
{
    return g->from + g->step * i;
}

static double rank_share(const struct last *l, double x)
{
    double core;

    if (!(l->rank_sd > 0)) {
        core = x >= 0;
    } else if (l->lognormal) {
        double s2 = log1p(l->rank_sd * l->rank_sd);

        core = x > -1 ? deviate_normal_share((log1p(x) + s2 / 2) / sqrt(s2)) : 0;
    } else {
        core = deviate_normal_share(x / l->rank_sd);
    }
    if (l->tail_rate > 0 && x > l->tail_from)
        return core * (1 - l->tail_rate * exp(-(x - l->tail_from) / l->tail_mean));
    return l->tail_rate > 0 ? core * (1 - l->tail_rate) : core;
}

static void raise(struct grid *g, double power)
{
    for (int i = 0; i < LAST_POINTS; i++)
        g->f[i] = g->f[i] > 0 ? pow(g->f[i], power) : 0;
}

/* Add normal noise of this sd: spread each increment of the distribution over the grid. */
static void smear(struct grid *g, double sd)
{
    double kernel[LAST_POINTS], out[LAST_POINTS];
    int reach = (int)fmin(LAST_POINTS - 1, ceil(5 * sd / g->step));

    if (!(sd > 0.25 * g->step))
        return;
    /* kernel[d]: value of a smeared unit step at 0, d points away. */
    for (int d = 0; d <= reach; d++)
        kernel[d] = deviate_normal_share(d * g->step / sd);
    for (int i = 0; i < LAST_POINTS; i++) {
        int from = i - reach < 0 ? 0 : i - reach,
            to = i + reach > LAST_POINTS - 1 ? LAST_POINTS - 1 : i + reach;

        out[i] = from > 0 ? g->f[from - 1] : 0;
        for (int j = from; j <= to; j++) {
            double increment = g->f[j] - (j ? g->f[j - 1] : 0);
            /* The increment of a cell is half a cell lower on average. */
            double before = j <= i ? kernel[i - j] : 1 - kernel[j - i];
            double after = j - 1 <= i ? kernel[i - j + 1 > reach ? reach : i - j + 1] : 1 - kernel[j - 1 - i];

            out[i] += increment * (j ? (before + after) / 2 : before);
        }
    }
    for (int i = 0; i < LAST_POINTS; i++)
        g->f[i] = fmin(1, out[i]);
}

/* Multiply by the distributions of ranks that differ from the others, in addition to the noise of all. */
static void multiply_apart(struct grid *g, const struct last *l)
{
    double sd = sqrt(l->rank_sd * l->rank_sd + l->node_sd * l->node_sd + l->switch_sd * l->switch_sd);

    for (unsigned k = 0; k < l->apart; k++)
        for (int i = 0; i < LAST_POINTS; i++)
            g->f[i] *= sd > 0 ? deviate_normal_share((at(g, i) - l->apart_mean[k]) / sd)
                              : at(g, i) >= l->apart_mean[k];
}

/* Add the first and second moment of the tail beyond the grid. */
static void add_tail(const struct last *l, double from, double *mean, double *square)
{
    double to = fmax(from, l->tail_from) + l->tail_mean * (12 + log1p(l->ranks * l->tail_rate));
    double step = (to - from) / TAIL_POINTS;

    for (int i = 0; i < TAIL_POINTS; i++) {
        double x = from + step * (i + 0.5);
        double beyond = x > l->tail_from ? exp(-(x - l->tail_from) / l->tail_mean) : 1;
        double left = -expm1(l->ranks * log1p(-l->tail_rate * beyond));

        *mean += left * step;
        *square += 2 * x * left * step;
    }
}

static void reach_of(const struct last *l, double common_sd, struct grid *g)
{
    double outer = hypot(common_sd, hypot(l->node_sd, l->switch_sd)), z = sqrt(2 * log(l->ranks + 2)) + 3.5,
           to;
    double s = sqrt(log1p(l->rank_sd * l->rank_sd));

    to = z * outer + (l->lognormal ? expm1(z * s) : z * l->rank_sd);
    g->from = -(5 * outer + fmin(5 * l->rank_sd, l->lognormal ? 1 : INFINITY));
    for (unsigned k = 0; k < l->apart; k++)
        to = fmax(to, l->apart_mean[k] + 5 * hypot(outer, l->rank_sd));
    if (!(to > g->from))
        to = g->from + 1e-9;
    g->step = (to - g->from) / (LAST_POINTS - 1);
}

static void distribute(const struct last *l, double common_sd, struct grid *g)
{
    double per_node = fmax(1, fmin(l->ranks, l->ranks_per_node)), nodes = l->ranks / per_node;
    double per_switch = l->nodes_per_switch > 0 ? fmin(nodes, l->nodes_per_switch) : nodes;

    reach_of(l, common_sd, g);
    for (int i = 0; i < LAST_POINTS; i++)
        g->f[i] = rank_share(l, at(g, i));
    raise(g, per_node);
    smear(g, l->node_sd);
    raise(g, per_switch);
    smear(g, l->switch_sd);
    raise(g, nodes / per_switch);
    multiply_apart(g, l);
    smear(g, common_sd);
}

double last_mean(const struct last *l, double *sd)
{
    double mean, square, end;
    struct grid g;

    if (sd)
        *sd = 0;
    if (!(l->ranks > 1) && !l->apart)
        return 0;
    distribute(l, 0, &g);
    end = at(&g, LAST_POINTS - 1);
    mean = end;
    square = end * end;
    for (int i = 0; i + 1 < LAST_POINTS; i++) {
        double f = (g.f[i] + g.f[i + 1]) / 2, x = (at(&g, i) + at(&g, i + 1)) / 2;

        mean -= f * g.step;
        square -= 2 * x * f * g.step;
    }
    if (l->tail_rate > 0)
        add_tail(l, end, &mean, &square);
    if (sd)
        *sd = sqrt(fmax(0, square - mean * mean));
    return mean;
}

double last_quantile(const struct last *l, double common_sd, double p)
{
    struct grid g;
    double beyond;
    int i = 0;

    distribute(l, common_sd, &g);
    while (i < LAST_POINTS && g.f[i] < p)
        i++;
    if (i == 0)
        return g.from;
    if (i < LAST_POINTS)
        return at(&g, i) - g.step * (g.f[i] - p) / (g.f[i] - g.f[i - 1]);
    if (!(l->tail_rate > 0))
        return at(&g, LAST_POINTS - 1);
    beyond = -expm1(log(p) / l->ranks) / l->tail_rate; /* share of a rank's delays that are longer */
    return fmax(at(&g, LAST_POINTS - 1), l->tail_from - l->tail_mean * log(fmin(1, beyond)));
}
