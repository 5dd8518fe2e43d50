#include "detect/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/statistics.h"

/* that show what is usual, so that a pause stands out; and with as many behind them what the first were */
#define USUAL_STEPS    4u
#define FIRST_STEPS    (2 * USUAL_STEPS)
#define WORK_SIGMA_MIN 0.002 /* clocks and exit skew are no better */
#define NOISE_CHANGES  64.0f /* steps that the noise is a running mean over */
#define RECENT_SHARE   0.9   /* of the noise of WORK_NOISE_STEPS counts: they are few */
/* Steps that tell how long one usually takes, and the fewest: their lower quartile is the fourth of them, or
 * the least. */
#define RESIDUALS     16u
#define RESIDUALS_MIN 4u
/* over which the excess of a rank is a mean; and how many of them were only pauses, where no more are */
#define RECENT_STEPS 16u
#define RARE_PAUSES  2u

struct work *work_new(void)
{
    struct work *w = xcalloc(1, sizeof(*w));

    work_reset(w);
    return w;
}

void work_free(struct work *w)
{
    if (!w)
        return;
    free(w->own);
    free(w->newest_s);
    free(w->excess);
    free(w->rank);
    free(w->scratch);
    free(w);
}

void work_reset(struct work *w)
{
    w->steps = 0;
    w->usual_s = NAN;
    w->sigma = NAN;
    w->lasting_sigma = w->recent_sigma = 0;
    w->changes = 0;
    w->rhythm = (struct work_rhythm){ 0 };
    for (uint32_t r = 0; r < w->n; r++)
        w->rank[r].steps = 0;
}

/* Room for more ranks; what was known of fewer is forgotten. */
static void reserve(struct work *w, uint32_t n)
{
    uint32_t before = w->n;

    if (n <= before)
        return;
    w->rank = xgrow(w->rank, &w->rank_cap, n, sizeof(*w->rank));
    w->excess = xrealloc(w->excess, n, sizeof(*w->excess));
    w->scratch = xrealloc(w->scratch, n, sizeof(*w->scratch));
    w->own = xrealloc(w->own, (size_t)WORK_STEPS * n, sizeof(*w->own));
    w->newest_s = xrealloc(w->newest_s, n, sizeof(*w->newest_s));
    for (uint32_t r = before; r < n; r++)
        w->rank[r] = (struct work_rank){ .node = WORK_PLACE_NONE, .switch_id = WORK_PLACE_NONE };
    w->n = n;
    work_reset(w);
}

void work_place(struct work *w, uint32_t rank, uint32_t node, uint32_t switch_id)
{
    reserve(w, rank + 1);
    w->placed += w->rank[rank].node != node || w->rank[rank].switch_id != switch_id;
    w->rank[rank].node = node;
    w->rank[rank].switch_id = switch_id;
}

/* In the first steps it is not known what is usual, and which of them is a pause: that is seen later. */
static void find_first_pauses(struct work *w)
{
    float typical_s[FIRST_STEPS], scratch[FIRST_STEPS], usual_s;

    for (uint32_t i = 0; i < FIRST_STEPS; i++)
        typical_s[i] = w->step[i].typical_s / work_beat(w, w->step[i].seq);
    usual_s = (float)statistics_known_medianf(typical_s, FIRST_STEPS, scratch);
    for (uint32_t i = 0; i < USUAL_STEPS; i++)
        if (typical_s[i] > (float)WORK_PAUSE_RATIO * usual_s) {
            w->step[i].pause = true;
            w->step[i].usual_s = usual_s;
        }
}

/* Those before it count as they were, and not as what they were taken for: the fourth of a stretch in which
 * all are slow would have none in front of the fifth. */
static bool is_pause(const struct work *w, const struct work_step *s)
{
    uint32_t kept = work_kept(w), before = 0;

    if (w->steps < USUAL_STEPS || !work_is_long(s))
        return false;
    while (before < kept && before < WORK_PAUSE_MAX && work_is_long(&w->step[work_slot(w, before)]))
        before++;
    return before < WORK_PAUSE_MAX;
}

/* The noise, from how much each rank's excess changed since the step before. */
static void learn_noise(struct work *w)
{
    uint32_t m = 0;
    double sigma, change_to_sigma;

    for (uint32_t r = 0; r < w->n; r++) {
        struct work_rank *rank = &w->rank[r];
        float x = w->excess[r];

        if (isnan(x))
            continue;
        if (rank->steps++)
            w->scratch[m++] = fabsf(x - rank->before);
        rank->before = x;
    }
    if (m < 2)
        return;
    /* Of normal noise: a median over many ranks' changes, or the mean of the one that two ranks have. */
    change_to_sigma = m > 2 ? 1 / 0.9539 : 1 / 1.1284;
    sigma = fmax(WORK_SIGMA_MIN, statistics_medianf(w->scratch, m) * change_to_sigma);
    w->changes++;
    w->lasting_sigma += (sigma - w->lasting_sigma) / fmin(w->changes, NOISE_CHANGES);
    w->recent_sigma += (sigma - w->recent_sigma) / fmin(w->changes, WORK_NOISE_STEPS);
    w->sigma = fmax(w->lasting_sigma, RECENT_SHARE * w->recent_sigma);
}

