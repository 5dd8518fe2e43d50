/* What a view tells of a job on more ranks: of a job whose steps are made here. */
#include "job/scaling_run.h"
#include "ring/ring.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "view/scaling.h"
#include "view/view.h"

#define WORLD 1u
#define RANKS 16u
#define WORK  0.1 /* s */

static struct view *view;
static double now_s, slow = 1; /* times the others' work: the last node's */
static uint32_t seq;

static void start(void)
{
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

    random_state = 4;
    now_s = 0;
    seq = 0;
    view = view_new(&params, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        struct telemetry_item comm = {
            .kind = TELEMETRY_COMM,
            .comm = { .rank = r, .name = WORLD, .size = RANKS, .comm_rank = r, .last = RANKS - 1 }
        };
        char node[8], switch_name[8];

        snprintf(node, sizeof(node), "n%u", r / 4);
        snprintf(switch_name, sizeof(switch_name), "s%u", r / 8);
        view_rank_add(view, r, 0, node, switch_name);
        view_item(view, 0, &comm);
    }
}

static uint64_t ns(double s)
{
    return (uint64_t)(1e9 * s + 0.5);
}

/* A step is one all-reduce of a million bytes and one of a thousand: latency 200 us, 10 GB/s. */
static void step(double cv)
{
    static const double bytes[] = { 1e6, 1e3 };
    double own_s[RANKS], most = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        own_s[r] = (r / 4 == 3 ? slow : 1) * WORK * (1 + cv * gauss());
        most = fmax(most, own_s[r]);
    }
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t r = 0; r < RANKS; r++) {
            double transfer_s = 200e-6 + 1e-10 * bytes[k], wait_s = k ? 0 : most - own_s[r];
            struct telemetry_item item = { .kind = TELEMETRY_SAMPLE,
                                           .sample = { .rank = r,
                                                       .op = RING_OP_ALLREDUCE,
                                                       .comm = WORLD,
                                                       .seq = 2 * seq + k,
                                                       .n = 1,
                                                       .root = -1,
                                                       .bytes = (uint64_t)bytes[k],
                                                       .stay_ns = ns(wait_s + transfer_s),
                                                       .stay_sum_ns = ns(wait_s + transfer_s),
                                                       .gap_sum_ns = k ? 0 : ns(own_s[r]) } };

            view_item(view, now_s, &item);
        }
    for (uint32_t r = 0; r < RANKS; r++) {
        double stay_s = most - own_s[r] + 2 * 200e-6 + 1e-10 * 1.001e6;
        struct telemetry_item item = { .kind = TELEMETRY_STEP,
                                       .step = { .rank = r,
                                                 .parts = 2,
                                                 .comm = WORLD,
                                                 .seq = 2 * seq,
                                                 .period = 2,
                                                 .n_steps = 1,
                                                 .duration_ns = ns(own_s[r] + stay_s),
                                                 .gap_ns = ns(own_s[r]),
                                                 .stay_ns = ns(stay_s),
                                                 .stay_s = { (float)stay_s / 2, (float)stay_s / 2 } } };

        view_item(view, now_s, &item);
    }
    seq++;
    now_s += most;
    view_tick(view, now_s);
}

/* What the next start goes by, to choose an algorithm. */
static void allreduces(void)
{
    struct algorithm_size size[ALGORITHM_SIZES];
    struct projection_run run;

    view_run_get(view, &run);
    is_int((long long)view_allreduces_get(view, size, ALGORITHM_SIZES), 2, "the all-reduces have two sizes");
    ok(near(size[1].bytes, run.time[1].bytes, 1e-6) && near(size[1].time_s, run.time[1].time_s, 0.1) &&
           size[1].stay_s >= size[1].time_s && size[1].per_step > 0.5 && size[1].per_step < 1.5,
       "one of %.0f bytes a step, of %.3g s at the shortest and %.3g s in the mean", size[1].bytes,
       size[1].time_s, size[1].stay_s);
    is_int((long long)view_allreduces_get(view, size, 1), 0, "more sizes than are taken: none");
    is_str(view_library_get(view), "", "no rank has said its library");
    view_library(view, "MPICH 4.0.2");
    view_library(view, "");
    is_str(view_library_get(view), "MPICH 4.0.2", "one has, and others do not know");
    view_library(view, "Open MPI 4.1.4");
    is_str(view_library_get(view), "", "one has another");
}

