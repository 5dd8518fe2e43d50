#include "model/projection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/deviate.h"
#include "model/statistics.h"

#define NOISE_SAMPLES 160                 /* samples of the noise */
#define LINK_SAMPLES  4                   /* samples of the network for each of the noise */
#define TAIL_SAMPLES  (NOISE_SAMPLES / 4) /* samples of the noise whose tail is looked at */
#define ALL_SAMPLES   (NOISE_SAMPLES * LINK_SAMPLES)
/* relative, per doubling of ranks; assumed, as its growth is unknown */
#define CONTENTION     0.015
#define UNSEEN_NETWORK 1.0  /* logarithmic, for ranks beyond the one node that was measured */
#define SHAPE_DOUBT    0.10 /* relative, of the fitted noise's maximum from the measured one */
/* relative, of the waiting between runs on other nodes with other neighbours */
#define RUN_SPREAD 0.05
#define WALL_SHARE 0.05
#define WALL_STEPS 48 /* steps of the search for a wall, up to PROJECTION_FACTOR_MAX */

static const struct {
    const char *name, *text;
} walls[] = {
    [PROJECTION_WALL_NONE] = { "none", "" },
    [PROJECTION_WALL_SYNC_OVER_COMMUNICATION] = { "synchronisation over communication",
                                                  "synchronisation overtakes communication" },
    [PROJECTION_WALL_COMMUNICATION_OVER_SYNC] = { "communication over synchronisation",
                                                  "communication overtakes synchronisation" },
    [PROJECTION_WALL_SYNC_OVER_COMPUTE] = { "synchronisation over compute",
                                            "synchronisation overtakes compute" },
    [PROJECTION_WALL_COMMUNICATION_OVER_COMPUTE] = { "communication over compute",
                                                     "communication overtakes compute" },
    [PROJECTION_WALL_SYNC_REGIME] = { "synchronisation", "synchronisation becomes the regime" },
};

const char *projection_wall_name(enum projection_wall w)
{
    return walls[w].name;
}

/* ---- synchronisation ---- */

struct ranks {
    double waits; /* what the job waits, over what the last rank of a step is behind the mean */
    double fits;  /* that distance over the one of the fitted noise, weighted by how well both are known */
    double fits_error;
    double lognormal; /* probability */
};

/* Mean excess of the last rank over a rank's mean; sd: of the part that depends on the set of ranks. */
static double behind(const struct variation *n, const struct variation_sample *d, double factor,
                     bool lognormal, double *sd)
{
    struct last l = variation_last(n, d, factor, lognormal);
    double all, lasting = 0, total = 0, tail = l.tail_rate * (l.tail_from + l.tail_mean);

    all = last_mean(&l, sd);
    for (int k = 0; k < VARIATION_LEVELS; k++) {
        lasting += d->lasting[k] * d->lasting[k];
        total += d->lasting[k] * d->lasting[k] + d->passing[k] * d->passing[k];
    }
    if (sd)
        *sd *= total > 0 ? sqrt(lasting / total) : 0;
    return fmax(0, all - tail);
}

/* Logarithm of the likelihood, under this shape of the noise, of how far the last rank was behind in runs
 * over other numbers of ranks. */
static double shape_log(const struct projection_input *in, const struct variation_sample *d, bool lognormal)
{
    const struct variation *n = in->noise;
    double now = behind(n, d, 1, lognormal, NULL), sum = 0;

    for (size_t i = 0; i < in->n_runs; i++) {
        const struct projection_run *r = &in->run[i];
        double then = behind(n, d, r->ranks / n->ranks, lognormal, NULL), z;

        if (!(r->behind > 0) || !(n->behind > 0) || !(now > 0) || !(then > 0))
            continue;
        z = log(r->behind / n->behind / (then / now)) /
            hypot(RUN_SPREAD, hypot(r->behind_error / r->behind, n->behind_error / n->behind));
        sum -= z * z / 2;
    }
    return sum;
}

/* Probability that the ranks' noise is lognormal, else normal: by the test of its shape, where that decides,
 * else by the runs over other numbers of ranks. */
static double lognormal_share(const struct projection_input *in)
{
    const struct variation *n = in->noise;
    struct variation_sample d;

    if (n->shape != VARIATION_UNDECIDED)
        return n->shape == VARIATION_LOGNORMAL;
    variation_estimate(n, &d);
    return 1 / (1 + exp(shape_log(in, &d, false) - shape_log(in, &d, true)));
}

