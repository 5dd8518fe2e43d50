/* Where the share of waiting is heading, seen through a view of two ranks of which one becomes slower. */
#include "ring/ring.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "view/timeline.h"
#include "view/view.h"

#define WORLD 1u
#define STEP  0.25 /* s */

static struct view *view;
static double now_s;
static uint32_t seq;
static bool with_steps; /* they are known, not only the collectives */
static void start(double sync_limit)
{
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30, .sync_limit = sync_limit };

    random_state = 4;
    now_s = 0;
    seq = 0;
    with_steps = false;
    view = view_new(&params, 0);
    for (uint32_t r = 0; r < 2; r++) {
        struct telemetry_item comm = {
            .kind = TELEMETRY_COMM, .comm = { .rank = r, .name = WORLD, .size = 2, .comm_rank = r, .last = 1 }
        };

        view_rank_add(view, r, 0, "n", "");
        view_item(view, 0, &comm);
    }
}

static void meet(uint32_t rank, double work_s, double stay_s)
{
    struct telemetry_item item = { .kind = TELEMETRY_SAMPLE,
                                   .sample = { .rank = rank,
                                               .op = RING_OP_ALLREDUCE,
                                               .comm = WORLD,
                                               .seq = seq,
                                               .n = 1,
                                               .root = -1,
                                               .stay_ns = (uint64_t)(1e9 * stay_s),
                                               .stay_sum_ns = (uint64_t)(1e9 * stay_s),
                                               .gap_sum_ns = (uint64_t)(1e9 * work_s) } };

    view_item(view, now_s, &item);
    item = (struct telemetry_item){ .kind = TELEMETRY_STEP,
                                    .step = { .rank = rank,
                                              .comm = WORLD,
                                              .seq = seq,
                                              .period = 1,
                                              .parts = 1,
                                              .n_steps = 1,
                                              .duration_ns = (uint64_t)(1e9 * (work_s + stay_s)),
                                              .gap_ns = (uint64_t)(1e9 * work_s),
                                              .stay_ns = (uint64_t)(1e9 * stay_s),
                                              .stay_s = { (float)stay_s } } };
    if (with_steps)
        view_item(view, now_s, &item);
}

/* For so long, the share of waiting goes from one value to another, give or take. */
static void run(double for_s, double from, double to)
{
    double begin_s = now_s;

    while (now_s < begin_s + for_s) {
        double share = from + (to - from) * (now_s - begin_s) / for_s + 0.01 * (uniform() - 0.5);
        double wait_s = fmax(0, 2 * share * STEP), transfer_s = 0.01;

        meet(0, STEP - wait_s - transfer_s, wait_s + transfer_s);
        meet(1, STEP - transfer_s, transfer_s);
        seq++;
        now_s += STEP;
        view_tick(view, now_s);
    }
}

static void rising(void)
{
    struct view_projection p;

    start(0);
    view_projection_get(view, now_s, &p);
    ok(p.trend == TREND_UNKNOWN && isnan(p.synchronisation_ratio) && isnan(p.per_hour) &&
           isnan(p.reach.p50) && !p.warning,
       "a projection without data has no trend: %s", p.text);
    run(200, 0.02, 0.06);
    view_projection_get(view, now_s, &p);
    ok(p.trend == TREND_RISING && near(p.per_hour, 0.72, 0.1), "a rise of 0.72 per hour is found\n%.3f",
       p.per_hour);
    ok(near(p.limit, 0.10, 1e-9) && p.reach.p10 < p.reach.p50 && p.reach.p50 < p.reach.p90 &&
           near(p.reach.p50, 200, 0.05),
       "the limit is reached in 200 s\n%.0f (%.0f to %.0f)", p.reach.p50, p.reach.p10, p.reach.p90);
    ok(strstr(p.text, "synchronisation in about ") != NULL,
       "a rise below the limit predicts when the limit is reached: %s", p.text);
    run(300, 0.06, 0.12);
    view_projection_get(view, now_s, &p);
    ok(p.trend == TREND_RISING && isnan(p.reach.p50) && strstr(p.text, "already"),
       "a rise beyond the limit is said to have reached it already: %s", p.text);
    view_rank_add(view, 0, 1, "n", "");
    view_projection_get(view, now_s, &p);
    ok(p.trend == TREND_UNKNOWN, "another program starts without a trend");
    view_free(view);
}

static void falling(void)
{
    struct view_projection p;

    start(0.05);
    run(200, 0.20, 0.10);
    view_projection_get(view, now_s, &p);
    ok(p.trend == TREND_FALLING && near(p.limit, 0.05, 1e-9) && near(p.reach.p50, 100, 0.1),
       "a fall reaches the lower limit in 100 s: %s", p.text);
    view_free(view);
}

