#include "detect/rhythm.h"

#include <math.h>

/* steps between two looks, each of which folds all remembered steps at every period; chosen: as a bound */
#define EVERY         16u
#define WARM_UP       4u /* first steps, which show no rhythm: caches fill and libraries load in them */
#define RHYTHM_CYCLES 4u /* fewest that are folded, as CYCLES_MIN of oscillation.c */
/* Of the variance, by the phases. Less than FOLD_EXPLAINED of oscillation.c, because a heavy step in many is
 * a small part of the variance where single steps vary; what is found besides must be in the first steps,
 * too. It is over when less than GONE is explained: far below, so that it does not come and go. */
#define RHYTHM_EXPLAINED 0.35
#define GONE             0.1
#define BETTER           0.03 /* a multiple of the period explains as much, and no more than this by chance */
/* Heavy steps over the others. Chosen: what they do more is taken away from what detectors see, and less than
 * this is within their noise. */
#define RHYTHM_RATIO_MIN 1.03
#define RHYTHM_FIRST     8u /* first steps that show it, or two periods, whichever is more */

struct beat_fold {
    uint32_t period;
    double explained, mean;
    double phase[WORK_RHYTHM_MAX]; /* mean log of each, over the mean; NaN not known */
};

static uint32_t phase_of(const struct work *w, uint32_t back, uint32_t stride, uint32_t period)
{
    return w->step[work_slot(w, back)].seq / stride % period;
}

/* NaN of a pause, which is a structure of its own, and of a step in which the work of the one before counts,
 * because calls of that one are missing. */
static double log_work(const struct work *w, uint32_t back, uint32_t stride)
{
    const struct work_step *step = &w->step[work_slot(w, back)];

    return step->typical_s > 0 && !step->pause && !work_is_of_several(w, back, stride) ? log(step->typical_s)
                                                                                       : NAN;
}

/* The steps from back `from` on, n of them. */
static struct beat_fold fold(const struct work *w, uint32_t from, uint32_t n, uint32_t stride,
                             uint32_t period)
{
    struct beat_fold f = { .period = period };
    double sum[WORK_RHYTHM_MAX] = { 0 }, all = 0, total = 0, within = 0;
    uint32_t in[WORK_RHYTHM_MAX] = { 0 }, known = 0;

    for (uint32_t b = from; b < from + n; b++) {
        double y = log_work(w, b, stride);
        uint32_t p = phase_of(w, b, stride, period);

        if (isnan(y))
            continue;
        sum[p] += y;
        in[p]++;
        all += y;
        known++;
    }
    f.mean = known ? all / known : NAN;
    for (uint32_t p = 0; p < period; p++)
        f.phase[p] = in[p] ? sum[p] / in[p] - f.mean : NAN;
    for (uint32_t b = from; b < from + n; b++) {
        double y = log_work(w, b, stride) - f.mean, left = y - f.phase[phase_of(w, b, stride, period)];

        if (isnan(y))
            continue;
        total += y * y;
        within += left * left;
    }
    if (known > period + 1 && total > 0)
        f.explained = 1 - within / (known - period) / (total / (known - 1));
    return f;
}

/* Heavy steps over the others, by what their phases are in *by; *heavy: how many of a period's steps are;
 * *light: the mean log of the others. */
static double contrast(const struct beat_fold *f, const struct beat_fold *by, uint32_t *heavy, double *light)
{
    double low = INFINITY, high = -INFINITY, slow = 0, fast = 0;
    uint32_t n = 0, known = 0;

    for (uint32_t p = 0; p < by->period; p++) {
        low = fmin(low, by->phase[p]);
        high = fmax(high, by->phase[p]);
    }
    *heavy = 0;
    for (uint32_t p = 0; p < by->period; p++) {
        bool is_heavy = by->phase[p] > (low + high) / 2;

        *heavy += is_heavy;
        if (isnan(f->phase[p]))
            continue;
        known++;
        n += is_heavy;
        *(is_heavy ? &slow : &fast) += f->phase[p];
    }
    *light = n < known ? fast / (known - n) : 0;
    return n && n < known ? exp(slow / n - *light) : 1;
}

/* Programs have single steps that do more; several of them by turns are the whole job's oscillation, from the
 * start or not.  With a period of two they look the same. */
bool rhythm_alternates(const double *phase, uint32_t period)
{
    double low = INFINITY, high = -INFINITY;
    uint32_t heavy = 0, changes = 0;

    for (uint32_t p = 0; p < period; p++) {
        low = fmin(low, phase[p]);
        high = fmax(high, phase[p]);
    }
    for (uint32_t p = 0; p < period; p++) {
        bool is_heavy = phase[p] > (low + high) / 2, next = phase[(p + 1) % period] > (low + high) / 2;

        heavy += is_heavy;
        changes += is_heavy != next;
    }
    return period > 2 && 2 * heavy == period && changes == 2;
}

static void find_rhythm(struct work *w, uint32_t stride)
{
    uint32_t n = (uint32_t)w->steps - WARM_UP, first, heavy;
    struct beat_fold best = { 0 }, early;
    double ratio, light, unused;

    for (uint32_t p = 2; p <= WORK_RHYTHM_MAX && n >= RHYTHM_CYCLES * p; p++) {
        struct beat_fold f = fold(w, 0, n, stride, p);

        if (f.explained > best.explained + BETTER)
            best = f;
    }
    if (best.explained < RHYTHM_EXPLAINED)
        return;
    ratio = contrast(&best, &best, &heavy, &light);
    first = 2 * best.period > RHYTHM_FIRST ? 2 * best.period : RHYTHM_FIRST;
    early = fold(w, n - first, first, stride, best.period);
    if (rhythm_alternates(best.phase, best.period) || ratio < RHYTHM_RATIO_MIN ||
        contrast(&early, &best, &heavy, &unused) < 1 + (ratio - 1) / 2)
        return;
    w->rhythm =
        (struct work_rhythm){ .period = best.period, .stride = stride, .heavy = heavy, .ratio = ratio };
    for (uint32_t p = 0; p < best.period; p++)
        w->rhythm.factor[p] = (float)(isnan(best.phase[p]) ? 1 : exp(best.phase[p] - light));
}

void rhythm_step(struct work *w, uint32_t stride)
{
    if (!stride || w->steps % EVERY)
        return;
    if (w->steps <= WORK_STEPS && w->steps >= WARM_UP + RHYTHM_FIRST)
        find_rhythm(w, stride);
    else if (w->rhythm.period && w->steps % WORK_STEPS == 0 &&
             fold(w, 0, work_kept(w), w->rhythm.stride, w->rhythm.period).explained < GONE)
        w->rhythm = (struct work_rhythm){ 0 };
}
