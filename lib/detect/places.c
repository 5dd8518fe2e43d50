#include "detect/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/statistics.h"

/* before anything is weighed: two of the shortest windows, without which nothing shows how they vary */
#define PLACES_STEPS_MIN 8u
/* Steps that a place's own past stands on. Chosen: its error is below a third of a step's noise (1 /
 * sqrt(12)). */
#define PLACE_PAST_MIN 12u
#define PAST_MAX       512u /* steps that it stands on, at most: then it follows what changes for good */
/* steps between two looks at what is ordinary: chosen: a look sorts all places, and that moves slowly */
#define LEARN_EVERY 8u

/* What a step shows of a place is kept in these units, up to this. */
#define X_UNITS 4096.0f
#define X_MAX   7.9

/* maximum of one rank in one step, in standard deviations of the shortest window's steps */
#define STEP_CLIP 4.5
#define CLEAR     1.1 /* times the limit need no second step to confirm them ... */
#define STEADY    0.1 /* ... where the noise is less than this */
/* of that, as a mean over a window: it may be more, and the median decides how much */
#define SATURATED 0.75

/* From the beginning slow is a place that the spread of the healthy ones does not explain; of few of them
 * that spread is poorly known. */
#define SPREAD_LIMIT 4.0 /* spreads: of normal ones one place in 16,000 is above ... */
#define SPREAD_FEW   2.0 /* ... and more by this over the root of how many places there are */
/* The spread until SPREAD_STEPS steps show it (chosen: what nodes of a kind differ by), and the least. */
#define SPREAD_EARLY 0.01
#define SPREAD_MIN   0.001
#define SPREAD_STEPS 16u

/* How much more a mean over a window varies than of independent steps: at most, and until windows show it.
 * More than INFLATE_MAX would be a level that moves, which the limit is to find. */
#define INFLATE_MAX    6.0
#define INFLATE_EARLY  1.2
#define INFLATE_MARGIN 1.1 /* the estimate comes from few windows */
/* Windows seen in full by every rank, and by all of few ranks together: fewer do not show how they vary. */
#define BLOCKS_MIN 2u
#define BLOCKS_FEW 32u

static const uint32_t windows[PLACES_WINDOWS] = { 4, 8, 16, 32, 64 };
#define NEWEST       PLACES_NEWEST
#define WINDOWS      PLACES_WINDOWS
#define LONGEST      PLACES_LONGEST
#define LIMIT_Z      PLACES_LIMIT_Z
#define MEDIAN_STEPS PLACES_MEDIAN_STEPS

void places_free(struct places *s)
{
    free(s->track);
    free(s->around);
    free(s->scratch);
    free(s->count);
    memset(s, 0, sizeof(*s));
}

void places_reset(struct places *s)
{
    s->n_tracks = 0;
    s->n = 0;
    s->steps = 0;
}

uint32_t place_of(const struct work *w, enum finding_scope scope, uint32_t rank)
{
    return scope == SCOPE_RANK ? rank : scope == SCOPE_NODE ? w->rank[rank].node : w->rank[rank].switch_id;
}

bool places_current(const struct places *s, const struct work *w)
{
    return s->n == w->n && s->placed == w->placed;
}

static void make_tracks(struct places *s, const struct work *w)
{
    places_reset(s);
    s->n = w->n;
    s->placed = w->placed;
    s->track = xrealloc(s->track, w->n, sizeof(*s->track));
    for (uint32_t r = 0; r < w->n; r++)
        s->track[r] = (struct track){ .scope = SCOPE_RANK, .place = r, .first = r, .ranks = 1 };
    s->n_tracks = w->n;
    s->around = xrealloc(s->around, (size_t)2 * w->n, sizeof(*s->around));
    for (int scope = SCOPE_NODE; scope < SCOPE_NONE; scope++)
        for (uint32_t r = 0; r < w->n; r++) {
            uint32_t place = place_of(w, (enum finding_scope)scope, r);
            size_t t = s->n;

            s->around[2 * r + (scope == SCOPE_SWITCH)] = UINT32_MAX;
            if (place == WORK_PLACE_NONE)
                continue;
            while (t < s->n_tracks && ((int)s->track[t].scope != scope || s->track[t].place != place))
                t++;
            if (t == s->n_tracks) {
                s->track = xrealloc(s->track, ++s->n_tracks, sizeof(*s->track));
                s->track[t] = (struct track){ .scope = (uint8_t)scope, .place = place, .first = r };
            }
            s->around[2 * r + (scope == SCOPE_SWITCH)] = (uint32_t)t;
            s->track[t].ranks++;
        }
    s->scratch = xrealloc(s->scratch, s->n_tracks, sizeof(*s->scratch));
    s->count = xrealloc(s->count, s->n_tracks, sizeof(*s->count));
    for (size_t i = 0; i < WINDOWS; i++)
        s->inflate[i] = INFLATE_EARLY;
    for (int scope = 0; scope < SCOPE_NONE; scope++)
        s->spread[scope] = SPREAD_EARLY;
}

