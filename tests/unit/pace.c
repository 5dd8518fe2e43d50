#include "pacing/pace.h"

#include <math.h>

#include "tests/tap.h"

static const struct pace_params params = { .max_delay_s = 0.010, .share = 0.8 };

static void learn(struct pace_state *s, int n, double wait_s)
{
    for (int i = 0; i < n; i++)
        pace_learn(s, 0, wait_s);
}

static void test_delay(void)
{
    struct pace_state s = { 0 };

    ok(pace_delay_s(&s, &params) == 0, "without a known wait there is no delay");
    learn(&s, PACE_LEARN - 1, 0.005);
    ok(pace_delay_s(&s, &params) == 0, "with too few known waits there is no delay");
    learn(&s, 100, 0.005);
    ok(near(pace_delay_s(&s, &params), 0.004, 0.01),
       "a rank that is always 5 ms early sleeps a share of that");
    learn(&s, 200, 1);
    ok(pace_delay_s(&s, &params) == params.max_delay_s,
       "a rank that is a second early sleeps no longer than the limit");
    s = (struct pace_state){ 0 };
    for (int i = 0; i < 200; i++)
        learn(&s, 1, i % 2 ? 0.010 : 0);
    ok(pace_delay_s(&s, &params) == 0, "a rank that is early as often as late has no delay");
}

/* A rank whose lead has gone sleeps less and less: what it slept is the most that it learns. */
static void test_no_ratchet(void)
{
    struct pace_state s = { 0 };
    double delay_s = 0;

    learn(&s, 100, 0.005);
    for (int i = 0; i < 300; i++) {
        delay_s = pace_delay_s(&s, &params);
        pace_learn(&s, delay_s, 0);
    }
    ok(delay_s < 0.0005, "the delay falls after the rank is no longer early\n%.3g s", delay_s);
    pace_learn(&s, 0, NAN);
    pace_learn(&s, 0, -1);
    pace_learn(&s, 0, INFINITY);
    ok(isfinite(s.wait_s) && isfinite(s.deviation_s), "invalid waits are ignored");
}

static void test_gate(void)
{
    ok(pace_gives_core(16, 8, 1), "the first of 16 ranks on 8 cores to arrive yields its core");
    ok(!pace_gives_core(16, 8, 16), "no rank yields once all have arrived");
    ok(!pace_gives_core(8, 8, 1), "a rank with a core of its own does not yield");
}

int main(void)
{
    test_delay();
    test_no_ratchet();
    test_gate();
    return done_testing();
}
