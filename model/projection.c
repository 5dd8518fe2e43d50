#include "model/projection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/deviate.h"
#include "model/linkfit.h"

#define SYNC_SHARE     0.10 /* as analysis/view has it */
#define DRAWS          160  /* of the noise */
#define LINK_DRAWS     4    /* of the network, for each of those */
#define SAMPLES        (DRAWS * LINK_DRAWS)
#define HOP_S          5e-6 /* usual latency of one message between nodes ... */
#define HOP_SPREAD     0.8  /* ... as a lognormal: nine in ten are from 1.3 to 19 us */
#define CONTENTION     0.02 /* relative, a doubling: nobody knows how it grows */
#define UNSEEN_NETWORK 1.0  /* logarithmic, where ranks leave the one node that was seen */
#define EARLIER_SPREAD 0.10 /* relative, between two runs */
#define SHAPE_DOUBT    0.10 /* relative, of the fitted noise's maximum against the measured one */
#define WALL_SHARE     0.05
#define WALL_STEPS     48 /* to look for a wall in, up to PROJECTION_FACTOR_MAX */

static const char *const regimes[] = { "compute", "communication", "synchronisation" };
static const char *const algorithms[] = { "ring", "halving-doubling", "two-level", "tree", "quickest" };

const char *projection_regime_name(enum projection_regime r)
{
    return r < PROJECTION_REGIMES ? regimes[r] : "unknown";
}

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
    return w <= PROJECTION_WALL_SYNC_REGIME ? walls[w].name : "none";
}

const char *projection_algorithm_name(enum projection_algorithm a)
{
    return a < PROJECTION_ALGORITHMS ? algorithms[a] : "unknown";
}

enum projection_regime projection_regime(double compute_s, double communication_s, double synchronisation_s)
{
    double all_s = compute_s + communication_s + synchronisation_s;

    if (synchronisation_s >= SYNC_SHARE * all_s && synchronisation_s >= communication_s)
        return PROJECTION_SYNCHRONISATION;
    return communication_s > compute_s ? PROJECTION_COMMUNICATION : PROJECTION_COMPUTE;
}

/* ---- communication ---- */

/* Messages one after the other of a collective, and the factor of the bytes, over n ranks of g a node: the
 * fixed part and the part by the byte of collective.h, on a wire where both cost 1. */
struct course {
    double hops, bytes;
};

static struct collective_cost unit_cost(enum collective_op op, enum collective_algo algo, double n)
{
    struct collective c = { .op = op,
                            .algo = collective_has(op, algo) ? algo : COLLECTIVE_RING,
                            .ranks = fmax(1, n),
                            .link = { 1, 1 },
                            .slowest_bytes_per_s = INFINITY,
                            .skew = 1 };

    return collective_cost(&c);
}

static struct course course_of(enum collective_op op, enum projection_algorithm a, double n, double g)
{
    struct collective_cost ring = unit_cost(op, COLLECTIVE_RING, n), tree = unit_cost(op, COLLECTIVE_TREE, n),
                           rings = unit_cost(op, COLLECTIVE_RING, n / g),
                           trees = unit_cost(op, COLLECTIVE_TREE, n / g);

    switch (a) {
    case PROJECTION_HALVING: /* smooth between the powers of two: what folds the others is not looked for */
        return (struct course){ tree.fixed_s, ring.s_per_byte };
    /* What goes on inside of nodes costs little and does not grow: ranks of a node stand side by side. */
    case PROJECTION_TWO_LEVEL:
        return (struct course){ rings.fixed_s, rings.s_per_byte };
    case PROJECTION_TREE:
        return (struct course){ trees.fixed_s, trees.s_per_byte };
    default:
        return (struct course){ ring.fixed_s, ring.s_per_byte };
    }
}

struct network {
    const struct projection_input *in;
    double ranks, per_node, nodes;
    double weight[PROJECTION_ALGORITHMS];
};

/* Of a link's communicator when the job has n ranks. */
static struct course link_course(const struct network *w, const struct projection_link *k,
                                 enum projection_algorithm a, double n)
{
    double members = k->ranks * n / w->ranks, per_node = fmax(1, w->per_node * k->ranks / w->ranks);

