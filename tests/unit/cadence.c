/* How often to write checkpoints.  Wanted values: mpmath at 30 digits. */
#include "model/cadence.h"

#include "tests/tap.h"

/* tau* / M = 1 + W0(-e^(-1-c)); at c = 1e-12 a plain W0 has lost half of its digits. */
static void optimal(void)
{
    static const struct {
        double c, want;
    } cases[] = {
        { 1e-12, 1.4142128957065069e-6 },
        { 1e-8, 0.00014141468964921174 },
        { 1e-4, 0.014075547672763036 },
        { 0.01, 0.13483475106683469 },
        { 1, 0.84140566043696064 },
        { 10, 0.99998329802025596 },
        { 50, 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(near(cadence_optimal_s(cases[i].c, 1), cases[i].want, 1e-13), "the best interval, C/M %g",
           cases[i].c);
    ok(cadence_optimal_s(0, 100) == 0, "the optimal interval is 0 if a checkpoint costs nothing");
    for (double c = 1; c < 1e5; c *= 7) {
        double tau = cadence_optimal_s(c, 6491), best = cadence_overhead(tau, c, 0, 6491);

        ok(best <= cadence_overhead(tau * 1.01, c, 0, 6491) &&
               best <= cadence_overhead(tau * 0.99, c, 0, 6491),
           "no other interval has less overhead (C = %g)", c);
    }
}

int main(void)
{
    optimal();
    ok(near(cadence_young_s(60, 86400), 3219.94, 1e-5), "Young's interval for C = 60 s, M = 1 day");
    ok(near(cadence_daly_s(10, 6491), 353.669597360709, 1e-9), "Daly's interval for C = 10 s, M = 6491 s");
    ok(cadence_daly_s(200, 100) == 100, "Daly's interval is M beyond C = 2M");
    ok(near(cadence_daly_s(1e-3, 1e6), cadence_optimal_s(1e-3, 1e6), 1e-6),
       "Daly's and the exact interval agree for small C");
    ok(near(cadence_overhead(353.66982637732895, 10, 0, 6491), 0.0576260061577516, 1e-9),
       "overhead at the optimal interval");
    ok(near(cadence_goodput(100, 10, 20, 1000) * (1 + cadence_overhead(100, 10, 20, 1000)), 1, 1e-12),
       "goodput times 1 + overhead is 1");
    /* first order says 14.1 %: C/tau + tau/2M */
    ok(near(cadence_overhead(sqrt(0.02), 0.01, 0, 1), 0.156, 0.02),
       "the first-order overhead is too small at C/M = 0.01");
    ok(cadence_goodput(1e6, 10, 0, 1) == 0, "the goodput of an interval far beyond the MTBF is 0");
    return done_testing();
}
