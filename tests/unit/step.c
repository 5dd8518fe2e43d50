#include "model/step.h"

#include "tests/tap.h"

int main(void)
{
    double last = 0;

    ok(near(step_exposed_s(0.070, 0.8, 0.060), 0.022, 1e-12), "overlap hides part of the communication");
    ok(step_exposed_s(0.010, 1, 0.060) == 0, "exposed communication is never negative");
    ok(step_exposed_s(0.010, 0, 0.060) == 0.010, "without overlap all communication is exposed");
    ok(near(step_efficiency(0.1, 0.1, 4), 0.8, 1e-12), "efficiency with accumulation of four rounds");
    ok(step_efficiency(0.1, 0, 1) == 1, "efficiency without communication is 1");
    ok(near(step_speedup(7, 1, 4), 8 / 2.75, 1e-12), "speed-up on four ranks");
    ok(step_speedup(7, 1, 1) == 1, "speed-up on one rank is 1");
    for (double n = 1; n < 1e6; n *= 2) {
        double s = step_speedup(5, 1, n);

        ok(s > last && s < step_speedup_max(5, 1),
           "speed-up on %g ranks is larger than on fewer, below its maximum", n);
        last = s;
    }
    ok(near(step_speedup(5, 1, 1e12), step_speedup_max(5, 1), 1e-6), "speed-up approaches its maximum");
    ok(step_ranks_at_balance(800, 8) == 100, "ranks at which work and communication take equally long");
    ok(near(step_speedup(800, 8, step_ranks_at_balance(800, 8)), 50.5, 1e-12),
       "speed-up at balance is about half of the maximum");
    ok(isinf(step_ranks_at_balance(1, 0)) && isinf(step_speedup_max(1, 0)),
       "without communication balance and maximum are infinite");
    return done_testing();
}