    if (w->nodes < 2) /* all there is to see is inside of one */
        per_node = 1;
    return course_of(k->op, a, members, per_node);
}

/* Two levels need at least two nodes, of several ranks. */
static bool possible(const struct network *w, enum projection_algorithm a)
{
    return a != PROJECTION_TWO_LEVEL || (w->nodes >= 2 && w->per_node >= 1.5);
}

static double hop_density(double fixed_s, double hops)
{
    double z = log(fmax(fixed_s, 1e-12) / hops / HOP_S) / HOP_SPREAD;

    return exp(-z * z / 2);
}

/* How likely it is that a network makes this link under a hypothesis. */
static double link_weight(const struct network *w, const struct projection_link *k,
                          enum projection_algorithm a)
{
    double hops = link_course(w, k, a, w->ranks).hops, density = 0;

    /* Only the sum is known: the fixed part is at most that. */
    if (isnan(k->fixed_s))
        return deviate_normal_share(log(k->time_s / hops / HOP_S) / HOP_SPREAD);
    /* Over what the fixed part may be. */
    for (int i = 0; i < 16; i++) {
        double z = deviate_normal((i + 0.5) / 16), fixed_s = k->fixed_s + z * k->fixed_sd_s;

        density += hop_density(fmin(k->time_s, fmax(0.01 * k->time_s, fixed_s)), hops) / 16;
    }
    return density;
}

/* Of time_s with that fixed part, what it is over n ranks. */
static double scaled_s(const struct network *w, const struct projection_link *k, enum projection_algorithm a,
                       double n, double fixed_s)
{
    struct course now = link_course(w, k, a, w->ranks), then = link_course(w, k, a, n);

    return fixed_s * then.hops / now.hops + (k->time_s - fixed_s) * then.bytes / now.bytes;
}

/* Of a tree whose pieces follow one another: log2 n hops each way, and what is lost with the pieces (their
 * best number: Thakur, Rabenseifner & Gropp 2005). bytes_s: what all bytes take on one wire. */
static double pipelined_s(double n, double hop_s, double bytes_s)
{
    return 2 * (log2(n) * hop_s + bytes_s + sqrt(log2(n) * hop_s * bytes_s));
}

/* A library that chooses: what is a ring now may be a tree over more ranks; what is a tree now stays one. */
static double quickest_s(const struct network *w, const struct projection_link *k, double n, double fixed_s)
{
    struct course now = link_course(w, k, PROJECTION_RING, w->ranks);
    double hop_s = fixed_s / now.hops, bytes_s = (k->time_s - fixed_s) / now.bytes;

    if (k->op != COLLECTIVE_ALLREDUCE)
        return scaled_s(w, k, PROJECTION_RING, n, fixed_s);
    if (pipelined_s(k->ranks, hop_s, bytes_s) < k->time_s)
        return scaled_s(w, k, PROJECTION_HALVING, n, fixed_s);
    return fmin(scaled_s(w, k, PROJECTION_RING, n, fixed_s),
                pipelined_s(k->ranks * n / w->ranks, hop_s, bytes_s));
}

static double link_s(const struct network *w, const struct projection_link *k, enum projection_algorithm a,
                     double n, double fixed_s)
{
    return a == PROJECTION_QUICKEST ? quickest_s(w, k, n, fixed_s) : scaled_s(w, k, a, n, fixed_s);
}

/* The fixed part's quantile p: of the fit, or of usual hops as far as the whole time allows. */
static double fixed_quantile(const struct network *w, const struct projection_link *k,
                             enum projection_algorithm a, double p)
{
    double hops = link_course(w, k, a, w->ranks).hops, most;

    if (!isnan(k->fixed_s))
        return fmin(k->time_s, fmax(0, k->fixed_s + k->fixed_sd_s * deviate_normal(p)));
    most = deviate_normal_share(log(k->time_s / hops / HOP_S) / HOP_SPREAD);
    return most < 1e-6
               ? k->time_s
               : fmin(k->time_s, HOP_S * hops * exp(HOP_SPREAD * deviate_normal(fmax(1e-9, p * most))));
}

