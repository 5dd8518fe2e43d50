#include "history/lemon.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* Weight of the prior in jobs.  It is not estimated from the nodes' spread: among few nodes, a lemon itself
 * would weaken it. */
#define PRIOR_JOBS 20.0

struct lemons {
    struct lemon *lemon;
    size_t n, cap;
    /* The user whose jobs on the last node are being summed. */
    int64_t user;
    double user_jobs, user_culprits;
};

struct lemons *lemons_new(void)
{
    return xcalloc(1, sizeof(struct lemons));
}

void lemons_free(struct lemons *t)
{
    if (!t)
        return;
    free(t->lemon);
    free(t);
}

/* The user's jobs on the last node are complete: add their joint weight. */
static void close_user(struct lemons *t)
{
    double n = t->user_jobs, worth = n > 1 ? 1 / (1 + (n - 1) * LEMON_ALIKE) : 1;

    if (!t->n)
        return;
    t->lemon[t->n - 1].jobs += n * worth;
    t->lemon[t->n - 1].culprits += t->user_culprits * worth;
    t->lemon[t->n - 1].culprit_users += t->user_culprits > 0;
    t->user_jobs = t->user_culprits = 0;
}

void lemons_add(struct lemons *t, const char *node, int64_t user, double seconds, double culprit_s,
                double age_days)
{
    double weight, share;
    struct lemon *l;

    if (!(seconds > 0))
        return;
    if (!t->n || strcmp(t->lemon[t->n - 1].node, node)) {
        close_user(t);
        t->lemon = xgrow(t->lemon, &t->cap, t->n + 1, sizeof(*t->lemon));
        t->lemon[t->n] = (struct lemon){ .score = NAN };
        snprintf(t->lemon[t->n++].node, sizeof(t->lemon[0].node), "%s", node);
    } else if (user != t->user) {
        close_user(t);
    }
    t->user = user;
    l = &t->lemon[t->n - 1];
    weight = fmin(1, seconds / LEMON_FULL_S) * exp2(-fmax(0, age_days) / LEMON_HALF_LIFE_DAYS);
    share = culprit_s > 0 ? fmin(1, culprit_s / seconds) : 0;
    l->seen_jobs++;
    l->culprit_jobs += share > 0;
    t->user_jobs += weight;
    t->user_culprits += weight * share;
}

/* ---- the Beta distribution ---- */

/* The continued fraction of the incomplete Beta function (DLMF 8.17.22) by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), h;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    h = d;
    for (int m = 1; m <= 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-12)
            break;
    }
    return h;
}

static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

double lemon_beta_cdf(double a, double b, double x)
{
    double front;

    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    /* The fraction converges fast on x's side of the mean. */
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* ---- the score ---- */

/* Sums over a set of nodes, from which one node can be subtracted. */
struct sums {
    double nodes, jobs, culprits;
};

static void sums_add(struct sums *s, const struct lemon *l, double sign)
{
    if (!(l->jobs > 0))
        return;
    s->nodes += sign;
    s->jobs += sign * l->jobs;
    s->culprits += sign * l->culprits;
}

/* others: the sums of all nodes except this one. */
static double score_lemon(const struct lemon *l, const struct sums *others)
{
    double rate = fmax(LEMON_MIN_RATE, (others->culprits + LEMON_MIN_RATE) / (fmax(0, others->jobs) + 1));
    double limit = LEMON_TIMES * rate;

    if (l->jobs < LEMON_MIN_JOBS || others->nodes < 1)
        return NAN;
    return limit >= 1 ? 0
                      : 1 - lemon_beta_cdf(rate * PRIOR_JOBS + l->culprits,
                                           (1 - rate) * PRIOR_JOBS + l->jobs - l->culprits, limit);
}

void lemons_score(struct lemons *t)
{
    struct sums all = { 0 };

    close_user(t);
    for (size_t i = 0; i < t->n; i++)
        sums_add(&all, &t->lemon[i], 1);
    for (size_t i = 0; i < t->n; i++) {
        struct sums others = all;

        sums_add(&others, &t->lemon[i], -1);
        t->lemon[i].score = score_lemon(&t->lemon[i], &others);
    }
}

static int by_name(const void *name, const void *lemon)
{
    return strcmp(name, ((const struct lemon *)lemon)->node);
}

const struct lemon *lemons_find(const struct lemons *t, const char *node)
{
    return t->n ? bsearch(node, t->lemon, t->n, sizeof(*t->lemon), by_name) : NULL;
}

const struct lemon *lemons_get(const struct lemons *t, size_t *n)
{
    *n = t->n;
    return t->lemon;
}