/* Hours of the same, or a step from one steady state to another. */
static void steady(void)
{
    struct view_projection p;
    int trends = 0;

    start(0);
    for (int i = 0; i < 60; i++) {
        run(120, 0.05, 0.05);
        view_projection_get(view, now_s, &p);
        trends += p.trend > TREND_NONE;
    }
    ok(trends <= 2, "two steady hours show a trend at most 2 of 60 times\n%d", trends);
    ok(isnan(p.reach.p50) && strstr(p.text, "no trend"), "steady hours have no trend: %s", p.text);
    run(90, 0.09, 0.09);
    view_projection_get(view, now_s, &p);
    ok(p.trend == TREND_NONE, "a single jump is not a trend: %s", p.text);
    view_free(view);
}

/* Too slow for the shortest window: the longer ones see it. */
static void slow(void)
{
    struct view_projection p;

    start(0);
    run(3000, 0.05, 0.08);
    view_projection_get(view, now_s, &p);
    ok(p.trend == TREND_RISING && near(p.reach.p50, 2000, 0.25),
       "a slow rise reaches the limit in 2000 s: %s", p.text);
    view_free(view);
}

/* The run is kept in stretches that go back to its beginning, and of a long one in the longest. */
static void stretches(void)
{
    static const struct {
        double for_s, width_s;
        size_t least, most;
    } runs[] = { { 100, 2, 45, 50 },
                 { 600, 16, 34, 38 },
                 { 5000, 128, 36, 40 },
                 { 15000, 128, VIEW_STRETCHES, VIEW_STRETCHES } };
    struct view_stretches s;
    size_t n;

    start(0);
    is_int((long long)view_stretches_get(view, &s), 0, "before the first step there is no stretch");
    view_free(view);
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        bool ordered = true, near_all = true;

        start(0);
        run(runs[i].for_s, 0.05, 0.05);
        n = view_stretches_get(view, &s);
        is_near(s.width_s, runs[i].width_s, 1e-9, "a run of %.0f s is kept in stretches of %.0f s",
                runs[i].for_s, runs[i].width_s);
        ok(n >= runs[i].least && n <= runs[i].most, "a run of %.0f s: the number of stretches\n%zu",
           runs[i].for_s, n);
        for (size_t k = 0; k < n; k++) {
            ordered &= s.at_s[k] >= 0 && s.at_s[k] <= now_s && (!k || s.at_s[k] > s.at_s[k - 1]);
            near_all &= near(s.synchronisation_ratio[k], 0.05, 0.2);
        }
        ok(ordered, "a run of %.0f s: the stretches are in order", runs[i].for_s);
        ok(near_all, "a run of %.0f s: every stretch has the share of waiting", runs[i].for_s);
        view_free(view);
    }
}

/* Whether the job comes to lose more: unknown is not steady. */
static void trend(void)
{
    static const struct {
        double for_s, from, to;
        bool steps;
        enum trend_direction want;
        const char *what;
    } runs[] = { { 20, 0.05, 0.05, true, TREND_UNKNOWN, "20 s, too few to tell" },
                 { 200, 0.05, 0.05, true, TREND_NONE, "200 s of the same" },
                 { 200, 0.05, 0.05, false, TREND_UNKNOWN, "the same, and no steps" },
                 { 200, 0.02, 0.06, false, TREND_RISING, "waiting that grows" },
                 { 200, 0.20, 0.10, true, TREND_FALLING, "waiting that shrinks" } };

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        start(0);
        with_steps = runs[i].steps;
        run(runs[i].for_s, runs[i].from, runs[i].to);
        is_int(view_trend(view, now_s), runs[i].want, "the trend of a job: %s", runs[i].what);
        run(4, runs[i].to, runs[i].to);
        is_int(view_trend(view, now_s), runs[i].want, "it is looked at again: %s", runs[i].what);
        view_free(view);
    }
}

/* Transfers take longer and longer, and nobody waits more. */
static void slower_steps(void)
{
    start(0);
    with_steps = true;
    for (int i = 0; i < 800; i++) {
        double step_s = STEP * (1 + 0.001 * now_s + 0.05 * uniform());

        meet(0, 0.95 * step_s, 0.05 * step_s);
        meet(1, 0.95 * step_s, 0.05 * step_s);
        seq++;
        now_s += step_s;
        view_tick(view, now_s);
    }
    is_int(view_trend(view, now_s), TREND_RISING, "the trend of a job: steps that take longer and longer");
    view_free(view);
}

int main(void)
{
    stretches();
    trend();
    slower_steps();
    rising();
    falling();
    steady();
    slow();
    return done_testing();
}
