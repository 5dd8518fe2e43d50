#include "detect/onset.h"

#include <math.h>
#include <string.h>

#include "detect/growth.h"
#include "detect/places.h"
#include "detect/work.h"
#include "model/statistics.h"

#define ONSET_SIGMA_MIN 1e-3 /* clocks are no better, relative to a step */
/* Standard deviations below nothing, and above the median of the newest values: normal noise does not come so
 * far, and one value of many that does would be a change point by itself. */
#define ONSET_CLIP   5.0f
#define ONSET_NEWEST 9u            /* odd; four of them may be anything, ... */
#define ONSET_RUN    PLACES_NEWEST /* ... but not the newest so many in a row, which name a straggler */
/* variances that a change point must explain; else it was so from the beginning */
#define STEP_GAIN  16.0
#define RAMP_GAIN  4.0 /* that a ramp must explain beyond the best step */
#define RAMP_MIN   24u /* values; shorter, a step that is blurred looks like one */
#define RAMP_SHORT 32u
#define EDGE_MIN   3u  /* values, of which one may be a part */
#define MEMORY_MAX 0.8 /* of the correlation from one value to the next */
/* Variances that are left by a ramp: of more than these the values are uneven, and a ramp has to be seen on
 * either side of the best step, surely. Chosen: where a ramp is right they are one, by chance 1.5. */
#define UNEVEN 2.0
#define RISES  0.99
/* So surely the steps' time must rise with a ramp: it is looked at again and again. Chosen: with 0.99 a ramp
 * that it does not follow is told as one at some time by 8 of 100 ranks. What was told stays while that is
 * likelier than not. */
#define FOLLOWED 0.999
#define LIKELIER 0.5

struct onset_shape {
    uint32_t n;
    double sum[ONSET_MAX + 1], sum_t[ONSET_MAX + 1]; /* of y, of its number times y, before each */
    double variance;
};

/* Gives unknown values the value before them; returns the noise. */
static double fill_unknown(float *y, uint32_t n)
{
    float change[ONSET_MAX], last = NAN;
    uint32_t m = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (isnan(y[i]))
            y[i] = last;
        else if (!isnan(last))
            change[m++] = fabsf(y[i] - last);
        last = y[i];
    }
    for (uint32_t i = n; i-- > 0;) /* before the first known one */
        y[i] = last = isnan(y[i]) ? last : y[i];
    return statistics_medianf(change, m) / 0.9539; /* median absolute difference of two normal draws */
}

/* Newest values that show how far it goes: half of them are in the run that all are above the limit, where
 * that is what the newest ones are. */
static uint32_t newest_values(const float *y, uint32_t n, float limit)
{
    uint32_t run = 0, m = n < ONSET_NEWEST ? n : ONSET_NEWEST;

    while (run < m && y[n - 1 - run] > limit)
        run++;
    return run >= ONSET_RUN && 2 * run - 1 < m ? 2 * run - 1 : m;
}

static void sum_up(struct onset_shape *h, float *y, uint32_t n, double sigma)
{
    float newest[ONSET_NEWEST], limit = ONSET_CLIP * (float)sigma, top;
    uint32_t m = newest_values(y, n, limit);

    h->n = n;
    h->variance = sigma * sigma;
    memcpy(newest, y + n - m, m * sizeof(newest[0]));
    top = statistics_medianf(newest, m) + limit;
    h->sum[0] = h->sum_t[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        y[i] = fmaxf(-limit, fminf(top, y[i]));
        h->sum[i + 1] = h->sum[i] + y[i];
        h->sum_t[i + 1] = h->sum_t[i] + (double)i * y[i];
    }
}

struct onset_fit {
    uint32_t from, to;
    double before, height;
    double gain; /* variances explained beyond a constant */
};

/* Best step: two means. */
static struct onset_fit fit_step(const struct onset_shape *h)
{
    struct onset_fit best = { .height = h->sum[h->n] / h->n };

    for (uint32_t a = 2; a + 1 < h->n; a++) {
        double before = h->sum[a] / a, after = (h->sum[h->n] - h->sum[a]) / (h->n - a);
        double gain = (after - before) * (after - before) * a * (h->n - a) / h->n / h->variance;

        if (after > before && gain > best.gain)
            best = (struct onset_fit){ a, a, before, after - before, gain };
    }
    return best;
}

/* Steps are divided where all ranks meet, and what makes one slow begins anywhere: the values beside the
 * change may be a part of it, and say nothing of before and since where there are others that do. */
static struct onset_fit without_edge(const struct onset_shape *h, struct onset_fit f)
{
    uint32_t before = f.from, since = h->n - f.from;
    double level = f.before + f.height;

