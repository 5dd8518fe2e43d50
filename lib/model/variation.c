#include "model/variation.h"

#include <math.h>
#include <string.h>

#include "model/deviate.h"
#include "model/statistics.h"

#define RARE_Z    6.0 /* robust standard deviations: larger delays are not noise */
#define FAR_RANKS 8u  /* with fewer ranks none is treated separately */
/* share of the steps: a rank with fewer known steps gets the others' mean */
#define KNOWN_SHARE_MIN 0.5
#define PROBES          4096u
#define PART_SAMPLES    400
#define SURE_Z          1.96
#define SD_MIN          1e-6
/* of a mean square: with one degree of freedom it is too uncertain */
#define MEAN_SQUARE_MIN 0.02

const char *const variation_shapes[] = { "undecided", "normal", "lognormal" };

/* ---- the design: ranks, nodes, switches ---- */

struct design {
    uint32_t n, nodes, switches;
    const uint32_t *node, *switch_id;
};

static bool node_ends(const struct design *d, uint32_t r)
{
    return r + 1 == d->n || d->node[r + 1] != d->node[r] || d->switch_id[r + 1] != d->switch_id[r];
}

static bool switch_ends(const struct design *d, uint32_t r)
{
    return r + 1 == d->n || d->switch_id[r + 1] != d->switch_id[r];
}

/* Degrees of freedom and coefficients of Searle's table for two nested factors. Where each node has one rank,
 * or each switch one node, the upper level takes what cannot be told apart. */
static void set_design(struct design *d, struct variation_squares *q)
{
    double in_node = 0, in_switch = 0, nodes2_of_switch = 0, nodes2 = 0, over_switches = 0, switches2 = 0;

    d->nodes = d->switches = 0;
    for (uint32_t r = 0; r < d->n; r++) {
        in_node++;
        in_switch++;
        if (node_ends(d, r)) {
            d->nodes++;
            nodes2_of_switch += in_node * in_node;
            in_node = 0;
        }
        if (switch_ends(d, r)) {
            d->switches++;
            nodes2 += nodes2_of_switch;
            over_switches += nodes2_of_switch / in_switch;
            switches2 += in_switch * in_switch;
            nodes2_of_switch = in_switch = 0;
        }
    }
    *q = (struct variation_squares){ .df = { d->n - d->nodes, d->nodes - d->switches, d->switches - 1.0 } };
    if (q->df[VARIATION_NODE] > 0)
        q->c_node = (d->n - over_switches) / q->df[VARIATION_NODE];
    if (q->df[VARIATION_SWITCH] > 0) {
        q->c_node_of_switch = (over_switches - nodes2 / d->n) / q->df[VARIATION_SWITCH];
        q->c_switch = (d->n - switches2 / d->n) / q->df[VARIATION_SWITCH];
    }
}

/* Sums of squares of x by level, added to ss. */
static void add_squares(const struct design *d, const double *x, double ss[VARIATION_LEVELS])
{
    double all = 0, node = 0, in_node = 0, of_switch = 0, in_switch = 0, nodes = 0, switches = 0, squares = 0;

    for (uint32_t r = 0; r < d->n; r++) {
        squares += x[r] * x[r];
        node += x[r];
        in_node++;
        of_switch += x[r];
        in_switch++;
        all += x[r];
        if (node_ends(d, r)) {
            nodes += node * node / in_node;
            node = in_node = 0;
        }
        if (switch_ends(d, r)) {
            switches += of_switch * of_switch / in_switch;
            of_switch = in_switch = 0;
        }
    }
    ss[VARIATION_RANK] += squares - nodes;
    ss[VARIATION_NODE] += nodes - switches;
    ss[VARIATION_SWITCH] += switches - all * all / d->n;
}

/* Both mean squares come from one variance, against two of which the upper one is larger. The size of the
 * sample is the number of groups, from which the level's variance is estimated. */
static double none_of(const struct variation_squares *q, int level, int below)
{
    double df = q->df[level] + q->df[below], ratio;
    double pooled = (q->df[level] * q->ms[level] + q->df[below] * q->ms[below]) / df;

    if (!(q->ms[level] > q->ms[below]))
        ratio = 0;
    else if (!(q->ms[below] > 0))
        return 0;
    else
        ratio = df * log(pooled) - q->df[level] * log(q->ms[level]) - q->df[below] * log(q->ms[below]);
    return 1 / (1 + exp((ratio - log(q->df[level] + 1)) / 2));
}

