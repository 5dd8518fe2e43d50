#include "detect/variability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/order.h"
#include "model/statistics.h"

/* What labelled episodes say when one of these is halved or doubled: doc/constants.md. */

/* Where "chosen" is said, the value is between the two in brackets, which were tried on the labelled traces
 * of tests/analysis (22 programs, 48 episodes). */

/* Standard deviations above the rank's own usual excess. Chosen (3.5, 8): with either of these one trace is
 * judged otherwise. */
#define DETOUR_Z 5.0f
/* And at least so much of the typical work. Chosen (0.05, 0.3): all are judged alike; with 0.3 jitter is
 * found later. */
#define DETOUR_RATIO 0.1f
/* more than one rank in this many at once share a cause: no detour; see together() */
#define SHARED_CAUSE 8u
#define CHANCE       0.01 /* of as many detours in a step: one step in a hundred is misread */
/* Among the newest DETOUR_WINDOW steps: as many as a Poisson rate needs to be known to a factor of two (half
 * of it is its standard error). Chosen (2, 8): with 2 all are judged alike, and sooner; with 8 one is judged
 * otherwise, and others later. */
#define DETOURS_MIN 4u
/* that they hit (fewer where there are fewer ranks): two may be the ranks of one slow place */
#define RANKS_MIN 3u
/* steps in which DETOURS_MIN are jitter.  Chosen: in a shorter window rare detours would never be */
#define DETOUR_WINDOW 96u
/* steps that detours are priced over; chosen: half of that window, so that a few in a row are no price */
#define COST_MIN 48u
/* steps at the beginning, of which none is looked for: chosen: as many as work.c needs for what is usual */
#define DETOURS_FROM 4u
/* Steps without one, and four times the usual distance: over. At four times the mean distance one gap in 55
 * is by chance (exp(-4)). */
#define DETOUR_QUIET 64u

/* Own work on dedicated cores varies by a few per cent from step to step (Petrini et al. 2003; Hoefler et al.
 * 2010); above NOISE_WIDE the variation is the work's own. Where no calm time was seen, NOISE_ORDINARY stands
 * for it. */
#define NOISE_WIDE 0.08 /* decision 0011 ... */
/* ... and below it, so that noise near the limit does not come and go */
#define NOISE_NARROW   0.06
#define NOISE_ORDINARY 0.025 /* decision 0011 */
/* Blocks of a step that are taken to be alike, at most. Chosen: so many hide half of their noise in their
 * sum, and it is twice what is ordinary for machines when one block's is wide. */
#define BLOCKS_ALIKE 4u
/* twice WORK_NOISE_STEPS: what made it grow is no part of it any more */
#define NOISE_WIDE_STEPS 16u

struct variability *variability_new(void)
{
    struct variability *s = xcalloc(1, sizeof(*s));

    s->calm = NAN;
    return s;
}

void variability_free(struct variability *s)
{
    if (!s)
        return;
    free(s->usual);
    free(s);
}

void variability_reset(struct variability *s)
{
    free(s->usual);
    *s = (struct variability){ .calm = NAN };
}

/* ---- jitter ---- */

static bool is_late(const struct straggler *late, size_t n, const struct work *w, uint32_t rank)
{
    for (size_t i = 0; i < n; i++)
        if (straggler_has(&late[i], w, rank))
            return true;
    return false;
}

/* The newest step: how many had a detour and which the last, what the others took at the longest, and how
 * long the late ones did. */
struct step_detours {
    uint32_t known, detours, who;
    float others_s, undelayed_s, late_s;
    double own_sum_s; /* of all that are known */
};

static struct step_detours look_at_step(struct variability *s, const struct work *w,
                                        const struct straggler *late, size_t n)
{
    float limit = fmaxf(DETOUR_Z * (float)w->sigma, DETOUR_RATIO);
    struct step_detours l = { 0 };

    for (uint32_t r = 0; r < w->n; r++) {
        float x = w->excess[r], own_s = w->newest_s[r];

        if (isnan(x))
            continue;
        l.known++;
        l.own_sum_s += own_s;
        if (is_late(late, n, w, r)) {
            l.late_s = fmaxf(l.late_s, own_s);
        } else if (x - s->usual[r] > limit) {
            l.who = r;
            l.detours++;
            l.others_s = fmaxf(l.others_s, own_s);
        } else {
            l.undelayed_s = fmaxf(l.undelayed_s, own_s);
            l.others_s = fmaxf(l.others_s, own_s);
        }
        /* A detour moves the usual a little, so that what stays becomes usual within some steps. */
        s->usual[r] += fmaxf(-limit, fminf(limit, x - s->usual[r])) / 4;
    }
    return l;
}

