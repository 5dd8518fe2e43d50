/* spread.h - mean, deviation and quantiles of numbers as they come, in memory that does not grow with them.
 *
 * Counts in classes of equal ratio, 1/256 wide: a quantile is right to 0.2 %.  For positive numbers from
 * 1e-9 to 1e9 (others count in the first or last class). */
#ifndef SYNCGUARD_SIM_SPREAD_H
#define SYNCGUARD_SIM_SPREAD_H

#include <stdint.h>

#define SPREAD_CLASSES 15360u

struct spread {
    uint64_t n;
    double mean, squares; /* Welford 1962 */
    double min, max;
    uint32_t count[SPREAD_CLASSES];
};

void spread_add(struct spread *s, double value);
double spread_quantile(const struct spread *s, double p); /* NaN of none */
double spread_cv(const struct spread *s);                 /* deviation over mean; NaN of less than two */

#endif