static void calibrate(const struct projection_input *in, double transfer_s, struct ranks *r)
{
    const struct variation *n = in->noise;
    double waits_s = in->step_s - n->mean_s - transfer_s - in->other_s, fitted, sd, error2;
    struct variation_sample d;

    *r = (struct ranks){ .waits = 1, .fits = 1, .lognormal = lognormal_share(in) };
    if (n->behind > 0 && waits_s > 0)
        r->waits = waits_s / (n->behind * n->mean_s);
    variation_estimate(n, &d);
    fitted = behind(n, &d, 1, r->lognormal > 0.5, &sd);
    if (fitted > 0 && n->behind > 0) {
        double share;

        error2 = (sd * sd + n->behind_error * n->behind_error) / (fitted * fitted);
        share = SHAPE_DOUBT * SHAPE_DOUBT / (SHAPE_DOUBT * SHAPE_DOUBT + error2);
        r->fits = pow(n->behind / fitted, share);
        r->fits_error = SHAPE_DOUBT * sqrt(1 - share);
    }
}

/* ---- samples ---- */

struct projection_sample {
    float step_s, compute_s, communication_s, synchronisation_s;
};

struct sampled_world {
    const struct projection_input *in;
    struct traffic traffic;
    bool grows; /* any of it */
    struct ranks ranks;
    double transfer_s, factor[PROJECTION_POINTS];
    struct projection_sample sample[PROJECTION_POINTS][ALL_SAMPLES];
    float p99_ratio[PROJECTION_POINTS][TAIL_SAMPLES], cv[PROJECTION_POINTS][TAIL_SAMPLES];
};

static double compute_of(const struct sampled_world *w, double factor)
{
    return w->in->noise->mean_s / (w->in->strong ? factor : 1);
}

/* Numbers from 0 to 1, evenly spread; each step gives another order (a permuted stratified sample). */
static double even(int i, int n, int step)
{
    return (((double)i * step) - n * floor((double)i * step / n) + 0.5) / n;
}

static double communication_sample(const struct sampled_world *w, int i, double factor)
{
    const struct traffic *k = &w->traffic;
    enum traffic_algorithm a = traffic_algorithm_at(k, even(i, ALL_SAMPLES, 277));
    double doublings = log2(factor), spread = CONTENTION * fabs(doublings), grown;
    double contention = deviate_normal(even(i, ALL_SAMPLES, 403)),
           level = deviate_normal(even(i, ALL_SAMPLES, 531)), error2 = 0;

    for (size_t l = 0; l < k->n_links; l++)
        error2 = fmax(error2, pow(k->link[l].time_error, 2));
    grown = !w->grows ? 0 : traffic_grown_s(k, a, k->ranks * factor, even(i, ALL_SAMPLES, 119));
    if (k->nodes < 1.5 && factor > 1)
        spread = hypot(spread, UNSEEN_NETWORK);
    return (grown * exp(contention * spread) + traffic_steady_s(k)) * exp(level * sqrt(error2));
}

/* The step's variation by that sample of the noise: only what passes, since the rest is the same in all
 * steps. */
static void sample_tail(struct sampled_world *w, int i, unsigned p, const struct variation_sample *d,
                        bool lognormal)
{
    const struct projection_sample *s = &w->sample[p][i * 4 * LINK_SAMPLES];
    /* Checkpoints and a program's rhythm are in the common part, and not normal: they are in what was
     * measured. */
    double common = fmax(0, fmin(w->in->noise->common_cv, w->in->spread));
    struct variation_sample passing = *d;
    struct last l;
    double mean, sd, unit_s = s->compute_s * w->ranks.waits * w->ranks.fits, p50_s, p99_s;

    memset(passing.lasting, 0, sizeof(passing.lasting));
    l = variation_last(w->in->noise, &passing, w->factor[p], lognormal);
    mean = last_mean(&l, &sd);
    /* What is common to all ranks makes the work longer, not the waiting. */
    common *= s->compute_s / unit_s;
    p50_s = s->step_s + unit_s * (last_quantile(&l, common, 0.5) - mean);
    p99_s = s->step_s + unit_s * (last_quantile(&l, common, 0.99) - mean);
    w->p99_ratio[p][i] = (float)(p50_s > 0 ? p99_s / p50_s : 1);
    w->cv[p][i] = (float)(unit_s * hypot(sd, common) / s->step_s);
}