static double grown_s(const struct network *w, enum projection_algorithm a, double n, double p)
{
    double sum = 0;

    for (size_t i = 0; i < w->in->n_links; i++)
        if (w->in->link[i].grows)
            sum += w->in->link[i].per_step *
                   link_s(w, &w->in->link[i], a, n, fixed_quantile(w, &w->in->link[i], a, p));
    return sum;
}

static double steady_s(const struct projection_input *in)
{
    double sum = 0;

    for (size_t i = 0; i < in->n_links; i++)
        if (!in->link[i].grows)
            sum += in->link[i].per_step * in->link[i].time_s;
    return sum;
}

/* All the links of a step together are one network: it has one latency. Libraries that take another algorithm
 * for small sizes than for large ones are why it is no product. */
static void weigh(struct network *w)
{
    static const double prior[PROJECTION_ALGORITHMS] = { 0.3, 0.2, 0.15, 0.15, 0.2 };
    double all = 0;

    for (int a = 0; a < PROJECTION_ALGORITHMS; a++) {
        double likely = 0, n = 0;

        w->weight[a] = 0;
        if (!possible(w, a))
            continue;
        for (size_t i = 0; i < w->in->n_links; i++)
            if (w->in->link[i].grows) {
                likely += log(fmax(1e-12, link_weight(w, &w->in->link[i], a)));
                n++;
            }
        likely = n > 0 ? likely / n : 0;
        for (size_t i = 0; n > 0 && i < w->in->n_earlier; i++) {
            const struct projection_earlier *e = &w->in->earlier[i];
            double z =
                log(e->communication_s / (grown_s(w, a, e->ranks, 0.5) + steady_s(w->in) - w->in->other_s)) /
                EARLIER_SPREAD;

            likely -= z * z / 2;
        }
        w->weight[a] = log(prior[a]) + likely;
        all = all == 0 || w->weight[a] > all ? w->weight[a] : all;
    }
    for (int a = 0; a < PROJECTION_ALGORITHMS; a++)
        w->weight[a] = possible(w, a) ? exp(w->weight[a] - all) : 0;
    all = 0;
    for (int a = 0; a < PROJECTION_ALGORITHMS; a++)
        all += w->weight[a];
    for (int a = 0; a < PROJECTION_ALGORITHMS; a++)
        w->weight[a] /= all;
}

static enum projection_algorithm algorithm_at(const struct network *w, double p)
{
    int a = 0;

    while (a + 1 < PROJECTION_ALGORITHMS && p > w->weight[a]) {
        p -= w->weight[a];
        a++;
    }
    while (a > 0 && !(w->weight[a] > 0))
        a--;
    return (enum projection_algorithm)a;
}

/* ---- synchronisation ---- */

struct ranks {
    const struct variation *noise;
    double waits; /* what the job waits, over what the last rank of a step is behind the mean */
    double fits;  /* that, over what the fitted noise says; as far as it is known better than doubted */
    double fits_error;
};

/* Mean excess of the last rank over a rank's mean; sd: of the part that depends on which ranks one has. */
static double behind(const struct variation *n, const struct variation_draw *d, double factor, bool lognormal,
                     double *sd)
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

static bool lognormal_at(const struct variation *n, double p)
{
    return n->shape == VARIATION_LOGNORMAL || (n->shape == VARIATION_UNDECIDED && p < 0.5);
}

static void calibrate(const struct projection_input *in, double transfer_s, struct ranks *r)
{
    const struct variation *n = in->noise;
    double waits_s = in->step_s - n->mean_s - transfer_s - in->other_s, fitted, sd, error2;
    struct variation_draw d;

    *r = (struct ranks){ .noise = n, .waits = 1, .fits = 1 };
    if (n->behind > 0 && waits_s > 0)
        r->waits = waits_s / (n->behind * n->mean_s);
    variation_estimate(n, &d);
    fitted = behind(n, &d, 1, lognormal_at(n, 0.5), &sd);
    if (fitted > 0 && n->behind > 0) {
        double share;

        error2 = (sd * sd + n->behind_error * n->behind_error) / (fitted * fitted);
        share = SHAPE_DOUBT * SHAPE_DOUBT / (SHAPE_DOUBT * SHAPE_DOUBT + error2);
        r->fits = pow(n->behind / fitted, share);
        r->fits_error = SHAPE_DOUBT * sqrt(1 - share);
    }
}

