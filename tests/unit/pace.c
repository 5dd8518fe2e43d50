#include "pacing/pace.h"

#include <math.h>

#include "network/gate.h"
#include "sim/staleness.h"
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

    ok(pace_delay_s(&s, &params) == 0, "nothing is known: no delay");
    learn(&s, PACE_LEARN - 1, 0.005);
    ok(pace_delay_s(&s, &params) == 0, "too few waits are known: no delay");
    learn(&s, 100, 0.005);
    ok(near(pace_delay_s(&s, &params), 0.004, 0.01), "always 5 ms early: sleeps a share of it");
    learn(&s, 200, 1);
    ok(pace_delay_s(&s, &params) == params.max_delay_s, "a second early: sleeps no longer than is allowed");
    s = (struct pace_state){ 0 };
    for (int i = 0; i < 200; i++)
        learn(&s, 1, i % 2 ? 0.010 : 0);
    ok(pace_delay_s(&s, &params) == 0, "early as often as late: no delay");
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
    ok(delay_s < 0.0005, "a lead that has gone is unlearnt (%.3g s)", delay_s);
    pace_learn(&s, 0, NAN);
    pace_learn(&s, 0, -1);
    pace_learn(&s, 0, INFINITY);
    ok(isfinite(s.wait_s) && isfinite(s.deviation_s), "what is no wait is not learnt");
}

static void test_gate(void)
{
    ok(pace_gives_core(16, 8, 1), "16 ranks on 8 cores, one has arrived: it gives its core away");
    ok(!pace_gives_core(16, 8, 16), "all have arrived: nobody is left to give it to");
    ok(!pace_gives_core(8, 8, 1), "a core each: it spins");
}

static void test_staleness(void)
{
    ok(staleness_allows(0, 0, 0), "the first step waits for nobody");
    ok(!staleness_allows(5, 4, 0) && staleness_allows(5, 5, 0), "bound 0: the slowest has done all before");
    ok(!staleness_allows(5, 2, 2) && staleness_allows(5, 3, 2), "bound 2: all but two");
    ok(staleness_needs(3, 7) == 0, "a wide bound needs nothing at first");
}

static void test_link_gate(void)
{
    struct gate_params two = { 2, 0 }, spaced = { 0, 0.5 }, both = { 1, 0.5 };
    struct gate_state s = { 0 };

    ok(gate_opens_s(&s, &two, -3) == -3, "an empty gate: at once, whatever the clock begins with");
    gate_enter(&s, -3);
    ok(gate_opens_s(&s, &two, 1) == 1, "one inside of two: at once");
    gate_enter(&s, 1);
    ok(isinf(gate_opens_s(&s, &two, 2)), "full: when one has left");
    gate_leave(&s);
    ok(gate_opens_s(&s, &two, 2) == 2, "one has left: at once");
    ok(near(gate_opens_s(&s, &spaced, 1.25), 1.5, 1e-12), "spaced: half a second after the one before");
    ok(gate_opens_s(&s, &spaced, 4) == 4, "... which is over");
    ok(isinf(gate_opens_s(&s, &both, 9)), "both: neither alone is enough");
    gate_leave(&s);
    gate_leave(&s);
    ok(s.inside == 0, "nobody leaves an empty gate");
}

int main(void)
{
    test_link_gate();
    test_delay();
    test_no_ratchet();
    test_gate();
    test_staleness();
    return done_testing();
}
