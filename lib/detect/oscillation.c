#include "detect/oscillation.h"

#include <math.h>
#include <string.h>

#include "detect/rhythm.h"

/* fewest cycles that are folded; chosen: of fewer the mean of a phase is that of one or two steps */
#define CYCLES_MIN 4u
/* maximum number of steps looked at: as many cycles of the longest period */
#define FOLD_WINDOW (CYCLES_MIN * OSCILLATION_MAX)
/* Steps that are folded, at the least, and their variance that phases explain: of noise alone two phases
 * explain as much in one of 6,000 looks at 12 steps (F test with 1 and 10 degrees of freedom), more phases in
 * fewer. */
#define FOLD_STEPS_MIN 12u
#define FOLD_EXPLAINED 0.75
/* slow over fast: half of the steps are slow, so that less costs at most 1 %, half MinSlowdown's default */
#define FOLD_RATIO_MIN 1.02
/* steps in a row whose records are lost; more are a gap: what came before it is not looked at */
#define LOST_MAX     2u
#define CALM_MIN     FOLD_STEPS_MIN    /* steps that show that it did not alternate before */
#define FOLD_CONFIRM 2u                /* looks in a row: one may be chance */
#define FOLD_LET_GO  (FOLD_WINDOW / 2) /* looks without it: most of what is looked at is new */

/* The newest typical works, without the program's own rhythm, newest first, as far as the steps follow one
 * another; NaN: that step's records are lost, or it holds the work of those before it, too. */
static uint32_t fill_work(const struct work *w, uint32_t period, float *y)
{
    uint32_t newest = w->step[work_slot(w, 0)].seq, n = 0;

    for (uint32_t b = 0; b < work_kept(w); b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];
        uint32_t at = (newest - step->seq) / period;

        if ((newest - step->seq) % period || at >= FOLD_WINDOW || at > n + LOST_MAX)
            break;
        while (n < at)
            y[n++] = NAN;
        y[n++] =
            step->pause || work_is_of_several(w, b, period) ? NAN : step->typical_s / work_beat(w, step->seq);
    }
    return n;
}

struct phase_fold {
    uint32_t period;
    double explained, fast_s, slow_s;
    double error; /* standard error of slow over fast, relative */
    bool wave;    /* as many slow steps in a row as fast ones, and more than one */
};

static double phase_mean(const float *y, uint32_t n, uint32_t phase, uint32_t period, uint32_t *known)
{
    double sum = 0;

    *known = 0;
    for (uint32_t i = phase; i < n; i += period)
        if (!isnan(y[i])) {
            sum += y[i];
            (*known)++;
        }
    return *known ? sum / *known : NAN;
}

/* Share of the variance that the phases explain (less what chance would), and the two levels. */
static struct phase_fold fold_at(const float *y, uint32_t n, uint32_t period)
{
    struct phase_fold f = { .period = period };
    double mean[OSCILLATION_MAX], all, total = 0, within = 0, middle, low = INFINITY, high = 0;
    uint32_t known, in[OSCILLATION_MAX], slow = 0, fast = 0;

    all = phase_mean(y, n, 0, 1, &known);
    for (uint32_t p = 0; p < period; p++) {
        mean[p] = phase_mean(y, n, p, period, &in[p]);
        low = fmin(low, mean[p]);
        high = fmax(high, mean[p]);
        if (!in[p])
            return f;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(y[i])) {
            total += (y[i] - all) * (y[i] - all);
            within += (y[i] - mean[i % period]) * (y[i] - mean[i % period]);
        }
    if (known <= period + 1 || !(total > 0))
        return f;
    f.explained = 1 - within / (known - period) / (total / (known - 1));
    middle = (low + high) / 2;
    for (uint32_t p = 0; p < period; p++) {
        if (mean[p] > middle) {
            f.slow_s += mean[p] * in[p];
            slow += in[p];
        } else {
            f.fast_s += mean[p] * in[p];
            fast += in[p];
        }
    }
    f.wave = rhythm_alternates(mean, period);
    f.slow_s /= slow;
    f.fast_s /= fast;
    f.error = sqrt(within / (known - period) *
                   (1 / (f.slow_s * f.slow_s * slow) + 1 / (f.fast_s * f.fast_s * fast)));
    return f;
}

