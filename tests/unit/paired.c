/* paired.c - intervals of ratios from pairs, against answers computed by hand. */
#include "tests/bench/paired.h"
#include "tests/tap.h"

#include <string.h>

/* The means of two of 1 to 10, with themselves, are 55: the median is 5.5.  Signed ranks leave out
 * 27.5 - 1.96 sqrt(10 * 11 * 21 / 24) = 8.3 at each end, rounded down: the eighth of either end stays.  There
 * are 1, 1, 2, 2 and 3 pairs with sums of 2 to 6, so that the eighth mean is 3, and by symmetry 8 at the
 * other end. */
static void test_signed_ranks(void)
{
    double ten[] = { 0.01, 0.10, 0.02, 0.09, 0.03, 0.08, 0.04, 0.07, 0.05, 0.06 };
    const double four[] = { 0.02, 0, 0, 0.02 };
    double drift[40];
    struct paired p = paired_shift(ten, 10), q;

    ok(fabs(log(p.ratio) - 0.055) < 1e-12, "signed ranks: the median of all means of two\n%g", log(p.ratio));
    ok(fabs(log(p.low) - 0.03) < 1e-12 && fabs(log(p.high) - 0.08) < 1e-12,
       "signed ranks: the interval\n%g to %g", log(p.low), log(p.high));
    ten[1] = 1; /* the largest, ten times as large */
    p = paired_shift(ten, 10);
    ok(fabs(log(p.ratio) - 0.055) < 1e-12 && fabs(log(p.low) - 0.03) < 1e-12,
       "signed ranks: an outlier counts by its rank, not by its size");
    p = paired_shift(four, 4);
    ok(fabs(log(p.ratio) - 0.01) < 1e-12 && isnan(p.low) && isnan(p.high),
       "signed ranks: four pairs give no interval");
    p = paired_shift(NULL, 0);
    ok(isnan(p.ratio) && isnan(p.high), "signed ranks: without pairs there is no ratio");
    for (int i = 0; i < 40; i++)
        drift[i] = (i / 5 % 2 ? 0.01 : -0.01) + 1e-4 * (i % 5);
    p = paired_shift(drift, 40);
    q = paired_ratio(drift, 40);
    ok(p.lag1 > 0.3 && p.high / p.low > q.high / q.low * 0.8 && p.high / p.low < q.high / q.low * 1.4,
       "signed ranks: pairs that follow each other alike widen the interval as they widen Student's");
}

int main(void)
{
    /* Mean 0.01, deviations 0.01, -0.01, -0.01, 0.01: squares 4e-4, s = 0.011547, and neighbours cancel but
     * for one product of -1e-4 - (-1e-4) - 1e-4: lag 1 is -0.25, which widens nothing.  t(0.975, 3) = 3.1824.
     */
    const double four[] = { 0.02, 0, 0, 0.02 };
    /* Two levels in a row: squares 8e-4, products 5e-4 (7 neighbours, one of them across); lag 1 0.625. */
    const double drift[] = { 0.01, 0.01, 0.01, 0.01, -0.01, -0.01, -0.01, -0.01 };
    struct paired p = paired_ratio(four, 4);
    double half = 3.1824 * 0.0115470 / 2;

    ok(fabs(p.ratio - exp(0.01)) < 1e-12, "four pairs: the ratio is the geometric mean");
    ok(fabs(p.lag1 + 0.25) < 1e-9 && p.pairs == 4, "four pairs: negative autocorrelation narrows nothing");
    ok(fabs(log(p.high) - 0.01 - half) < 0.02 * half && fabs(log(p.low) - 0.01 + half) < 0.02 * half,
       "four pairs: Student's interval\n%g to %g", p.low, p.high);
    p = paired_ratio(drift, 8);
    ok(fabs(p.lag1 - 0.625) < 1e-9 && fabs(p.pairs - 8 * 0.375 / 1.625) < 1e-9,
       "pairs that follow each other alike count for fewer\n%g of 8", p.pairs);
    ok(isnan(p.low) && isnan(p.high) && fabs(p.ratio - 1) < 1e-12,
       "fewer than three pairs' worth: no interval");
    p = paired_ratio(NULL, 0);
    ok(isnan(p.ratio) && isnan(p.high), "no pairs: no ratio");
    p = paired_ratio((const double[]){ 0.5, 0.5, 0.5 }, 3);
    ok(isnan(p.lag1) && fabs(p.low - exp(0.5)) < 1e-12,
       "pairs that do not differ: no autocorrelation, no width");
    test_signed_ranks();
    return done_testing();
}
