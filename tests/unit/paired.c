/* paired.c - intervals of ratios from pairs, against answers computed by hand. */
#include "tests/bench/paired.h"
#include "tests/tap.h"

#include <string.h>

int main(void)
{
    /* Mean 0.01, deviations 0.01, -0.01, -0.01, 0.01: squares 4e-4, s = 0.011547, and neighbours cancel but for
     * one product of -1e-4 - (-1e-4) - 1e-4: lag 1 is -0.25, which widens nothing.  t(0.975, 3) = 3.1824. */
    const double four[] = { 0.02, 0, 0, 0.02 };
    /* Two levels in a row: squares 8e-4, products 5e-4 (7 neighbours, one of them across); lag 1 0.625. */
    const double drift[] = { 0.01, 0.01, 0.01, 0.01, -0.01, -0.01, -0.01, -0.01 };
    struct paired p = paired_ratio(four, 4);
    double half = 3.1824 * 0.0115470 / 2;

    ok(fabs(p.ratio - exp(0.01)) < 1e-12, "four pairs: the ratio is the geometric mean");
    ok(fabs(p.lag1 + 0.25) < 1e-9 && p.pairs == 4, "four pairs: negative autocorrelation narrows nothing");
    ok(fabs(log(p.high) - 0.01 - half) < 0.02 * half && fabs(log(p.low) - 0.01 + half) < 0.02 * half,
       "four pairs: Student's interval, %g to %g", p.low, p.high);
    p = paired_ratio(drift, 8);
    ok(fabs(p.lag1 - 0.625) < 1e-9 && fabs(p.pairs - 8 * 0.375 / 1.625) < 1e-9,
       "pairs that follow each other alike count for fewer: %g of 8", p.pairs);
    ok(isnan(p.low) && isnan(p.high) && fabs(p.ratio - 1) < 1e-12,
       "fewer than three pairs' worth: no interval");
    p = paired_ratio(NULL, 0);
    ok(isnan(p.ratio) && isnan(p.high), "no pairs: no ratio");
    p = paired_ratio((const double[]){ 0.5, 0.5, 0.5 }, 3);
    ok(isnan(p.lag1) && fabs(p.low - exp(0.5)) < 1e-12,
       "pairs that do not differ: no autocorrelation, no width");
    return done_testing();
}