    if (!before)
        return f;
    if (before >= EDGE_MIN)
        f.before = h->sum[f.from - 1] / (before - 1);
    if (since >= EDGE_MIN)
        level = (h->sum[h->n] - h->sum[f.from + 1]) / (since - 1);
    f.height = level - f.before;
    return f;
}

/* Least squares of a constant and a ramp from `from` to `to`, flat behind it. */
static struct onset_fit fit_ramp_at(const struct onset_shape *h, uint32_t from, uint32_t to)
{
    double n = h->n, len = to - from, flat = n - to;
    /* g(i) = (i - from) / len between, 1 behind */
    double g = (len - 1) / 2 + flat, gg = (len - 1) * (2 * len - 1) / (6 * len) + flat;
    double gy = ((h->sum_t[to] - h->sum_t[from]) - from * (h->sum[to] - h->sum[from])) / len +
                (h->sum[h->n] - h->sum[to]);
    double cov = gy - g * h->sum[h->n] / n, var = gg - g * g / n;
    struct onset_fit f = { .from = from, .to = to };

    if (!(var > 1e-9))
        return f;
    f.height = cov / var;
    f.before = (h->sum[h->n] - f.height * g) / n;
    f.gain = f.height > 0 ? cov * cov / var / h->variance : 0;
    return f;
}

static struct onset_fit fit_ramp(const struct onset_shape *h)
{
    uint32_t grid = h->n < 64 ? 2 : h->n / 32;
    struct onset_fit best = { 0 };

    for (uint32_t a = 0; a + RAMP_MIN <= h->n; a += grid)
        for (uint32_t b = a + RAMP_MIN; b <= h->n; b += grid) {
            struct onset_fit f = fit_ramp_at(h, a, b);

            if (f.gain > best.gain)
                best = f;
        }
    return best;
}

/* Variance that is left since the ramp began: what makes a rank slow may make it uneven, too. A mean over
 * values that hang together, as x(i) = rho x(i-1) + noise, varies (1 + rho) / (1 - rho) times as much as one
 * over independent ones. */
static double left_by(const struct onset_fit *ramp, const float *y, uint32_t n)
{
    double sum = 0, next = 0, rho, before = 0;

    for (uint32_t i = ramp->from; i < n; i++) {
        double off = y[i] - ramp->before - ramp->height * onset_rise(ramp->from, ramp->to, i);

        sum += off * off;
        next += off * before;
        before = off;
    }
    rho = sum > 0 ? fmin(MEMORY_MAX, fmax(0, next / sum)) : 0;
    return sum / (n - ramp->from) * (1 + rho) / (1 - rho);
}

static struct growth_shape shape_of(const struct onset_fit *f)
{
    return (struct growth_shape){ f->from, f->to };
}

/* Must the ramp be believed over the best step?  Uneven values that hang together differ before and behind
 * any moment, and so a step among them has a ramp beside it that fits better; but they do not rise on both
 * sides of the step. */
static bool beats(const struct onset_fit *ramp, const struct onset_fit *step, const struct onset_shape *h,
                  const float *y)
{
    double left = left_by(ramp, y, h->n);

    if (!((ramp->gain - step->gain) * h->variance > RAMP_GAIN * fmax(h->variance, left)))
        return false;
    return left <= UNEVEN * h->variance || (growth_is_sure(y, 0, step->from, shape_of(ramp), RISES) &&
                                            growth_is_sure(y, step->from, h->n, shape_of(ramp), RISES));
}

/* A short ramp with a long plateau behind it is a step with a blurred edge. */
static bool grows_slowly(const struct onset_fit *ramp, uint32_t n)
{
    uint32_t length = ramp->to - ramp->from;

    return length >= RAMP_SHORT || n - ramp->to < length;
}

struct onset onset_find(float *y, const float *whole, uint32_t n, double inflate, double lasting,
                        bool was_ramp)
{
    struct onset_shape h;
    struct onset_fit step, ramp, best;
    bool is_ramp;

    sum_up(&h, y, n, fmax(ONSET_SIGMA_MIN, fill_unknown(y, n) * inflate));
    step = fit_step(&h);
    ramp = fit_ramp(&h);
    is_ramp = ramp.gain > step.gain && (was_ramp || beats(&ramp, &step, &h, y)) && grows_slowly(&ramp, n) &&
              (!whole || growth_is_sure(whole, 0, n, shape_of(&ramp), was_ramp ? LIKELIER : FOLLOWED));
    best = is_ramp ? ramp : step;
    /* What was as high before has been so from the beginning, and varies. */
    if (!is_ramp && (step.gain < STEP_GAIN || step.before > fmax(step.height, lasting)))
        best = (struct onset_fit){ .height = h.sum[n] / n };
    else if (!is_ramp)
        best = without_edge(&h, best);
    return (struct onset){ is_ramp, best.from, best.to, best.before, best.height };
}