/* So many ranks may have a detour in one step and not share a cause: one in eight, or as many as come
 * together by chance where detours are frequent (Poisson). */
static uint32_t together(const struct variability *s, uint32_t n)
{
    double p = s->jitter ? exp(-s->detours_per_step) : 1, more = 1 - p;
    uint32_t max = 0;

    while (more > CHANCE) { /* detours in a step are more than `max` by chance */
        p *= s->detours_per_step / ++max;
        more -= p;
    }
    return max > 1 + n / SHARED_CAUSE ? max : 1 + n / SHARED_CAUSE;
}

/* The first steps of a slow rank looked like detours, until it was named: they are part of its slowness. */
static void drop_detours(struct variability *s, struct work *w, const struct straggler *late, size_t n)
{
    s->redrawn = false;
    for (uint64_t i = 0; i < detours_kept(&s->detours) && n; i++) {
        const struct detour *detour = detours_back(&s->detours, i);
        uint64_t back = w->steps - detour->step;

        for (size_t j = 0; j < n && detour->rank != DETOURS_NOBODY; j++) {
            if (detour->step <= late[j].onset || !straggler_has(&late[j], w, detour->rank))
                continue;
            detours_forget(&s->detours, i);
            if (back < work_kept(w)) {
                struct work_step *step = &w->step[work_slot(w, (uint32_t)back)];

                /* what recurs was taken for jitter for long */
                if (late[j].late_min > 0 && s->jitter && detour->step > s->jitter_onset) {
                    s->seen_saved_s -= step->longest_s - step->without_detours_s;
                    s->redrawn = true;
                }
                step->without_detours_s = step->longest_s;
            }
        }
    }
}

struct tally {
    uint32_t detours, ranks, commonest;
    uint64_t first;
};

/* The detours of the window: how many, on how many ranks, how many on the commonest. */
static struct tally count_detours(const struct variability *s, uint64_t now)
{
    uint32_t rank[DETOURS_KEPT], hits[DETOURS_KEPT];
    struct tally t = { .first = now };

    for (uint64_t i = 0; i < detours_kept(&s->detours); i++) {
        const struct detour *detour = detours_back(&s->detours, i);
        uint32_t j = 0;

        if (detour->step + DETOUR_WINDOW < now)
            break;
        if (detour->rank == DETOURS_NOBODY)
            continue;
        t.detours++;
        t.first = detour->step;
        while (j < t.ranks && rank[j] != detour->rank)
            j++;
        if (j == t.ranks) {
            rank[t.ranks] = detour->rank;
            hits[t.ranks++] = 0;
        }
        hits[j]++;
        t.commonest = hits[j] > t.commonest ? hits[j] : t.commonest;
    }
    return t;
}

/* Cost of the detours since `first`, over COST_MIN steps at the least. */
static double detours_cost_since(const struct work *w, uint64_t first, double *saved_s, double *ratio)
{
    double all_s = 0, excess = 0;
    uint32_t n = 0;

    *saved_s = 0;
    for (uint32_t b = 0; b < work_kept(w) && (b < COST_MIN || w->steps - b >= first); b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];

        all_s += step->duration_s;
        *saved_s += step->longest_s - step->without_detours_s;
        if (step->longest_s > step->without_detours_s) {
            excess += step->longest_s / step->typical_s - 1;
            n++;
        }
    }
    *ratio = n ? excess / n : NAN;
    return fmax(1, finding_slowdown(all_s, *saved_s));
}

/* What it costs may be less, as far as there were detours before it: those are ordinary.  It may be more, as
 * far as detours are too short to be seen: lengths beyond the limit that vary exponentially go on to do so
 * below it.  Of a job that has had detours from its beginning, or about as often before as far as is known,
 * nothing shows what is ordinary. */
static struct interval jitter_cost(const struct variability *s, const struct work *w)
{
    double since = (double)(w->steps - s->jitter_onset), detours = (double)(s->detours.n - s->ordinary);
    double limit = fmax(DETOUR_Z * w->sigma, DETOUR_RATIO), beyond = s->detour_ratio - limit;
    double ordinary = interval_poisson((double)s->ordinary).high / (double)s->jitter_onset * since / detours;

    if (!s->jitter_onset || !(beyond > 0) || !(ordinary < 1))
        return INTERVAL_UNKNOWN;
    return (struct interval){ 1 - ordinary, exp(limit / beyond) / (1 + limit / beyond) };
}

static uint32_t detours_since(const struct variability *s, uint64_t first)
{
    uint32_t n = 0;

    while (n < detours_kept(&s->detours) && detours_back(&s->detours, n)->step >= first)
        n++;
    return n;
}

