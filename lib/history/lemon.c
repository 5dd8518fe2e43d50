#include "history/lemon.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/deviate.h"

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
                      : 1 - deviate_beta_share(rate * PRIOR_JOBS + l->culprits,
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