bool track_overlaps(const struct track *a, const struct track *b, const struct work *w)
{
    if (a->scope == b->scope)
        return a->place == b->place;
    if (a->scope > b->scope)
        return track_overlaps(b, a, w);
    return place_of(w, b->scope, a->first) == b->place;
}

/* ---- the means ---- */

static double mean_over(const struct track *track, size_t window)
{
    return (double)track->sum[window] / (X_UNITS * windows[window]);
}

static void push_excess(struct track *track, double excess)
{
    int16_t x = (int16_t)lrint(X_UNITS * fmax(-X_MAX, fmin(X_MAX, excess)));
    uint32_t at = track->seen % LONGEST;

    if (track->seen >= LONGEST && !track->named) {
        track->past_n += track->past_n < PAST_MAX;
        track->past += ((float)track->x[at] / X_UNITS - track->past) / (float)track->past_n;
    }
    for (size_t i = 0; i < WINDOWS; i++) {
        if (track->seen >= windows[i])
            track->sum[i] -= track->x[(track->seen - windows[i]) % LONGEST];
        track->sum[i] += x;
    }
    track->x[at] = x;
    track->seen++;
}

/* How much the mean over a window changes from one to the next: a lasting fault changes each but once. */
static void follow_blocks(struct track *track)
{
    for (size_t i = 0; i < WINDOWS && track->seen % windows[i] == 0; i++) {
        uint32_t blocks = track->seen / windows[i];
        float mean = (float)mean_over(track, i);

        if (blocks > 1)
            track->block_change[i] += (fabsf(mean - track->block_before[i]) - track->block_change[i]) /
                                      (blocks < 32 ? (float)(blocks - 1) : 32);
        track->block_before[i] = mean;
    }
}

/* Each place's mean excess over all the others in the newest step. */
static void push_step(struct places *s, const struct work *w)
{
    float limit = (float)(STEP_CLIP * w->sigma * s->inflate[0]), all = 0;
    uint32_t known = 0; /* of those that nothing is named of */

    memset(s->scratch, 0, s->n_tracks * sizeof(*s->scratch));
    memset(s->count, 0, s->n_tracks * sizeof(*s->count));
    for (uint32_t r = 0; r < s->n; r++) {
        float x = fmaxf(-limit, fminf(limit, w->excess[r]));

        if (isnan(w->excess[r]))
            continue;
        s->scratch[r] = x;
        s->count[r] = 1;
        if (s->track[r].named)
            continue;
        all += x;
        known++;
    }
    for (uint32_t r = 0; r < s->n; r++)
        for (int i = 0; i < 2; i++)
            if (s->around[2 * r + i] != UINT32_MAX) {
                s->scratch[s->around[2 * r + i]] += s->scratch[r];
                s->count[s->around[2 * r + i]] += s->count[r];
            }
    for (size_t t = 0; t < s->n_tracks; t++) {
        struct track *track = &s->track[t];
        uint32_t n = known - (track->named ? 0 : s->count[t]);
        float others = (all - (track->named ? 0 : s->scratch[t])) / (float)n;

        /* A place without a known rank is taken to have gone on.  One that is all there is beside those that
         * are named stands still: their fault is not its past. */
        if (!n)
            continue;
        if (s->count[t])
            push_excess(track, s->scratch[t] / (float)s->count[t] - others);
        else
            push_excess(track, track->seen >= windows[1] ? mean_over(track, 1) : 0);
        follow_blocks(track);
    }
}

/* ---- what is ordinary ---- */

/* Mean absolute difference of two draws to standard deviation, for normal noise: sqrt(pi) / 2. */
#define CHANGE_TO_SIGMA 0.8862

/* Neighbouring steps of a shared machine are not independent: how much less a window averages out than
 * independent steps would is measured, window by window. One that was not seen often enough is taken to go on
 * as the shorter ones do. */
static void learn_inflation(struct places *s, const struct work *w)
{
    uint32_t blocks = BLOCKS_MIN + BLOCKS_FEW / s->n;

    for (size_t i = 0; i < WINDOWS; i++) {
        double growth = 1;
        uint32_t m = 0;

        for (uint32_t r = 0; r < s->n; r++)
            if (s->track[r].seen >= blocks * windows[i])
                s->scratch[m++] = s->track[r].block_change[i];
        if (m) {
            s->inflate[i] = INFLATE_MARGIN * CHANGE_TO_SIGMA * statistics_medianf(s->scratch, m) *
                            sqrt(windows[i]) / (w->sigma * sqrt(1 + 1.0 / (s->n - 1)));
        } else {
            if (i > 1)
                growth = fmax(1, s->inflate[i - 1] / s->inflate[i - 2]);
            s->inflate[i] = i ? s->inflate[i - 1] * growth : INFLATE_EARLY;
        }
        s->inflate[i] = fmax(1, fmin(INFLATE_MAX, s->inflate[i]));
    }
}