/* Jitter since that step.  false: it costs too little. */
static bool begin_jitter(struct variability *s, const struct work *w, uint64_t first, double min_slowdown)
{
    double saved_s, ratio, cost = detours_cost_since(w, first, &saved_s, &ratio);

    if (cost < min_slowdown)
        return false;
    s->seen_saved_s = saved_s;
    s->detour_ratio = ratio;
    /* No farther from the first step than detours are from one another: from the beginning. */
    s->jitter_onset = first > 1 / s->detours_per_step ? first - 1 : 0;
    s->ordinary = s->detours.n - detours_since(s, first);
    s->jitter_cost = jitter_cost(s, w);
    return true;
}

/* Is it more than the machine's own noise, because it increased or not, and since when is it?  With the
 * newest detour. */
static bool is_more(const struct variability *s, const struct work *w, const struct tally *t, uint64_t *first,
                    bool *increased)
{
    uint64_t since = 0;

    *increased = detours_increased(&s->detours, &since);
    if (!*increased && (s->jitter || !detours_cost(&s->detours, &since)))
        return false;
    *first = since < t->first ? since : t->first;
    if (*first <= s->detours.over)
        *first = s->detours.over + 1;
    if (*first + work_kept(w) <= w->steps) /* what it cost before is not known any more */
        *first = w->steps - work_kept(w) + 1;
    return true;
}

static void judge_jitter(struct variability *s, const struct work *w, double min_slowdown)
{
    struct tally t = count_detours(s, w->steps);
    uint64_t newest = s->detours.n ? detours_back(&s->detours, 0)->step : 0, first;
    uint32_t ranks_min = w->n < 2 * RANKS_MIN ? (w->n + 1) / 2 : RANKS_MIN;
    bool increased;

    if (t.detours > 1)
        s->detours_per_step = (t.detours - 1) / (double)(w->steps > t.first ? w->steps - t.first : 1);
    if (s->jitter && w->steps > newest + DETOUR_QUIET && w->steps > newest + 4 / s->detours_per_step) {
        s->jitter = false;
        detours_end(&s->detours, w->steps);
    }
    if (s->redrawn && (t.detours < DETOURS_MIN || t.ranks < ranks_min))
        s->jitter = false;
    if (s->jitter)
        s->jitter_cost = jitter_cost(s, w);
    if (newest != w->steps || (s->jitter && s->increased) || t.detours < DETOURS_MIN || t.ranks < ranks_min ||
        2 * t.commonest > t.detours + 1 || !is_more(s, w, &t, &first, &increased))
        return;
    if (s->jitter || begin_jitter(s, w, first, min_slowdown)) { /* one that stands began when it did */
        s->jitter = true;
        s->increased = increased;
    }
}

/* ---- imbalance ---- */

/* Where no calm time was seen, the noise that would be left may be anything that is ordinary; else it is as
 * uncertain as the standard deviations that it is the ratio of, and it had grown before that was seen. */
static struct interval imbalance_cost(const struct variability *s, const struct work *w, double noise,
                                      double keeps)
{
    double error = sqrt(0.5 / (double)(w->steps - s->wide_since) + 0.5 / (double)s->wide_since);
    struct interval left = interval_of(keeps, keeps * error, INFINITY);
    double lasted_ratio = 1 + (s->wide_since ? WORK_NOISE_STEPS / (double)(w->steps - s->wide_since) : 0);

    if (isnan(s->calm))
        left = (struct interval){ 0, NOISE_NARROW / noise };
    return (struct interval){ fmax(0, 1 - left.high) / (1 - keeps),
                              lasted_ratio * s->spread_most_s / s->spread_s * (1 - left.low) / (1 - keeps) };
}

/* With what they wait, each rank has the sum of the longest work of each block; NaN: it is not known. */
static double blocks_s(const struct work_step *step, const struct step_detours *l, uint32_t period)
{
    return period < 2 || !l->known ? NAN : l->own_sum_s / l->known + step->wait_s;
}

/* By how much the newest step was longer than what is typical, all ranks together.  Its blocks each end with
 * their last rank, who is another one in each, so that the longest sum of work shows but a part of it.
 * most_s: that cannot be more, where the waiting is not known. */
static double spread_of(const struct work_step *step, const struct step_detours *l, uint32_t period,
                        double *most_s)
{
    double even_s = fmaxf(step->typical_s, l->late_s), of_sums_s = fmax(0, l->others_s - even_s);

    *most_s = of_sums_s;
    if (period < 2 || l->detours) /* a detour is none of it */
        return of_sums_s;
    if (isnan(step->wait_s)) {
        *most_s = fmax(of_sums_s, step->duration_s - even_s);
        return of_sums_s;
    }
    *most_s = fmax(of_sums_s, blocks_s(step, l, period) - even_s);
    return *most_s;
}

