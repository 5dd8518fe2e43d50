#include "model/linkfit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "model/deviate.h"
#include "model/statistics.h"

/* Sizes are merged within a quarter of an octave, in which bytes differ by at most 19 %. Chosen: a coarser
 * scale would hide where a protocol switches, and on a finer one LINKFIT_SIZES would be used up by sizes that
 * are next to each other. */
#define PER_OCTAVE 4.0
/* standard deviations: 95 % efficient for normal noise (Holland & Welsch 1977) */
#define TUKEY 4.685
/* a bound: lines that change by less than SAME_LINE end the iteration before */
#define ROUNDS    30
#define SAME_LINE 1e-9 /* relative; rounding in double precision is a million times less */
#define SINGULAR  1e-9 /* of a determinant: the sizes are one */
/* Of a robust mean, begun at the median. Chosen: one size has no leverage, so that few rounds do; fewer would
 * leave it nearer to the median. */
#define MEAN_ROUNDS 5
#define NOISE_MIN   1e-3 /* precision of clocks */
/* Samples of a size that show its noise. Chosen: the median deviation of fewer is mostly chance; with a
 * larger number rare sizes would show nothing. NOISE_UNKNOWN is taken where no size has as many: large, so
 * that no sample is rejected and intervals are wide. */
#define SAMPLES_MIN   4u
#define NOISE_UNKNOWN 0.1
/* Samples are from about the newest FADE * LINKFIT_SAMPLES of their size (Aggarwal, VLDB 2006). Chosen: with
 * fewer a passing load would become the fit, with more it would follow the network more slowly. */
#define FADE               8u
#define SEGMENT_PARAMETERS 3.0 /* latency, time per byte, and where the segment begins */
#define NO_FIT             1e9 /* chi squared of a size that the line has no time for */
/* relative prior deviation of a size from the line, weighted as one size (decision 0015) */
#define LACK_USUAL 0.003
/* Relative: a switch of protocol that changes no size by more is left out. Chosen: it bounds what leaving one
 * out costs; with a smaller one the few sizes of long jobs, whose means are exact, would each get a line of
 * their own. */
#define WORTH_IT  0.02
#define NORMAL_95 1.645 /* quantile of the normal distribution: intervals hold 90 % */

/* ---- adding samples ---- */

static struct linkfit_size *size_of(struct linkfit *l, double bytes)
{
    int32_t key = (int32_t)floor(PER_OCTAVE * log2(bytes + 1));
    uint32_t at = 0;

    while (at < l->n && l->size[at].key < key)
        at++;
    if (at < l->n && l->size[at].key == key)
        return &l->size[at];
    if (l->n == LINKFIT_SIZES)
        return NULL;
    memmove(&l->size[at + 1], &l->size[at], (l->n - at) * sizeof(*l->size));
    memset(&l->size[at], 0, sizeof(*l->size));
    l->size[at].key = key;
    l->n++;
    return &l->size[at];
}

void linkfit_add(struct linkfit *l, double bytes, double time_s, double weight)
{
    struct linkfit_size *s;
    uint32_t slot;

    if (!(bytes >= 0) || !(time_s > 0) || !(weight > 0) || !isfinite(bytes + time_s + weight))
        return;
    s = size_of(l, bytes);
    if (!s)
        return;
    s->weight += weight;
    s->bytes_sum += weight * bytes;
    s->time_sum_s += weight * time_s;
    slot = s->seen;
    if (s->seen < FADE * LINKFIT_SAMPLES)
        s->seen++;
    if (slot >= LINKFIT_SAMPLES)
        slot = (uint32_t)(deviate_uniform(&l->random_state) * s->seen);
    if (slot < LINKFIT_SAMPLES) {
        s->bytes[slot] = (float)bytes;
        s->time_s[slot] = (float)time_s;
    }
}

static uint32_t kept(const struct linkfit_size *s)
{
    return s->seen < LINKFIT_SAMPLES ? s->seen : LINKFIT_SAMPLES;
}

/* ---- one line ---- */

struct line {
    double a, b;
};

/* Weighted sums for fitting a straight line with unknowns a and b. */
struct line_sums {
    double w, m, mm, t, mt;
};

