/* batch.h - the mean of a series of batch means whose neighbours are alike, and how well it is known.
 *
 * Batches beside each other (columns of a job's history) are correlated, so that fewer count than there are:
 * n (1 - r) / (1 + r) with the correlation r of neighbours, of a first order process (Bartlett, JRSS supplement 8,
 * 1946). Negative correlation counts as none. Pure; NaN is unknown, and passed over in the series. */
#ifndef SYNCGUARD_MODEL_BATCH_H
#define SYNCGUARD_MODEL_BATCH_H

#include <stddef.h>

struct batch_mean {
    double value, variance; /* variance: of the mean; NaN with less than two batches */
    double n;               /* batches that it is worth, 2 or more where the variance is known */
    size_t known;           /* batches that were known */
};
struct batch_mean batch_mean(const double *v, size_t n);

#endif
