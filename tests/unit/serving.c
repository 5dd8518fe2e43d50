/* What a server takes for an update against what it took before, and what that costs its workers. */
#include "calls/serving.h"

#include "model/serving.h"
#include "tests/random.h"
#include "tests/tap.h"

static struct serving serving;
static uint64_t now_ns;

static void take(uint32_t n, double mean_s, double cv)
{
    for (uint32_t i = 0; i < n; i++) {
        now_ns += 10000000;
        serving_take(&serving, 1000, now_ns, mean_s * exp(cv * gauss() - cv * cv / 2));
    }
}

static void begin(uint64_t seed)
{
    random_state = seed;
    serving = (struct serving){ 0 };
    now_ns = 0;
}

static void test_change(void)
{
    static const struct {
        uint32_t before, after;
        double times, cv;
    } cases[] = {
        { 400, 100, 2, 0.1 }, { 400, 400, 1.5, 0.3 }, { 30000, 4000, 2, 0.5 }, { 500, 5000, 3, 0.1 }
    };
    struct serving_change c;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t onset = cases[i].before;

        begin(i + 1);
        take(cases[i].before, 1e-3, cases[i].cv);
        ok(!serving_slower(&serving, false, &c), "case %zu: until it changes it is not slower", i);
        take(cases[i].after, 1e-3 * cases[i].times, cases[i].cv);
        if (!ok(serving_slower(&serving, false, &c), "case %zu: it became slower", i))
            continue;
        is_near(c.now_s / c.before_s, cases[i].times, 0.06, "case %zu: so many times as slow", i);
        is_near((double)c.since_update, (double)onset, 0.06, "case %zu: since that update", i);
        is_near((double)c.since_ns, (double)c.since_update * 1e7, 0.01, "case %zu: and since its time", i);
    }
}

static void test_no_change(void)
{
    struct serving_change c;
    uint32_t n = 0;

    for (uint32_t seed = 1; seed <= 50; seed++)
        for (int wide = 0; wide < 2; wide++) {
            begin(seed);
            for (uint32_t i = 0; i < 40; i++) {
                take(64, 1e-3, wide ? 0.8 : 0.1);
                n += serving_slower(&serving, false, &c);
            }
        }
    is_int(n, 0, "what varies by chance is never a change");
    begin(3);
    take(600, 1e-3, 0.1);
    take(600, 1.05e-3, 0.1);
    ok(!serving_slower(&serving, false, &c), "a twentieth more is not told of");
    begin(4);
    take(1200, 5e-3, 0.1);
    ok(!serving_slower(&serving, false, &c), "what it takes from the beginning is no change");
    begin(5);
    take(600, 1e-3, 0.1);
    take(600, 2e-3, 0.1);
    take(600, 1e-3, 0.1);
    ok(!serving_slower(&serving, true, &c), "one that is as fast again is not slower");
    begin(6);
    take(600, 2e-3, 0.1);
    take(600, 1e-3, 0.1);
    ok(!serving_slower(&serving, false, &c), "one that became faster is not slower");
    begin(7);
    take(600, 1e-3, 0.1);
    for (uint32_t i = 0; i < 600; i++)
        serving_take(&serving, 2000, now_ns += 10000000, 2e-3);
    ok(!serving_slower(&serving, false, &c), "larger updates are other work");
}

static void test_rate(void)
{
    is_near(serving_per_s(1, 3, 1), 0.25, 1e-12, "one worker works and is served in turn");
    is_near(serving_per_s(100, 3, 1), 1, 1e-12, "many workers get what the server can do");
    is_near(serving_per_s(8, 10, 0), 0.8, 1e-12, "nobody waits where serving takes no time");
    /* n = 1: rate 1/2, 1/2 there, busy 1/2; n = 2: each stays 1 + 1/2 - 1/2 + 1/4 */
    is_near(serving_per_s(2, 1, 1), 2 / 2.25, 1e-12,
            "the second worker finds half a service at half of the times");
    ok(isnan(serving_per_s(2, 0, 0)) && isnan(serving_per_s(2, NAN, 1)), "no rate of no times");
}

int main(void)
{
    test_change();
    test_no_change();
    test_rate();
    return done_testing();
}
