#include "pacing/holdout.h"

#include <math.h>

/* Inverse variance of the mixture over l.  Affects only the test's power, which it tunes to changes of 5 to
 * 100 %. */
#define RHO 0.04
/* The interval is searched up to this mean, a factor of 20. */
#define MEAN_MAX 3.0

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

bool holdout_paced(uint64_t key, uint32_t seq, uint32_t epoch, uint32_t every)
{
    uint32_t at = seq / (epoch ? epoch : 1);

    if (every < 2)
        every = 2;
    if (every > HOLDOUT_EVERY_MAX)
        every = HOLDOUT_EVERY_MAX;
    return mix(key ^ mix(at / every + 1)) % every != at % every;
}

void holdout_take(struct holdout *h, double log_ratio)
{
    if (isnan(log_ratio))
        return;
    log_ratio = fmin(fmax(log_ratio, -HOLDOUT_LOG_MAX), HOLDOUT_LOG_MAX);
    h->sum += log_ratio;
    h->squares += log_ratio * log_ratio;
    h->n++;
}

/* The mixture over l > 0.  A positive sum favours the alternative. */
static double evidence(double sum, double squares)
{
    double v = RHO + squares;

    return sqrt(RHO / v) * exp(fmin(sum * sum / (2 * v), 600)) * erfc(-sum / sqrt(2 * v));
}

double holdout_faster(const struct holdout *h)
{
    return evidence(-h->sum, h->squares);
}

double holdout_slower(const struct holdout *h)
{
    return evidence(h->sum, h->squares);
}

double holdout_mean(const struct holdout *h)
{
    return h->n ? h->sum / h->n : NAN;
}

double holdout_deviation(const struct holdout *h)
{
    double mean = holdout_mean(h);

    return h->n > 1 ? sqrt(fmax(h->squares - h->n * mean * mean, 0) / (h->n - 1)) : NAN;
}

/* Two-sided evidence against a mean of m. */
static double against(const struct holdout *h, double m)
{
    double sum = h->sum - h->n * m, v = RHO + h->squares - 2 * m * h->sum + h->n * m * m;

    return sqrt(RHO / v) * exp(fmin(sum * sum / (2 * v), 600));
}

/* Where the evidence crosses the threshold, searched from the mean outwards. */
static double crossing(const struct holdout *h, double mean, double far, double threshold)
{
    double in = mean, out = far;

    if (against(h, far) < threshold)
        return NAN;
    for (int i = 0; i < 60; i++) {
        double m = (in + out) / 2;

        if (against(h, m) < threshold)
            in = m;
        else
            out = m;
    }
    return in;
}

bool holdout_interval(const struct holdout *h, double alpha, double *low, double *high)
{
    double mean = holdout_mean(h), a, b;

    if (!h->n)
        return false;
    a = crossing(h, mean, -MEAN_MAX, 1 / alpha);
    b = crossing(h, mean, MEAN_MAX, 1 / alpha);
    if (isnan(a) || isnan(b))
        return false;
    *low = a;
    *high = b;
    return true;
}
