/* A guarded job compared with its own reference: the choice of reference, ratios computed by hand, and which
 * ratios stay unknown. */
#include "job/guarded.h"

#include <string.h>

#include "tests/tap.h"

static struct guarded g;

static const struct guarded_ratio *ratio(enum guarded_figure f)
{
    return &g.ratio[f];
}

static void test_nothing(void)
{
    struct guarded_input in = { .runs = { NAN, NAN, NAN, NAN, NAN } };

    guarded_compare(&in, &g);
    for (int f = 0; f < GUARDED_FIGURES; f++)
        ok(!ratio(f)->reference && isnan(ratio(f)->value),
           "without a reference the ratio of figure %d is unknown", f);
    ok(strstr(g.text, "no unguarded reference") != NULL, "the text states that there is no reference: %s",
       g.text);
}

static void test_holdout(void)
{
    /* By rank: exp((2 ln 0.9 + ln 1.0) / 3) = 0.93217 */
    struct guarded_lever lever[] = { { 2, 0.9, 0.85, 0.95 }, { 1, 1.0, 0.98, 1.02 }, { 4, NAN, NAN, NAN } };
    double steps[] = { 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1 };
    struct guarded_input in = { .lever = lever, .n_levers = 3, .runs = { 9, 0.02, 0.8, 0.7, 0.6 } };

    in.series[GUARDED_STEP] = (struct guarded_series){ steps, 12, 6 };
    guarded_compare(&in, &g);
    ok(near(ratio(GUARDED_STEP)->value, 0.932170, 1e-5) && ratio(GUARDED_STEP)->reference == GUARDED_HOLDOUT,
       "the hold-out is preferred to steps and runs, weighted by ranks\n%.4f", ratio(GUARDED_STEP)->value);
    ok(near(ratio(GUARDED_STEP)->high, exp((2 * log(0.95) + log(1.02)) / 3), 1e-9),
       "the ratio of the hold-out has its interval");
    ok(near(ratio(GUARDED_THROUGHPUT)->value, 1 / 0.932170, 1e-5) &&
           ratio(GUARDED_THROUGHPUT)->low < ratio(GUARDED_THROUGHPUT)->value,
       "the ratio of throughput and its interval are the inverse of those of the step time");
    ok(ratio(GUARDED_CV)->reference == GUARDED_RUNS && ratio(GUARDED_CV)->value == 0.7 &&
           isnan(ratio(GUARDED_CV)->low),
       "the variation, which the hold-out lacks, is compared with earlier runs, without an interval");
    ok(strstr(g.text, "faster") != NULL, "an interval below 1 is called faster: %s", g.text);
    lever[0].high = lever[1].high = 1.05;
    guarded_compare(&in, &g);
    ok(strstr(g.text, "no measurable difference") != NULL, "an interval that contains 1 is no difference: %s",
       g.text);
}

static void test_before(void)
{
    double steps[] = { 1.01, 0.99, 1.02, 0.98, 1.01, 0.99, NAN, 0.81, 0.79, 0.82, 0.78, 0.81, 0.79 };
    struct guarded_input in = { .runs = { 2, 0.02, 1.1, NAN, NAN } };
    double spread;

    in.series[GUARDED_STEP] = (struct guarded_series){ steps, 13, 6 };
    guarded_compare(&in, &g);
    ok(ratio(GUARDED_STEP)->reference == GUARDED_BEFORE && near(ratio(GUARDED_STEP)->value, 0.8, 1e-9),
       "without a hold-out the reference is the steps before the action: ratio 0.8");
    /* sd 0.01549 of 6: relative errors 0.00632 and 0.00791; t of 5 degrees 2.015 */
    spread = log(ratio(GUARDED_STEP)->high / ratio(GUARDED_STEP)->value);
    ok(near(spread, 2.015 * hypot(0.00632, 0.00791), 0.01),
       "the interval of steps before and after is Student's\n%.4f", spread);
    ok(!strstr(g.text, "faster") && strstr(g.text, "may have come without"),
       "a ratio that includes regression to the mean is not called faster: %s", g.text);
    in.series[GUARDED_STEP] = (struct guarded_series){ steps, 10, 6 };
    guarded_compare(&in, &g);
    ok(ratio(GUARDED_STEP)->reference == GUARDED_RUNS && isnan(ratio(GUARDED_STEP)->low),
       "with too few steps after the action the reference is earlier runs; 2 runs give no interval");
    in.runs.runs = 9;
    guarded_compare(&in, &g);
    /* t of 8 degrees 1.860, times 0.02 sqrt(1 + 1.571 / 9) */
    spread = log(ratio(GUARDED_STEP)->high / ratio(GUARDED_STEP)->value);
    ok(near(spread, 1.8595 * 0.02 * sqrt(1 + 1.571 / 9), 0.01), "9 earlier runs give an interval\n%.4f",
       spread);
    ok(strstr(g.text, "slower, which is not what the guard costs") != NULL,
       "an interval above 1 is called slower, and does not read as the guard's price: %s", g.text);
}

int main(void)
{
    test_nothing();
    test_holdout();
    test_before();
    return done_testing();
}
