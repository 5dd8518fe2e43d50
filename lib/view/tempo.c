#include "view/tempo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "detect/trend.h"
#include "model/statistics.h"

#define LEVEL     2u /* points in a row that show what a step takes: one may be an evaluation */
#define POINTS    6u /* fewer show no change: a level before it, one after, the first point and one between */
#define SLOWER    1.2   /* chosen: above what a job's pace wanders by itself */
#define NOISES    6.0   /* deviations of a point, likewise */
#define STRETCHED 0.1   /* share of the run below which slow stretches are not worth a sentence; chosen */
#define SURE_Z    2.576 /* one in a hundred steady runs would be said to grow, were it not slower as well */

/* ---- points ---- */

static float median_of(const struct tempo *t, size_t offset)
{
    double v[TEMPO_STEPS];
    size_t n = 0;

    for (uint32_t i = 0; i < TEMPO_STEPS; i++) {
        float s = *(const float *)((const char *)&t->open[i] + offset);

        if (!isnan(s))
            v[n++] = s;
    }
    return 2 * n > TEMPO_STEPS ? (float)statistics_median(v, n) : NAN;
}

static void add(struct tempo_step *to, const struct tempo_step *s, float times)
{
    to->step_s += times * s->step_s;
    to->work_s += times * s->work_s;
    to->transfer_s += times * s->transfer_s;
}

static void merge_pairs(struct tempo *t)
{
    for (size_t i = 0; i < TEMPO_POINTS / 2; i++) {
        struct tempo_step mean = { 0 };

        add(&mean, &t->point[2 * i], 0.5f);
        add(&mean, &t->point[2 * i + 1], 0.5f);
        t->point[i] = mean;
        t->from[i] = t->from[2 * i];
    }
    t->n = TEMPO_POINTS / 2;
    t->wide *= 2;
}

void tempo_take(struct tempo *t, uint64_t step, const struct tempo_step *s)
{
    struct tempo_step median;

    if (!t->opened && !t->summed)
        t->next_from = t->n ? t->newest + 1 : step;
    t->newest = step;
    t->wide += !t->wide;
    t->open[t->opened++] = *s;
    if (t->opened < TEMPO_STEPS)
        return;
    t->opened = 0;
    median = (struct tempo_step){ median_of(t, offsetof(struct tempo_step, step_s)),
                                  median_of(t, offsetof(struct tempo_step, work_s)),
                                  median_of(t, offsetof(struct tempo_step, transfer_s)) };
    if (isnan(median.step_s))
        return;
    add(&t->sum, &median, 1);
    if (++t->summed < t->wide)
        return;
    if (t->n == TEMPO_POINTS) { /* this one goes on, twice as wide as it was */
        merge_pairs(t);
        return;
    }
    t->point[t->n] = (struct tempo_step){ 0 };
    add(&t->point[t->n], &t->sum, 1 / (float)t->summed);
    t->from[t->n++] = t->next_from;
    t->sum = (struct tempo_step){ 0 };
    t->summed = 0;
}

/* ---- what changed ---- */

static struct tempo_step level_at(const struct tempo *t, size_t at)
{
    struct tempo_step mean = { 0 };

    for (size_t i = at; i < at + LEVEL; i++)
        add(&mean, &t->point[i], 1.0f / LEVEL);
    return mean;
}

/* How far a point is off, from how far it is from the next one: that is the same where it changes for good.
 */
static double noise_of(const struct tempo *t)
{
    double d[TEMPO_POINTS];

    for (size_t i = 0; i + 1 < t->n; i++)
        d[i] = fabs(t->point[i + 1].step_s - t->point[i].step_s);
    return STATISTICS_MAD_TO_SD * statistics_median(d, t->n - 1) * M_SQRT1_2;
}

static bool is_growing(const struct tempo *t, size_t from)
{
    double at[TEMPO_POINTS], y[TEMPO_POINTS];
    struct trend trend;

    for (size_t i = from; i < t->n; i++) {
        at[i - from] = (double)t->from[i];
        y[i - from] = t->point[i].step_s;
    }
    trend_fit(at, y, t->n - from, SURE_Z, &trend);
    return trend.direction == TREND_RISING;
}

static uint64_t steps_of(const struct tempo *t, size_t at)
{
    uint64_t end = at + 1 < t->n ? t->from[at + 1] : t->opened || t->summed ? t->next_from : t->newest + 1;

    return end - t->from[at];
}

static void find_stretches(const struct tempo *t, double limit_s, struct tempo_change *c)
{
    size_t slow = 0, run = 0;
    struct tempo_step mean = { 0 };

    for (size_t i = 1; i <= t->n; i++) {
        bool is = i < t->n && t->point[i].step_s > limit_s;

        run = is ? run + 1 : 0;
        if (run < LEVEL)
            continue;
        c->stretches += run == LEVEL;
        for (size_t k = run == LEVEL ? i + 1 - LEVEL : i; k <= i; k++, slow++) {
            add(&mean, &t->point[k], 1);
            c->steps += steps_of(t, k);
        }
    }
    if (!slow || (double)slow < STRETCHED * (double)t->n)
        return;
    c->kind = TEMPO_STRETCHES;
    add(&c->now, &mean, 1 / (float)slow);
}

struct tempo_step tempo_longer(const struct tempo_change *c)
{
    struct tempo_step longer = { c->now.step_s - c->before.step_s, c->now.work_s - c->before.work_s,
                                 c->now.transfer_s - c->before.transfer_s };

    if (!isnan(longer.work_s))
        longer.work_s = fminf(longer.step_s, fmaxf(0, longer.work_s));
    if (!isnan(longer.transfer_s)) /* medians of each need not add up */
        longer.transfer_s = fminf(longer.step_s - longer.work_s, fmaxf(0, longer.transfer_s));
    return longer;
}

void tempo_get(const struct tempo *t, struct tempo_change *c)
{
    size_t fastest = 1, since = t->n;
    double limit_s, middle_s;
    struct tempo_step now;

    *c = (struct tempo_change){ .kind = TEMPO_STEADY };
    if (t->n < POINTS)
        return;
    for (size_t i = 1; i + 2 * LEVEL <= t->n; i++) /* the first point may have started the program */
        if (level_at(t, i).step_s < level_at(t, fastest).step_s)
            fastest = i;
    c->before = level_at(t, fastest);
    limit_s = fmax(SLOWER * c->before.step_s, c->before.step_s + NOISES * noise_of(t));
    now = level_at(t, t->n - LEVEL);
    if (fmin(t->point[t->n - 1].step_s, t->point[t->n - LEVEL].step_s) <= limit_s) {
        find_stretches(t, limit_s, c);
        return;
    }
    c->now = now;
    middle_s = (c->before.step_s + now.step_s) / 2;
    while (t->point[since - 1].step_s > middle_s)
        since--;
    c->kind = is_growing(t, fastest) ? TEMPO_GROWING : TEMPO_SLOWER;
    c->since = t->from[c->kind == TEMPO_GROWING ? fastest : since];
}