/* Means of squares, each with `times` the design's degrees of freedom. */
static void set_squares(struct variation_squares *q, const double ss[VARIATION_LEVELS], double times)
{
    int below = -1;

    for (int k = 0; k < VARIATION_LEVELS; k++) {
        q->df[k] *= times;
        q->ms[k] = q->df[k] > 0 ? fmax(0, ss[k]) / q->df[k] : NAN;
        q->none[k] = q->df[k] > 0 && below >= 0 ? none_of(q, k, below) : 0;
        below = q->df[k] > 0 ? k : below;
    }
}

/* A plausible origin of the data: factors of each mean square and of each level's variance. */
struct guess {
    double f[VARIATION_LEVELS], some[VARIATION_LEVELS];
};

/* Variances from mean squares; less: share of the passing noise in the lowest level. */
static void solve_variances(const struct variation_squares *q, const struct guess *g,
                            const double less[VARIATION_LEVELS], double variance[VARIATION_LEVELS])
{
    double ms[VARIATION_LEVELS];

    for (int k = 0; k < VARIATION_LEVELS; k++) {
        ms[k] = q->df[k] > 0 ? q->ms[k] * g->f[k] : 0;
        variance[k] = 0;
    }
    if (q->df[VARIATION_RANK] > 0)
        variance[VARIATION_RANK] = fmax(0, ms[VARIATION_RANK] - less[VARIATION_RANK]);
    /* The passing noise in a mean square has the same parts with the same coefficients. */
    if (q->df[VARIATION_NODE] > 0)
        variance[VARIATION_NODE] =
            g->some[VARIATION_NODE] *
            fmax(0, (ms[VARIATION_NODE] - variance[VARIATION_RANK] - less[VARIATION_RANK]) / q->c_node -
                        less[VARIATION_NODE]);
    if (q->df[VARIATION_SWITCH] > 0)
        variance[VARIATION_SWITCH] =
            g->some[VARIATION_SWITCH] *
            fmax(0, (ms[VARIATION_SWITCH] - variance[VARIATION_RANK] - less[VARIATION_RANK] -
                     q->c_node_of_switch * (variance[VARIATION_NODE] + less[VARIATION_NODE])) /
                            q->c_switch -
                        less[VARIATION_SWITCH]);
}

/* ---- samples ---- */

static struct guess guess_sample(const struct variation_squares *q, uint64_t *state)
{
    struct guess g;

    for (int k = 0; k < VARIATION_LEVELS; k++) {
        g.f[k] = q->df[k] > 0
                     ? 1 / fmax(MEAN_SQUARE_MIN, deviate_chi2_ratio(deviate_uniform(state), q->df[k]))
                     : 1;
        g.some[k] = deviate_uniform(state) >= q->none[k];
    }
    return g;
}

static void variances(const struct variation *n, const struct guess *l, const struct guess *p,
                      struct variation_sample *d)
{
    static const double nothing[VARIATION_LEVELS];
    double passing[VARIATION_LEVELS], lasting[VARIATION_LEVELS], less[VARIATION_LEVELS];

    solve_variances(&n->passing_squares, p, nothing, passing);
    for (int k = 0; k < VARIATION_LEVELS; k++)
        less[k] = passing[k] / n->steps;
    solve_variances(&n->lasting_squares, l, less, lasting);
    for (int k = 0; k < VARIATION_LEVELS; k++) {
        d->passing[k] = sqrt(passing[k]);
        d->lasting[k] = sqrt(lasting[k]);
    }
}

void variation_sample(const struct variation *n, uint64_t *state, struct variation_sample *d)
{
    struct guess lasting = guess_sample(&n->lasting_squares, state),
                 passing = guess_sample(&n->passing_squares, state);

    variances(n, &lasting, &passing, d);
}

void variation_estimate(const struct variation *n, struct variation_sample *d)
{
    static const struct guess as_is = { .f = { 1, 1, 1 }, .some = { 1, 1, 1 } };

    variances(n, &as_is, &as_is, d);
}

