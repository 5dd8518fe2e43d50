#include "job/sampling.h"

#include <math.h>

#include "view/figures.h"
#include "view/view.h"

#define STEPS     6.0  /* whole ones in a stretch, and some of one at both ends */
#define OPEN_S    0.25 /* clocks of nodes may differ by some of it */
#define SEEK_S    1.0  /* the first stretch where no step is known yet ... */
#define SEEK_MAX  64.0 /* ... and the longest: each is twice as long as the one before */
#define SETTLE_S  2.0  /* until a rate counts */
#define TOLERANCE 1.5  /* rates vary */
#define ALL_S     1.0  /* period_s where all calls are sent */

/* So that it holds some steps. */
static double stretch_s(struct sampling *s, const struct view *v, double now_s)
{
    struct view_figures f;

    if (!view_calls_found(v)) {
        s->tried_s = s->tried_s > 0 ? fmin(2 * s->tried_s, SEEK_MAX) : SEEK_S;
        return s->tried_s;
    }
    view_figures_get(v, now_s, &f);
    return isnan(f.step_mean_s) ? SEEK_S : fmax(OPEN_S, STEPS * f.step_mean_s);
}

static bool set_window(struct sampling *s, double now_s, double open_s, double period_s)
{
    bool changed = open_s != s->open_s || period_s != s->period_s;

    s->open_s = open_s;
    s->period_s = period_s;
    s->since_s = now_s;
    s->calls = 0;
    return changed;
}

bool sampling_tick(struct sampling *s, const struct view *v, double now_s, double calls_per_s, bool all)
{
    double over_s = now_s - s->since_s, share = s->period_s > 0 ? fmin(1, s->open_s / s->period_s) : 0;
    double all_hz, open_s;

    if (!view_calls_wanted(v))
        return s->open_s > 0 && set_window(s, now_s, 0, 0);
    if (!(share > 0))
        return set_window(s, now_s, ALL_S, ALL_S);
    if (all) {
        set_window(s, now_s, s->open_s, s->period_s);
        return false;
    }
    if (over_s < fmax(SETTLE_S, 2 * s->period_s))
        return false;
    all_hz = (double)s->calls / over_s / share;
    if (all_hz <= calls_per_s * (share < 1 ? 1 / TOLERANCE : TOLERANCE))
        return set_window(s, now_s, ALL_S, ALL_S);
    if (share < 1 && view_calls_found(v) && fabs(log(all_hz * share / calls_per_s)) < 2 * log(TOLERANCE))
        return set_window(s, now_s, s->open_s, s->period_s);
    open_s = stretch_s(s, v, now_s);
    return set_window(s, now_s, open_s, fmax(open_s, ceil(open_s * all_hz / calls_per_s)));
}

json_t *sampling_json(const struct sampling *s, bool all)
{
    return json_pack("{s:f,s:f}", "open_s", all ? ALL_S : s->open_s, "period_s", all ? ALL_S : s->period_s);
}
