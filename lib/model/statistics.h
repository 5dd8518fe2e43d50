/* statistics.h - medians, quantiles, mean and standard deviation of a sample.
 *
 * Pure: no allocation; what selects reorders the caller's array and takes linear time on average (C. A. R.
 * Hoare, "Algorithm 65: Find", Commun. ACM 4, 1961; N. Wirth's form in "Algorithms + Data Structures =
 * Programs", 1976). The sample holds no NaN, unless a function says that it may. The functions ending in f
 * take floats, as libm's do. */
#ifndef SYNCGUARD_MODEL_STATISTICS_H
#define SYNCGUARD_MODEL_STATISTICS_H

#include <stddef.h>

/* Standard deviation to median absolute deviation, of a normal distribution, which is half of the distance
 * between its quartiles; and back. */
#define STATISTICS_SD_TO_MAD 0.6745
#define STATISTICS_MAD_TO_SD 1.4826

/* The k-th smallest of v[n], k < n, counted from 0; nothing larger is before v[k] then, nothing smaller after
 * it. */
double statistics_select(double *v, size_t n, size_t k);
float statistics_selectf(float *v, size_t n, size_t k);

/* The mean of the two middle values if n is even; NaN if n is 0. */
double statistics_median(double *v, size_t n);
double statistics_medianf(float *v, size_t n);
/* Of those of v[n] that are not NaN; in scratch[n]. */
double statistics_known_medianf(const float *v, size_t n, float *scratch);

/* The value that a share p of v[n] is below (nearest rank, no interpolation); NaN if n is 0. */
double statistics_quantile(double *v, size_t n, double p);
double statistics_quantilef(float *v, size_t n, double p);

struct statistics_mean {
    double mean;  /* NaN if n is 0 */
    double sd;    /* standard deviation over n - 1; NaN if n < 2 */
    double error; /* standard error of the mean; NaN if n < 2 */
};

/* Two passes: exact even where the deviation is small compared with the mean (Chan, Golub & LeVeque,
 * "Algorithms for computing the sample variance", The American Statistician 37, 1983). */
struct statistics_mean statistics_mean(const double *v, size_t n);

#endif