static void sample_noise(struct sampled_world *w, int i, uint64_t *state)
{
    const struct variation *n = w->in->noise;
    bool lognormal = even(i, NOISE_SAMPLES, 61) < w->ranks.lognormal;
    double z_mean = deviate_normal(even(i, NOISE_SAMPLES, 37)),
           z_ranks = deviate_normal(even(i, NOISE_SAMPLES, 101)),
           z_fits = deviate_normal(even(i, NOISE_SAMPLES, 23));
    struct variation_sample d;

    variation_sample(n, state, &d);
    for (unsigned p = 0; p < PROJECTION_POINTS; p++) {
        double sd, far = behind(n, &d, w->factor[p], lognormal, &sd);
        double compute_s = compute_of(w, w->factor[p]) * (1 + z_mean * n->mean_error);
        double fits = w->ranks.fits * exp(z_fits * w->ranks.fits_error);
        double sync_s = fmax(0, (far + z_ranks * sd) * w->ranks.waits * fits * compute_s);

        for (int j = 0; j < LINK_SAMPLES; j++) {
            struct projection_sample *s = &w->sample[p][i * LINK_SAMPLES + j];

            s->compute_s = (float)compute_s;
            s->synchronisation_s = (float)sync_s;
            s->communication_s = (float)communication_sample(w, i * LINK_SAMPLES + j, w->factor[p]);
            s->step_s = (float)(compute_s + sync_s + s->communication_s + w->in->other_s);
        }
        if (i % 4 == 0)
            sample_tail(w, i / 4, p, &d, lognormal);
    }
}

/* Of the samples' field at this offset. */
static struct projection_range field_range(const struct projection_sample *s, size_t offset)
{
    float v[ALL_SAMPLES];

    for (int i = 0; i < ALL_SAMPLES; i++)
        memcpy(&v[i], (const char *)&s[i] + offset, sizeof(float));
    return projection_range_of(v, ALL_SAMPLES);
}

struct projection_range projection_range_of(float *v, size_t n)
{
    struct projection_range r;

    r.p5 = statistics_quantilef(v, n, 0.05);
    r.p50 = statistics_medianf(v, n);
    r.p95 = statistics_quantilef(v, n, 0.95);
    return r;
}

/* What was measured at the present ranks, moved by what the noise makes of the difference. */
static double measured_and(double measured, double now, double then)
{
    if (!(measured > 0))
        return then;
    return measured >= now || !(now > 0) ? measured + then - now : measured * then / now;
}

static void set_tail(struct sampled_world *w, unsigned p, struct projection_point *o)
{
    const struct projection_input *in = w->in;
    /* Of the 99th percentile of so many steps, over its distance from the median: 1.6 / sqrt(n) of a normal
     * distribution, 2.5 of an exponential one (David & Nagaraja 2003, ch. 10). */
    double error = 2.5 / sqrt(in->noise->steps);
    float v[TAIL_SAMPLES], now_ratio, now_cv;

    memcpy(v, w->p99_ratio[0], sizeof(v));
    now_ratio = statistics_medianf(v, TAIL_SAMPLES);
    memcpy(v, w->cv[0], sizeof(v));
    now_cv = statistics_medianf(v, TAIL_SAMPLES);
    memcpy(v, w->cv[p], sizeof(v));
    o->cv = measured_and(in->cv, now_cv, statistics_medianf(v, TAIL_SAMPLES));
    memcpy(v, w->p99_ratio[p], sizeof(v));
    for (int i = 0; i < TAIL_SAMPLES; i++) {
        double more = measured_and(in->p99_ratio - 1, now_ratio - 1, v[i] - 1);

        v[i] = (float)(1 + more * exp(error * deviate_normal(even(i, TAIL_SAMPLES, 17))));
    }
    o->p99_ratio = projection_range_of(v, TAIL_SAMPLES);
    if (!(in->p99_ratio > 1))
        o->p99_ratio = (struct projection_range){ NAN, NAN, NAN };
    else if (o->factor == 1)
        o->p99_ratio = (struct projection_range){ in->p99_ratio, in->p99_ratio, in->p99_ratio };
    if (o->factor == 1 && in->cv > 0)
        o->cv = in->cv;
}

