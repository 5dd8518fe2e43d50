#include "model/failure.h"

#include "tests/tap.h"

#define DAY 86400.0

static void gamma_function(void)
{
    static const struct {
        double shape, x, want;
    } cases[] = {
        { 0.5, 0.1, 0.345279153981423 }, { 3, 2.5, 0.45618688411667 }, { 100, 90, 0.15822098918643 },
        { 100, 130, 0.997249591632693 }, { 2, 20, 0.999999956715774 }, { 1, 2, 0.864664716763387 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(near(failure_gamma_p(cases[i].shape, cases[i].x), cases[i].want, 1e-10), "P(%g, %g)",
           cases[i].shape, cases[i].x);
    ok(failure_gamma_p(3, 0) == 0 && near(failure_gamma_p(3, 1e4), 1, 1e-15),
       "the incomplete gamma function goes from 0 to 1");
    ok(near(failure_gamma_p(1e6, 1e6), 0.5, 1e-3),
       "the incomplete gamma function is about 1/2 at a large mean");
}

/* The interval from k events in time t holds the Poisson limits of textbooks (Garwood 1936 for k = 5: 1.97
 * to 10.51, which use k below and k + 1 above). */
static void learnt(void)
{
    struct failure_rate r = { 5, 1 }, unknown = failure_rate_unknown();

    ok(near(failure_rate_quantile(&r, 0.05), 1.970, 1e-3), "lower limit of the rate after five failures");
    r.failures = 6;
    ok(near(failure_rate_quantile(&r, 0.95), 10.513, 1e-3), "upper limit of the rate after five failures");
    ok(near(failure_gamma_p(6, failure_rate_quantile(&r, 0.95)), 0.95, 1e-9),
       "quantiles invert the distribution function");
    ok(isnan(failure_rate_mean(&unknown)) && isnan(failure_rate_quantile(&unknown, 0.5)),
       "without data the rate and its quantiles are NaN");
    r = (struct failure_rate){ 0.5, 1000 * DAY };
    ok(failure_rate_mean(&r) > 0 && failure_rate_quantile(&r, 0.95) * 1000 * DAY < 3,
       "upper limit of the rate after no failure in 1000 node-days is three failures");
    for (double p = 0.001; p < 1; p += 0.1)
        ok(failure_rate_quantile(&r, p) < failure_rate_quantile(&r, p + 0.05), "quantiles grow (%g)", p);
}

int main(void)
{
    double rate = 6.5 / (1000 * DAY);

    /* a published research cluster */
    ok(near(failure_mtbf_s(2048, rate) / 3600, 1.80, 0.01), "2048 nodes fail every 1.80 h");
    ok(near(failure_mtbf_s(128, rate) / 3600, 28.8, 0.01), "128 nodes fail every 28.8 h");
    ok(isinf(failure_mtbf_s(128, 0)), "the MTBF at rate 0 is infinite");
    ok(near(failure_none(3600, 3600), exp(-1), 1e-12) && failure_none(3600, INFINITY) == 1,
       "probability of no failure");
    gamma_function();
    learnt();
    return done_testing();
}
