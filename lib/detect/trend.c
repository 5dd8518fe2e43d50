#include "detect/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/deviate.h"
#include "model/statistics.h"

#define PAIRS_MAX  (TREND_POINTS_MAX * (TREND_POINTS_MAX - 1) / 2)
#define Z80        1.2815515655446004 /* half of a central 80 % */
#define RHO_MAX    0.97
#define SAMPLE_MIN 4.0 /* fewer independent points than this show nothing */
/* fewer, and only lucky slopes are sure: their interval holds the truth too seldom */
#define REACH_MIN 12.0

static double mean_of(const double *v, size_t n)
{
    double mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    return mean;
}

static double correlation(const double *v, size_t n)
{
    double mean = mean_of(v, n), with = 0, own = 0;

    for (size_t i = 0; i < n; i++) {
        own += (v[i] - mean) * (v[i] - mean);
        if (i)
            with += (v[i] - mean) * (v[i - 1] - mean);
    }
    return own > 0 ? with / own : 0;
}

/* How many independent points n are worth whose neighbours resemble each other (first order). */
static double effective_sample(const double *residual, size_t n)
{
    double rho = (correlation(residual, n) * (double)n + 2) / ((double)n - 4), k = (double)n, sum;

    rho = fmin(RHO_MAX, fmax(0, rho));
    sum = (pow(rho, k + 1) - k * rho * rho + (k - 1) * rho) / (k * (rho - 1) * (rho - 1));
    return k / (1 + 2 * sum);
}

/* ---- a line, or a step ---- */

static double line_rest(const double *at, const double *y, size_t n)
{
    double t = mean_of(at, n), m = mean_of(y, n), tt = 0, ty = 0, yy = 0;

    for (size_t i = 0; i < n; i++) {
        tt += (at[i] - t) * (at[i] - t);
        ty += (at[i] - t) * (y[i] - m);
        yy += (y[i] - m) * (y[i] - m);
    }
    return tt > 0 ? yy - ty * ty / tt : yy;
}

/* Squares left by the best two levels. */
static double step_rest(const double *y, size_t n)
{
    double mean = mean_of(y, n), yy = 0, sum = 0, best = 0;

    for (size_t i = 0; i < n; i++)
        yy += (y[i] - mean) * (y[i] - mean);
    for (size_t i = 0; i + 1 < n; i++) {
        sum += y[i] - mean;
        best = fmax(best, sum * sum * (1 / (double)(i + 1) + 1 / (double)(n - i - 1)));
    }
    return yy - best;
}

/* ---- slope ---- */

/* Slopes of all pairs, in no order; Kendall's S. */
static size_t pair_slopes(const double *at, const double *y, size_t n, double *slope, double *s)
{
    size_t pairs = 0;

    *s = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            if (!(at[j] > at[i]))
                continue;
            *s += (y[j] > y[i]) - (y[j] < y[i]);
            slope[pairs++] = (y[j] - y[i]) / (at[j] - at[i]);
        }
    return pairs;
}

/* Between slopes as if they were ordered; outside of them, the outermost. */
static double slope_at(double *slope, size_t pairs, double place)
{
    double at = fmin((double)(pairs - 1), fmax(0, place)), above;
    size_t low = (size_t)at;

    statistics_select(slope, pairs, low);
    if (low + 1 == pairs)
        return slope[low];
    above = slope[low + 1];
    for (size_t i = low + 2; i < pairs; i++)
        above = fmin(above, slope[i]);
    return slope[low] + (at - (double)low) * (above - slope[low]);
}

static void fit_level(struct trend *t, const double *at, const double *y, size_t n)
{
    double residual[TREND_POINTS_MAX], spread;

    t->middle = (at[0] + at[n - 1]) / 2;
    for (size_t i = 0; i < n; i++)
        residual[i] = y[i] - t->slope * (at[i] - t->middle);
    t->sample = effective_sample(residual, n);
    t->level = statistics_median(residual, n);
    for (size_t i = 0; i < n; i++)
        residual[i] = fabs(residual[i] - t->level);
    spread = STATISTICS_MAD_TO_SD * statistics_median(residual, n);
    if (spread < 1e-9 * fabs(t->slope * (at[n - 1] - at[0])))
        t->sample = (double)n; /* a line but for rounding, whose correlation means nothing */
    /* A median's variance is pi / 2 of a mean's. */
    t->level_sd = spread * sqrt(M_PI_2 / t->sample);
}