/* ---- draws ---- */

struct sample {
    float step_s, compute_s, communication_s, synchronisation_s;
};

struct world {
    const struct projection_input *in;
    struct network network;
    struct ranks ranks;
    double transfer_s, factor[PROJECTION_POINTS];
    struct sample sample[PROJECTION_POINTS][SAMPLES];
};

static double compute_of(const struct world *w, double factor)
{
    return w->in->noise->mean_s / (w->in->strong ? factor : 1);
}

/* Numbers from 0 to 1, evenly spread and unlike one another's order (a permuted stratified sample). */
static double even(int i, int n, int step)
{
    return (((double)i * step) - n * floor((double)i * step / n) + 0.5) / n;
}

static double communication_draw(const struct world *w, int i, double factor)
{
    const struct network *k = &w->network;
    enum projection_algorithm a = algorithm_at(k, even(i, SAMPLES, 277));
    double doublings = log2(factor), spread = CONTENTION * fabs(doublings), grown;
    double contention = deviate_normal(even(i, SAMPLES, 403)), level = deviate_normal(even(i, SAMPLES, 531)),
           error2 = 0;

    for (size_t l = 0; l < w->in->n_links; l++)
        error2 = fmax(error2, pow(w->in->link[l].time_error, 2));
    grown = grown_s(k, a, k->ranks * factor, even(i, SAMPLES, 119));
    if (k->nodes < 1.5 && factor > 1)
        spread = hypot(spread, UNSEEN_NETWORK);
    return (grown * exp(contention * spread) + steady_s(w->in)) * exp(level * sqrt(error2));
}

static void draw_noise(struct world *w, int i, uint64_t *draws)
{
    const struct variation *n = w->in->noise;
    bool lognormal = lognormal_at(n, even(i, DRAWS, 61));
    double z_mean = deviate_normal(even(i, DRAWS, 37)), z_ranks = deviate_normal(even(i, DRAWS, 101)),
           z_fits = deviate_normal(even(i, DRAWS, 23));
    struct variation_draw d;

    variation_draw(n, draws, &d);
    for (unsigned p = 0; p < PROJECTION_POINTS; p++) {
        double sd, far = behind(n, &d, w->factor[p], lognormal, &sd);
        double compute_s = compute_of(w, w->factor[p]) * (1 + z_mean * n->mean_error);
        double fits = w->ranks.fits * exp(z_fits * w->ranks.fits_error);
        double sync_s = fmax(0, (far + z_ranks * sd) * w->ranks.waits * fits * compute_s);

        for (int j = 0; j < LINK_DRAWS; j++) {
            struct sample *s = &w->sample[p][i * LINK_DRAWS + j];

            s->compute_s = (float)compute_s;
            s->synchronisation_s = (float)sync_s;
            s->communication_s = (float)communication_draw(w, i * LINK_DRAWS + j, w->factor[p]);
            s->step_s = (float)(compute_s + sync_s + s->communication_s + w->in->other_s);
        }
    }
}

static double median_of(const struct sample *s, size_t offset)
{
    float v[SAMPLES];

    for (int i = 0; i < SAMPLES; i++)
        memcpy(&v[i], (const char *)&s[i] + offset, sizeof(float));
    return deviate_median(v, SAMPLES);
}

static struct projection_range range_of(const struct sample *s)
{
    float v[SAMPLES];
    struct projection_range r;

    for (int i = 0; i < SAMPLES; i++)
        v[i] = s[i].step_s;
    r.p5 = deviate_quantile(v, SAMPLES, 0.05);
    r.p50 = deviate_median(v, SAMPLES);
    r.p95 = deviate_quantile(v, SAMPLES, 0.95);
    return r;
}

/* What most of the draws have. */
static void set_regime(const struct world *w, const struct sample *s, struct projection_point *o)
{
    int n[PROJECTION_REGIMES] = { 0 };

    for (int i = 0; i < SAMPLES; i++)
        n[projection_regime(s[i].compute_s, s[i].communication_s + w->in->other_s, s[i].synchronisation_s)]++;
    for (int r = 0; r < PROJECTION_REGIMES; r++)
        o->regime = n[r] > n[o->regime] ? (enum projection_regime)r : o->regime;
    o->regime_share = (double)n[o->regime] / SAMPLES;
}