/* Whether the level can be separated.  If not, the level above stands for it: a node of one rank is that
 * rank. */
static bool separable(const struct variation_squares *q, int level)
{
    return q->df[level] > 0;
}

static void set_parts(struct variation *n)
{
    float samples[2][VARIATION_LEVELS][PART_SAMPLES];
    struct variation_sample d;
    uint64_t state = 1;

    for (int i = 0; i < PART_SAMPLES; i++) {
        variation_sample(n, &state, &d);
        for (int k = 0; k < VARIATION_LEVELS; k++) {
            samples[0][k][i] = (float)d.lasting[k];
            samples[1][k][i] = (float)d.passing[k];
        }
    }
    variation_estimate(n, &d);
    for (int k = 0; k < VARIATION_LEVELS; k++) {
        struct variation_part *part[2] = { &n->lasting[k], &n->passing[k] };
        double sd[2] = { d.lasting[k], d.passing[k] };

        for (int p = 0; p < 2; p++) {
            *part[p] = (struct variation_part){ NAN, NAN, NAN };
            if (!separable(&n->passing_squares, k))
                continue;
            /* A level that is most likely none has samples of 0 only, beside what its squares are. */
            *part[p] = (struct variation_part){
                sd[p], fmin(sd[p], statistics_quantilef(samples[p][k], PART_SAMPLES, 0.05)),
                fmax(sd[p], statistics_quantilef(samples[p][k], PART_SAMPLES, 0.95))
            };
        }
    }
}

/* ---- fit to the steps ---- */

struct table {
    float *x; /* steps rows of n */
    uint32_t steps, n;
};

/* Divide each step by its mean and subtract 1; describe the means. */
static void center_steps(struct variation *o, struct table *t)
{
    double sum = 0, squares = 0, behind = 0, behind2 = 0;

    for (uint32_t k = 0; k < t->steps; k++) {
        float *x = t->x + (size_t)k * t->n;
        double mean = 0, max = -INFINITY;
        uint32_t known = 0;

        for (uint32_t r = 0; r < t->n; r++)
            if (!isnan(x[r])) {
                mean += x[r];
                max = fmax(max, x[r]);
                known++;
            }
        mean = known ? mean / known : NAN;
        for (uint32_t r = 0; r < t->n; r++)
            x[r] = (float)(x[r] / mean - 1);
        sum += mean;
        squares += mean * mean;
        behind += max / mean - 1;
        behind2 += pow(max / mean - 1, 2);
    }
    o->mean_s = sum / t->steps;
    o->common_cv =
        sqrt(fmax(0, squares / t->steps - o->mean_s * o->mean_s) * t->steps / (t->steps - 1.0)) / o->mean_s;
    o->behind = behind / t->steps;
    o->behind_error = sqrt(fmax(0, behind2 / t->steps - o->behind * o->behind) / (t->steps - 1.0));
}

/* Mean excess of each rank; 0 for ranks with too few known steps. */
static void rank_means(const struct table *t, double *mean)
{
    for (uint32_t r = 0; r < t->n; r++) {
        double sum = 0;
        uint32_t known = 0;

        for (uint32_t k = 0; k < t->steps; k++) {
            float x = t->x[(size_t)k * t->n + r];

            if (!isnan(x)) {
                sum += x;
                known++;
            }
        }
        mean[r] = known >= KNOWN_SHARE_MIN * t->steps ? sum / known : NAN;
    }
}

static double robust_sd(float *v, size_t n, double *middle)
{
    double median = statistics_medianf(v, n);

    for (size_t i = 0; i < n; i++)
        v[i] = fabsf(v[i] - (float)median);
    if (middle)
        *middle = median;
    return fmax(SD_MIN, statistics_medianf(v, n) / STATISTICS_SD_TO_MAD);
}