static double long_mean(const struct track *track)
{
    uint32_t window = track->seen < LONGEST ? track->seen : LONGEST;

    return (track->sum[WINDOWS - 1] / X_UNITS + track->past * (float)track->past_n) /
           (window + track->past_n);
}

/* Spread of the ranks' lasting excess, less what noise alone gives it. Within nodes and within switches: a
 * slow node must not hide in a spread that it makes itself. */
static double spread_within(struct places *s, const struct work *w, enum finding_scope scope)
{
    uint32_t m = 0, long_n;
    double spread, noise;

    for (uint32_t r = 0; r < s->n; r++) {
        double mean = long_mean(&s->track[r]), fit = 1;
        uint32_t place = place_of(w, scope, r);

        if (s->track[r].named)
            continue;
        if (scope != SCOPE_RANK && place != WORK_PLACE_NONE) {
            const struct track *track = &s->track[s->around[2 * r + (scope == SCOPE_SWITCH)]];

            if (track->ranks < 2)
                continue;
            fit = sqrt(track->ranks / (track->ranks - 1.0));
            mean -= long_mean(track) * (s->n - track->ranks) / (double)s->n;
        }
        s->scratch[m++] = (float)fabs(fit * mean);
    }
    if (m < 2)
        return NAN;
    long_n = s->steps < PAST_MAX ? (uint32_t)s->steps : PAST_MAX;
    spread = 1 / STATISTICS_SD_TO_MAD * statistics_medianf(s->scratch, m);
    noise = w->sigma * s->inflate[WINDOWS - 1] / sqrt(long_n);
    return sqrt(fmax(SPREAD_MIN * SPREAD_MIN, spread * spread - noise * noise));
}

/* ---- evidence ---- */

/* Standard error of a place's excess over the others in one step, for a rank's of 1. */
static double share(const struct places *s, const struct track *track)
{
    return track->ranks < s->n ? sqrt(1.0 / track->ranks + 1.0 / (s->n - track->ranks)) : INFINITY;
}

double places_lasting_error(const struct places *s, const struct track *track)
{
    return s->spread[track->scope] * share(s, track);
}

/* Standard errors of a lasting excess that a healthy one of so many places may well have. */
static double lasting_z(uint32_t places)
{
    return SPREAD_LIMIT * (1 + SPREAD_FEW / sqrt(places > 2 ? places : 2));
}

double places_lasting(const struct places *s, const struct track *track)
{
    return lasting_z(s->n / track->ranks) * places_lasting_error(s, track);
}

static float median_excess(struct places *s, const struct work *w, const struct track *track, uint32_t slot,
                           bool inside)
{
    uint32_t m = 0;

    for (uint32_t r = 0; r < s->n; r++) {
        float x;

        if ((place_of(w, track->scope, r) == track->place) != inside)
            continue;
        x = work_excess(w, slot, r);
        if (!isnan(x))
            s->scratch[m++] = x;
    }
    return statistics_medianf(s->scratch, m);
}

float places_excess(struct places *s, const struct work *w, const struct track *track, uint32_t slot)
{
    float in = median_excess(s, w, track, slot, true), out = median_excess(s, w, track, slot, false);

    return (1 + in) / (1 + out) - 1;
}

double places_recent_excess(struct places *s, const struct work *w, const struct track *track, uint32_t steps)
{
    float y[LONGEST];
    uint32_t m = 0;

    for (uint32_t b = 0; b < steps && b < work_kept(w); b++) {
        float x = places_excess(s, w, track, work_slot(w, b));

        if (!isnan(x))
            y[m++] = x;
    }
    return statistics_medianf(y, m);
}

/* A mean over a window, of clipped excesses: where they all reached the limit of one step, the
 * median shows how far they really went. */
static double level_of(struct places *s, const struct work *w, const struct track *track, double mean,
                       uint32_t steps)
{
    if (mean < SATURATED * STEP_CLIP * w->sigma * s->inflate[0])
        return mean;
    return fmax(mean, places_recent_excess(s, w, track, steps < MEDIAN_STEPS ? steps : MEDIAN_STEPS));
}

static void take_z(struct track *track, double z, uint32_t window)
{
    track->z = z;
    track->window = (uint8_t)(window < MEDIAN_STEPS ? window : MEDIAN_STEPS);
}

/* The same of the newest steps that need not have filled a window. */
static double newest_mean(const struct track *track, uint32_t steps)
{
    int32_t sum = 0;

    for (uint32_t b = 1; b <= steps; b++)
        sum += track->x[(track->seen - b) % LONGEST];
    return (double)sum / (X_UNITS * steps);
}

