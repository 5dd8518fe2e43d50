#include "model/traffic.h"

#include <math.h>
#include <string.h>

#include "model/linkfit.h"

#define HOP_S       5e-6 /* usual latency of one message between nodes ... */
#define HOP_SPREAD  0.8  /* ... as a lognormal: nine in ten are from 1.3 to 19 us */
#define RATE        10e9 /* usual bytes per second of an adapter ... */
#define RATE_SPREAD 1.2  /* ... as a lognormal: nine in ten are from 1.4 to 72 GB/s */
/* logarithmic: the counted bytes may be too many by this much, ... */
#define RATE_ABOVE 0.1
/* ... and protocols, memory and other traffic cost this much on average */
#define RATE_BELOW     0.4
#define RATE_OTHER     0.1  /* probability that the job uses another adapter */
#define CASES_REACH    9.0  /* logarithmic: each part of a time is at least 1e-4 of the other */
#define FIT_REACH      3.5  /* a fit is considered up to this many standard errors */
#define EARLIER_SPREAD 0.10 /* relative, between two runs */
#define SAME_SIZE      0.25 /* octaves: sizes this near count as equal, as in linkfit */

static const char *const algorithms[] = { "ring", "halving-doubling", "two-level", "tree", "quickest" };

const char *traffic_algorithm_name(enum traffic_algorithm a)
{
    return a < TRAFFIC_ALGORITHMS ? algorithms[a] : "unknown";
}

enum traffic_algorithm traffic_algorithm_find(const char *name)
{
    int a = 0;

    while (a < TRAFFIC_ALGORITHMS && strcmp(algorithms[a], name) != 0)
        a++;
    return (enum traffic_algorithm)a;
}

/* ---- how a time grows ---- */

/* Number of successive messages of a collective, and bytes sent per byte of the vector: the fixed part and
 * the part per byte of collective.h on a wire where both cost 1. */
struct volume {
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

static struct volume volume_of(enum collective_op op, enum traffic_algorithm a, double n, double g)
{
    struct collective_cost ring = unit_cost(op, COLLECTIVE_RING, n), tree = unit_cost(op, COLLECTIVE_TREE, n),
                           rings = unit_cost(op, COLLECTIVE_RING, n / g),
                           trees = unit_cost(op, COLLECTIVE_TREE, n / g);

    switch (a) {
    /* interpolated between powers of two, without the extra messages of other numbers */
    case TRAFFIC_HALVING:
        return (struct volume){ tree.fixed_s, ring.s_per_byte };
    /* Messages within a node cost little and do not grow with n: the ranks of a node are neighbours. */
    case TRAFFIC_TWO_LEVEL:
        return (struct volume){ rings.fixed_s, rings.s_per_byte };
    case TRAFFIC_TREE:
        return (struct volume){ trees.fixed_s, trees.s_per_byte };
    default:
        return (struct volume){ ring.fixed_s, ring.s_per_byte };
    }
}

/* The volume of a link's communicator when the job has n ranks, g of them on each node. */
static struct volume link_volume(const struct traffic *t, const struct traffic_link *k,
                                 enum traffic_algorithm a, double n, double g)
{
    double share = k->ranks / t->ranks;