static void add_point(struct line_sums *s, double w, double bytes, double time_s)
{
    s->w += w;
    s->m += w * bytes;
    s->mm += w * bytes * bytes;
    s->t += w * time_s;
    s->mt += w * bytes * time_s;
}

/* Both parts of a cost are 0 or more: where the best line has a negative one, it is set to 0. */
static struct line solve_line(const struct line_sums *s)
{
    double det = s->w * s->mm - s->m * s->m;
    struct line l = { s->w > 0 ? s->t / s->w : 0, 0 };

    if (!(det > SINGULAR * s->w * s->mm))
        return l;
    l.a = (s->t * s->mm - s->mt * s->m) / det;
    l.b = (s->w * s->mt - s->m * s->t) / det;
    if (l.a < 0)
        l = (struct line){ 0, s->mt / s->mm };
    if (l.b < 0)
        l = (struct line){ s->t / s->w, 0 };
    return l;
}

/* Robust mean of one size at its mean bytes, by the same biweight. */
struct mean {
    double bytes, time_s, sigma; /* sigma: relative, of the mean */
    uint32_t n;
};

static struct mean biweight_mean(const struct linkfit_size *s, double noise)
{
    uint32_t n = kept(s);
    struct mean m = { .n = n };
    float v[LINKFIT_SAMPLES];

    memcpy(v, s->time_s, n * sizeof(*v));
    m.time_s = statistics_medianf(v, n);
    for (int round = 0; round < MEAN_ROUNDS; round++) {
        double w = 0, t = 0, bytes = 0;

        for (uint32_t i = 0; i < n; i++) {
            double u = (s->time_s[i] / m.time_s - 1) / (TUKEY * noise), k = fabs(u) < 1 ? (1 - u * u) : 0;

            w += k * k;
            t += k * k * s->time_s[i];
            bytes += k * k * s->bytes[i];
        }
        if (!(w > 0))
            break;
        m.time_s = t / w;
        m.bytes = bytes / w;
    }
    if (!(m.bytes > 0))
        m.bytes = s->bytes_sum / s->weight;
    m.sigma = noise / sqrt(n);
    return m;
}

/* Relative noise of one transfer, pooled from the median deviation of each size. */
static double noise_of(const struct linkfit *l)
{
    double sum = 0, n = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t k = kept(&l->size[i]);
        float v[LINKFIT_SAMPLES];
        double median;

        if (k < SAMPLES_MIN)
            continue;
        memcpy(v, l->size[i].time_s, k * sizeof(*v));
        median = statistics_medianf(v, k);
        for (uint32_t j = 0; j < k; j++)
            v[j] = fabsf(l->size[i].time_s[j] / (float)median - 1);
        sum += k * pow(statistics_medianf(v, k) / STATISTICS_SD_TO_MAD, 2);
        n += k;
    }
    return n > 0 ? fmax(NOISE_MIN, sqrt(sum / n)) : NOISE_UNKNOWN;
}

/* Line through the sizes' samples: biweight on relative residuals. */
static struct line robust_line(const struct linkfit_size *size, const struct mean *mean, uint32_t n,
                               double noise)
{
    struct line_sums s = { 0 };
    struct line l;

    for (uint32_t i = 0; i < n; i++)
        add_point(&s, mean[i].n / (mean[i].time_s * mean[i].time_s), mean[i].bytes, mean[i].time_s);
    l = solve_line(&s);
    for (int round = 0; round < ROUNDS; round++) {
        struct line before = l;

        s = (struct line_sums){ 0 };
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < kept(&size[i]); j++) {
                double fit = l.a + l.b * size[i].bytes[j], r = size[i].time_s[j] / fit - 1;
                /* Residuals are from the size's own mean, so that a size off the line keeps its weight. */
                double own = size[i].time_s[j] / mean[i].time_s - 1, u = own / (TUKEY * noise);

                if (fabs(u) < 1 && isfinite(r))
                    add_point(&s, pow(1 - u * u, 2) / (fit * fit), size[i].bytes[j], size[i].time_s[j]);
            }
        if (!(s.w > 0))
            break;
        l = solve_line(&s);
        if (fabs(l.a - before.a) <= SAME_LINE * l.a && fabs(l.b - before.b) <= SAME_LINE * l.b)
            break;
    }
    return l;
}

