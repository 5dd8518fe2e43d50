/* interval.h - 90 % intervals of estimates, and how those of independent errors are put together.
 *
 * Limits are as likely to be passed above as below, 5 % each.  Errors that lean to one side keep doing so:
 * the limits are recovered from those of the parts (Zou & Donner, "Construction of confidence limits about
 * effect measures", Statistics in Medicine 27, 2008). Pure; both limits NaN: not known. */
#ifndef SYNCGUARD_MODEL_INTERVAL_H
#define SYNCGUARD_MODEL_INTERVAL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define INTERVAL_SIDE 0.95 /* of the probability is below the upper limit */

struct interval {
    double low, high;
};

#define INTERVAL_UNKNOWN ((struct interval){ NAN, NAN })

static inline bool interval_known(struct interval i)
{
    return i.low <= i.high;
}

/* Of an estimate with a normal error, whose standard deviation stands on that many degrees of freedom; not
 * known if that is not. */
struct interval interval_of(double estimate, double error, double freedom);
/* Of the product of two factors, both estimated as 1, with independent errors; not known if one is not. */
struct interval interval_product(struct interval a, struct interval b);
/* Of a Poisson process that came `count` times in a time, the mean number in that time (with Jeffreys's
 * prior: Brown, Cai & DasGupta, "Interval estimation in exponential families", Statistica Sinica 13, 2003) */
struct interval interval_poisson(double count);

/* Standard error of the mean of v[n] (NaN: not known), whose values hang together, and the degrees of
 * freedom: batch.h. */
double interval_mean_error(const double *v, size_t n, double *freedom);
/* Standard error of the sum of y[n] over the sum of x[n], relative to it, where each y is about as many times
 * x (a ratio estimate: Cochran, Sampling Techniques, 1977, section 6.4), and its degrees of freedom.  Values
 * may hang together, and what one has too much another may have too little: it is taken from batches of as
 * many values as there are batches (Flegal & Jones, "Batch means and spectral variance estimators in Markov
 * chain Monte Carlo", Annals of Statistics 38, 2010), of fewer where these were only two.  NaN: of one value.
 */
double interval_ratio_error(const double *y, const double *x, size_t n, double *freedom);
/* Standard deviation of the number of the value at which a mean was found to have changed, by `height`
 * standard deviations: 26 is the variance of where a two-sided Brownian motion with a drift of 1/2 has its
 * maximum (Yao, "Approximating the distribution of the maximum likelihood estimate of the change-point",
 * Annals of Statistics 15, 1987). */
double interval_change_error(double height);

#endif
