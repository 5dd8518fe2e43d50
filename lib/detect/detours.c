#include "detect/detours.h"

#include <math.h>

#include "detect/finding.h"
#include "model/deviate.h"

/* of the typical work: what is shorter costs next to nothing; as DETOUR_RATIO of variability.c */
#define SHORTEST 0.1
/* Probability that a run in which they come as often as ever is said to have more of them, at most.  Chosen:
 * the tests hang together, so that it is some ten times less (tests/unit/detours.c). */
#define CHANCE_MORE 0.01
/* Probability that the noise of a machine for which it costs half of DETOURS_NOISE is said to cost more.
 * Chosen: it bounds what the noisiest machines have; with half of that noise one run of some thousands is
 * concerned. */
#define CHANCE_COST 0.05
/* Detours in the windows that are looked at, from the newest back.  Chosen: no number of them between is
 * farther than a fifth from one of these; the smallest is DETOURS_MIN of variability.c. */
static const uint32_t window[] = { 4, 6, 8, 12, 16, 24, 32, 48, 64 };
#define WINDOWS (sizeof(window) / sizeof(window[0]))

void detours_step(struct detours *d, double duration_s)
{
    d->before_s = d->seen_s;
    d->seen_s += duration_s;
    d->seen++;
}

void detours_add(struct detours *d, uint64_t step, uint32_t rank, float saved_s, float typical_s)
{
    struct detour it = {
        .step = step,
        .rank = rank,
        .saved_s = saved_s,
        .typical_s = typical_s,
        .seen = d->seen,
        .before_s = d->before_s,
    };
    const struct detour *last = d->n ? detours_back(d, 0) : NULL;
    double length_s = SHORTEST * typical_s;
    bool goes_on = last && last->rank == rank && last->step + 1 == step && last->saved_s >= length_s;

    d->saved_s += saved_s;
    for (; !goes_on && it.lengths < DETOURS_LENGTHS && saved_s >= length_s; length_s *= 2)
        d->as_long[it.lengths++]++;
    if (it.lengths)
        it.counted_s =
            fminf(saved_s, (float)((d->seen_s - d->over_s - d->saved_s) / (double)(d->seen - d->over_seen)));
    d->counted_s += it.counted_s;
    d->squares += (double)it.counted_s * it.counted_s;
    d->kept[d->n++ % DETOURS_KEPT] = it;
}

void detours_forget(struct detours *d, uint64_t back)
{
    struct detour *it = &d->kept[(d->n - 1 - back) % DETOURS_KEPT];

    it->rank = DETOURS_NOBODY;
    for (uint32_t i = 0; i < it->lengths; i++)
        d->as_long[i]--;
    if (it->step <= d->over)
        return;
    d->saved_s -= it->saved_s;
    d->counted_s -= it->counted_s;
    d->squares -= (double)it->counted_s * it->counted_s;
}

void detours_end(struct detours *d, uint64_t step)
{
    d->over = step;
    d->over_seen = d->seen;
    d->over_s = d->seen_s;
    d->saved_s = d->counted_s = d->squares = 0;
}

static bool is_counted(const struct detour *it, uint32_t lengths)
{
    return it->rank != DETOURS_NOBODY && it->lengths >= lengths;
}

uint32_t detours_long(const struct detours *d, double *saved_s)
{
    const struct detour *newer = NULL;
    double goes_on_s = 0; /* in the steps behind this one */
    uint32_t n = 0;

    *saved_s = 0;
    for (uint64_t i = 0; i < detours_kept(d) && detours_back(d, i)->step > d->over; i++) {
        const struct detour *it = detours_back(d, i);

        if (!newer || newer->lengths || newer->rank != it->rank || it->step + 1 != newer->step)
            goes_on_s = 0;
        goes_on_s += it->saved_s;
        newer = it;
        if (is_counted(it, 1) && goes_on_s >= DETOURS_LONG * it->typical_s) {
            *saved_s += goes_on_s;
            n++;
        }
    }
    return n;
}

/* Of tests of all those of a run, which change little from one to the next: each doubling is one. */
static double share_of_all(uint64_t all)
{
    return deviate_spent(1 + floor(log2((double)all / window[0])));
}

/* Of the newest test of a window of n of them.  There is one whenever a quarter of the window is new; 0:
 * there is none now. */
