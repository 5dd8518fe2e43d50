/* The last of many.  Wanted values: mpmath at 30 digits, from the density of the order statistic. */
#include "model/order.h"

#include "tests/random.h"
#include "tests/tap.h"

static void published(void)
{
    static const struct {
        double n, dropped, want;
    } z[] = {
        { 1, 0, 0 },
        { 2, 0, 0.564189583547756 }, /* 1/sqrt(pi) */
        { 3, 0, 0.846284375321634 }, /* 3/(2 sqrt(pi)) */
        { 64, 0, 2.34373346507944 },
        { 1000, 0, 3.24143576913344 },
        { 1e6, 0, 4.86289748619646 },
        { 1e7, 0, 5.30095401017332 },
        { 256, 1, 2.50275644293863 },
        { 256, 13, 1.61621701723431 },
        { 1000, 500, -0.00125304519562924 }, /* just under the median */
        { 10, 9, -1.53875273083517 },        /* the smallest */
    };
    static const struct {
        double n, dropped, cv, want;
    } lognormal[] = {
        { 64, 0, 0.3, 1.9231321315269 },   { 1024, 0, 0.1, 1.37665811114093 },
        { 1e6, 0, 0.5, 8.95933649123511 }, { 256, 13, 0.2, 1.35093551280898 },
        { 2, 0, 1, 1.44394082434302 },     { 1000, 0, 3, 51.1033929882058 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(z); i++)
        ok(near(order_z(z[i].n, z[i].dropped), z[i].want, 1e-9), "z of %g, %g dropped\n%.12g", z[i].n,
           z[i].dropped, order_z(z[i].n, z[i].dropped));
    for (size_t i = 0; i < ARRAY_SIZE(lognormal); i++)
        ok(near(order_amplification(ORDER_LOGNORMAL, lognormal[i].n, lognormal[i].dropped, lognormal[i].cv),
                lognormal[i].want, 1e-9),
           "amplification of %g lognormal ranks, cv %g", lognormal[i].n, lognormal[i].cv);
    ok(near(order_z(10, 0), -order_z(10, 9), 1e-9), "largest and smallest mirror each other");
}

static void limits(void)
{
    double last = 0;

    for (double n = 1; n <= 1e7; n *= 10) {
        double a = order_amplification(ORDER_LOGNORMAL, n, 0, 0.2);

        ok(a >= 1 && a > last, "amplification grows with ranks (%g: %g)", n, a);
        last = a;
    }
    ok(order_amplification(ORDER_LOGNORMAL, 1000, 0, 0) == 1 &&
           order_amplification(ORDER_NORMAL, 1000, 0, 0) == 1,
       "amplification without noise is 1");
    ok(near(order_amplification(ORDER_LOGNORMAL, 1000, 0, 1e-4),
            order_amplification(ORDER_NORMAL, 1000, 0, 1e-4), 1e-6),
       "normal and lognormal amplification agree for little noise");
    ok(order_z(1e7, 0) < sqrt(2 * log(1e7)), "z is below its asymptote sqrt(2 ln n)");
    ok(order_amplification(ORDER_NORMAL, 256, 13, 0.2) < order_amplification(ORDER_NORMAL, 256, 1, 0.2),
       "dropping the slowest ranks reduces the amplification");
}

/* Against draws: the definition itself. */
static void drawn(void)
{
    double sum = 0;

    random_state = 7;
    for (int i = 0; i < 20000; i++) {
        double slowest = -1e9;

        for (int r = 0; r < 16; r++)
            slowest = fmax(slowest, box_muller());
        sum += slowest / 20000;
    }
    ok(fabs(sum - order_z(16, 0)) < 4 * 0.6 / sqrt(20000), "draws of 16 have that mean\n%g, %g", sum,
       order_z(16, 0));
}

static void with_slow(void)
{
    double n = 64, sum = 0;

    ok(near(order_amplification_slow(ORDER_NORMAL, n, 0.1, 1), order_amplification(ORDER_NORMAL, n, 0, 0.1),
            1e-9),
       "a slow ratio of 1 changes nothing");
    ok(order_amplification_slow(ORDER_LOGNORMAL, n, 0, 1.5) == 1.5,
       "without noise the slow rank determines the step");
    ok(near(order_amplification_slow(ORDER_NORMAL, n, 0.1, 10), 10, 1e-6),
       "a very slow rank alone determines the step");
    ok(near(order_amplification_slow(ORDER_LOGNORMAL, n, 0.1, 1 + 1e-9),
            order_amplification(ORDER_LOGNORMAL, n, 0, 0.1), 1e-5),
       "a slow ratio near 1 gives the amplification without it");
    random_state = 5;
    for (int i = 0; i < 20000; i++) {
        double slowest = 0;

        for (int r = 0; r < 64; r++) {
            double z = box_muller(), s = sqrt(log1p(0.09));

            slowest = fmax(slowest, exp(s * z - s * s / 2) * (r ? 1 : 1.8));
        }
        sum += slowest / 20000;
    }
    ok(near(order_amplification_slow(ORDER_LOGNORMAL, n, 0.3, 1.8), sum, 0.01), "draws have that mean\n%g",
       sum);
}

int main(void)
{
    published();
    with_slow();
    limits();
    drawn();
    ok(near(order_any(1024, 0.001), 0.64102852181029, 1e-12), "probability that some of 1024 ranks is slow");
    ok(near(order_any(1000, 1e-18), 1e-15, 1e-9),
       "probability that some rank is slow for p below the rounding of 1 - p");
    ok(order_any(5, 1) == 1 && order_any(5, 0) == 0,
       "probability that some rank is slow is 1 for p = 1 and 0 for p = 0");
    ok(near(order_amplification_every(64, 0.3, 4), 1 + 0.3 * order_z(64, 0) / 2, 1e-12),
       "amplification with a barrier every four steps");
    ok(near(order_rebalanced(8, 1.5), 8 / (7 + 1 / 1.5), 1e-12), "slowdown with work divided by speed");
    ok(order_rebalanced(8, 1) == 1, "dividing the work of equal ranks by speed changes nothing");
    return done_testing();
}