void work_take(struct work *w, uint32_t seq, const float *own_s, uint32_t n, double duration_s,
               double transfer_s)
{
    struct work_step *s;
    uint16_t *row;
    float usual_s;

    reserve(w, n);
    s = &w->step[w->steps % WORK_STEPS];
    row = w->own + (size_t)(w->steps % WORK_STEPS) * w->n;
    for (uint32_t r = 0; r < w->n; r++)
        w->newest_s[r] = r < n ? own_s[r] : NAN;
    *s = (struct work_step){ .seq = seq, .duration_s = (float)duration_s, .transfer_s = (float)transfer_s };
    s->typical_s = (float)statistics_known_medianf(w->newest_s, w->n, w->scratch);
    s->usual_s = w->usual_s;
    s->longest_s = NAN;
    for (uint32_t r = 0; r < w->n; r++)
        if (w->newest_s[r] > s->longest_s || isnan(s->longest_s)) {
            s->longest_s = w->newest_s[r];
            s->last = r;
        }
    for (uint32_t r = 0; r < w->n; r++) {
        float own = w->newest_s[r] / s->typical_s * WORK_UNITS + 0.5f;

        row[r] = (uint16_t)(!(own >= 0) ? WORK_UNKNOWN : own < WORK_BEYOND ? own : WORK_BEYOND);
    }
    s->delayed = false;
    s->without_detours_s = s->longest_s;
    s->pause = is_pause(w, s);
    usual_s = s->pause ? s->usual_s : s->typical_s > 0 ? s->typical_s : NAN;
    w->steps++;
    /* A running median by stochastic approximation, quick at the beginning. */
    if (!s->pause && s->typical_s > 0) {
        float typical_s = s->typical_s / work_beat(w, seq), gain = w->steps < 16 ? 0.25f : 0.05f;

        if (isnan(w->usual_s))
            w->usual_s = typical_s;
        else
            w->usual_s += gain * fminf(fmaxf(typical_s - w->usual_s, -w->usual_s), w->usual_s);
    }
    for (uint32_t r = 0; r < w->n; r++)
        w->excess[r] = (w->newest_s[r] - s->typical_s) / usual_s;
    learn_noise(w);
    if (w->steps == FIRST_STEPS)
        find_first_pauses(w);
}

double work_time_s(const struct work *w, uint64_t steps)
{
    double all_s = 0;

    for (uint32_t b = 0; b < steps && b < work_kept(w); b++)
        all_s += w->step[work_slot(w, b)].duration_s;
    return all_s;
}

uint32_t work_steps_since(const struct work *w, uint64_t onset, uint32_t max)
{
    uint64_t since = w->steps - onset;
    uint32_t kept = work_kept(w) < max ? work_kept(w) : max;

    return since < kept ? (uint32_t)since : kept;
}

uint32_t work_seq_of(const struct work *w, uint64_t number)
{
    uint64_t back = w->steps - number;

    return w->step[work_slot(w, back < work_kept(w) ? (uint32_t)back : work_kept(w) - 1)].seq;
}

/* How much longer than the typical own work a step takes that nothing rare made longer: the lower quartile of
 * the newest, because half of them may have had a detour. NaN: not known yet. */
static double residual_s(const struct work *w)
{
    float residual[RESIDUALS];
    size_t n = 0;

    for (uint32_t b = 1; b < work_kept(w) && n < RESIDUALS; b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];

        if (!step->pause && !isnan(step->duration_s))
            residual[n++] = step->duration_s - step->typical_s;
    }
    return n < RESIDUALS_MIN ? NAN : statistics_quantilef(residual, n, 0.25);
}

bool work_shows(const struct work *w, double behind_s)
{
    const struct work_step *step = &w->step[work_slot(w, 0)];
    double residual = residual_s(w);

    return isnan(residual) || step->duration_s - step->typical_s - residual > behind_s / 2;
}

double work_recent_excess(const struct work *w, uint32_t rank)
{
    uint32_t n = work_kept(w) < RECENT_STEPS ? work_kept(w) : RECENT_STEPS, known = 0, pauses = 0;
    double sum = 0;

    for (uint32_t b = 0; b < n; b++)
        pauses += w->step[work_slot(w, b)].pause;
    for (uint32_t b = 0; b < n && rank < w->n; b++) {
        uint32_t slot = work_slot(w, b);
        float x = work_excess(w, slot, rank);

        if (isnan(x) || (w->step[slot].pause && pauses <= RARE_PAUSES))
            continue;
        sum += x;
        known++;
    }
    return known ? sum / known : NAN;
}