static double share_of_window(uint32_t n, uint64_t all)
{
    uint64_t every = n / 4 > 0 ? n / 4 : 1;

    for (size_t i = 0; i < WINDOWS; i++)
        if (window[i] == n)
            return all % every ? 0 : deviate_spent((double)(all / every - n / every + 1)) / WINDOWS;
    return 0;
}

/* Detours that reach so many lengths: that so many of the run's came since one of the last is chance with
 * that probability, over what the test may have; 1: no test, or passed by none. */
static double chance_since(const struct detours *d, uint32_t lengths, uint64_t *first)
{
    uint64_t all = d->as_long[lengths - 1];
    double least = 1;
    uint32_t n = 0;

    for (uint64_t i = 0; i < detours_kept(d) && all >= window[0]; i++) {
        const struct detour *it = detours_back(d, i);
        double share, chance;

        if (!is_counted(it, lengths))
            continue;
        n++;
        share = share_of_window(n, all) / 2 + (n == all ? share_of_all(all) / 2 : 0);
        if (!(share > 0))
            continue;
        /* of those but the two at its ends, which are where they are because the window is */
        chance =
            deviate_binomial_tail((double)all - 2, n - 2, (double)(d->seen - it->seen) / (double)d->seen) /
            (CHANCE_MORE * deviate_spent(lengths) * share);
        if (chance < least) {
            least = chance;
            *first = it->step;
        }
    }
    return least;
}

bool detours_increased(const struct detours *d, uint64_t *first)
{
    uint32_t lengths = d->n ? detours_back(d, 0)->lengths : 0;
    double least = 1;

    for (uint32_t l = 1; l <= lengths; l++) { /* of longer ones there are no more than before */
        uint64_t since = 0;
        double chance = chance_since(d, l, &since);

        if (chance < least) {
            least = chance;
            *first = since;
        }
    }
    return least < 1;
}

/* Detours that cost saved_s of of_s, and counted_s at the least. */
static bool is_costly(double of_s, double saved_s, double counted_s, double squares, double chance)
{
    double freedom = 2 * counted_s * counted_s / squares;

    /* of less than three nothing is known; a test's share of zero is no test */
    return freedom >= 3 && chance > 0 && finding_slowdown(of_s, saved_s) - 1 >= DETOURS_NOISE &&
           counted_s * deviate_chi2_ratio(chance, freedom) >= DETOURS_NOISE / 2 * (of_s - saved_s);
}

bool detours_cost(const struct detours *d, uint64_t *first)
{
    double saved_s = 0, counted_s = 0, squares = 0;
    uint64_t all = d->as_long[0];
    uint32_t n = 0;

    if (!d->n || !detours_back(d, 0)->lengths || all < window[0])
        return false;
    for (uint64_t i = 0; i < detours_kept(d); i++) {
        const struct detour *it = detours_back(d, i);

        if (it->step <= d->over)
            break;
        if (it->rank == DETOURS_NOBODY)
            continue;
        /* those behind the first, which is where it is because the window is */
        if (is_counted(it, 1) && is_costly(d->seen_s - it->before_s, saved_s, counted_s, squares,
                                           CHANCE_COST / 2 * share_of_window(++n, all))) {
            *first = it->step;
            return true;
        }
        saved_s += it->saved_s;
        counted_s += it->counted_s;
        squares += (double)it->counted_s * it->counted_s;
        *first = it->step;
    }
    return is_costly(d->seen_s - d->over_s, d->saved_s, d->counted_s, d->squares,
                     CHANCE_COST / 2 * share_of_all(all));
}

/* Log of the likelihood of so many of n steps having one, at the rate that makes it most likely. */
static double log_likelihood(uint32_t hits, uint32_t n)
{
    double rate = n ? hits / (double)n : 0;

    return hits && hits < n ? hits * log(rate) + (n - hits) * log1p(-rate) : 0;
}

uint32_t detours_began(const bool *had, uint32_t n, uint32_t latest)
{
    uint32_t all = 0, before = 0, from = latest;
    double best = -INFINITY;

    for (uint32_t i = 0; i < n; i++)
        all += had[i];
    for (uint32_t i = 0; i <= latest && i < n; i++) {
        double likely = log_likelihood(before, i) + log_likelihood(all - before, n - i);

        if ((had[i] || i == latest) && likely > best && before * (double)n <= all * (double)i) {
            best = likely;
            from = i;
        }
        before += had[i];
    }
    return from;
}