/* What began NEWEST steps ago, weighed as windows are. */
static void weigh_newest(struct places *s, const struct work *w, struct track *track, double one)
{
    uint32_t in_longest = track->seen < LONGEST ? track->seen : LONGEST,
             past_n = track->past_n + in_longest - NEWEST;
    double error = one * s->inflate[0], of_past = one * s->inflate[WINDOWS - 1], mean, past, z;

    if (track->seen < NEWEST)
        return;
    mean = newest_mean(track, NEWEST);
    z = mean / (error / sqrt(NEWEST));
    if (z > LIMIT_Z && level_of(s, w, track, mean, NEWEST) > places_lasting(s, track))
        take_z(track, z, NEWEST);
    if (past_n < PLACE_PAST_MIN)
        return;
    past = (track->past * (float)track->past_n + track->sum[WINDOWS - 1] / X_UNITS - mean * NEWEST) / past_n;
    z = (mean - past) / sqrt(error * error / NEWEST + of_past * of_past / past_n);
    if (z > track->z && mean > 0)
        take_z(track, z, NEWEST);
}

static void weigh_track(struct places *s, const struct work *w, struct track *track)
{
    double one = w->sigma * share(s, track), limit = places_lasting(s, track);
    double of_past = one * s->inflate[WINDOWS - 1];
    uint32_t above;

    track->z = 0;
    weigh_newest(s, w, track, one);
    for (size_t i = 0; i < WINDOWS && track->seen >= windows[i]; i++) {
        uint32_t in_longest = track->seen < LONGEST ? track->seen : LONGEST;
        uint32_t past_n = track->past_n + in_longest - windows[i];
        double mean = mean_over(track, i), error = one * s->inflate[i];
        double past =
            (track->past * (float)track->past_n + (track->sum[WINDOWS - 1] - track->sum[i]) / X_UNITS) /
            fmax(1, past_n);
        double z;

        z = mean / (error / sqrt(windows[i]));
        if (z > LIMIT_Z && z > track->z && level_of(s, w, track, mean, windows[i]) > limit)
            take_z(track, z, windows[i]);
        if (past_n < PLACE_PAST_MIN)
            continue;
        z = (mean - past) / sqrt(error * error / windows[i] + of_past * of_past / past_n);
        if (z > track->z && mean > 0)
            take_z(track, z, windows[i]);
    }
    above = track->above + (track->z > CLEAR * LIMIT_Z && w->sigma < STEADY ? 2 : 1);
    track->above = (uint8_t)(!(track->z > LIMIT_Z) ? 0 : above < UINT8_MAX ? above : UINT8_MAX);
}

bool places_step(struct places *s, const struct work *w)
{
    if (!places_current(s, w))
        make_tracks(s, w);
    if (isnan(w->sigma) || w->n < 2)
        return false;
    push_step(s, w);
    if (++s->steps % LEARN_EVERY == 0) {
        learn_inflation(s, w);
        for (int scope = 0; scope < SCOPE_NONE && s->steps >= SPREAD_STEPS; scope++) {
            double spread = spread_within(s, w, (enum finding_scope)scope);

            s->spread[scope] = isnan(spread) ? s->spread[SCOPE_RANK] : spread;
        }
    }
    for (size_t t = 0; t < s->n_tracks && s->steps >= PLACES_STEPS_MIN; t++)
        weigh_track(s, w, &s->track[t]);
    return s->steps >= PLACES_STEPS_MIN;
}

void places_forget(struct places *s, const struct work *w, const struct track *late)
{
    for (size_t t = 0; t < s->n_tracks; t++) {
        struct track *track = &s->track[t];

        if (!track_overlaps(late, track, w))
            continue;
        memset(track->sum, 0, sizeof(track->sum));
        track->seen = 0;
        track->above = 0;
    }
}

double places_limit(const struct places *s, const struct work *w)
{
    if (!s->n_tracks || s->steps < 2 * PLACE_PAST_MIN || isnan(w->sigma))
        return NAN;
    return LIMIT_Z * w->sigma * s->inflate[WINDOWS - 1] / sqrt(LONGEST);
}

/* Until SPREAD_STEPS steps show the spread it is taken to be SPREAD_EARLY: one above that was named then. */
double places_limit_from_start(const struct places *s, const struct work *w)
{
    double limit = places_limit(s, w), early, now;

    if (isnan(limit))
        return NAN;
    now = lasting_z(s->n) * places_lasting_error(s, &s->track[0]);
    early = fmax(lasting_z(s->n) * SPREAD_EARLY * share(s, &s->track[0]),
                 LIMIT_Z * w->sigma * s->inflate[2] / sqrt(SPREAD_STEPS));
    return fmax(limit, fmin(now, early));
}
