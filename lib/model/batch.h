/* batch.h - the mean of a series of autocorrelated batch means, and its variance.
 *
 * Neighbouring batches (columns of a job's history) are correlated, so the effective number of batches is
 * smaller: n (1 - r) / (1 + r) for a first-order process whose neighbours have correlation r (Bartlett, JRSS
 * supplement 8, 1946). Negative correlation is treated as none. Pure; NaN is unknown and skipped in the
 * series. */
#ifndef SYNCGUARD_MODEL_BATCH_H
#define SYNCGUARD_MODEL_BATCH_H

#include <stddef.h>

struct batch_mean {
    double value, variance; /* variance: of the mean; NaN with less than two batches */
    double n;               /* effective number of batches, 2 or more where the variance is known */
    size_t known;           /* batches that were known */
};
struct batch_mean batch_mean(const double *v, size_t n);

#endif