/* Had this step been a fast one; of one that holds the work of several, had all of these been. */
static double saved_s(const struct oscillation *o, const struct work *w, uint32_t back, uint32_t stride)
{
    const struct work_step *step = &w->step[work_slot(w, back)];
    double typical_s = step->typical_s / work_beat(w, step->seq);
    uint32_t apart =
                 work_is_of_several(w, back, stride) ? step->seq - w->step[work_slot(w, back + 1)].seq : 0,
             works = apart % stride ? 1 : apart / stride; /* else collectives of another kind came between */

    if (step->pause)
        return 0;
    if (works > 1)
        return step->longest_s * fmax(0, 1 - works * o->fast_s / typical_s);
    return typical_s > (o->fast_s + o->slow_s) / 2 ? step->longest_s * (1 - 1 / o->ratio) : 0;
}

/* The step half a period before another; false: its records are lost. */
static bool find_half_before(const struct work *w, uint32_t back, uint32_t half, uint32_t stride,
                             uint32_t *found)
{
    uint32_t seq = w->step[work_slot(w, back)].seq - half * stride;

    for (*found = back + 1; *found < work_kept(w) && *found <= back + half; (*found)++)
        if (w->step[work_slot(w, *found)].seq == seq)
            return true;
    return false;
}

/* How far back do the steps alternate? */
static uint32_t alternates_since(const struct work *w, const struct phase_fold *f, uint32_t stride)
{
    double middle_s = (f->fast_s + f->slow_s) / 2;
    uint32_t far = 0, half = f->period / 2 ? f->period / 2 : 1, wrong = 0, before;

    for (uint32_t b = 0; b + half < work_kept(w); b++) {
        const struct work_step *step = &w->step[work_slot(w, b)], *h;

        if (!find_half_before(w, b, half, stride, &before))
            continue;
        h = &w->step[work_slot(w, before)];
        if (step->pause || h->pause || work_is_of_several(w, b, stride) ||
            work_is_of_several(w, before, stride))
            continue;
        if ((step->typical_s / work_beat(w, step->seq) > middle_s) ==
            (h->typical_s / work_beat(w, h->seq) > middle_s)) {
            if (++wrong > 2 * f->period)
                break;
            continue;
        }
        wrong = wrong ? wrong - 1 : 0;
        far = before;
    }
    return far;
}

/* Did the steps that are slow now take no longer than the others before?  If they did, or if there were too
 * few, the program has alternated since it began: it may have been written so, unless several slow steps
 * follow one another (rhythm.h). */
static bool is_calm_before(const struct work *w, const struct phase_fold *f, uint32_t far, uint32_t stride)
{
    double middle_s = (f->fast_s + f->slow_s) / 2, sum[2] = { 0 }, now_s[OSCILLATION_MAX] = { 0 };
    uint32_t n[2] = { 0 }, in[OSCILLATION_MAX] = { 0 };

    for (uint32_t b = 0; b < work_kept(w); b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];
        /* steps may be missing */
        uint32_t phase = (w->step[work_slot(w, 0)].seq - step->seq) / stride % f->period;

        if (step->pause || work_is_of_several(w, b, stride))
            continue;
        if (b <= far) {
            now_s[phase] += step->typical_s / work_beat(w, step->seq);
            in[phase]++;
        } else {
            bool slow = now_s[phase] > middle_s * in[phase];

            sum[slow] += step->typical_s / work_beat(w, step->seq);
            n[slow]++;
        }
    }
    return n[0] + n[1] >= CALM_MIN && n[0] + n[1] >= 2 * f->period && n[0] && n[1] &&
           sum[1] / n[1] / (sum[0] / n[0]) - 1 < (f->slow_s / f->fast_s - 1) / 3;
}

