/* diagnosis_before.c - what a replay misses of a straggler's cost, from what steps took before its onset. */
#include <math.h>
#include <stdlib.h>

#include "detect/diagnosis_private.h"
#include "model/statistics.h"

/* steps on either side of the onset, but for the one next to it */
#define BESIDE_ONSET     32u
#define BESIDE_ONSET_MIN 8u
#define MISSED_Z         2.0 /* standard errors by which they differ at least */
/* Standard error of a median of normal values, sqrt(pi / 2) times that of their mean, over their median
 * absolute deviation. */
#define MAD_TO_ERROR (STATISTICS_MAD_TO_SD * 1.2533)

/* Times of steps on one side of an onset in which nobody had a detour: without the straggler, one that it
 * hides would be what the step waits for.  Their median, and its standard error. */
struct side {
    double median_s, error_s;
    uint32_t n;
};

/* Of the n steps from `back` on, less what each would be shorter; saved_s NULL: as they were. */
static struct side side_of(const struct work *w, uint32_t back, uint32_t n, const double *saved_s)
{
    float v[BESIDE_ONSET], off[BESIDE_ONSET];
    struct side side = { NAN, NAN, 0 };

    for (uint32_t i = 0; i < n; i++) {
        const struct work_step *step = &w->step[work_slot(w, back - i)];

        if (!step->pause && !step->delayed)
            v[side.n++] = (float)((step->duration_s - (saved_s ? saved_s[i] : 0)) / work_beat(w, step->seq));
    }
    if (side.n < BESIDE_ONSET_MIN)
        return side;
    side.median_s = statistics_medianf(v, side.n);
    for (uint32_t i = 0; i < side.n; i++)
        off[i] = fabsf(v[i] - (float)side.median_s);
    side.error_s = MAD_TO_ERROR * statistics_medianf(off, side.n) / sqrt(side.n);
    return side;
}

/* Did something else begin at about the same time?  Then the steps before say nothing of this one alone. */
static bool has_company(const struct diagnosis *d, size_t at)
{
    for (size_t i = 0; i < d->n; i++)
        if (i != at && d->finding[i].standing && !d->finding[i].unconfirmed &&
            llabs((long long)(d->finding[i].onset_step - d->finding[at].onset_step)) <= BESIDE_ONSET)
            return true;
    return false;
}

/* Of so many steps on one side, those that are compared: not the one next to the onset. */
static uint32_t near_of(uint32_t steps)
{
    return steps - 1 < BESIDE_ONSET ? steps - 1 : BESIDE_ONSET;
}

void diagnosis_look_before(struct diagnosis *d, size_t at)
{
    const struct work *w = d->work;
    struct missed *m = &d->entry[at].missed;
    const struct straggler *straggler = &d->entry[at].straggler;
    uint32_t since = work_steps_since(w, straggler->onset, WORK_STEPS), before = work_kept(w) - since, n;
    double saved_s[WORK_STEPS], more[WORK_STEPS], z, off;
    bool alone = !has_company(d, at);
    struct side was, is;

    if (straggler->drift || straggler->fading)
        return;
    if (!alone || !diagnosis_asked_of(&m->of, straggler))
        *m = (struct missed){ .of = diagnosis_ask(straggler), .ratio = 1 };
    if (!alone || since <= BESIDE_ONSET_MIN || before <= BESIDE_ONSET_MIN ||
        w->steps - straggler->onset != since || since < 2 * m->since)
        return;
    m->since = since;
    if (d->pricing.method->each(&d->pricing, straggler, 1, saved_s, more) != since)
        return;
    n = near_of(before);
    was = side_of(w, since + n, n, NULL);
    is = side_of(w, since - 2, near_of(since), saved_s + 1);
    off = is.median_s / was.median_s - 1;
    z = (is.median_s - was.median_s) / hypot(is.error_s, was.error_s);
    if (!(fabs(off) < 1) || !(fabs(z) > MISSED_Z)) {
        m->ratio = 1;
        return;
    }
    m->ratio = 1 + off * (1 - MISSED_Z * MISSED_Z / (z * z));
    m->error = fabs(off / z);
}

double diagnosis_with_missed(const struct diagnosis *d, size_t at, struct price p)
{
    const struct missed *m = &d->entry[at].missed;
    double steps_s;

    if (!m->since || m->ratio == 1)
        return p.saved_s;
    steps_s = p.of_s - diagnosis_paused_s(d->work, m->of.onset, SAME_TIME * p.of_s);
    return fmax(0, steps_s - (steps_s - p.saved_s) / m->ratio);
}

/* The cost is what the time without it is shorter: the error of the one is in the other. */
struct interval diagnosis_missed_cost(const struct diagnosis *d, size_t at)
{
    const struct missed *m = &d->entry[at].missed;
    double slowdown = d->finding[at].slowdown;

    if (!m->since || m->ratio == 1 || !(slowdown > 1))
        return (struct interval){ 1, 1 };
    return interval_of(1, m->error / m->ratio / (slowdown - 1), INFINITY);
}
