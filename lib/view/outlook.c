#include "view/outlook.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define SERIES        3u
#define SERIES_POINTS VIEW_STRETCHES

/* Made of the points that there were then: it is asked for far more often than a point is added. */
struct fit {
    size_t points;
    struct trend trend;
    double span_s;
    bool warning;
};

struct outlook {
    struct window {
        double begin_s;
        struct totals sum;
        struct {
            double at_s;
            float synchronisation_ratio, step_s;
        } point[SERIES_POINTS];
        size_t points; /* ever added */
        struct fit waiting, steps;
    } window[SERIES];
};

/* A trend must show in a window short enough that nothing else happened in it, and long enough to rise above
 * the noise: each window is eight times as long as the one before. */
static const double widths_s[SERIES] = { 2, 16, 128 };

/* One in a hundred steady jobs is taken for a trend, by any of the windows (Bonferroni). */
#define SURE_Z 2.935

/* What is foreseen is at most this many times as far ahead as the window is long. */
#define HORIZON 10.0

struct outlook *outlook_new(void)
{
    return xcalloc(1, sizeof(struct outlook));
}

void outlook_free(struct outlook *s)
{
    free(s);
}

void outlook_forget(struct outlook *s)
{
    memset(s, 0, sizeof(*s));
}

void outlook_take(struct outlook *s, const struct column *c)
{
    for (size_t i = 0; i < SERIES; i++) {
        struct window *w = &s->window[i];
        size_t at = w->points % SERIES_POINTS;

        if (w->begin_s < c->begin_s && !(w->sum.work_s + w->sum.stay_s > 0))
            w->begin_s = c->begin_s; /* no sample came in between */
        totals_add(&w->sum, &c->all);
        if (c->end_s < w->begin_s + widths_s[i] || !(w->sum.work_s + w->sum.stay_s > 0))
            continue;
        w->point[at].at_s = (w->begin_s + c->end_s) / 2;
        w->point[at].synchronisation_ratio = totals_synchronisation(&w->sum);
        w->point[at].step_s = w->sum.steps ? (float)(w->sum.step_sum_s / w->sum.steps) : NAN;
        w->points++;
        memset(&w->sum, 0, sizeof(w->sum));
        w->begin_s = c->end_s;
    }
}

/* The window's known points, oldest first: the shares, or the step times. */
static size_t points_of(const struct window *w, bool steps, double *at_s, double *y)
{
    size_t have = w->points < SERIES_POINTS ? w->points : SERIES_POINTS, n = 0;

    for (size_t i = w->points - have; i < w->points; i++) {
        float value =
            steps ? w->point[i % SERIES_POINTS].step_s : w->point[i % SERIES_POINTS].synchronisation_ratio;

        if (isnan(value))
            continue;
        at_s[n] = w->point[i % SERIES_POINTS].at_s;
        y[n++] = value;
    }
    return n;
}

size_t outlook_stretches(const struct outlook *s, struct view_stretches *out)
{
    const struct window *w = s->window;
    size_t i = 0, have;

    while (i + 1 < SERIES && w[i].points > SERIES_POINTS)
        i++;
    have = w[i].points < SERIES_POINTS ? w[i].points : SERIES_POINTS;
    out->width_s = widths_s[i];
    for (size_t k = 0; k < have; k++) {
        size_t at = (w[i].points - have + k) % SERIES_POINTS;

        out->at_s[k] = w[i].point[at].at_s;
        out->step_s[k] = w[i].point[at].step_s;
        out->synchronisation_ratio[k] = w[i].point[at].synchronisation_ratio;
    }
    return have;
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
static void write_reach(const struct view_projection *p, char *buf, size_t size)
{
    struct span u = span_of(p->reach.p50);
    const char *what = p->trend == TREND_RISING ? "synchronisation" : "no longer synchronisation";

    if (isnan(p->reach.p50))
        snprintf(buf, size, "%s",
                 p->trend == TREND_RISING && p->synchronisation_ratio >= p->limit
                     ? "synchronisation already, "
                     : "");
    else if (isnan(p->reach.p90))
        snprintf(buf, size, "%s in about %.0f %s (at least %.0f), ", what, p->reach.p50 / u.unit_s, u.unit,
                 p->reach.p10 / u.unit_s);
    else
        snprintf(buf, size, "%s in about %.0f %s (%.0f to %.0f), ", what, p->reach.p50 / u.unit_s, u.unit,
                 p->reach.p10 / u.unit_s, p->reach.p90 / u.unit_s);
}

static void write_text(struct view_projection *p, double window_s)
{
    struct span u = span_of(window_s);
    double points = 100 * fabs(p->per_hour);
    char reach[128];

    write_reach(p, reach, sizeof(reach));
    if (p->trend == TREND_UNKNOWN)
        snprintf(p->text, sizeof(p->text), "too little is known yet to see a trend");
    else if (p->trend == TREND_NONE)
        snprintf(p->text, sizeof(p->text), "no trend in the last %.0f %s", window_s / u.unit_s, u.unit);
    else
        snprintf(p->text, sizeof(p->text), "%ssynchronisation %s by %.*f points an hour", reach,
                 p->trend == TREND_RISING ? "rises" : "falls", points < 10, points);
}

/* ---- the projection ---- */

static const struct fit *fit_of(struct window *w, bool steps)
{
    struct fit *f = steps ? &w->steps : &w->waiting;
    double at_s[SERIES_POINTS] = { 0 }, y[SERIES_POINTS] = { 0 };
    size_t n;

    if (f->points == w->points)
        return f;
    n = points_of(w, steps, at_s, y);
    f->points = w->points;
    trend_fit(at_s, y, n, SURE_Z, &f->trend);
    f->span_s = n ? at_s[n - 1] - at_s[0] : 0;
    f->warning = !steps && trend_warning(y, n);
    return f;
}

/* The step time's trend and relative growth in the window that shows one. */
static void get_steps(struct outlook *s, struct view_projection *p)
{
    p->step_per_hour = NAN;
    for (size_t i = 0; i < SERIES && p->step_trend <= TREND_NONE; i++) {
        const struct trend *t = &fit_of(&s->window[i], true)->trend;

        if (t->direction == TREND_UNKNOWN || (t->direction > TREND_NONE && !(t->level > 0)))
            continue;
        p->step_trend = t->direction;
        if (t->direction > TREND_NONE)
            p->step_per_hour = t->slope / t->level * 3600;
    }
}

void outlook_get(struct outlook *s, double now_s, double waiting, double limit, struct view_projection *p)
{
    double window_s = 0;

    *p = (struct view_projection){
        .synchronisation_ratio = waiting, .limit = limit, .per_hour = NAN, .reach = { NAN, NAN, NAN }
    };
    get_steps(s, p);
    for (size_t i = 0; i < SERIES && p->trend <= TREND_NONE; i++) {
        const struct fit *f = fit_of(&s->window[i], false);
        const struct trend *t = &f->trend;
        struct trend_reach r;
        double since_s;

        if (t->direction == TREND_UNKNOWN)
            continue;
        window_s = f->span_s;
        p->trend = t->direction;
        p->warning = f->warning;
        if (t->direction == TREND_NONE)
            continue;
        p->per_hour = t->slope * 3600;
        since_s = now_s - t->last;
        if (trend_reach(t, limit, &r) && !(r.p50 > HORIZON * window_s || r.p50 <= since_s))
            p->reach = (struct trend_reach){ fmax(0, r.p10 - since_s), r.p50 - since_s, r.p90 - since_s };
    }
    write_text(p, window_s);
}