static void set_point(const struct world *w, unsigned p, struct projection_point *o)
{
    const struct sample *s = w->sample[p];
    double factor = w->factor[p], gain = w->in->strong ? 1 : factor, parts, scale;

    *o = (struct projection_point){ .ranks = w->network.ranks * factor,
                                    .factor = factor,
                                    .ideal_ratio = factor };
    o->step_s = range_of(s);
    if (factor == 1) /* that was measured */
        o->step_s = (struct projection_range){ w->in->step_s, w->in->step_s, w->in->step_s };
    o->compute_s = median_of(s, offsetof(struct sample, compute_s));
    o->communication_s = median_of(s, offsetof(struct sample, communication_s)) + w->in->other_s;
    o->synchronisation_s = median_of(s, offsetof(struct sample, synchronisation_s));
    parts = o->compute_s + o->communication_s + o->synchronisation_s;
    scale = parts > 0 ? o->step_s.p50 / parts : 1;
    o->compute_s *= scale;
    o->communication_s *= scale;
    o->synchronisation_s *= scale;
    o->throughput_ratio =
        (struct projection_range){ gain * w->in->step_s / o->step_s.p95, gain * w->in->step_s / o->step_s.p50,
                                   gain * w->in->step_s / o->step_s.p5 };
    set_regime(w, s, o);
}

/* ---- the wall ---- */

/* Parts of a step by the estimates alone. */
struct parts {
    double compute_s, communication_s, synchronisation_s;
};

static struct parts parts_at(const struct world *w, double factor)
{
    const struct variation *n = w->in->noise;
    struct parts p = { .compute_s = compute_of(w, factor),
                       .communication_s = steady_s(w->in) + w->in->other_s };
    struct variation_draw d;
    double far;

    variation_estimate(n, &d);
    far = behind(n, &d, factor, lognormal_at(n, 0.25), NULL);
    if (n->shape == VARIATION_UNDECIDED)
        far = (far + behind(n, &d, factor, false, NULL)) / 2;
    p.synchronisation_s = far * w->ranks.waits * w->ranks.fits * p.compute_s;
    for (int a = 0; a < PROJECTION_ALGORITHMS; a++)
        if (w->network.weight[a] > 0)
            p.communication_s +=
                w->network.weight[a] * grown_s(&w->network, a, w->network.ranks * factor, 0.5);
    return p;
}

/* Which of the walls stand between a job and more ranks; from small to large what is behind them is above 0.
 */
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
                        SYNC_SHARE * (p->compute_s + p->communication_s + p->synchronisation_s));
    default:
        return -1;
    }
}

/* Of two losses that are both next to nothing neither is a wall. */
static bool weighs(const struct parts *p, enum projection_wall wall)
{
    double least_s = WALL_SHARE * (p->compute_s + p->communication_s + p->synchronisation_s);

    return wall == PROJECTION_WALL_COMMUNICATION_OVER_SYNC ||
                   wall == PROJECTION_WALL_COMMUNICATION_OVER_COMPUTE
               ? p->communication_s >= least_s
               : p->synchronisation_s >= least_s;
}