void trend_fit(const double *at, const double *y, size_t n, double sure_z, struct trend *t)
{
    double slope[PAIRS_MAX], s, s_sd, half, z;
    size_t skip = n > TREND_POINTS_MAX ? n - TREND_POINTS_MAX : 0, pairs;

    *t = (struct trend){ .slope = NAN, .slope_sd = NAN, .level = NAN, .level_sd = NAN };
    if (n < TREND_POINTS_MIN)
        return;
    at += skip;
    y += skip;
    n -= skip;
    pairs = pair_slopes(at, y, n, slope, &s);
    if (!pairs)
        return;
    t->last = at[n - 1];
    t->slope = slope_at(slope, pairs, (double)(pairs - 1) / 2);
    fit_level(t, at, y, n);
    s_sd = sqrt((double)n * (double)(n - 1) * (double)(2 * n + 5) / 18 * (double)n / t->sample);
    half = Z80 * s_sd / 2;
    t->slope_sd = (slope_at(slope, pairs, (double)(pairs - 1) / 2 + half) -
                   slope_at(slope, pairs, (double)(pairs - 1) / 2 - half)) /
                  (2 * Z80);
    t->direction = TREND_NONE;
    z = (s - (s > 0) + (s < 0)) / s_sd;
    if (t->sample < SAMPLE_MIN || fabs(z) < deviate_student_of_normal(sure_z, t->sample - 2) ||
        t->slope * s <= 0 || step_rest(y, n) < line_rest(at, y, n))
        return;
    t->direction = s > 0 ? TREND_RISING : TREND_FALLING;
}

/* ---- reach ---- */

bool trend_reach(const struct trend *t, double limit, struct trend_reach *r)
{
    double away = limit - t->level, passed = t->last - t->middle, z, a, b, c, root;

    if ((t->direction != TREND_RISING && t->direction != TREND_FALLING) || t->sample < REACH_MIN)
        return false;
    r->p50 = away / t->slope - passed;
    if (r->p50 <= 0)
        return false;
    /* Times x after the middle at which the line may be at limit: (away - slope x)^2 <= z^2 (level_sd^2 +
     * slope_sd^2 x^2). */
    z = deviate_student_of_normal(Z80, t->sample - 2);
    a = t->slope * t->slope - z * z * t->slope_sd * t->slope_sd;
    b = away * t->slope;
    c = away * away - z * z * t->level_sd * t->level_sd;
    root = sqrt(fmax(0, b * b - a * c));
    r->p10 = fmax(0, (a > 0 ? (b - root) / a : c / (b + root)) - passed);
    r->p90 = a > 0 ? (b + root) / a - passed : NAN;
    return true;
}

/* ---- warning ---- */

#define KERNEL_SHARE 0.1 /* bandwidth of what is taken for the slow trend, of the series */
/* in at most 5 of 100 steady series of 60 to 90 points, correlated up to 0.95 */
#define TAU_WARN 0.7

/* What is left of y without its slow trend (Gaussian kernel). */
static void without_trend(const double *y, size_t n, double *residual)
{
    double width = KERNEL_SHARE * (double)n, kernel[TREND_POINTS_MAX];

    for (size_t d = 0; d < n; d++)
        kernel[d] = exp(-0.5 * (double)(d * d) / (width * width));
    for (size_t i = 0; i < n; i++) {
        double sum = 0, weight = 0;

        for (size_t j = 0; j < n; j++) {
            double w = kernel[i > j ? i - j : j - i];

            sum += w * y[j];
            weight += w;
        }
        residual[i] = y[i] - sum / weight;
    }
}

static double variance(const double *v, size_t n)
{
    double mean = mean_of(v, n), sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sum / (double)n;
}

static double kendall_tau(const double *v, size_t n)
{
    double s = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            s += (v[j] > v[i]) - (v[j] < v[i]);
    return s / ((double)n * (double)(n - 1) / 2);
}

bool trend_warning(const double *y, size_t n)
{
    double residual[TREND_POINTS_MAX], spread[TREND_POINTS_MAX], alike[TREND_POINTS_MAX];
    size_t skip = n > TREND_POINTS_MAX ? n - TREND_POINTS_MAX : 0, window, windows;

    if (n < TREND_WARNING_MIN)
        return false;
    n -= skip;
    window = n / 2;
    windows = n - window + 1;
    without_trend(y + skip, n, residual);
    for (size_t i = 0; i < windows; i++) {
        spread[i] = variance(residual + i, window);
        alike[i] = correlation(residual + i, window);
    }
    return kendall_tau(spread, windows) > TAU_WARN && kendall_tau(alike, windows) > TAU_WARN;
}

const char *trend_name(enum trend_direction direction)
{
    static const char *const names[] = {
        [TREND_UNKNOWN] = "", [TREND_NONE] = "none", [TREND_RISING] = "rising", [TREND_FALLING] = "falling"
    };

    return direction < sizeof(names) / sizeof(names[0]) ? names[direction] : "";
}
