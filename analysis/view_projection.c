/* view_projection.c - where a view's share of waiting is heading. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/view_private.h"

/* A trend must show in a window short enough that nothing else happened in it, and long enough to rise above
 * the noise: each series is eight times as long as the one before. */
static const double widths_s[SERIES] = { 2, 16, 128 };

/* One in a hundred steady jobs is taken for a trend, by any of the windows (Bonferroni). */
#define SURE_Z 2.935

/* Nothing is foreseen for longer than so many of the windows that it is seen in. */
#define HORIZON 10.0

void view_forget_series(struct view *v)
{
    memset(v->series, 0, sizeof(v->series));
}

static void lay_point(struct series *s, double end_s)
{
    size_t at = s->points % SERIES_POINTS;

    s->point[at].at_s = (s->begin_s + end_s) / 2;
    s->point[at].lost_ratio = view_lost_ratio(&s->sum);
    s->point[at].step_s = s->sum.steps ? (float)(s->sum.step_sum_s / s->sum.steps) : NAN;
    s->points++;
    memset(&s->sum, 0, sizeof(s->sum));
    s->begin_s = end_s;
}

void view_series_add(struct view *v, const struct totals *column, double begin_s, double end_s)
{
    for (size_t i = 0; i < SERIES; i++) {
        struct series *s = &v->series[i];

        if (s->begin_s < begin_s && !(s->sum.work_s + s->sum.stay_s > 0))
            s->begin_s = begin_s; /* nothing was told in between */
        view_add_totals(&s->sum, column);
        if (end_s >= s->begin_s + widths_s[i] && s->sum.work_s + s->sum.stay_s > 0)
            lay_point(s, end_s);
    }
}

/* The series without its holes, oldest first: the shares, or the step times. */
static size_t points_of(const struct series *s, bool steps, double *at_s, double *y)
{
    size_t have = s->points < SERIES_POINTS ? s->points : SERIES_POINTS, n = 0;

    for (size_t i = s->points - have; i < s->points; i++) {
        float value = steps ? s->point[i % SERIES_POINTS].step_s : s->point[i % SERIES_POINTS].lost_ratio;

        if (isnan(value))
            continue;
        at_s[n] = s->point[i % SERIES_POINTS].at_s;
        y[n++] = value;
    }
    return n;
}

/* ---- words ---- */

/* "40 min", and in the same unit what else is given. */
struct span {
    double unit_s;
    const char *unit;
};

static struct span span_of(double s)
{
    if (s < 300)
        return (struct span){ 1, "s" };
    return s < 6000 ? (struct span){ 60, "min" } : (struct span){ 3600, "h" };
}

/* "synchronisation in about 40 min (25 to 70), " */
static void say_reach(const struct view_projection *p, char *buf, size_t size)
{
    struct span u = span_of(p->reach.p50);
    const char *what = p->trend == TREND_RISING ? "synchronisation" : "no longer synchronisation";

    if (isnan(p->reach.p50))
        snprintf(buf, size, "%s",
                 p->trend == TREND_RISING && p->lost_ratio >= p->limit ? "synchronisation already, " : "");
    else if (isnan(p->reach.p90))
        snprintf(buf, size, "%s in about %.0f %s (at least %.0f), ", what, p->reach.p50 / u.unit_s, u.unit,
                 p->reach.p10 / u.unit_s);
    else
        snprintf(buf, size, "%s in about %.0f %s (%.0f to %.0f), ", what, p->reach.p50 / u.unit_s, u.unit,
                 p->reach.p10 / u.unit_s, p->reach.p90 / u.unit_s);
}

static void say(struct view_projection *p, double window_s)
{
    struct span u = span_of(window_s);
    double points = 100 * fabs(p->per_hour);
    char reach[128];

    say_reach(p, reach, sizeof(reach));
    if (p->trend == TREND_UNKNOWN)
        snprintf(p->text, sizeof(p->text), "too little is known yet to see a trend");
    else if (p->trend == TREND_NONE)
        snprintf(p->text, sizeof(p->text), "no trend in the last %.0f %s", window_s / u.unit_s, u.unit);
    else
        snprintf(p->text, sizeof(p->text), "%swaiting %s by %.*f points an hour", reach,
                 p->trend == TREND_RISING ? "rises" : "falls", points < 10, points);
}

/* ---- the projection ---- */

static void set_reach(const struct trend *t, double now_s, double window_s, struct view_projection *p)
{
    struct trend_reach r;
    double since_s = now_s - t->last;

    if (!trend_reach(t, p->limit, &r) || r.p50 > HORIZON * window_s || r.p50 <= since_s)
        return;
    p->reach = (struct trend_reach){ fmax(0, r.p10 - since_s), r.p50 - since_s, r.p90 - since_s };
}

/* Relative growth of the step time in the window that shows one. */
static double step_growth(const struct view *v)
{
    double at_s[SERIES_POINTS], y[SERIES_POINTS];
    struct trend t;

    for (size_t i = 0; i < SERIES; i++) {
        size_t n = points_of(&v->series[i], true, at_s, y);

        trend_fit(at_s, y, n, SURE_Z, &t);
        if (t.direction > TREND_NONE && t.level > 0)
            return t.slope / t.level * 3600;
    }
    return NAN;
}

void view_projection_get(const struct view *v, double now_s, struct view_projection *p)
{
    double at_s[SERIES_POINTS], y[SERIES_POINTS], window_s = 0;
    struct totals now;

    view_recent_totals(v, &now);
    *p = (struct view_projection){ .lost_ratio = view_lost_ratio(&now),
                                   .limit = v->params.sync_limit > 0 ? v->params.sync_limit : SYNC_SHARE,
                                   .per_hour = NAN,
                                   .reach = { NAN, NAN, NAN },
                                   .step_per_hour = step_growth(v) };
    for (size_t i = 0; i < SERIES && p->trend <= TREND_NONE; i++) {
        size_t n = points_of(&v->series[i], false, at_s, y);
        struct trend t;

        trend_fit(at_s, y, n, SURE_Z, &t);
        if (t.direction == TREND_UNKNOWN)
            continue;
        window_s = at_s[n - 1] - at_s[0];
        p->trend = t.direction;
        p->warning = trend_warning(y, n);
        if (t.direction == TREND_NONE)
            continue;
        p->per_hour = t.slope * 3600;
        set_reach(&t, now_s, window_s, p);
    }
    say(p, window_s);
}