static void find_wall(const struct world *w, struct projection *o)
{
    struct parts before = parts_at(w, 1);

    o->wall_ranks = NAN;
    for (int i = 1; i <= WALL_STEPS; i++) {
        double factor = pow(PROJECTION_FACTOR_MAX, (double)i / WALL_STEPS);
        struct parts now = parts_at(w, factor);

        /* In the order of what weighs more, should two be between the same two points. */
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

static void say(struct projection *o)
{
    if (o->wall == PROJECTION_WALL_NONE)
        snprintf(o->text, sizeof(o->text), "no other wall up to %.0f ranks (%.0f times as many)",
                 o->ranks * PROJECTION_FACTOR_MAX, PROJECTION_FACTOR_MAX);
    else
        snprintf(o->text, sizeof(o->text), "%s at about %.0f ranks (%.3g times as many)", walls[o->wall].text,
                 o->wall_ranks, o->wall_ranks / o->ranks);
}

/* ---- all of it ---- */

size_t projection_links(const struct linkfit *l, const struct linkfit_result *fit, double steps,
                        enum collective_op op, double ranks, bool grows, struct projection_link *out,
                        size_t max)
{
    size_t n = 0;

    for (uint32_t i = 0; i < l->n && n < max && steps > 0; i++) {
        const struct linkfit_size *s = &l->size[i];
        double bytes = s->bytes_sum / s->weight, time_s = s->time_sum_s / s->weight, count = s->weight;
        const struct linkfit_segment *k = linkfit_segment(fit, bytes);

        out[n++] = (struct projection_link){ .op = op,
                                             .ranks = ranks,
                                             .grows = grows,
                                             .per_step = s->weight / steps,
                                             .bytes = bytes,
                                             .time_s = time_s,
                                             .time_error = fit->noise / sqrt(fmax(1, count)),
                                             .fixed_s = k ? fmin(time_s, k->a_s.value) : NAN,
                                             .fixed_sd_s = k ? k->a_sd_s : NAN };
        if (k && isnan(k->a_s.value))
            out[n - 1].fixed_s = NAN;
    }
    return n;
}

static bool network_of(const struct projection_input *in, struct projection *o, struct network *k)
{
    bool any = false;

    *k = (struct network){
        .in = in, .ranks = in->noise->ranks, .per_node = in->noise->ranks_per_node, .nodes = in->noise->nodes
    };
    o->fixed_known = true;
    for (size_t i = 0; i < in->n_links; i++) {
        any = any || in->link[i].grows;
        if (in->link[i].grows && isnan(in->link[i].fixed_s))
            o->fixed_known = false;
    }
    if (any)
        weigh(k);
    for (int a = 0; a < PROJECTION_ALGORITHMS; a++)
        o->algorithm[a] = any ? k->weight[a] : NAN;
    return any;
}

bool projection_make(const struct projection_input *in, struct projection *out)
{
    struct world w = { .in = in };
    uint64_t draws = 1;

    memset(out, 0, sizeof(*out));
    if (!in->noise || !(in->noise->mean_s > 0) || !(in->step_s > 0) || in->n_links > PROJECTION_LINKS ||
        in->n_earlier > PROJECTION_EARLIER)
        return false;
    out->ranks = in->noise->ranks;
    out->step_s = in->step_s;
    out->between_nodes = in->noise->nodes > 1;
    out->between_switches = in->noise->switches > 1;
    network_of(in, out, &w.network);
    for (size_t i = 0; i < in->n_links; i++)
        w.transfer_s += in->link[i].per_step * in->link[i].time_s;
    calibrate(in, w.transfer_s, &w.ranks);
    for (unsigned p = 0; p < PROJECTION_POINTS; p++)
        w.factor[p] = 1u << p;
    for (int i = 0; i < DRAWS; i++)
        draw_noise(&w, i, &draws);
    for (unsigned p = 0; p < PROJECTION_POINTS; p++)
        set_point(&w, p, &out->point[p]);
    find_wall(&w, out);
    say(out);
    return true;
}

static void set_wire(const struct network *k, int i, int n, struct projection_wire *o)
{
    *o = (struct projection_wire){ .algorithm = algorithm_at(k, even(i, n, 1)) };
    for (size_t l = 0; l < k->in->n_links; l++)
        if (k->in->link[l].grows)
            o->fixed_s[l] = fixed_quantile(k, &k->in->link[l], o->algorithm, even(i, n, 5));
}

size_t projection_wires(const struct projection_input *in, enum projection_algorithm known,
                        struct projection_wire *out, size_t n)
{
    struct projection scratch = { 0 };
    struct network k;

    if (!in->noise || in->n_links > PROJECTION_LINKS || !network_of(in, &scratch, &k))
        return 0;
    for (int a = 0; known < PROJECTION_ALGORITHMS && possible(&k, known) && a < PROJECTION_ALGORITHMS; a++)
        k.weight[a] = a == (int)known;
    for (size_t i = 0; i < n; i++)
        set_wire(&k, (int)i, (int)n, &out[i]);
    return n;
}
