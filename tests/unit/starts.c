/* Placed starts against held-out ones: hand-computed ratios, and how often the interval has the truth. */
#include "history/starts.h"

#include <math.h>
#include <string.h>

#include "tests/random.h"
#include "tests/tap.h"

static const struct starts_words words = { "along the switches", "held out in Slurm's order" };

static void nothing_to_compare(void)
{
    struct start one = { .held_out = false, .step_p50_s = 0.1 },
                 unknown = { .held_out = true, .step_p50_s = NAN };
    struct starts s;

    ok(!starts_compare(NULL, 0, &words, &s), "no starts: no comparison");
    ok(!starts_compare(&unknown, 1, &words, &s), "a start without a step time: no comparison");
    ok(starts_compare(&one, 1, &words, &s) && s.placed == 1 && s.held_out == 0 && isnan(s.effect.value),
       "one placed start has no effect yet");
    is_str(s.text, "1 start along the switches and 0 held out in Slurm's order are too few to compare",
           "and says so");
}

static void by_hand(void)
{
    static const struct start start[] = { { false, 0.8 }, { true, 1.0 },  { true, 1.1 },
                                          { false, 0.9 }, { false, 0.7 }, { true, 0.9 } };
    struct start more[16];
    struct starts s;

    ok(starts_compare(start, ARRAY_SIZE(start), &words, &s) && s.placed == 3 && s.held_out == 3,
       "three starts of each");
    ok(near(s.effect.value, 0.8, 1e-6) && isnan(s.effect.low),
       "the ratio of their medians\n%.4f, expected 0.8", s.effect.value);
    is_str(
        s.text,
        "3 starts along the switches and 3 held out in Slurm's order: 0.80 of the step time (too few starts for an interval)",
        "its sentence");
    for (size_t i = 0; i < ARRAY_SIZE(more); i++)
        more[i] = (struct start){ i % 2, (i % 2 ? 2 : 1) * (1 + 0.01 * (double)(i / 2 % 4)) };
    starts_compare(more, ARRAY_SIZE(more), &words, &s);
    ok(s.effect.low > 0.47 && s.effect.low < 0.5 && s.effect.high > 0.5 && s.effect.high < 0.53,
       "eight of each, with a spread of 1 %%\nbetween %.3f and %.3f", s.effect.low, s.effect.high);
    ok(strstr(s.text, ": 0.50 of the step time (0.4") != NULL, "its sentence has the interval: %s", s.text);
}

/* The interval is of 90 %. */
static void coverage(double truth, size_t each)
{
    struct start start[STARTS_COMPARED_MAX];
    uint32_t inside = 0, runs = 2000;

    for (uint32_t run = 0; run < runs; run++) {
        struct starts s;

        for (size_t i = 0; i < 2 * each; i++)
            start[i] = (struct start){ i % 2, 0.1 * (i % 2 ? 1 : truth) * exp(0.05 * gauss()) };
        starts_compare(start, 2 * each, &words, &s);
        inside += s.effect.low <= truth && truth <= s.effect.high;
    }
    ok(inside > 0.87 * runs,
       "%zu starts of each order: the interval has the true %.2f in 87 %% of cases\n%.1f %%", each, truth,
       100.0 * inside / runs);
}

static void bounded(void)
{
    struct start start[STARTS_COMPARED_MAX + 6];
    struct starts s;

    for (size_t i = 0; i < ARRAY_SIZE(start); i++)
        start[i] = (struct start){ i % 2, 1 };
    ok(starts_compare(start, ARRAY_SIZE(start), &words, &s) && s.placed + s.held_out == STARTS_COMPARED_MAX,
       "only the newest starts count");
}

int main(void)
{
    nothing_to_compare();
    by_hand();
    coverage(1, 4);
    coverage(1, 8);
    coverage(0.8, 8);
    coverage(0.8, 30);
    bounded();
    return done_testing();
}