/* What the steps since the onset cost by their durations, slow against fast, over what they cost by their
 * works: where ranks wait for each other inside of a step, the work of the slowest is not all of it.  NaN:
 * too few. */
static double by_durations(const struct oscillation *o, const struct work *w, uint32_t stride)
{
    uint32_t n = work_steps_since(w, o->onset, WORK_STEPS), in[2] = { 0 };
    double sum_s[2] = { 0 }, by_work_s = 0;

    for (uint32_t b = 0; b < n; b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];
        double lost_s = saved_s(o, w, b, stride);

        if (step->pause || work_is_of_several(w, b, stride))
            continue;
        by_work_s += lost_s;
        sum_s[lost_s > 0] += step->duration_s / work_beat(w, step->seq);
        in[lost_s > 0]++;
    }
    return in[0] && in[1] ? (sum_s[1] - sum_s[0] * in[1] / in[0]) / by_work_s : NAN;
}

/* How uncertain the ratio of the levels is, the onset, which is known to a period, and how a step's cost
 * follows from its work. */
static void set_cost(struct oscillation *o, const struct work *w, const struct phase_fold *f, uint32_t stride)
{
    double first = o->period / (double)(w->steps - o->onset), other = by_durations(o, w, stride);

    o->cost = isnan(other) ? INTERVAL_UNKNOWN : (struct interval){ fmin(1, other), fmax(1, other) };
    o->cost = interval_product(o->cost, (struct interval){ 1 - first, 1 + first });
    o->cost = interval_product(o->cost, interval_of(1, f->error / (o->ratio - 1), INFINITY));
}

static void name_oscillation(struct oscillation *o, const struct work *w, const struct phase_fold *f,
                             uint32_t stride, double min_slowdown)
{
    uint32_t far = alternates_since(w, f, stride);
    double lost_s = 0, all_s = work_time_s(w, far + 1);

    o->ratio = f->slow_s / f->fast_s;
    o->fast_s = f->fast_s;
    o->slow_s = f->slow_s;
    for (uint32_t b = 0; b <= far; b++)
        lost_s += saved_s(o, w, b, stride);
    if (all_s < (all_s - lost_s) * min_slowdown || !(f->wave || is_calm_before(w, f, far, stride)))
        return;
    o->standing = true;
    o->saved_s = lost_s;
    o->period = f->period;
    o->onset = w->steps - 1 - far;
    o->without = 0;
    set_cost(o, w, f, stride);
}

void oscillation_step(struct oscillation *o, const struct work *w, uint32_t period, double min_slowdown)
{
    float y[FOLD_WINDOW];
    uint32_t n = fill_work(w, period, y);
    struct phase_fold f = { 0 };
    bool there;

    for (uint32_t p = 2; p <= OSCILLATION_MAX && n >= CYCLES_MIN * p; p++) {
        struct phase_fold other = fold_at(y, n, p);

        if (other.explained > f.explained + 0.02) /* a multiple of the period explains as much */
            f = other;
    }
    there = f.explained > FOLD_EXPLAINED && f.slow_s > FOLD_RATIO_MIN * f.fast_s;
    if (o->standing) {
        o->saved_s += saved_s(o, w, 0, period);
        o->without = there || n < FOLD_STEPS_MIN ? 0 : o->without + 1;
        if (there) {
            o->ratio += (f.slow_s / f.fast_s - o->ratio) / 8;
            o->fast_s += (f.fast_s - o->fast_s) / 8;
            o->slow_s += (f.slow_s - o->slow_s) / 8;
        }
        set_cost(o, w, &f, period);
        if (o->without >= FOLD_LET_GO)
            o->standing = false;
        return;
    }
    o->with = there && n >= FOLD_STEPS_MIN ? o->with + 1 : 0;
    if (o->with >= FOLD_CONFIRM)
        name_oscillation(o, w, &f, period, min_slowdown);
}