/* Sum of the sizes' squared relative deviations from the line, in their own standard errors. */
static double chi2_of(const struct line *l, const struct mean *mean, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        double fit = l->a + l->b * mean[i].bytes;

        sum += fit > 0 ? pow((mean[i].time_s / fit - 1) / mean[i].sigma, 2) : NO_FIT;
    }
    return sum;
}

/* ---- segments ---- */

struct cut {
    uint32_t segments, end[LINKFIT_SEGMENTS]; /* ends are one past the last size */
    double chi2;
};

struct line_fit {
    const struct linkfit *l;
    struct mean mean[LINKFIT_SIZES];
    double noise;
};

static struct line line_of(const struct line_fit *f, uint32_t from, uint32_t to)
{
    return robust_line(f->l->size + from, f->mean + from, to - from, f->noise);
}

/* The best cuts into one, two and three lines, of at least two sizes each. */
static void find_cuts(const struct line_fit *f, struct cut best[LINKFIT_SEGMENTS])
{
    uint32_t n = f->l->n;
    double chi2[LINKFIT_SIZES + 1][LINKFIT_SIZES + 1];

    for (uint32_t i = 0; i + 2 <= n; i++)
        for (uint32_t j = i + 2; j <= n; j++) {
            struct line l = line_of(f, i, j);

            chi2[i][j] = chi2_of(&l, f->mean + i, j - i);
        }
    for (uint32_t k = 0; k < LINKFIT_SEGMENTS; k++)
        best[k] = (struct cut){ .segments = k + 1, .end = { n, n, n }, .chi2 = INFINITY };
    best[0].chi2 = chi2[0][n];
    for (uint32_t i = 2; i + 2 <= n; i++) {
        if (chi2[0][i] + chi2[i][n] < best[1].chi2)
            best[1] = (struct cut){ 2, { i, n, n }, chi2[0][i] + chi2[i][n] };
        for (uint32_t j = i + 2; j + 2 <= n; j++)
            if (chi2[0][i] + chi2[i][j] + chi2[j][n] < best[2].chi2)
                best[2] = (struct cut){ 3, { i, j, n }, chi2[0][i] + chi2[i][j] + chi2[j][n] };
    }
}

/* Whether the cut changes the time of any size by WORTH_IT. */
static bool moves(const struct line_fit *f, const struct cut *fewer, const struct cut *more)
{
    double max = 0;

    for (uint32_t i = 0, a = 0, b = 0; i < f->l->n; i++) {
        struct line x, y;

        a += i >= fewer->end[a];
        b += i >= more->end[b];
        x = line_of(f, a ? fewer->end[a - 1] : 0, fewer->end[a]);
        y = line_of(f, b ? more->end[b - 1] : 0, more->end[b]);
        max = fmax(max, fabs((x.a + x.b * f->mean[i].bytes) / (y.a + y.b * f->mean[i].bytes) - 1));
    }
    return max > WORTH_IT;
}

static struct cut choose_cut(const struct line_fit *f)
{
    struct cut cut[LINKFIT_SEGMENTS], *best = &cut[0];
    double samples = 0, dispersion = 1;

    if (f->l->n < 4)
        return (struct cut){ .segments = 1, .end = { f->l->n, f->l->n, f->l->n } };
    find_cuts(f, cut);
    for (uint32_t i = 0; i < f->l->n; i++)
        samples += f->mean[i].n;
    /* Use the richest model that has degrees of freedom left. */
    for (uint32_t k = 0; k < LINKFIT_SEGMENTS; k++)
        if (f->l->n >= 2 * (k + 1) + 2 && isfinite(cut[k].chi2))
            dispersion = fmax(1, cut[k].chi2 / (f->l->n - 2.0 * (k + 1)));
    for (uint32_t k = 1; k < LINKFIT_SEGMENTS; k++) {
        double asked = SEGMENT_PARAMETERS * (cut[k].segments - best->segments) * log(samples);

        if (isfinite(cut[k].chi2) && (best->chi2 - cut[k].chi2) / dispersion > asked &&
            moves(f, best, &cut[k]))
            best = &cut[k];
    }
    return *best;
}

