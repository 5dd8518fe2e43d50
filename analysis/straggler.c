#include "analysis/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* A window names a rank when its mean excess is so many standard errors; many ranks are looked at in many
 * overlapping windows, so the limit is far above what one look would need. */
static const uint32_t windows[] = { 8, 16, 32, 64 };
#define WINDOWS  ARRAY_SIZE(windows)
#define SHORTEST windows[0]
#define LIMIT_Z  6.0

#define CLIP        3.0   /* standard deviations that one step can tell */
#define SIGMA_MIN   0.002 /* of the work: clocks and exit skew are no better */
#define STEPS_MIN   8u    /* before anything is said */
#define PRICE_MIN   4u    /* steps that a price stands on, at the least */
#define CONFIRM     2u    /* steps in a row above the limit */
#define LET_GO_Z    2.5   /* over 16 steps ... */
#define LET_GO      8u    /* ... so many steps in a row */
#define COMPANION_Z 3.0   /* the others of a node, once one of them is named */
/* Who holds the others back is mostly the last of them: share of the steps that raises, and that keeps a
 * verdict. */
#define LAST_RAISES 0.5
#define LAST_STAYS  0.35

#define EXCESS_STEPS   16u /* that a rank's excess is shown over */
#define INFLATE_MAX    6.0
#define INFLATE_EARLY  1.5
#define INFLATE_MARGIN 1.1 /* the estimate comes from few windows */
#define CUSUM_SLACK    1.0 /* standard deviations */

struct rank {
    uint32_t node, leaf;
    uint32_t seen;                 /* steps told */
    float work_s[STRAGGLER_STEPS]; /* NaN: not told */
    float x[STRAGGLER_STEPS];      /* excess over the median, clipped */
    double sum[WINDOWS];
    double step_change;           /* mean absolute change of the excess from step to step ... */
    double before;                /* excess of the step before */
    double block_change[WINDOWS]; /* ... and of a window's mean from one to the next: a lasting fault changes
                                     each but once */
    double block_before[WINDOWS];
    double cusum;
    uint64_t onset;
    uint32_t above, below;
    bool named;
};

struct straggler {
    struct rank *rank;
    uint32_t n;
    size_t cap;
    uint64_t steps; /* taken */
    uint64_t number[STRAGGLER_STEPS];
    double duration_s[STRAGGLER_STEPS];
    double typical_s[STRAGGLER_STEPS]; /* median work */
    uint32_t told_by[STRAGGLER_STEPS];
    double sigma;            /* of one rank's excess in one step; NaN: not known yet */
    double inflate[WINDOWS]; /* of a window's standard error over that of independent steps */
    bool standing[STRAGGLER_SCOPES];
    float *scratch;
};

struct straggler *straggler_new(void)
{
    struct straggler *s = xcalloc(1, sizeof(*s));

    s->sigma = NAN;
    return s;
}

void straggler_free(struct straggler *s)
{
    if (!s)
        return;
    free(s->rank);
    free(s->scratch);
    free(s);
}

void straggler_reset(struct straggler *s)
{
    struct rank *rank = s->rank;
    float *scratch = s->scratch;
    size_t cap = s->cap;

    memset(s, 0, sizeof(*s));
    s->rank = rank;
    s->scratch = scratch;
    s->cap = cap;
    s->sigma = NAN;
    if (rank)
        memset(rank, 0, cap * sizeof(*rank));
}

static void reserve(struct straggler *s, uint32_t n)
{
    size_t cap = s->cap;

    if (n <= s->n)
        return;
    s->rank = xgrow(s->rank, &cap, n, sizeof(*s->rank));
    if (cap != s->cap)
        s->scratch = xrealloc(s->scratch, cap, sizeof(*s->scratch));
    s->cap = cap;
    for (uint32_t r = s->n; r < n; r++) {
        s->rank[r].node = s->rank[r].leaf = STRAGGLER_PLACE_NONE;
        for (uint32_t i = 0; i < STRAGGLER_STEPS; i++)
            s->rank[r].work_s[i] = NAN;
    }
    s->n = n;
}