static void take_apart(struct variability *s, const struct work_step *step, const struct step_detours *l,
                       uint32_t period)
{
    double apart = (blocks_s(step, l, period) - fmaxf(l->others_s, l->late_s)) / step->typical_s;

    if (isnan(apart) || l->detours || step->pause)
        return;
    s->apart_steps += s->apart_steps < NOISE_WIDE_STEPS;
    s->apart += (fmax(0, apart) - s->apart) / s->apart_steps;
}

/* Is it known whether the blocks of a step hide noise? */
static bool knows_blocks(const struct variability *s, const struct work_step *newest, uint32_t period)
{
    return period < 2 || isnan(newest->wait_s) || s->apart_steps >= WORK_NOISE_STEPS;
}

/* Noise of a rank's work in one block, relative to it.  Of k blocks alike, whose noise is `one`, the longest
 * ones take 1 + z_N one, and the longest sum 1 + z_N one / sqrt(k).  Where the blocks differ, or their noise
 * hangs together, the second shows less of it than there is.  Who is last in each step in the same block is
 * no noise: it is no more than would make the sums vary as they do. */
static double noise_of_block(const struct variability *s, const struct work *w, uint32_t period)
{
    double alike = sqrt(period < BLOCKS_ALIKE ? period : BLOCKS_ALIKE);

    if (period < 2 || s->apart_steps < WORK_NOISE_STEPS)
        return w->sigma;
    return fmax(w->sigma, fmin(alike * w->sigma, s->apart / (s->z * (1 - 1 / alike))));
}

static void judge_imbalance(struct variability *s, const struct work *w, const struct step_detours *l,
                            uint32_t period, double min_slowdown)
{
    const struct work_step *step = &w->step[work_slot(w, 0)];
    double noise, keeps, lost_s, most_s;

    take_apart(s, step, l, period);
    noise = noise_of_block(s, w, period);
    if (noise < NOISE_NARROW && w->changes >= NOISE_WIDE_STEPS)
        s->calm = isnan(s->calm) ? noise : s->calm + (noise - s->calm) / 32;
    s->spread_s += spread_of(step, l, period, &most_s);
    s->spread_most_s += most_s;
    if (!(noise > (s->imbalance ? NOISE_NARROW : NOISE_WIDE))) {
        if (!s->imbalance && !knows_blocks(s, step, period)) /* it may be wide all along */
            return;
        s->imbalance = false;
        s->wide_since = w->steps;
        s->spread_s = s->spread_most_s = 0;
        return;
    }
    keeps = (isnan(s->calm) ? NOISE_ORDINARY : s->calm) / noise;
    lost_s = s->spread_s * (1 - keeps);
    if (!s->imbalance) {
        if (w->steps - s->wide_since < NOISE_WIDE_STEPS ||
            lost_s < (1 - 1 / min_slowdown) * step->duration_s * (double)(w->steps - s->wide_since))
            return;
        s->imbalance = true;
        s->imbalance_onset = s->wide_since;
    }
    s->imbalance_saved_s = lost_s;
    s->imbalance_cost = imbalance_cost(s, w, noise, keeps);
    s->noise = noise;
}

void variability_step(struct variability *s, struct work *w, uint32_t period, const struct straggler *late,
                      size_t n, double min_slowdown)
{
    struct work_step *newest = &w->step[work_slot(w, 0)];
    struct step_detours l;

    if (s->n != w->n) {
        variability_reset(s);
        s->usual = xcalloc(w->n, sizeof(*s->usual));
        s->n = w->n;
        s->z = order_z(w->n, 0);
    }
    if (isnan(w->sigma) || w->n < 2)
        return;
    l = look_at_step(s, w, late, n);
    newest->delayed = l.detours > 0;
    s->known += l.known / (double)w->n;
    s->looked++;
    detours_step(&s->detours, newest->duration_s);
    if (l.detours && l.detours <= together(s, w->n) && w->steps > DETOURS_FROM &&
        work_shows(w, newest->longest_s - fmaxf(l.undelayed_s, l.late_s))) {
        newest->without_detours_s = fmaxf(l.undelayed_s, l.late_s); /* for the late ones all wait anyway */
        if (s->jitter)
            s->seen_saved_s += newest->longest_s - newest->without_detours_s;
        l.others_s = l.undelayed_s; /* it is no imbalance */
        detours_add(&s->detours, w->steps, l.who, newest->longest_s - newest->without_detours_s,
                    newest->typical_s);
    }
    drop_detours(s, w, late, n);
    judge_jitter(s, w, min_slowdown);
    s->jitter_saved_s = s->seen_saved_s * (double)s->looked / s->known;
    judge_imbalance(s, w, &l, period, min_slowdown);
}
