#include "calls/serving.h"

#include <math.h>

#include "model/interval.h"
#include "model/statistics.h"

#define BEFORE_MIN 4u  /* points before a change: a start may differ */
#define AFTER_MIN  2u  /* and after it: one may be a burst */
#define POINTS_MIN 12u /* of fewer the noise is not known well enough */
/* Chosen: as for a worker against the others, machines wander by less. */
#define SLOWER 1.2
/* Standard errors.  Chosen: the split is the best of many, and looked for again and again. */
#define EVIDENCE 6.0
#define STAYS    0.5 /* of both, for one that was slower before */

static void merge_pairs(struct serving *s)
{
    for (size_t i = 0; i < SERVING_POINTS / 2; i++) {
        s->point_s[i] = (s->point_s[2 * i] + s->point_s[2 * i + 1]) / 2;
        s->point_ns[i] = s->point_ns[2 * i];
    }
    s->n = SERVING_POINTS / 2;
    s->wide *= 2;
}

void serving_take(struct serving *s, uint64_t bytes, uint64_t ns, double service_s)
{
    if (bytes != s->bytes)
        *s = (struct serving){ .bytes = bytes };
    if (!s->n_open && !s->summed)
        s->from_ns = ns;
    s->wide += !s->wide;
    s->open[s->n_open++] = (float)service_s;
    if (s->n_open < SERVING_MEDIAN)
        return;
    s->sum_s += (double)statistics_medianf(s->open, SERVING_MEDIAN);
    s->n_open = 0;
    if (++s->summed < s->wide)
        return;
    if (s->n == SERVING_POINTS) { /* this one goes on, twice as wide as it was */
        merge_pairs(s);
        return;
    }
    s->point_s[s->n] = (float)(s->sum_s / s->summed);
    s->point_ns[s->n++] = s->from_ns;
    s->sum_s = 0;
    s->summed = 0;
}

/* Where the means before and after differ most for their numbers: the likeliest place of one change. */
static size_t best_split(const double *v, size_t n, double *before, double *after)
{
    double all = 0, sum = 0, best = -INFINITY;
    size_t at = BEFORE_MIN;

    for (size_t i = 0; i < n; i++)
        all += v[i];
    for (size_t k = 1; k + AFTER_MIN <= n; k++) {
        double low, high, height;

        sum += v[k - 1];
        if (k < BEFORE_MIN)
            continue;
        low = sum / (double)k;
        high = (all - sum) / (double)(n - k);
        height = (high - low) * sqrt((double)k * (double)(n - k) / (double)n);
        if (height <= best)
            continue;
        best = height;
        at = k;
        *before = low;
        *after = high;
    }
    return at;
}

/* How far a point is off, from how far it is from the next one: that is the same where it changes for good.
 */
static double noise_of(const double *v, size_t n)
{
    double d[SERVING_POINTS];

    for (size_t i = 0; i + 1 < n; i++)
        d[i] = fabs(v[i + 1] - v[i]);
    return STATISTICS_MAD_TO_SD * statistics_median(d, n - 1) * M_SQRT1_2;
}

/* Of a mean of points, which may hang together: then their batches differ by more than neighbours do. */
static double error_of(const double *v, size_t n, double noise)
{
    double freedom, error = interval_mean_error(v, n, &freedom);

    return fmax(noise / sqrt((double)n), isnan(error) ? 0 : error);
}

bool serving_slower(const struct serving *s, bool stood, struct serving_change *c)
{
    double v[SERVING_POINTS], before = NAN, after = NAN, noise, less = stood ? STAYS : 1;
    size_t at;

    if (s->n < POINTS_MIN)
        return false;
    for (size_t i = 0; i < s->n; i++)
        v[i] = (double)s->point_s[i];
    at = best_split(v, s->n, &before, &after);
    if (!(before > 0 && after / before - 1 > (SLOWER - 1) * less))
        return false;
    noise = noise_of(v, s->n);
    if (after - before < EVIDENCE * less * hypot(error_of(v, at, noise), error_of(v + at, s->n - at, noise)))
        return false;
    for (size_t i = s->n - AFTER_MIN; i < s->n; i++)
        if (v[i] < (before + after) / 2) /* it was, and is no more */
            return false;
    *c = (struct serving_change){ .before_s = before,
                                  .now_s = after,
                                  .since_ns = s->point_ns[at],
                                  .since_update = (uint64_t)at * s->wide * SERVING_MEDIAN };
    return true;
}