/* ---- intervals ---- */

static struct linkfit_range bounded(double value, double sd, double quantile, double max)
{
    return (struct linkfit_range){ value, fmin(max, fmax(0, value - quantile * sd)),
                                   fmin(max, value + quantile * sd) };
}

/* Generalised least squares of the sizes' means with both variance components. */
static void segment_of(const struct line_fit *f, uint32_t from, uint32_t to, struct linkfit_segment *s)
{
    uint32_t n = to - from, samples = 0;
    const struct mean *mean = f->mean + from;
    struct line l = line_of(f, from, to);
    struct line_sums sums = { 0 };
    double sampling = 0, lack = 0, det, quantile, min_s = INFINITY, a_sd, b_sd, df;

    *s = (struct linkfit_segment){ .from_bytes = mean[0].bytes, .to_bytes = mean[n - 1].bytes, .sizes = n };
    if (n < 2) {
        double max_s = mean->time_s * (1 + NORMAL_95 * mean->sigma);

        s->a_s = (struct linkfit_range){ NAN, 0, max_s };
        s->b_s_per_byte = (struct linkfit_range){ NAN, 0, mean->bytes > 0 ? max_s / mean->bytes : NAN };
        s->a_sd_s = NAN;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        double r = mean[i].time_s / (l.a + l.b * mean[i].bytes) - 1;

        lack += r * r;
        sampling += mean[i].sigma * mean[i].sigma * (n - 2) / n;
        samples += mean[i].n;
        min_s = fmin(min_s, mean[i].time_s);
    }
    lack = (fmax(0, lack - sampling) + LACK_USUAL * LACK_USUAL) / (n - 1);
    df = lack > sampling / n ? n - 2 : samples > 3 ? samples - 2 : 1;
    for (uint32_t i = 0; i < n; i++) {
        double fit = l.a + l.b * mean[i].bytes;

        add_point(&sums, 1 / (fit * fit * (mean[i].sigma * mean[i].sigma + lack)), mean[i].bytes, 0);
    }
    det = sums.w * sums.mm - sums.m * sums.m;
    a_sd = det > 0 ? sqrt(sums.mm / det) : INFINITY;
    b_sd = det > 0 ? sqrt(sums.w / det) : INFINITY;
    quantile = deviate_student(0.95, df);
    s->a_s = bounded(l.a, a_sd, quantile, min_s * (1 + quantile * f->noise));
    s->b_s_per_byte =
        bounded(l.b, b_sd, quantile, mean[n - 1].time_s / mean[n - 1].bytes * (1 + quantile * f->noise));
    s->a_sd_s = a_sd * quantile / deviate_normal(0.95);
}

void linkfit_fit(const struct linkfit *l, struct linkfit_result *r)
{
    struct line_fit f = { .l = l, .noise = noise_of(l) };
    struct cut cut;

    memset(r, 0, sizeof(*r));
    r->sizes = l->n;
    r->noise = NAN;
    if (!l->n)
        return;
    r->noise = f.noise;
    for (uint32_t i = 0; i < l->n; i++) {
        f.mean[i] = biweight_mean(&l->size[i], f.noise);
        r->samples += l->size[i].seen;
    }
    cut = choose_cut(&f);
    r->segments = cut.segments;
    for (uint32_t k = 0; k < cut.segments; k++)
        segment_of(&f, k ? cut.end[k - 1] : 0, cut.end[k], &r->segment[k]);
}

const struct linkfit_segment *linkfit_segment(const struct linkfit_result *r, double bytes)
{
    const struct linkfit_segment *s = r->segments ? &r->segment[0] : NULL;

    /* The boundary of two segments is the geometric mean of the sizes next to it. */
    for (unsigned k = 1; k < r->segments; k++)
        if (bytes > sqrt(r->segment[k - 1].to_bytes * r->segment[k].from_bytes))
            s = &r->segment[k];
    return s;
}