    if (t->nodes < 2) /* all traffic is within one node */
        g = 1;
    return volume_of(k->op, a, n * share, fmax(1, g * share));
}

static struct volume volume_now(const struct traffic *t, const struct traffic_link *k,
                                enum traffic_algorithm a)
{
    return link_volume(t, k, a, t->ranks, t->ranks_per_node);
}

/* Two levels need at least two nodes with several ranks each. */
static bool possible(const struct traffic *t, enum traffic_algorithm a)
{
    return a != TRAFFIC_TWO_LEVEL || (t->nodes >= 2 && t->ranks_per_node >= 1.5);
}

/* The time over n ranks of a link that takes time_s now, of which this is the fixed part. */
static double scaled_s(const struct traffic *t, const struct traffic_link *k, enum traffic_algorithm a,
                       double n, double g, double fixed_s)
{
    struct volume now = volume_now(t, k, a), then = link_volume(t, k, a, n, g);

    return fixed_s * then.hops / now.hops + (k->time_s - fixed_s) * then.bytes / now.bytes;
}

/* Time of a pipelined tree: log2 n hops each way, and the cost of its pieces, whose number is the best one
 * (Thakur, Rabenseifner & Gropp 2005).  bytes_s: time of all bytes on one wire. */
static double pipelined_s(double n, double hop_s, double bytes_s)
{
    return 2 * (log2(n) * hop_s + bytes_s + sqrt(log2(n) * hop_s * bytes_s));
}

/* For a library that chooses the quickest: a ring may become a tree over more ranks; a tree stays one. */
static double quickest_s(const struct traffic *t, const struct traffic_link *k, double n, double g,
                         double fixed_s)
{
    struct volume now = volume_now(t, k, TRAFFIC_RING);
    double hop_s = fixed_s / now.hops, bytes_s = (k->time_s - fixed_s) / now.bytes;

    if (k->op != COLLECTIVE_ALLREDUCE)
        return scaled_s(t, k, TRAFFIC_RING, n, g, fixed_s);
    if (pipelined_s(k->ranks, hop_s, bytes_s) < k->time_s)
        return scaled_s(t, k, TRAFFIC_HALVING, n, g, fixed_s);
    return fmin(scaled_s(t, k, TRAFFIC_RING, n, g, fixed_s),
                pipelined_s(k->ranks * n / t->ranks, hop_s, bytes_s));
}

static double link_s(const struct traffic *t, const struct traffic_link *k, enum traffic_algorithm a,
                     double n, double g, double fixed_s)
{
    return a == TRAFFIC_QUICKEST ? quickest_s(t, k, n, g, fixed_s) : scaled_s(t, k, a, n, g, fixed_s);
}

/* ---- plausible networks ---- */

/* A time consists of a fixed part and a part per byte.  Both vary on a logarithmic scale, so the cases of the
 * fixed part's share are spread evenly over the logarithm of their ratio. */
static double share_at(double u)
{
    return 1 / (1 + exp(-u));
}

static double share_log(double share)
{
    share = fmin(share_at(CASES_REACH), fmax(share_at(-CASES_REACH), share));
    return log(share / (1 - share));
}

/* The link's fixed part in case i: near the fitted one if there is one, else any. */
static double fixed_case_s(const struct traffic_link *k, int i)
{
    double low = -CASES_REACH, high = CASES_REACH;

    if (!isnan(k->fixed_s)) {
        low = share_log((k->fixed_s - FIT_REACH * k->fixed_sd_s) / k->time_s);
        high = share_log((k->fixed_s + FIT_REACH * k->fixed_sd_s) / k->time_s);
    }
    return k->time_s * share_at(low + (high - low) * (i + 0.5) / TRAFFIC_CASES);
}

static double normal_log(double x, double sd)
{
    return -x * x / (2 * sd * sd) - log(sd * sqrt(2 * M_PI));
}

/* Density of x, the logarithm of a rate over the adapter's rate.  More than the adapter's rate is an error of
 * counting, less is loss on the way. */
static double rate_density(double x)
{
    double above = RATE_ABOVE * sqrt(M_PI / 2);

    return (x > 0 ? exp(-x * x / (2 * RATE_ABOVE * RATE_ABOVE)) : exp(x / RATE_BELOW)) / (RATE_BELOW + above);
}

/* Logarithm of the density of the rate; within one node no usual rate is known. */
static double rate_log(const struct traffic *t, double bytes_per_s)
{
    double usual = exp(normal_log(log(bytes_per_s / RATE), RATE_SPREAD)), x;

    if (t->nodes < 2)
        return 0;
    if (!(t->adapter.bytes_per_s > 0))
        return log(usual);
    x = log(bytes_per_s / t->adapter.bytes_per_s);
    /* Libraries use one of the adapters or all of them. */
    return log((1 - RATE_OTHER) * (rate_density(x) + rate_density(x - log(fmax(1, t->adapter.number)))) / 2 +
               RATE_OTHER * usual);
}

/* Logarithm of the likelihood of what was measured over other numbers of ranks. */
static double earlier_log(const struct traffic *t, const struct traffic_link *k, enum traffic_algorithm a,
                          double fixed_s)
{
    double sum = 0;

    for (size_t e = 0; e < t->n_earlier; e++) {
        const struct traffic_earlier *o = &t->earlier[e];
        double at_s, z;

        if (o->op != k->op || fabs(log2(o->bytes / k->bytes)) > SAME_SIZE)
            continue;
        at_s = link_s(t, k, a, o->ranks, o->ranks_per_node, fixed_s);
        z = log(o->time_s / at_s) / hypot(EARLIER_SPREAD, hypot(o->time_error, k->time_error));
        sum -= z * z / 2;
    }
    return sum;
}

/* Logarithm of the likelihood of this link under a hypothesis, in case i. */
static double case_log(const struct traffic *t, const struct traffic_link *k, enum traffic_algorithm a, int i)
{
    struct volume now = volume_now(t, k, a);
    double fixed_s = fixed_case_s(k, i), sum = earlier_log(t, k, a, fixed_s);

    sum += normal_log(log(fixed_s / now.hops / HOP_S), HOP_SPREAD);
    if (k->bytes > 0)
        sum += rate_log(t, now.bytes * k->bytes / (k->time_s - fixed_s));
    if (k->fixed_sd_s > 0)
        sum += normal_log((fixed_s - k->fixed_s) / k->fixed_sd_s, 1);
    return fmax(sum, -300);
}

/* From logarithms to weights that add up to 1; returns the logarithm of what they did (not finite: none). */
static double normalise(double *weight, int n)
{
    double max = -INFINITY, all = 0;

    for (int i = 0; i < n; i++)
        max = fmax(max, weight[i]);
    for (int i = 0; i < n; i++)
        all += weight[i] = exp(weight[i] - max);
    for (int i = 0; i < n; i++)
        weight[i] /= all;
    return max + log(all);
}

/* All links of a step share one network.  Their likelihoods are averaged, not multiplied, because libraries
 * may use another algorithm for small sizes than for large ones. */
static double weigh_algorithm(struct traffic *t, enum traffic_algorithm a)
{
    double sum = 0, n = 0;

    for (size_t l = 0; l < t->n_links; l++)
        if (t->link[l].grows) {
            for (int i = 0; i < TRAFFIC_CASES; i++)
                t->cases[a][l][i] = case_log(t, &t->link[l], a, i);
            sum += normalise(t->cases[a][l], TRAFFIC_CASES);
            n++;
        }
    return n > 0 ? sum / n : NAN;
}

bool traffic_weigh(struct traffic *t)
{
    static const double prior[TRAFFIC_ALGORITHMS] = { 0.3, 0.2, 0.15, 0.15, 0.2 };

    for (int a = 0; a < TRAFFIC_ALGORITHMS; a++)
        t->weight[a] = possible(t, a) ? log(prior[a]) + weigh_algorithm(t, a) : -INFINITY;
    return isfinite(normalise(t->weight, TRAFFIC_ALGORITHMS));
}

/* ---- samples ---- */

/* The index at quantile p of n weights whose sum is 1. */
static int index_at(const double *weight, int n, double p)
{
    int i = 0;

    while (i + 1 < n && p > weight[i])
        p -= weight[i++];
    while (i > 0 && !(weight[i] > 0))
        i--;
    return i;
}

enum traffic_algorithm traffic_algorithm_at(const struct traffic *t, double p)
{
    return (enum traffic_algorithm)index_at(t->weight, TRAFFIC_ALGORITHMS, p);
}

/* Sample the fixed part of a link's time by its weights. */
static double fixed_sample_s(const struct traffic *t, enum traffic_algorithm a, size_t l, double p)
{
    return fixed_case_s(&t->link[l], index_at(t->cases[a][l], TRAFFIC_CASES, p));
}

double traffic_grown_s(const struct traffic *t, enum traffic_algorithm a, double n, double p)
{
    double sum = 0;

    for (size_t l = 0; l < t->n_links; l++) {
        const struct traffic_link *k = &t->link[l];

        if (k->grows)
            sum += k->per_step * link_s(t, k, a, n, t->ranks_per_node, fixed_sample_s(t, a, l, p));
    }
    return sum;
}

double traffic_steady_s(const struct traffic *t)
{
    double sum = 0;

    for (size_t l = 0; l < t->n_links; l++)
        if (!t->link[l].grows)
            sum += t->link[l].per_step * t->link[l].time_s;
    return sum;
}

void traffic_wires(const struct traffic *t, enum traffic_algorithm known, struct traffic_wire *out, size_t n)
{
    bool sure = known < TRAFFIC_ALGORITHMS && possible(t, known);

    for (size_t i = 0; i < n; i++) {
        double share = ((double)i + 0.5) / (double)n, p = fmod((double)(5 * i) + 0.5, (double)n) / (double)n;

        out[i].algorithm = sure ? known : traffic_algorithm_at(t, share);
        for (size_t l = 0; l < t->n_links; l++)
            out[i].fixed_s[l] = t->link[l].grows ? fixed_sample_s(t, out[i].algorithm, l, p) : 0;
    }
}

size_t traffic_links(const struct linkfit *l, const struct linkfit_result *fit, double steps,
                     enum collective_op op, double ranks, bool grows, struct traffic_link *out, size_t max)
{
    size_t n = 0;

    for (uint32_t i = 0; i < l->n && n < max && steps > 0; i++) {
        const struct linkfit_size *s = &l->size[i];
        double bytes = s->bytes_sum / s->weight, time_s = s->time_sum_s / s->weight, count = s->weight;
        const struct linkfit_segment *k = linkfit_segment(fit, bytes);
        bool known = k && !isnan(k->a_s.value);

        out[n++] = (struct traffic_link){ .op = op,
                                          .ranks = ranks,
                                          .grows = grows,
                                          .per_step = s->weight / steps,
                                          .bytes = bytes,
                                          .time_s = time_s,
                                          .time_error = fit->noise / sqrt(fmax(1, count)),
                                          .fixed_s = known ? fmin(time_s, k->a_s.value) : NAN,
                                          .fixed_sd_s = known ? k->a_sd_s : NAN };
    }
    return n;
}