static void set_point(struct sampled_world *w, unsigned p, struct projection_point *o)
{
    const struct projection_sample *s = w->sample[p];
    double factor = w->factor[p], gain = w->in->strong ? 1 : factor, least_s, parts, scale;
    int in_regime[REGIMES] = { 0 };

    *o = (struct projection_point){ .ranks = w->traffic.ranks * factor,
                                    .factor = factor,
                                    .ideal_ratio = factor };
    o->step_s = field_range(s, offsetof(struct projection_sample, step_s));
    /* n times as many ranks never make a step more than n times as fast in these models: what the samples'
     * spread says beyond that is its error. */
    least_s = gain * w->in->step_s / factor;
    o->step_s = (struct projection_range){ fmax(o->step_s.p5, least_s), fmax(o->step_s.p50, least_s),
                                           fmax(o->step_s.p95, least_s) };
    if (factor == 1) /* measured, so without uncertainty */
        o->step_s = (struct projection_range){ w->in->step_s, w->in->step_s, w->in->step_s };
    o->compute_s = field_range(s, offsetof(struct projection_sample, compute_s)).p50;
    o->communication_s =
        field_range(s, offsetof(struct projection_sample, communication_s)).p50 + w->in->other_s;
    o->synchronisation_s = field_range(s, offsetof(struct projection_sample, synchronisation_s)).p50;
    parts = o->compute_s + o->communication_s + o->synchronisation_s;
    scale = parts > 0 ? o->step_s.p50 / parts : 1;
    o->compute_s *= scale;
    o->communication_s *= scale;
    o->synchronisation_s *= scale;
    o->throughput_ratio =
        (struct projection_range){ gain * w->in->step_s / o->step_s.p95, gain * w->in->step_s / o->step_s.p50,
                                   gain * w->in->step_s / o->step_s.p5 };
    for (int i = 0; i < ALL_SAMPLES; i++)
        in_regime[regime_of(s[i].compute_s, s[i].communication_s + w->in->other_s, s[i].synchronisation_s,
                            REGIMES)]++;
    for (int r = 0; r < REGIMES; r++)
        o->regime = in_regime[r] > in_regime[o->regime] ? (enum regime)r : o->regime;
    o->regime_share = (double)in_regime[o->regime] / ALL_SAMPLES;
    set_tail(w, p, o);
}

/* ---- the wall ---- */

/* Parts of a step by the estimates alone. */
struct parts {
    double compute_s, communication_s, synchronisation_s;
};

static struct parts parts_at(const struct sampled_world *w, double factor)
{
    const struct variation *n = w->in->noise;
    struct parts p = { .compute_s = compute_of(w, factor),
                       .communication_s = traffic_steady_s(&w->traffic) + w->in->other_s };
    struct variation_sample d;
    double far;

    variation_estimate(n, &d);
    far = w->ranks.lognormal * behind(n, &d, factor, true, NULL) +
          (1 - w->ranks.lognormal) * behind(n, &d, factor, false, NULL);
    p.synchronisation_s = far * w->ranks.waits * w->ranks.fits * p.compute_s;
    for (int a = 0; w->grows && a < TRAFFIC_ALGORITHMS; a++)
        if (w->traffic.weight[a] > 0)
            p.communication_s +=
                w->traffic.weight[a] * traffic_grown_s(&w->traffic, a, w->traffic.ranks * factor, 0.5);
    return p;
}

/* Above 0 beyond the wall, at most 0 before it. */
static double beyond(const struct parts *p, enum projection_wall wall)
{
    switch (wall) {
    case PROJECTION_WALL_SYNC_OVER_COMMUNICATION:
        return p->synchronisation_s - p->communication_s;
    case PROJECTION_WALL_COMMUNICATION_OVER_SYNC:
        return p->communication_s - p->synchronisation_s;
    case PROJECTION_WALL_SYNC_OVER_COMPUTE:
        return p->synchronisation_s - p->compute_s;
    case PROJECTION_WALL_COMMUNICATION_OVER_COMPUTE:
        return p->communication_s - p->compute_s;
    case PROJECTION_WALL_SYNC_REGIME:
        return fmin(p->synchronisation_s - p->communication_s,
                    p->synchronisation_s -
                        REGIME_SYNC_SHARE * (p->compute_s + p->communication_s + p->synchronisation_s));
    default:
        return -1;
    }
}

/* Two losses that are both negligible make no wall. */
static bool weighs(const struct parts *p, enum projection_wall wall)
{
    double min_s = WALL_SHARE * (p->compute_s + p->communication_s + p->synchronisation_s);

    return wall == PROJECTION_WALL_COMMUNICATION_OVER_SYNC ||
                   wall == PROJECTION_WALL_COMMUNICATION_OVER_COMPUTE
               ? p->communication_s >= min_s
               : p->synchronisation_s >= min_s;
}

