/* paired.h - how much more one way takes than another, from pairs of neighbours in time.
 *
 * Each pair gives the logarithm of the ratio of its two times; which of the two comes first is drawn, so that drift
 * and what the first leaves to the second cancel.  The interval is Student's of the mean.  Where pairs follow each
 * other alike (lag-1 autocorrelation r > 0), they count for n (1 - r) / (1 + r) only (Bayley & Hammersley,
 * Supplement to the JRSS 8, 1946). */
#ifndef SYNCGUARD_BENCH_PAIRED_H
#define SYNCGUARD_BENCH_PAIRED_H

#include <math.h>
#include <stddef.h>

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

#endif
