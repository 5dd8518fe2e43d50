#include "model/step.h"

#include "tests/tap.h"

int main(void)
{
    double last = 0;

    ok(near(step_exposed_s(0.070, 0.8, 0.060), 0.022, 1e-12), "overlap hides a part");
    ok(step_exposed_s(0.010, 1, 0.060) == 0, "no more than all can be hidden");
    ok(step_exposed_s(0.010, 0, 0.060) == 0.010, "without overlap nothing is");
    ok(near(step_efficiency(0.1, 0.1, 4), 0.8, 1e-12), "accumulation divides the exchange");
    ok(step_efficiency(0.1, 0, 1) == 1, "without communication all is work");
    ok(near(step_speedup(7, 1, 4), 8 / 2.75, 1e-12), "strong scaling on four ranks");
    ok(step_speedup(7, 1, 1) == 1, "on one rank it is one");
    for (double n = 1; n < 1e6; n *= 2) {
        double s = step_speedup(5, 1, n);

        ok(s > last && s < step_speedup_max(5, 1), "grows with the ranks (%g), under its ceiling", n);
        last = s;
    }
    ok(near(step_speedup(5, 1, 1e12), step_speedup_max(5, 1), 1e-6), "and reaches it");
    ok(step_ranks_at_balance(800, 8) == 100, "balance");
    ok(near(step_speedup(800, 8, step_ranks_at_balance(800, 8)), 50.5, 1e-12),
       "half the ceiling, about, is there");
    ok(isinf(step_ranks_at_balance(1, 0)) && isinf(step_speedup_max(1, 0)), "without communication no end");
    return done_testing();
}