/* What it shows goes to a store and comes back; what others show moves the projection. */
static void runs(void)
{
    static struct view_scaling alone, ring, halving;
    struct projection_run run, back;
    const char *why;
    char *text;

    why = view_run_get(view, &run);
    ok(!why && run.ranks == RANKS && run.ranks_per_node == 4 && run.n_times == 2 &&
           near(run.compute_s, WORK, 0.02),
       "a run reports the times of its message sizes\n%zu", run.n_times);
    text = scaling_run_text(&run);
    ok(scaling_run_parse(text, &back) && back.n_times == 2 && back.time[1].op == COLLECTIVE_ALLREDUCE &&
           near(back.time[1].bytes, run.time[1].bytes, 1e-6) && near(back.behind, run.behind, 1e-6),
       "its text is read back\n%zu bytes", strlen(text));
    free(text);
    ok(!scaling_run_parse("[]", &back) && !scaling_run_parse("{\"ranks\":1}", &back) &&
           !scaling_run_parse("{\"ranks\":8,\"ranks_per_node\":9,\"step_s\":1,\"compute_s\":1}", &back),
       "invalid texts are rejected");
    view_scaling_get(view, false, &alone);
    view_runs_set(view, &run, 1);
    view_scaling_get(view, false, &ring);
    ok(ring.n_runs == 0 && ring.projection.point[4].step_s.p50 == alone.projection.point[4].step_s.p50,
       "a run on the same number of ranks is not used");
    run.ranks = RANKS / 4;
    for (size_t i = 0; i < run.n_times; i++) /* as a ring over a fourth of the ranks */
        run.time[i].time_s = 200e-6 * 3 / 15 + 1e-10 * run.time[i].bytes * 12 / 15;
    view_runs_set(view, &run, 1);
    view_scaling_get(view, false, &ring);
    for (size_t i = 0; i < run.n_times; i++)
        run.time[i].time_s = 200e-6 * 2 / 4 + 1e-10 * run.time[i].bytes * 12 / 15;
    view_runs_set(view, &run, 1);
    view_scaling_get(view, false, &halving);
    ok(ring.n_runs == 1 && ring.run_ranks[0] == RANKS / 4.0 &&
           ring.projection.algorithm[TRAFFIC_RING] > alone.projection.algorithm[TRAFFIC_RING] &&
           halving.projection.algorithm[TRAFFIC_RING] < 0.1,
       "over fewer ranks it was one, too\na ring by %.2f, before %.2f; it was halving: by %.2f",
       ring.projection.algorithm[TRAFFIC_RING], alone.projection.algorithm[TRAFFIC_RING],
       halving.projection.algorithm[TRAFFIC_RING]);
    view_runs_set(view, NULL, 0);
}

/* Beside a node that works twice as long the mean is not known well; what is told of more ranks is possible.
 */
static void uneven(void)
{
    static struct view_scaling s;
    const char *why;
    unsigned possible = 0;

    start();
    slow = 2;
    for (int i = 0; i < 100; i++)
        step(0.05);
    slow = 1;
    why = view_scaling_get(view, false, &s);
    for (unsigned p = 0; p < PROJECTION_POINTS; p++)
        possible += s.projection.point[p].throughput_ratio.p5 > 0 &&
                    s.projection.point[p].throughput_ratio.p95 <= s.projection.point[p].factor * (1 + 1e-9);
    ok(!why && possible == PROJECTION_POINTS,
       "beside a slow node: some throughput, and no more than ranks\n%u of %u points", possible,
       PROJECTION_POINTS);
    view_free(view);
}

int main(void)
{
    static struct view_scaling scaling;
    const struct view_scaling *s = &scaling;
    const struct linkfit_segment *g;
    const char *why;

    start();
    why = view_scaling_get(view, false, &scaling);
    ok(why && *why, "nothing is projected before there are steps: %s", why ? why : "");
    for (int i = 0; i < 120; i++)
        step(0.05);
    why = view_scaling_get(view, false, &scaling);
    if (!ok(!why, "a job of 120 steps is projected"))
        return done_testing();
    ok(s->noise.ranks == RANKS && s->noise.ranks_per_node == 4 && s->noise.nodes_per_switch == 2,
       "the placement of ranks is known");
    ok(near(s->noise.mean_s, WORK, 0.02) && near(s->noise.passing[VARIATION_RANK].sd, 0.05, 0.1),
       "own work and its noise\n%.4f s, %.4f", s->noise.mean_s, s->noise.passing[VARIATION_RANK].sd);
    g = &s->link[0].fit.segment[0];
    ok(s->n_links == 1 && s->link[0].grows && s->link[0].ranks == RANKS && near(g->a_s.value, 200e-6, 0.01) &&
           near(g->b_s_per_byte.value, 1e-10, 0.01),
       "latency and bandwidth\n%.1f us, %.3g GB/s", 1e6 * g->a_s.value, 1e-9 / g->b_s_per_byte.value);
    ok(s->projection.point[4].ranks == 256 && s->projection.point[4].step_s.p50 > s->projection.step_s,
       "at 256 ranks a step takes longer\n%.4f s for %.4f s", s->projection.point[4].step_s.p50,
       s->projection.step_s);
    ok(near(s->projection.point[0].communication_s, 500e-6, 0.05), "transfers are 500 us of a step\n%.0f us",
       1e6 * s->projection.point[0].communication_s);
    allreduces();
    runs();
    why = view_scaling_get(view, true, &scaling);
    ok(!why && s->projection.point[4].compute_s < WORK / 10, "strong scaling divides the work");
    view_free(view);
    uneven();
    return done_testing();
}
