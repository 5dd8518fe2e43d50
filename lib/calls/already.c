#include "calls/already.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "model/statistics.h"

/* Steps since the onset. Chosen: fewer do not show how much they vary. Before it fewer show that it was not
 * slow, for they are taken to vary as much at least; of one it is not known whether it was an odd one. */
#define ALREADY_MIN        4u
#define ALREADY_BEFORE_MIN 2u
/* standard errors by which less was there than all of it; as SHORTER_Z of detect/diagnosis_price.c */
#define LESS_Z 2.0
/* Of the excess. Chosen: with a larger error (LESS_Z of it) half the excess cannot be told from all or none.
 */
#define ERROR_MAX 0.25

struct level { /* of a place, since the onset */
    double sum_s;
    uint32_t n;
};

struct side {
    double x[GRAPH_STEPS];
    uint32_t n;
};

/* How much of the excess there was, and its standard error. */
struct share {
    double is, error;
    uint32_t steps;
};

struct compared {
    const struct graph *g;
    const struct level *level;
    uint32_t ranks;
    double *is_s, *should_s; /* by rank */
    float *ratio;
    bool (*is_one)(uint32_t rank, const void *arg);
    const void *arg;
};

static bool counts(const struct graph_op *op, const struct graph_step *s)
{
    return op->known && op->place != GRAPH_NONE && !(s->pause_s > 0);
}

/* Those ranks' work in a step over what it takes since the onset, over the same of the others; NaN: unknown
 */
static double of_others(const struct compared *c, const struct graph_step *s)
{
    double own = 0;
    uint32_t own_n = 0, n = 0;

    for (uint32_t r = 0; r < c->ranks; r++)
        c->is_s[r] = c->should_s[r] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct graph_op *op = &s->op[i];

        if (!counts(op, s) || !c->level[op->place].n || op->rank >= c->ranks)
            continue;
        c->is_s[op->rank] += op->work_s;
        c->should_s[op->rank] += c->level[op->place].sum_s / c->level[op->place].n;
    }
    for (uint32_t r = 0; r < c->ranks; r++) {
        double ratio = c->is_s[r] / c->should_s[r];

        if (!(c->should_s[r] > 0))
            continue;
        if (!c->is_one(r, c->arg)) {
            c->ratio[n++] = (float)ratio;
        } else {
            own += ratio;
            own_n++;
        }
    }
    return own_n && n ? own / own_n / statistics_medianf(c->ratio, n) : NAN;
}

static void add(struct side *s, double x)
{
    s->x[s->n++] = x;
}

/* Of the values below a limit, of which there are n. */
static double mean_below(const struct side *s, double limit, double *variance, uint32_t *n)
{
    double sum = 0, squares = 0, mean;

    *n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->x[i] < limit) {
            sum += s->x[i];
            squares += s->x[i] * s->x[i];
            ++*n;
        }
    mean = sum / *n;
    *variance = fmax(0, squares / *n - mean * mean) / (*n - 1.0); /* of the mean */
    return mean;
}

/* In the steps before that show less of it than a share. */
static struct share share_below(const struct side *before, const struct side *since, double limit,
                                double excess)
{
    double is_variance, was_variance, is, was;
    struct share share;
    uint32_t n;

    is = mean_below(since, INFINITY, &is_variance, &n);
    was = mean_below(before, is * (1 + limit * excess) / (1 + excess), &was_variance, &share.steps);
    share.is = (was / is * (1 + excess) - 1) / excess;
    if (!(was_variance > is_variance * n / share.steps)) /* of one step alone it is not known */
        was_variance = is_variance * n / share.steps;
    share.error = sqrt(was_variance + is_variance) * (1 + excess) / excess;
    return share;
}

static struct level *levels_since(const struct graph *g, uint32_t from)
{
    struct level *level = xcalloc(graph_places(g) + 1, sizeof(*level));

    for (uint32_t back = 0; back < graph_steps(g); back++) {
        struct graph_step s = graph_step_get(g, back);

        if (s.number < from)
            break;
        for (size_t i = 0; i < s.n; i++)
            if (counts(&s.op[i], &s)) {
                level[s.op[i].place].sum_s += s.op[i].work_s;
                level[s.op[i].place].n++;
            }
    }
    return level;
}

double already_steps(const struct graph *g, uint32_t from, double excess, uint32_t ranks,
                     bool (*is_one)(uint32_t rank, const void *arg), const void *arg)
{
    struct level *level = levels_since(g, from);
    struct compared c = { g,
                          level,
                          ranks,
                          xcalloc(ranks + 1, sizeof(double)),
                          xcalloc(ranks + 1, sizeof(double)),
                          xcalloc(ranks + 1, sizeof(float)),
                          is_one,
                          arg };
    struct side before = { 0 }, since = { 0 };
    struct share all, without;

    for (uint32_t back = 0; back < graph_steps(g); back++) {
        struct graph_step s = graph_step_get(g, back);
        double x = of_others(&c, &s);

        if (!isnan(x))
            add(s.number < from ? &before : &since, x);
    }
    free(level);
    free(c.is_s);
    free(c.should_s);
    free(c.ratio);
    if (!before.n)
        return PRICING_FORGOTTEN;
    if (before.n < ALREADY_BEFORE_MIN || since.n < ALREADY_MIN || !(excess > 0))
        return NAN;
    all = share_below(&before, &since, INFINITY, excess);
    without = share_below(&before, &since, 0.5, excess);
    /* Less than nothing: it became slower by more than the excess says, and it is not known since when. */
    if (!(all.error < ERROR_MAX) || (without.steps > 1 && without.is < -ERROR_MAX))
        return NAN;
    /* Each of them shows most of it, if not all: a warm-up may differ. Since when, only many steps before
     * would show. */
    if (all.is > 1 - LESS_Z * all.error || !without.steps)
        return before.n < ALREADY_MIN ? NAN : INFINITY;
    return fmax(0, all.is) * before.n;
}