/* Standard deviation of x[k][r] minus the rank's mean, from a sample. */
static double passing_sd(const struct table *t, const double *mean)
{
    float probe[PROBES];
    size_t all = (size_t)t->steps * t->n, stride = all / PROBES + 1, n = 0;

    /* A stride that divides the row would always sample the same ranks. */
    while (stride > 1 && t->n % stride == 0)
        stride++;
    for (size_t i = 0; i < all && n < PROBES; i += stride) {
        float x = t->x[i] - (float)mean[i % t->n];

        if (!isnan(x))
            probe[n++] = x;
    }
    return n >= 8 ? robust_sd(probe, n, NULL) : NAN;
}

/* Remove rare long delays, and as large deviations on the other side.  They are counted, but not used in the
 * rest of the fit. */
static void cut_tail(struct variation *o, struct table *t, const double *mean, double sd)
{
    double beyond = 0;
    uint64_t known = 0;

    o->tail_from = RARE_Z * sd;
    for (uint32_t k = 0; k < t->steps; k++)
        for (uint32_t r = 0; r < t->n; r++) {
            float *x = &t->x[(size_t)k * t->n + r];
            double e = *x - mean[r];

            if (isnan(e))
                continue;
            known++;
            if (fabs(e) <= o->tail_from)
                continue;
            if (e > 0) {
                o->tail_n++;
                beyond += e - o->tail_from;
            }
            *x = NAN;
        }
    o->tail_rate = known ? (double)o->tail_n / (double)known : 0;
    o->tail_mean = o->tail_n ? beyond / o->tail_n : 0;
}

/* Separate ranks that are permanently behind all others, and centre the rest again. */
static void set_apart(struct variation *o, double *mean, uint32_t n, float *v)
{
    double middle = 0, limit = INFINITY, sum = 0;
    uint32_t m = 0;

    for (uint32_t r = 0; r < n; r++)
        if (!isnan(mean[r]))
            v[m++] = (float)mean[r];
    if (m >= FAR_RANKS)
        limit = RARE_Z * robust_sd(v, m, &middle);
    m = 0;
    for (uint32_t r = 0; r < n; r++) {
        if (mean[r] - middle > limit) {
            if (o->apart < LAST_APART_MAX) {
                o->apart_rank[o->apart] = r;
                o->apart_mean[o->apart++] = mean[r];
            }
            mean[r] = NAN;
        }
        if (!isnan(mean[r])) {
            sum += mean[r];
            m++;
        }
    }
    sum = m ? sum / m : 0;
    for (uint32_t r = 0; r < n; r++)
        mean[r] = isnan(mean[r]) ? 0 : mean[r] - sum;
    for (unsigned i = 0; i < o->apart; i++)
        o->apart_mean[i] -= sum;
    o->mean_s *= 1 + sum;
}

/* Test normal against lognormal residuals after subtracting the ranks' means. */
static void test_shape(struct variation *o, const struct table *t, const double *mean)
{
    double n = 0, x1 = 0, x2 = 0, y1 = 0, y2 = 0, d1 = 0, d2 = 0, sx, sy;

    for (int pass = 0; pass < 2; pass++) {
        sx = sqrt(fmax(SD_MIN * SD_MIN, x2 - x1 * x1));
        sy = sqrt(fmax(SD_MIN * SD_MIN, y2 - y1 * y1));
        for (uint32_t k = 0; k < t->steps; k++)
            for (uint32_t r = 0; r < t->n; r++) {
                double x = 1 + t->x[(size_t)k * t->n + r] - mean[r], y, d;

                if (!(x > 0.01))
                    continue;
                y = log(x);
                if (pass == 0) {
                    n++;
                    x1 += x;
                    x2 += x * x;
                    y1 += y;
                    y2 += y * y;
                    continue;
                }
                d = pow((x - x1) / sx, 2) / 2 + log(sx) - (pow((y - y1) / sy, 2) / 2 + log(sy) + y);
                d1 += d;
                d2 += d * d;
            }
        if (pass == 0 && n > 0) {
            x1 /= n;
            x2 /= n;
            y1 /= n;
            y2 /= n;
        }
    }
    d1 = n > 0 ? d1 / n : 0;
    d2 = n > 0 ? d2 / n - d1 * d1 : 0;
    o->shape_z = d2 > 0 ? sqrt(n) * d1 / sqrt(d2) : 0;
    o->shape = o->shape_z > SURE_Z    ? VARIATION_LOGNORMAL
               : o->shape_z < -SURE_Z ? VARIATION_NORMAL
                                      : VARIATION_UNDECIDED;
}