static void find_wall(const struct sampled_world *w, struct projection *o)
{
    struct parts before = parts_at(w, 1);

    o->wall_ranks = NAN;
    for (int i = 1; i <= WALL_STEPS; i++) {
        double factor = pow(PROJECTION_FACTOR_MAX, (double)i / WALL_STEPS);
        struct parts now = parts_at(w, factor);

        /* If two walls are between the same two points, the more important one comes first. */
        for (int k = PROJECTION_WALL_SYNC_REGIME; k > PROJECTION_WALL_NONE; k--) {
            double was = beyond(&before, k), is = beyond(&now, k), share;

            if (was > 0 || !(is > 0) || !weighs(&now, k))
                continue;
            share = is > was ? -was / (is - was) : 1;
            o->wall = k;
            o->wall_ranks = o->ranks * pow(PROJECTION_FACTOR_MAX, (i - 1 + share) / WALL_STEPS);
            return;
        }
        before = now;
    }
}

/* ---- the projection ---- */

bool projection_traffic(const struct projection_input *in, struct traffic *out)
{
    *out = in->traffic;
    out->ranks = in->noise->ranks;
    out->nodes = in->noise->nodes;
    out->ranks_per_node = in->noise->ranks_per_node;
    out->n_earlier = 0;
    for (size_t i = 0; i < in->n_runs; i++)
        for (size_t t = 0; t < in->run[i].n_times && out->n_earlier < TRAFFIC_EARLIER; t++) {
            const struct projection_run *r = &in->run[i];
            const struct projection_time *k = &r->time[t];

            out->earlier[out->n_earlier++] = (struct traffic_earlier){ k->op,    r->ranks,  r->ranks_per_node,
                                                                       k->bytes, k->time_s, k->time_error };
        }
    return traffic_weigh(out);
}

void projection_run_of(const struct projection_input *in, struct projection_run *out)
{
    const struct variation *n = in->noise;

    *out = (struct projection_run){ .ranks = n->ranks,
                                    .ranks_per_node = n->ranks_per_node,
                                    .step_s = in->step_s,
                                    .compute_s = n->mean_s,
                                    .cv = n->cv,
                                    .behind = n->behind,
                                    .behind_error = n->behind_error };
    for (size_t i = 0; i < in->traffic.n_links && out->n_times < PROJECTION_TIMES; i++) {
        const struct traffic_link *k = &in->traffic.link[i];

        if (k->grows)
            out->time[out->n_times++] = (struct projection_time){ k->op, k->bytes, k->time_s, k->time_error };
    }
}

bool projection_make(const struct projection_input *in, struct projection *out)
{
    struct sampled_world w = { .in = in };
    uint64_t state = 1;

    memset(out, 0, sizeof(*out));
    if (!in->noise || !(in->noise->mean_s > 0) || !(in->step_s > 0) || in->traffic.n_links > TRAFFIC_LINKS ||
        in->n_runs > PROJECTION_RUNS)
        return false;
    out->ranks = in->noise->ranks;
    out->step_s = in->step_s;
    out->between_nodes = in->noise->nodes > 1;
    out->between_switches = in->noise->switches > 1;
    w.grows = projection_traffic(in, &w.traffic);
    out->fixed_known = true;
    out->rate_known = in->traffic.adapter.bytes_per_s > 0;
    for (int a = 0; a < TRAFFIC_ALGORITHMS; a++)
        out->algorithm[a] = w.grows ? w.traffic.weight[a] : NAN;
    for (size_t i = 0; i < in->traffic.n_links; i++) {
        const struct traffic_link *k = &in->traffic.link[i];

        out->fixed_known = out->fixed_known && (!k->grows || !isnan(k->fixed_s));
        w.transfer_s += k->per_step * k->time_s;
    }
    calibrate(in, w.transfer_s, &w.ranks);
    for (unsigned p = 0; p < PROJECTION_POINTS; p++)
        w.factor[p] = 1u << p;
    for (int i = 0; i < NOISE_SAMPLES; i++)
        sample_noise(&w, i, &state);
    for (unsigned p = 0; p < PROJECTION_POINTS; p++)
        set_point(&w, p, &out->point[p]);
    find_wall(&w, out);
    if (out->wall == PROJECTION_WALL_NONE)
        snprintf(out->text, sizeof(out->text), "no other wall up to %.0f ranks (%.0f times as many)",
                 out->ranks * PROJECTION_FACTOR_MAX, PROJECTION_FACTOR_MAX);
    else
        snprintf(out->text, sizeof(out->text), "%s at about %.0f ranks (%.3g times as many)",
                 walls[out->wall].text, out->wall_ranks, out->wall_ranks / out->ranks);
    return true;
}
