/* paired.h - how much more one way takes than another, from pairs of neighbours in time.
 *
 * Each pair gives the logarithm of the ratio of its two times; which of the two comes first is drawn, so that
 * drift and what the first leaves to the second cancel.  The interval is Student's of the mean.  Where pairs
 * follow each other alike (lag-1 autocorrelation r > 0), they count for n (1 - r) / (1 + r) only (Bayley &
 * Hammersley, Supplement to the JRSS 8, 1946).
 *
 * paired_shift() is for machines that are not quiet: a pair of which another program disturbed one half
 * counts by its rank, not by its size.  It is the median of all means of two pairs, with the interval of
 * Wilcoxon's signed ranks (Hodges & Lehmann, Annals of Mathematical Statistics 34, 1963), and as precise as
 * the mean of normal pairs within 5 %. */
#ifndef SYNCGUARD_BENCH_PAIRED_H
#define SYNCGUARD_BENCH_PAIRED_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "model/deviate.h"

struct paired {
    double ratio, low, high; /* 95 %; low and high NAN with fewer than three pairs' worth */
    double lag1;             /* autocorrelation of neighbouring pairs; NAN where they do not differ */
    double pairs;            /* that they count for */
};

static inline struct paired paired_ratio(const double *log_ratio, size_t n)
{
    struct paired p = { NAN, NAN, NAN, NAN, (double)n };
    double mean = 0, squares = 0, products = 0, half;

    if (n < 1)
        return p;
    for (size_t i = 0; i < n; i++)
        mean += log_ratio[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (log_ratio[i] - mean) * (log_ratio[i] - mean);
        if (i > 0)
            products += (log_ratio[i] - mean) * (log_ratio[i - 1] - mean);
    }
    p.ratio = exp(mean);
    if (squares > 0)
        p.lag1 = products / squares;
    if (p.lag1 > 0)
        p.pairs *= (1 - p.lag1) / (1 + p.lag1);
    if (p.pairs < 3)
        return p;
    half = deviate_student(0.975, p.pairs - 1) * sqrt(squares / (double)(n - 1) / p.pairs);
    p.low = exp(mean - half);
    p.high = exp(mean + half);
    return p;
}

static inline int paired_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* NAN throughout where memory is short. */
static inline struct paired paired_shift(const double *log_ratio, size_t n)
{
    struct paired p = paired_ratio(log_ratio, n);
    double *mean = malloc((n * (n + 1) / 2 + 1) * sizeof(*mean)), middle, widen, outside;
    size_t all = 0, k;

    p.ratio = p.low = p.high = NAN;
    if (!mean || n < 1) {
        free(mean);
        return p;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            mean[all++] = (log_ratio[i] + log_ratio[j]) / 2;
    qsort(mean, all, sizeof(*mean), paired_ascending);
    middle = (mean[(all - 1) / 2] + mean[all / 2]) / 2;
    p.ratio = exp(middle);
    /* Means left out at each end: the normal approximation of signed ranks, rounded to the wider interval. */
    outside = (double)all / 2 - 1.95996 * sqrt((double)n * (double)(n + 1) * (double)(2 * n + 1) / 24);
    if (outside >= 1 && p.pairs >= 3) {
        k = (size_t)outside - 1;
        widen = sqrt((double)n / p.pairs);
        p.low = exp(middle + widen * (mean[k] - middle));
        p.high = exp(middle + widen * (mean[all - 1 - k] - middle));
    }
    free(mean);
    return p;
}

#endif
