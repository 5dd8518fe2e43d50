#include "detect/recurrence.h"

#include <math.h>

#include "detect/places.h"
#include "model/deviate.h"
#include "model/statistics.h"

/* A late step, as DETOUR_Z and DETOUR_RATIO of variability.c have it. */
#define LATE_Z     5.0
#define LATE_RATIO 0.1
#define LATE_FROM  8u /* steps that show what a rank mostly has */
/* Newest steps that it is taken from, and their quantile: a rank that is late in two steps of three is not
 * in a third of them. */
#define MOSTLY_STEPS    32u
#define MOSTLY_QUANTILE 0.25
/* late steps at one place: with two any pair would be a rhythm */
#define LATE_MIN 3u
/* Probability that chance gathers them at any place, in a run however long: of the tests, which begin with
 * the LATE_MIN-th late step, the i-th has a share of 1 / (i (i + 1)) of it, which add up to all (Foster &
 * Stine, "Alpha-investing", J. R. Statist. Soc. B 70, 2008). */
#define CHANCE 3e-3
/* Of what the larger place loses: then it is the smaller one. Chosen: halfway between parts that are late by
 * turns and one that is late alone, as PART_SHARE of straggler.c, and on the side of the whole. */
#define SMALLER_SHARE 0.7
/* Mean distances before the first one: then it began there. By chance one of 20 waits as long (exp(-3)). */
#define WAITS 3.0
/* shares of the distances that are a whole number of periods, and that are one */
#define PERIODIC 0.9
#define ADJACENT 0.6

static const struct late_step *late_step(const struct recurrence *c, uint64_t back)
{
    return &c->late[(c->n - 1 - back) % RECURRENCE_STEPS];
}

/* Late steps that are remembered, from the newest back. */
static uint32_t kept(const struct recurrence *c, const struct work *w)
{
    uint32_t n = 0;

    while (n < c->n && n < RECURRENCE_STEPS && w->steps - late_step(c, n)->step <= work_kept(w))
        n++;
    return n;
}

static bool is_at(const struct late_step *late, const struct work *w, enum finding_scope scope,
                  uint32_t place)
{
    return !late->told && place_of(w, scope, late->rank) == place;
}

void recurrence_forget(struct recurrence *c, const struct work *w, enum finding_scope scope, uint32_t place)
{
    uint32_t n = kept(c, w);

    for (uint32_t i = 0; i < n; i++) {
        struct late_step *late = &c->late[(c->n - 1 - i) % RECURRENCE_STEPS];

        late->told = late->told || is_at(late, w, scope, place);
    }
}

/* What the rank's excess mostly is, in the steps before the newest; NaN not known. */
static double mostly(const struct work *w, uint32_t rank)
{
    float x[MOSTLY_STEPS];
    uint32_t n = 0;

    for (uint32_t b = 1; b < work_kept(w) && n < MOSTLY_STEPS; b++) {
        float excess = work_excess(w, work_slot(w, b), rank);

        if (!isnan(excess) && !w->step[work_slot(w, b)].pause)
            x[n++] = excess;
    }
    return n < LATE_FROM ? NAN : statistics_quantilef(x, n, MOSTLY_QUANTILE);
}

/* The longest work outside of the place, which itself would take mostly_s. */
static float longest_without(const struct work *w, enum finding_scope scope, uint32_t place, double mostly_s)
{
    float longest_s = (float)mostly_s;

    for (uint32_t r = 0; r < w->n; r++)
        if (place_of(w, scope, r) != place)
            longest_s = fmaxf(longest_s, w->newest_s[r]);
    return longest_s;
}

bool recurrence_step(struct recurrence *c, const struct work *w)
{
    const struct work_step *s = &w->step[work_slot(w, 0)];
    struct late_step late = { .step = w->steps - 1, .rank = s->last };
    double before, mostly_s;
    float saved_s = 0;

    if (isnan(w->sigma) || w->n < 2 || isnan(s->longest_s))
        return false;
    before = mostly(w, s->last);
    late.excess = (float)(w->excess[s->last] - before);
    if (!(late.excess > fmax(LATE_Z * w->sigma, LATE_RATIO)))
        return false;
    mostly_s = s->typical_s + before * (s->pause ? s->usual_s : s->typical_s);
    for (int scope = SCOPE_RANK; scope < SCOPE_NONE; scope++) {
        uint32_t place = place_of(w, (enum finding_scope)scope, s->last);

        if (place == WORK_PLACE_NONE)
            continue;
        late.saved_s[scope] =
            fmaxf(0, s->longest_s - longest_without(w, (enum finding_scope)scope, place, mostly_s));
        saved_s = fmaxf(saved_s, late.saved_s[scope]);
    }
    if (!(saved_s > 0) || !work_shows(w, saved_s))
        return false;
    c->late[c->n++ % RECURRENCE_STEPS] = late;
    return true;
}

static uint32_t ranks_in(const struct work *w, enum finding_scope scope, uint32_t place)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < w->n; r++)
        n += place_of(w, scope, r) == place;
    return n;
}

static float most_saved_s(const struct late_step *late)
{
    return fmaxf(late->saved_s[SCOPE_RANK], fmaxf(late->saved_s[SCOPE_NODE], late->saved_s[SCOPE_SWITCH]));
}

/* Half of what the middle one of the place's late steps cost; NaN: it has none. */
static float counted_from_s(const struct recurrence *c, const struct work *w, enum finding_scope scope,
                            uint32_t place)
{
    uint32_t n = kept(c, w), m = 0;
    float saved_s[RECURRENCE_STEPS];

    for (uint32_t i = 0; i < n; i++)
        if (is_at(late_step(c, i), w, scope, place))
            saved_s[m++] = late_step(c, i)->saved_s[scope];
    return (float)statistics_medianf(saved_s, m) / 2;
}

