#include "history/past.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define RERUN_CHANCE 0.01
#define SPREAD_FLOOR 0.01 /* closer agreement of a few runs is assumed to be chance */

/* The 99th percentile of |x - median| / (1.4826 MAD) for one more normal value, simulated 20000 times. */
double past_limit_z(size_t n)
{
    static const struct {
        size_t n;
        double z;
    } limits[] = { { 4, 15 },    { 6, 8.4 },  { 8, 5.8 },  { 10, 5.1 }, { 12, 4.4 },
                   { 16, 3.85 }, { 24, 3.4 }, { 32, 3.1 }, { 64, 2.9 } };
    double z = INFINITY;

    for (size_t i = 0; i < ARRAY_SIZE(limits) && limits[i].n <= n; i++)
        z = limits[i].z;
    return z;
}

static double log_choose(size_t n, size_t k)
{
    int sign;

    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign);
}

double past_chance(size_t recent, size_t n_recent, size_t before, size_t n_before)
{
    size_t all = recent + before, n = n_recent + n_before;
    double p = 0;

    for (size_t k = recent; k <= n_recent && k <= all; k++)
        if (all - k <= n_before)
            p += exp(log_choose(n_recent, k) + log_choose(n_before, all - k) - log_choose(n, all));
    return fmin(1, p);
}

/* offset: that of the figure in struct past_run. */
static void compare_figure(double now, const struct past_run *earlier, size_t n, size_t offset,
                           struct past_figure *f)
{
    double value[PAST_RUNS_MAX], away[PAST_RUNS_MAX], middle;
    size_t m = 0;

    *f = (struct past_figure){ .median = NAN, .ratio = NAN, .spread = NAN, .z = NAN };
    for (size_t i = 0; i < n && m < PAST_RUNS_MAX; i++) {
        double v = *(const double *)((const char *)&earlier[i] + offset);

        if (v > 0 && isfinite(v))
            value[m++] = log(v);
    }
    if (!m)
        return;
    middle = statistics_median(value, m);
    f->median = exp(middle);
    f->ratio = now > 0 ? now / f->median : NAN;
    for (size_t i = 0; i < m; i++)
        away[i] = fabs(value[i] - middle);
    if (m >= 2)
        f->spread = STATISTICS_MAD_TO_SD * statistics_median(away, m);
    if (m < PAST_RUNS_MIN || isnan(f->ratio))
        return;
    f->z = log(f->ratio) / fmax(SPREAD_FLOOR, f->spread);
    f->unusual = fabs(f->z) > past_limit_z(m) && fmax(f->ratio, 1 / f->ratio) > PAST_RATIO_MIN;
}

/* ---- the sentence ---- */

__attribute__((format(printf, 2, 3))) static void append_text(struct past *p, const char *fmt, ...)
{
    size_t at = strlen(p->text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(p->text + at, sizeof(p->text) - at, fmt, ap);
    va_end(ap);
}

static void describe_past(struct past *p)
{
    struct text usual = text_s(p->step.median);
    char runs[48];

    if (p->runs == 1)
        snprintf(runs, sizeof(runs), "the one similar earlier run");
    else
        snprintf(runs, sizeof(runs), "the %zu similar earlier runs", p->runs);
    p->text[0] = '\0';
    if (isnan(p->step.ratio))
        append_text(p, "A step took %s in %s", usual.s, runs);
    else
        append_text(p, "Steps take %.2f times the %s of %s", p->step.ratio, usual.s, runs);
    if (p->step.unusual)
        append_text(p, ", which is unusual (robust z %.1f)", p->step.z);
    else if (!isnan(p->step.ratio))
        append_text(p, p->runs < PAST_RUNS_MIN ? "; that is too few to judge" : ", which is usual");
    if (p->cv.unusual)
        append_text(p, "; their times vary %.2g times as much as they did", p->cv.ratio);
    if (p->energy.unusual)
        append_text(p, "; a step uses %.2f times the energy", p->energy.ratio);
    if (p->more_reruns)
        append_text(p, "; it is restarted more often than before (%zu of the last %zu starts)", p->reruns,
                    p->starts);
    append_text(p, ".");
}

bool past_unusual(const struct past *p)
{
    return p->step.unusual || p->cv.unusual || p->energy.unusual || p->more_reruns;
}

bool past_compare(const struct past_run *now, const struct past_run *earlier, size_t n, const bool *rerun,
                  size_t n_starts, struct past *out)
{
    struct past p = { .energy_j_per_step = now->energy_j_per_step,
                      .starts = n_starts < PAST_RUNS_MAX ? n_starts : PAST_RUNS_MAX };
    size_t recent = 0, half = p.starts / 2;

    for (size_t i = 0; i < n; i++)
        p.runs += earlier[i].step_p50_s > 0;
    if (!p.runs)
        return false;
    compare_figure(now->step_p50_s, earlier, n, offsetof(struct past_run, step_p50_s), &p.step);
    compare_figure(now->step_cv, earlier, n, offsetof(struct past_run, step_cv), &p.cv);
    compare_figure(now->energy_j_per_step, earlier, n, offsetof(struct past_run, energy_j_per_step),
                   &p.energy);
    for (size_t i = 0; i < p.starts; i++) {
        p.reruns += rerun[i];
        recent += rerun[i] && i < half;
    }
    p.more_reruns = half && past_chance(recent, half, p.reruns - recent, p.starts - half) < RERUN_CHANCE;
    describe_past(&p);
    *out = p;
    return true;
}
