/* A run compared with similar earlier runs: hand-computed medians, and how often chance alone is called
 * unusual. */
#include "history/past.h"

#include <stdint.h>
#include <stdio.h>

#include "tests/random.h"
#include "tests/tap.h"

static const bool none[PAST_RUNS_MAX];

static void nothing_to_compare_with(void)
{
    struct past_run now = { 0.1, 0.05, NAN }, unknown = { NAN, NAN, NAN };
    struct past p;

    ok(!past_compare(&now, NULL, 0, none, 1, &p), "without earlier runs there is no comparison");
    ok(!past_compare(&now, &unknown, 1, none, 2, &p),
       "with one earlier run without a step time there is no comparison");
}

static void by_hand(void)
{
    struct past_run earlier[] = {
        { 0.100, 0.02, 10 }, { 0.102, 0.02, NAN }, { 0.098, 0.02, 10 },
        { 0.100, 0.02, 10 }, { 0.104, 0.02, 10 },
    };
    struct past_run now = { 0.130, 0.02, 11 };
    struct past p;

    ok(past_compare(&now, earlier, 5, none, 6, &p), "with five earlier runs there is a comparison");
    is_int((long long)p.runs, 5, "five similar runs are counted");
    ok(near(p.step.median, 0.1, 1e-9) && near(p.step.ratio, 1.3, 1e-9),
       "step time compared with five runs: ratio 1.30\n%.2f", p.step.ratio);
    ok(near(p.step.spread, 1.4826 * log(1.02), 0.03), "robust spread of five runs\n%.4f, expected 0.0294",
       p.step.spread);
    ok(near(p.energy.ratio, 1.1, 1e-9), "energy compared with the four runs that have it: ratio 1.10\n%.2f",
       p.energy.ratio);
    is_str(p.text, "Steps take 1.30 times the 100 ms of the 5 similar earlier runs, which is usual.",
           "1.3 times the step time of five runs is within their limit");
    now.step_p50_s = 0.2;
    now.energy_j_per_step = 30;
    past_compare(&now, earlier, 5, none, 6, &p);
    ok(p.step.unusual && p.energy.unusual && !p.cv.unusual,
       "twice the time and three times the energy of five runs are unusual");
    is_str(
        p.text,
        "Steps take 2.00 times the 100 ms of the 5 similar earlier runs, which is unusual (robust z 23.6); "
        "a step uses 3.00 times the energy.",
        "the text of an unusual run names step time and energy");
    past_compare(&now, earlier, 1, none, 2, &p);
    ok(isnan(p.step.z) && isnan(p.step.spread), "one similar run gives neither spread nor z");
    is_str(p.text,
           "Steps take 2.00 times the 100 ms of the one similar earlier run; that is too few to judge.",
           "the text of a run with one similar run has no judgement");
    now.step_p50_s = NAN;
    past_compare(&now, earlier, 5, none, 6, &p);
    is_str(p.text, "A step took 100 ms in the 5 similar earlier runs; a step uses 3.00 times the energy.",
           "the text of a run without a step time has that of the similar runs");
}

/* Runs that are equal by chance must not make a small difference unusual. */
static void too_steady(void)
{
    struct past_run earlier[8], now = { 0.1003, NAN, NAN };
    struct past p;

    for (size_t i = 0; i < ARRAY_SIZE(earlier); i++)
        earlier[i] = (struct past_run){ 0.1, NAN, NAN };
    past_compare(&now, earlier, 8, none, 9, &p);
    ok(!p.step.unusual && isnan(p.cv.ratio), "equal runs do not make a small difference unusual");
    now.step_p50_s = 0.12;
    past_compare(&now, earlier, 8, none, 9, &p);
    ok(p.step.unusual, "a run 20 %% slower than equal runs is unusual");
}

static void chance_alone(void)
{
    static const size_t sizes[] = { 4, 5, 7, 8, 11, 16, 31, 64 };
    const int trials = 2000;

    for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
        int unusual = 0;

        for (int t = 0; t < trials; t++) {
            struct past_run run[PAST_RUNS_MAX], now;
            struct past p;

            for (size_t i = 0; i <= sizes[s]; i++)
                *(i ? &run[i - 1] : &now) = (struct past_run){ 0.1 * exp(0.08 * gauss()), NAN, NAN };
            past_compare(&now, run, sizes[s], none, sizes[s] + 1, &p);
            unusual += p.step.unusual;
        }
        ok(unusual < 0.025 * trials,
           "%zu earlier runs: at most 2.5 %% of similar runs are called unusual\n%.1f %%", sizes[s],
           100.0 * unusual / trials);
    }
    ok(isinf(past_limit_z(3)), "three runs give no limit of z");
}

static void reruns(void)
{
    struct past_run earlier[4] = {
        { 0.1, NAN, NAN }, { 0.1, NAN, NAN }, { 0.1, NAN, NAN }, { 0.1, NAN, NAN }
    };
    struct past_run now = { 0.1, NAN, NAN };
    bool start[100] = { false };
    struct past p;

    /* Fisher's lady tasting tea: 4 of 4 and 0 of 4 has a probability of 1 in 70. */
    ok(near(past_chance(4, 4, 0, 4), 1.0 / 70, 1e-9), "chance of 4 of 4 and 0 of 4: 1/70");
    ok(near(past_chance(3, 4, 1, 4), 17.0 / 70, 1e-9), "chance of 3 of 4 and 1 of 4: 17/70");
    ok(near(past_chance(0, 4, 4, 4), 1, 1e-9), "chance of 0 of 4 and 4 of 4: 1");
    for (size_t i = 0; i < 7; i++)
        start[i] = true;
    past_compare(&now, earlier, 4, start, 16, &p);
    ok(p.more_reruns && p.reruns == 7 && p.starts == 16,
       "7 re-runs in the last 8 starts and none before are more than before");
    is_str(p.text,
           "Steps take 1.00 times the 100 ms of the 4 similar earlier runs, which is usual; it is restarted "
           "more often than before (7 of the last 16 starts).",
           "the text has the number of re-runs");
    for (size_t i = 0; i < 16; i += 2)
        start[i] = true, start[i + 1] = false;
    past_compare(&now, earlier, 4, start, 16, &p);
    ok(!p.more_reruns, "re-runs at every other start throughout are not more than before");
    past_compare(&now, earlier, 4, start, 100, &p);
    is_int((long long)p.starts, PAST_RUNS_MAX, "at most PAST_RUNS_MAX starts are used");
}

int main(void)
{
    nothing_to_compare_with();
    by_hand();
    too_steady();
    chance_alone();
    reruns();
    return done_testing();
}