/* Late steps at a place and anywhere, those in a row at one place counted once, and without those that cost
 * little beside the place's: short delays of all ranks are no part of its distribution. */
struct gathered {
    uint32_t here, all;
    double saved_s;
};

static struct gathered gather(const struct recurrence *c, const struct work *w, enum finding_scope scope,
                              uint32_t place)
{
    uint32_t n = kept(c, w);
    float min_s = counted_from_s(c, w, scope, place);
    struct gathered g = { 0 };

    for (uint32_t i = 0; i < n; i++) {
        const struct late_step *late = late_step(c, i), *next = i ? late_step(c, i - 1) : NULL;
        bool here = is_at(late, w, scope, place);
        bool in_a_row = next && next->step == late->step + 1 &&
                        place_of(w, scope, next->rank) == place_of(w, scope, late->rank);

        g.saved_s += here ? late->saved_s[scope] : 0;
        if (late->told || in_a_row || most_saved_s(late) < min_s)
            continue;
        g.here += here && late->saved_s[scope] >= min_s;
        g.all++;
    }
    return g;
}

/* The distance that nearly all distances are a multiple of, and most are. */
static uint32_t period_of(const uint64_t *step, uint32_t n)
{
    uint32_t distance[RECURRENCE_STEPS], m = 0, one = 0, multiple = 0, period;
    double sorted[RECURRENCE_STEPS];

    for (uint32_t i = 0; i + 1 < n; i++)
        distance[m++] = (uint32_t)(step[i] - step[i + 1]);
    if (m < LATE_MIN - 1)
        return 0;
    for (uint32_t i = 0; i < m; i++)
        sorted[i] = distance[i];
    period = (uint32_t)statistics_quantile(sorted, m, 0.5);
    for (uint32_t i = 0; i < m; i++) {
        one += distance[i] == period;
        multiple += distance[i] % period == 0;
    }
    return period > 1 && one >= ADJACENT * m && multiple >= PERIODIC * m ? period : 0;
}

bool recurrence_of(const struct recurrence *c, const struct work *w, enum finding_scope scope, uint32_t place,
                   struct recurring *found)
{
    uint64_t step[RECURRENCE_STEPS];
    uint32_t n = kept(c, w), m = 0;
    double sum = 0, distance;

    *found = (struct recurring){ .scope = scope, .place = place };
    for (uint32_t i = 0; i < n; i++) {
        const struct late_step *late = late_step(c, i);

        if (!is_at(late, w, scope, place))
            continue;
        step[m++] = late->step;
        sum += late->excess;
    }
    if (!m)
        return false;
    found->last = step[0];
    found->excess = sum / m;
    found->late_min = fmax(LATE_Z * w->sigma, LATE_RATIO);
    distance = m > 1 ? (double)(step[0] - step[m - 1]) / (m - 1) : INFINITY;
    found->share = 1 / distance;
    found->period = period_of(step, m);
    found->onset = (double)step[m - 1] - LATE_FROM > WAITS * distance ? step[m - 1] : 0;
    found->before = mostly(w, late_step(c, 0)->rank);
    return true;
}

/* chance: the probability that so many of the other late steps are at the place of one of them by chance */
struct evidence {
    struct gathered gathered;
    double chance;
};

static struct evidence weigh(const struct recurrence *c, const struct work *w, enum finding_scope scope,
                             uint32_t place)
{
    uint32_t ranks = ranks_in(w, scope, place);
    struct evidence e = { .chance = 1 };

    if (ranks == w->n)
        return e;
    e.gathered = gather(c, w, scope, place);
    if (e.gathered.here >= LATE_MIN)
        e.chance = deviate_binomial_tail(e.gathered.all - 1, e.gathered.here - 1, ranks / (double)w->n);
    return e;
}

/* The share of CHANCE that the test of that number, from 1, has. */
static double chance_of(double test)
{
    return CHANCE * deviate_spent(fmax(1, test));
}

bool recurrence_gathers(const struct recurrence *c, const struct work *w, enum finding_scope scope,
                        uint32_t place, uint32_t test)
{
    return weigh(c, w, scope, place).chance <= chance_of(test);
}

bool recurrence_find(const struct recurrence *c, const struct work *w, struct recurring *found)
{
    enum finding_scope best = SCOPE_NONE;
    double best_saved_s = 0, best_chance = 1;
    uint32_t rank, known = kept(c, w);

    if (known < LATE_MIN)
        return false;
    rank = late_step(c, 0)->rank;
    for (int scope = SCOPE_NONE - 1; scope >= SCOPE_RANK; scope--) {
        uint32_t place = place_of(w, (enum finding_scope)scope, rank);
        struct evidence e;

        if (place == WORK_PLACE_NONE)
            continue;
        e = weigh(c, w, (enum finding_scope)scope, place);
        if (e.chance > chance_of(e.gathered.all * ((double)c->n / known) - LATE_MIN + 1) ||
            e.gathered.saved_s < SMALLER_SHARE * best_saved_s)
            continue;
        best = (enum finding_scope)scope;
        best_saved_s = e.gathered.saved_s;
        best_chance = e.chance;
    }
    if (best == SCOPE_NONE || !recurrence_of(c, w, best, place_of(w, best, rank), found))
        return false;
    found->z = -deviate_normal(fmax(best_chance, 1e-300));
    return true;
}