static void set_cv(struct variation *o, const struct design *d)
{
    struct variation_sample e;
    double all = 0, mean = 0;

    variation_estimate(o, &e);
    for (int k = 0; k < VARIATION_LEVELS; k++)
        all += e.lasting[k] * e.lasting[k] + e.passing[k] * e.passing[k];
    o->cv = sqrt(all + o->common_cv * o->common_cv);
    mean = e.lasting[VARIATION_RANK] * e.lasting[VARIATION_RANK] / d->n +
           e.lasting[VARIATION_NODE] * e.lasting[VARIATION_NODE] / d->nodes +
           e.lasting[VARIATION_SWITCH] * e.lasting[VARIATION_SWITCH] / d->switches;
    o->mean_error = sqrt(mean + o->common_cv * o->common_cv / o->steps);
}

bool variation_fit(struct variation *out, float *own_s, uint32_t steps, uint32_t ranks, const uint32_t *node,
                   const uint32_t *switch_id, double *scratch)
{
    struct table t = { own_s, steps, ranks };
    struct design d = { .n = ranks, .node = node, .switch_id = switch_id };
    double *mean = scratch, *row = scratch + ranks, ss[VARIATION_LEVELS] = { 0 }, sd;

    memset(out, 0, sizeof(*out));
    if (steps < VARIATION_STEPS_MIN || ranks < 2)
        return false;
    out->ranks = ranks;
    out->steps = steps;
    set_design(&d, &out->passing_squares);
    out->lasting_squares = out->passing_squares;
    out->nodes = d.nodes;
    out->switches = d.switches;
    out->ranks_per_node = (double)ranks / d.nodes;
    out->nodes_per_switch = (double)d.nodes / d.switches;
    center_steps(out, &t);
    if (!(out->mean_s > 0))
        return false;
    rank_means(&t, mean);
    sd = passing_sd(&t, mean);
    if (isnan(sd))
        return false;
    cut_tail(out, &t, mean, sd);
    rank_means(&t, mean);
    for (uint32_t k = 0; k < steps; k++) {
        for (uint32_t r = 0; r < ranks; r++) {
            double e = t.x[(size_t)k * ranks + r] - mean[r];

            row[r] = isnan(e) ? 0 : e;
        }
        add_squares(&d, row, ss);
    }
    set_squares(&out->passing_squares, ss, steps - 1.0);
    test_shape(out, &t, mean);
    set_apart(out, mean, ranks, (float *)row);
    memset(ss, 0, sizeof(ss));
    add_squares(&d, mean, ss);
    set_squares(&out->lasting_squares, ss, 1);
    set_parts(out);
    set_cv(out, &d);
    return true;
}

/* ---- the last rank ---- */

struct last variation_last(const struct variation *n, const struct variation_sample *d, double factor,
                           bool lognormal)
{
    struct last l = { .ranks = n->ranks * factor - n->apart,
                      .ranks_per_node = n->ranks_per_node,
                      .nodes_per_switch = n->switches > 1 ? n->nodes_per_switch : 0,
                      .rank_sd = hypot(d->lasting[VARIATION_RANK], d->passing[VARIATION_RANK]),
                      .node_sd = hypot(d->lasting[VARIATION_NODE], d->passing[VARIATION_NODE]),
                      .switch_sd = hypot(d->lasting[VARIATION_SWITCH], d->passing[VARIATION_SWITCH]),
                      .lognormal = lognormal,
                      .tail_rate = n->tail_rate,
                      .tail_from = n->tail_from,
                      .tail_mean = n->tail_mean,
                      .apart = n->apart };

    memcpy(l.apart_mean, n->apart_mean, sizeof(l.apart_mean));
    /* With one rank per node or one node per switch, the upper level's variance belongs to the rank. */
    if (!separable(&n->passing_squares, VARIATION_RANK)) {
        l.rank_sd = l.node_sd;
        l.node_sd = 0;
        if (!separable(&n->passing_squares, VARIATION_NODE)) {
            l.rank_sd = l.switch_sd;
            l.switch_sd = 0;
        }
    }
    return l;
}