void straggler_place(struct straggler *s, uint32_t rank, uint32_t node, uint32_t leaf)
{
    reserve(s, rank + 1);
    s->rank[rank].node = node;
    s->rank[rank].leaf = leaf;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Median of the scratch area's first n. */
static double median(struct straggler *s, uint32_t n)
{
    if (!n)
        return NAN;
    qsort(s->scratch, n, sizeof(*s->scratch), by_value);
    return n % 2 ? s->scratch[n / 2] : (s->scratch[n / 2 - 1] + s->scratch[n / 2]) / 2;
}

static double median_work(struct straggler *s, const float *work_s, uint32_t n, uint32_t *told)
{
    uint32_t m = 0;

    for (uint32_t r = 0; r < n; r++)
        if (!isnan(work_s[r]))
            s->scratch[m++] = work_s[r];
    *told = m;
    return m >= 2 ? median(s, m) : NAN;
}

/* Mean absolute difference of two draws to standard deviation, for normal noise: sqrt(pi) / 2. */
#define CHANGE_TO_SIGMA 0.8862

/* Windows that a rank has seen in full: fewer tell nothing of how they vary. */
#define BLOCKS_MIN 6u

static double typical_step_change(struct straggler *s)
{
    uint32_t m = 0;

    for (uint32_t r = 0; r < s->n; r++)
        if (s->rank[r].seen >= STEPS_MIN / 2)
            s->scratch[m++] = (float)s->rank[r].step_change;
    return median(s, m);
}

static double typical_block_change(struct straggler *s, size_t w)
{
    uint32_t m = 0;

    for (uint32_t r = 0; r < s->n; r++)
        if (s->rank[r].seen >= BLOCKS_MIN * windows[w])
            s->scratch[m++] = (float)s->rank[r].block_change[w];
    return median(s, m);
}

/* Neighbouring steps of a shared machine are not independent: how much less a window averages out than
 * independent steps would is measured, window by window. One that was not seen often enough is taken to go on
 * as the shorter ones do. */
static void update_inflation(struct straggler *s)
{
    for (size_t w = 0; w < WINDOWS; w++) {
        double block = CHANGE_TO_SIGMA * typical_block_change(s, w), growth = 1;

        if (block > 0) {
            s->inflate[w] = INFLATE_MARGIN * block * sqrt(windows[w]) / s->sigma;
        } else {
            if (w > 1)
                growth = fmax(1, s->inflate[w - 1] / s->inflate[w - 2]);
            s->inflate[w] = w ? s->inflate[w - 1] * growth : INFLATE_EARLY;
        }
        s->inflate[w] = fmax(1, fmin(INFLATE_MAX, s->inflate[w]));
    }
}

/* Noise from successive differences (von Neumann 1941), so that a fault does not raise it, and as medians
 * over the ranks. */
static void update_sigma(struct straggler *s)
{
    double step = typical_step_change(s);

    s->sigma = isnan(step) ? NAN : fmax(SIGMA_MIN, CHANGE_TO_SIGMA * step);
    if (!isnan(s->sigma) && (s->steps % SHORTEST == 0 || s->inflate[0] < 1))
        update_inflation(s);
}

/* A running mean that settles quickly and then moves slowly. */
static void settle(double *mean, double value, uint32_t n)
{
    *mean += (value - *mean) / (n < 32 ? n + 1 : 32);
}

static void update_noise(const struct straggler *s, struct rank *k, double x)
{
    double limit = isnan(s->sigma) ? INFINITY : 2 * CLIP * s->sigma;

    if (k->seen > 1)
        settle(&k->step_change, fmin(fabs(x - k->before), limit), k->seen - 2);
    k->before = x;
    for (size_t w = 0; w < WINDOWS && k->seen % windows[w] == 0; w++) {
        uint32_t blocks = k->seen / windows[w];
        double mean = k->sum[w] / windows[w];

        if (blocks > 1)
            settle(&k->block_change[w], fabs(mean - k->block_before[w]), blocks - 2);
        k->block_before[w] = mean;
    }
}

static void push(struct straggler *s, struct rank *k, double x)
{
    uint64_t at = s->steps % STRAGGLER_STEPS;
    double limit =
        isnan(s->sigma) ? 0 : CLIP * s->sigma * s->inflate[0]; /* without a scale nothing is evidence */
    double clipped = fmax(-limit, fmin(limit, x));

    for (size_t w = 0; w < WINDOWS; w++)
        if (k->seen >= windows[w])
            k->sum[w] -= k->x[(at + STRAGGLER_STEPS - windows[w]) % STRAGGLER_STEPS];
    k->x[at] = (float)clipped;
    for (size_t w = 0; w < WINDOWS; w++)
        k->sum[w] += k->x[at];
    k->seen++;
    update_noise(s, k, x);
    if (isnan(s->sigma))
        return;
    if (k->cusum <= 0)
        k->onset = s->number[at];
    k->cusum = fmax(0, k->cusum + clipped / s->sigma - CUSUM_SLACK);
}

static double window_z(const struct straggler *s, const struct rank *k, size_t w)
{
    if (k->seen < windows[w] || isnan(s->sigma))
        return 0;
    return k->sum[w] / sqrt(windows[w]) / (s->sigma * s->inflate[w]);
}

static void judge(const struct straggler *s, struct rank *k)
{
    bool above = false;

    for (size_t w = 0; w < WINDOWS; w++)
        above = above || window_z(s, k, w) > LIMIT_Z;
    k->above = above ? k->above + 1 : 0;
    k->below = window_z(s, k, 1) < LET_GO_Z && !above ? k->below + 1 : 0;
    if (k->above >= CONFIRM)
        k->named = true;
    if (k->below >= LET_GO)
        k->named = false;
}

/* Of two ranks, each is held against the other: their median contains the fault. */
static double excess(const struct straggler *s, uint64_t at, double work_s)
{
    double others_s = s->told_by[at] == 2 ? 2 * s->typical_s[at] - work_s : s->typical_s[at];

    return work_s / others_s - 1;
}

void straggler_step(struct straggler *s, uint64_t step, const float *work_s, uint32_t n, double duration_s)
{
    uint64_t at = s->steps % STRAGGLER_STEPS;
    double typical;

    reserve(s, n);
    typical = median_work(s, work_s, n, &s->told_by[at]);
    s->number[at] = step;
    s->duration_s[at] = duration_s;
    s->typical_s[at] = typical;
    for (uint32_t r = 0; r < s->n; r++) {
        struct rank *k = &s->rank[r];
        bool told = r < n && !isnan(work_s[r]) && typical > 0;

        k->work_s[at] = told ? work_s[r] : NAN;
        push(s, k, told ? excess(s, at, work_s[r]) : 0);
    }
    s->steps++;
    update_sigma(s);
    if (s->steps < STEPS_MIN)
        return;
    for (uint32_t r = 0; r < s->n; r++)
        judge(s, &s->rank[r]);
}

struct sums {
    double marked, others;
    uint32_t n_marked, n_others;
    float longest, longest_other;
};

static struct sums step_sums(const struct straggler *s, const bool *marked, uint64_t at)
{
    struct sums k = { 0 };

    for (uint32_t r = 0; r < s->n; r++) {
        float w = s->rank[r].work_s[at];

        if (isnan(w))
            continue;
        k.longest = fmaxf(k.longest, w);
        if (marked[r]) {
            k.marked += w;
            k.n_marked++;
        } else {
            k.others += w;
            k.n_others++;
            k.longest_other = fmaxf(k.longest_other, w);
        }
    }
    return k;
}

/* Over the steps since the onset: step time over the step time with the marked ranks no later than the last
 * of the others; how often one of them was the last; their mean work over that of the others. */
static void price(const struct straggler *s, const bool *marked, struct straggler_finding *f)
{
    uint64_t have = s->steps < STRAGGLER_STEPS ? s->steps : STRAGGLER_STEPS, used = 0, last = 0;
    double total = 0, saved = 0, own = 0, others = 0;

    for (uint64_t i = 1; i <= have; i++) {
        uint64_t at = (s->steps - i) % STRAGGLER_STEPS;
        struct sums k = step_sums(s, marked, at);

        if (s->number[at] < f->since_step && i > PRICE_MIN)
            break;
        if (!k.n_marked || !k.n_others)
            continue;
        used++;
        last += k.longest > k.longest_other;
        total += s->duration_s[at];
        saved += fmin(k.longest - k.longest_other, 0.95 * s->duration_s[at]);
        own += k.marked / k.n_marked;
        others += k.others / k.n_others;
    }
    f->slowdown = used ? total / (total - saved) : 1;
    f->last_ratio = used ? (double)last / (double)used : NAN;
    f->excess_ratio = used ? own / others - 1 : NAN;
}

static uint32_t place_at(const struct rank *k, enum straggler_scope scope, uint32_t r)
{
    return scope == STRAGGLER_SWITCH ? k->leaf : scope == STRAGGLER_NODE ? k->node : r;
}

/* Is every rank of the place late (one of them named, the others leaning the same way), and is the place
 * not all there is? */
static bool place_is_late(const struct straggler *s, enum straggler_scope scope, uint32_t place)
{
    uint32_t members = 0, named = 0, nodes = 0, node = STRAGGLER_PLACE_NONE;

    for (uint32_t r = 0; r < s->n; r++) {
        const struct rank *k = &s->rank[r];

        if (place_at(k, scope, r) != place)
            continue;
        if (!k->named && window_z(s, k, 0) < COMPANION_Z)
            return false;
        members++;
        named += k->named;
        nodes += k->node != node;
        node = k->node;
    }
    if (scope == STRAGGLER_SWITCH && nodes < 2)
        return false;
    return named && members < s->n;
}

static void add_culprit(struct straggler_finding *f, uint32_t place)
{
    for (uint32_t i = 0; i < f->n_culprits; i++)
        if (f->culprit[i] == place)
            return;
    if (f->n_culprits < STRAGGLER_CULPRITS_MAX)
        f->culprit[f->n_culprits++] = place;
}

static void take_rank(const struct straggler *s, struct straggler_finding *f, uint32_t r, bool *marked)
{
    const struct rank *k = &s->rank[r];
    double z = 0;

    for (size_t w = 0; w < WINDOWS; w++)
        z = fmax(z, window_z(s, k, w));
    marked[r] = true;
    f->ranks++;
    f->z = fmax(f->z, z);
    if (k->named && k->onset < f->since_step)
        f->since_step = k->onset;
}

/* All late ranks that sit in late places of this scope and are not claimed by a wider one. */
static bool gather(const struct straggler *s, enum straggler_scope scope, bool *claimed, bool *marked,
                   struct straggler_finding *f)
{
    *f = (struct straggler_finding){ .scope = scope, .since_step = UINT64_MAX, .slowdown = 1 };
    memset(marked, 0, s->n * sizeof(*marked));
    for (uint32_t r = 0; r < s->n; r++) {
        uint32_t place = place_at(&s->rank[r], scope, r);

        if (claimed[r] || place == STRAGGLER_PLACE_NONE || !s->rank[r].named ||
            !place_is_late(s, scope, place))
            continue;
        add_culprit(f, place);
        for (uint32_t q = 0; q < s->n; q++)
            if (place_at(&s->rank[q], scope, q) == place && !claimed[q]) {
                claimed[q] = true;
                take_rank(s, f, q, marked);
            }
    }
    return f->ranks > 0 && f->ranks * 2 <= s->n;
}

static int by_price(const void *a, const void *b)
{
    double x = ((const struct straggler_finding *)a)->slowdown,
           y = ((const struct straggler_finding *)b)->slowdown;

    return (x < y) - (x > y);
}

size_t straggler_find(struct straggler *s, double min_slowdown,
                      struct straggler_finding out[STRAGGLER_SCOPES])
{
    bool *claimed, *marked;
    size_t n = 0;

    if (s->steps < STEPS_MIN || !s->n)
        return 0;
    claimed = xcalloc(2 * s->n, sizeof(*claimed));
    marked = claimed + s->n;
    for (int scope = STRAGGLER_SWITCH; scope >= STRAGGLER_RANK; scope--) {
        double limit = s->standing[scope] ? 1 + (min_slowdown - 1) / 2 : min_slowdown;
        double last = s->standing[scope] ? LAST_STAYS : LAST_RAISES;

        s->standing[scope] = false;
        if (!gather(s, (enum straggler_scope)scope, claimed, marked, &out[n]))
            continue;
        price(s, marked, &out[n]);
        s->standing[scope] = out[n].slowdown >= limit && out[n].last_ratio >= last;
        n += s->standing[scope];
    }
    free(claimed);
    qsort(out, n, sizeof(*out), by_price);
    return n;
}

double straggler_mds(const struct straggler *s)
{
    if (s->steps < windows[WINDOWS - 1] || isnan(s->sigma))
        return NAN;
    return 1 + LIMIT_Z * s->sigma * s->inflate[WINDOWS - 1] / sqrt(windows[WINDOWS - 1]);
}

double straggler_excess(const struct straggler *s, uint32_t rank)
{
    uint64_t have = s->steps < EXCESS_STEPS ? s->steps : EXCESS_STEPS;
    double sum = 0;
    uint32_t told = 0;

    if (rank >= s->n)
        return NAN;
    for (uint64_t i = 1; i <= have; i++) {
        uint64_t at = (s->steps - i) % STRAGGLER_STEPS;

        if (isnan(s->rank[rank].work_s[at]))
            continue;
        sum += excess(s, at, s->rank[rank].work_s[at]);
        told++;
    }
    return told ? sum / told : NAN;
}
