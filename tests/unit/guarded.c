/* A guarded job over its own reference: which one is taken, ratios computed by hand, and what stays unknown.
 */
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
        ok(!ratio(f)->reference && isnan(ratio(f)->value), "%s is unknown", guarded_figure_name(f));
    ok(strstr(g.text, "nothing unguarded") != NULL, "and that is said: %s", g.text);
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
       "the hold-out comes first, by rank: %.4f", ratio(GUARDED_STEP)->value);
    ok(near(ratio(GUARDED_STEP)->high, exp((2 * log(0.95) + log(1.02)) / 3), 1e-9), "with its interval");
    ok(near(ratio(GUARDED_THROUGHPUT)->value, 1 / 0.932170, 1e-5) &&
           ratio(GUARDED_THROUGHPUT)->low < ratio(GUARDED_THROUGHPUT)->value,
       "throughput is its inverse, and so is the interval");
    ok(ratio(GUARDED_CV)->reference == GUARDED_RUNS && ratio(GUARDED_CV)->value == 0.7 &&
           isnan(ratio(GUARDED_CV)->low),
       "what it does not know comes of the earlier runs, without an interval where there is none");
    ok(strstr(g.text, "faster") != NULL, "%s", g.text);
    lever[0].high = lever[1].high = 1.05;
    guarded_compare(&in, &g);
    ok(strstr(g.text, "no measurable difference") != NULL, "%s", g.text);
}

static void test_before(void)
{
    double steps[] = { 1.01, 0.99, 1.02, 0.98, 1.01, 0.99, NAN, 0.81, 0.79, 0.82, 0.78, 0.81, 0.79 };
    struct guarded_input in = { .runs = { 2, 0.02, 1.1, NAN, NAN } };
    double spread;

    in.series[GUARDED_STEP] = (struct guarded_series){ steps, 13, 6 };
    guarded_compare(&in, &g);
    ok(ratio(GUARDED_STEP)->reference == GUARDED_BEFORE && near(ratio(GUARDED_STEP)->value, 0.8, 1e-9),
       "steps before the action are next: 0.8 of them");
    /* sd 0.01549 of 6: relative errors 0.00632 and 0.00791; t of 5 degrees 2.015 */
    spread = log(ratio(GUARDED_STEP)->high / ratio(GUARDED_STEP)->value);
    ok(near(spread, 2.015 * hypot(0.00632, 0.00791), 0.01), "the interval is Student's: %.4f", spread);
    ok(!strstr(g.text, "faster") && strstr(g.text, "may have come without"),
       "the reference was chosen because the job was slow, so that nothing is claimed: %s", g.text);
    in.series[GUARDED_STEP] = (struct guarded_series){ steps, 10, 6 };
    guarded_compare(&in, &g);
    ok(ratio(GUARDED_STEP)->reference == GUARDED_RUNS && isnan(ratio(GUARDED_STEP)->low),
       "with too few steps since, the runs are taken, two of which tell no interval");
    in.runs.runs = 9;
    guarded_compare(&in, &g);
    /* t of 8 degrees 1.860, times 0.02 sqrt(1 + 1.571 / 9) */
    spread = log(ratio(GUARDED_STEP)->high / ratio(GUARDED_STEP)->value);
    ok(near(spread, 1.8595 * 0.02 * sqrt(1 + 1.571 / 9), 0.01), "nine do: %.4f", spread);
    ok(strstr(g.text, "slower") != NULL, "%s", g.text);
}

int main(void)
{
    test_nothing();
    test_holdout();
    test_before();
    return done_testing();
}
