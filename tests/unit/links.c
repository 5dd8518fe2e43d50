/* Where transfers are slow, and how slow they must be: three nodes that meet, by hand. */
#include "calls/links.h"

#include <math.h>
#include <stdlib.h>

#include "ring/ring.h"
#include "tests/random.h"
#include "tests/tap.h"

#define NODES 3u
#define STEPS 60u
#define SLOW  40u /* the first slow step */

static struct graph *g;
static struct links *l;
static uint64_t seed = 3;

static void pair(uint32_t a, uint32_t b, uint32_t seq, double begin_s, double transfer_s)
{
    for (uint32_t i = 0; i < 2; i++)
        graph_call(g,
                   &(struct call){ .rank = i ? b : a,
                                   .op = RING_OP_ALLREDUCE,
                                   .comm = 10 * a + b + 1,
                                   .seq = seq,
                                   .bytes = 1 << 20,
                                   .enter_ns = (uint64_t)((5 + begin_s) * 1e9),
                                   .leave_ns = (uint64_t)((5 + begin_s + transfer_s) * 1e9) },
                   10 * a + b + 1);
}

static uint32_t seen; /* steps of the graph */

static void start(uint32_t nodes)
{
    random_state = seed;
    seen = 0;
    g = graph_new();
    l = links_new();
    for (uint32_t r = 0; r < nodes; r++)
        graph_rank(g, r, r);
}

static void end_step(uint32_t nodes, uint32_t i)
{
    for (uint32_t r = 0; r < nodes; r++)
        graph_step_end(g, r, i + 1);
    for (; seen < graph_steps(g); seen++)
        links_step(l, g, graph_steps(g) - 1 - seen);
}

/* In each step all pairs meet `times` for 5 ms, with noise of each transfer and of the step; those of node 1
 * are slower from step SLOW on. */
static void run(uint32_t times, double noise, double of_step, double excess)
{
    double step = 0;

    start(NODES);
    for (uint32_t i = 0; i < STEPS; i++) {
        if (of_step > 0) /* neighbouring steps have most of it in common */
            step = 0.7 * step + 0.7 * of_step * gauss();
        for (uint32_t a = 0; a < NODES; a++)
            for (uint32_t b = a + 1; b < NODES; b++)
                for (uint32_t t = 0; t < times; t++)
                    pair(a, b, i * times + t, i + 0.1 * t + 0.02 * (a + b),
                         0.005 * exp(step) * (1 + noise * gauss()) *
                             (i >= SLOW && (a == 1 || b == 1) ? 1 + excess : 1));
        end_step(NODES, i);
    }
}

static void stop(void)
{
    links_free(l);
    graph_free(g);
}

static void collective_of_all(uint32_t nodes, uint32_t seq, double begin_s, double transfer_s)
{
    for (uint32_t r = 0; r < nodes; r++)
        graph_call(g,
                   &(struct call){ .rank = r,
                                   .op = RING_OP_ALLREDUCE,
                                   .comm = 1000,
                                   .seq = seq,
                                   .bytes = 16,
                                   .enter_ns = (uint64_t)((5 + begin_s) * 1e9),
                                   .leave_ns = (uint64_t)((5 + begin_s + transfer_s) * 1e9) },
                   1000);
}

static uint32_t all_slow; /* number of the step from which on the collectives of all take 20 times as long */

/* Four nodes in a line: neighbours meet, most often at about 1 ms and noisily; then all meet, and who comes
 * last finds there what the others sent, also where a link is slow.  From step SLOW on the link in the middle
 * takes 10 ms more; those of node 2 from step `wider` to step `narrower`. */
static void run_line(double noise, uint32_t steps, uint32_t wider, uint32_t narrower)
{
    start(4);
    for (uint32_t i = 0; i < steps; i++) {
        double at_s = 0.3 * i;

        for (uint32_t a = 0; a < 3; a++)
            for (uint32_t t = 0; t < 4; t++) {
                bool slow = i >= SLOW && (a == 1 || (a == 2 && i >= wider && i < narrower));

                pair(a, a + 1, i * 4 + t, at_s + 0.02 * (a + 3 * t),
                     0.001 * exp(noise * gauss()) + (slow ? 0.010 : 0));
            }
        collective_of_all(4, i, at_s + 0.28, 60e-6 * (i >= all_slow ? 20 : 1) * exp(0.1 * gauss()));
        end_step(4, i);
    }
}

/* The same line.  What the messages through the link in the middle take differs widely, wanders from step to
 * step, and was longer in the first steps; those beside it stay far below what shows anything.  From step
 * SLOW on they take `times` as long. */
static void run_varied(uint32_t steps, double times)
{
    double wander = 0;

    start(4);
    for (uint32_t i = 0; i < steps; i++) {
        wander = 0.8 * wander + 0.3 * gauss();
        for (uint32_t a = 0; a < 3; a++)
            for (uint32_t t = 0; t < 8; t++)
                pair(a, a + 1, i * 8 + t, 0.3 * i + 0.02 * (a + 3 * t) / 2,
                     a != 1 ? 0.04e-3 * exp(0.3 * gauss())
                            : 0.15e-3 * exp(wander + gauss()) * (i < 16 ? 3 : 1) * (i >= SLOW ? times : 1));
        end_step(4, i);
    }
}

/* Which of the rails of all nodes are slow from step SLOW on, and how slow: a rail's ranks, one of each node,
 * reduce their own part. */
#define RAILS 4u
struct rails {
    uint32_t slow; /* of them, from number 2 on */
    double times;  /* as long, from step SLOW on */
    double noise;
    uint8_t op; /* of rail 2; RING_OP_NONE: as the others */
};

static void run_rails(const struct rails *k)
{
    start(NODES * RAILS);
    for (uint32_t r = 0; r < NODES * RAILS; r++)
        graph_rank(g, r, r / RAILS);
    for (uint32_t i = 0; i < STEPS; i++) {
        double common = exp(k->noise * gauss());

        for (uint32_t rail = 0; rail < RAILS; rail++) {
            bool slow = i >= SLOW && (rail + RAILS - 2) % RAILS < k->slow;
            double at_s = 5 + i + 0.1 * rail, times = slow ? k->times : 1;
            double takes_s = 0.02 * common * exp(k->noise * gauss()) * times;

            for (uint32_t node = 0; node < NODES; node++)
                graph_call(g,
                           &(struct call){ .rank = node * RAILS + rail,
                                           .op = rail == 2 && k->op ? k->op : RING_OP_ALLREDUCE,
                                           .comm = 2000 + rail,
                                           .seq = i,
                                           .bytes = 1 << 20,
                                           .enter_ns = (uint64_t)(at_s * 1e9),
                                           .leave_ns = (uint64_t)((at_s + takes_s) * 1e9) },
                           2000 + rail);
        }
        end_step(NODES * RAILS, i);
    }
}

static void rails(void)
{
    static const struct {
        struct rails k;
        bool of_comm, of_all;
        const char *what;
    } cases[] = {
        { { 1, 3, 0.05, 0 }, true, false, "one slow communicator of four between the same nodes is named" },
        { { 1, 1.8, 0.05, 0 }, true, false, "one at about half of its rate is, too" },
        { { RAILS, 3, 0.05, 0 }, false, true, "where all of them are slow, all are named" },
        { { 1, 3, 0.05, RING_OP_ALLTOALLV },
          false,
          true,
          "one that does something else than the others is not: no other shows what is usual" },
        { { 1, 1.05, 0.05, 0 }, false, false, "one that is hardly slower is not" },
        { { 0, 1, 0.2, 0 }, false, false, "noise of all together is no slow communicator" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t of_comm = 0, of_all = 0;

        for (seed = 1; seed <= 10; seed++) {
            const struct links_slow *s;

            run_rails(&cases[i].k);
            s = links_get(l);
            of_comm += s->standing && s->of_comm && s->comm == 2002 && s->nodes == 0;
            of_all += s->standing && !s->of_comm && s->nodes == 0;
            stop();
        }
        ok(of_comm == 10 * cases[i].of_comm && of_all == 10 * cases[i].of_all, "%s\n%u, of all %u of 10",
           cases[i].what, of_comm, of_all);
    }
    run_rails(&cases[0].k);
    for (uint32_t k = 0; k < graph_kinds(g); k++)
        ok(links_has(links_get(l), graph_kind_get(g, k)) == (graph_kind_get(g, k)->comm == 2002),
           "only its own collectives go through it");
    stop();
    run_rails(&(struct rails){ RAILS - 1, 3, 0.05, 0 });
    ok(links_get(l)->standing && !links_get(l)->of_comm, "three slow ones of four are no single one");
    stop();
    seed = 3;
}

/* Three pipelines of two stages, each stage on a node: messages in each, and each stage's nodes reduce.  From
 * step SLOW on messages of the first pipeline take `messages` times as long, collectives of the stages 0 and
 * 1 `first` and `second` times. */
static void run_pipelines(double messages, double first, double second)
{
    start(6);
    for (uint32_t i = 0; i < STEPS; i++) {
        double slow = i >= SLOW ? 1 : 0;

        for (uint32_t k = 0; k < 3; k++)
            for (uint32_t t = 0; t < 8; t++)
                pair(2 * k, 2 * k + 1, i * 8 + t, i + 0.05 * t,
                     0.002 * (1 + 0.05 * gauss()) * (k || !slow ? 1 : messages));
        for (uint32_t stage = 0; stage < 2; stage++) {
            double at_s = 5 + i + 0.6, times = !slow ? 1 : stage ? second : first;
            double takes_s = 0.005 * (1 + 0.05 * gauss()) * times;

            for (uint32_t k = 0; k < 3; k++)
                graph_call(g,
                           &(struct call){ .rank = 2 * k + stage,
                                           .op = RING_OP_ALLREDUCE,
                                           .comm = 3000 + stage,
                                           .seq = i,
                                           .bytes = 1 << 20,
                                           .enter_ns = (uint64_t)(at_s * 1e9),
                                           .leave_ns = (uint64_t)((at_s + takes_s) * 1e9) },
                           3000 + stage);
        }
        end_step(6, i);
    }
}

static bool is_named(uint32_t nodes, uint32_t a, uint32_t b)
{
    const struct links_slow *s = links_get(l);

    return s->standing && s->nodes == nodes && s->node[0] == a && s->node[1] == b;
}

static void lines(void)
{
    uint32_t named = 0, times;

    all_slow = UINT32_MAX;
    for (seed = 1; seed <= 20; seed++) {
        run_line(0.7, STEPS, STEPS, UINT32_MAX);
        named += is_named(2, 1, 2);
        stop();
    }
    ok(named >= 19,
       "a slow link in a line of nodes is named, though a collective of all does not show it\n%u of 20",
       named);
    seed = 3;
    run_line(0.2, SLOW + 8, SLOW, UINT32_MAX);
    ok(is_named(1, 2, 0), "the node both of whose links are slow is named");
    stop();
    run_line(0.2, STEPS + 20, SLOW + 8, UINT32_MAX);
    ok(is_named(1, 2, 0), "the node is named instead of its link when its other link becomes slow, too");
    stop();
    for (seed = 1, named = 0; seed <= 20; seed++) {
        run_line(0.2, STEPS + 20, SLOW, SLOW + 8);
        named += is_named(2, 1, 2);
        stop();
    }
    ok(named >= 19,
       "the link is named instead of its node when the node's other link is fast again\n%u of 20", named);
    for (seed = 1, named = times = 0, all_slow = SLOW - 20; seed <= 20; seed++) {
        run_line(0.2, SLOW - 1, STEPS, UINT32_MAX);
        times += links_get(l)->standing && links_get(l)->collectives;
        stop();
        run_line(0.2, STEPS, STEPS, UINT32_MAX);
        named += is_named(2, 1, 2);
        stop();
    }
    all_slow = UINT32_MAX;
    is_int(times, 20, "collectives that are slow while messages are as fast as before are named");
    ok(named >= 19, "a link whose messages become slow, too, is named instead of them\n%u of 20", named);
    for (seed = 1, times = 0; seed <= 20; seed++) {
        run_line(0.7, SLOW, SLOW, UINT32_MAX);
        times += links_get(l)->standing;
        stop();
    }
    is_int(times, 0, "noise of the transfers in a line of nodes is no slow place");
}

/* The ends of a pipeline have messages with one node only. */
static void pipelines(void)
{
    run_pipelines(10, 10, 1);
    ok(is_named(1, 0, 0), "the node at the end of a pipeline is named where its collectives are slow, too");
    stop();
    run_pipelines(10, 1, 10);
    ok(is_named(1, 1, 0), "so is the one at its other end");
    stop();
    run_pipelines(10, 1, 1);
    ok(is_named(2, 0, 1), "where no collective is slow, their link is");
    stop();
    run_pipelines(10, 10, 10);
    ok(is_named(2, 0, 1), "and where those of both stages are");
    stop();
}

/* Transfers of 5 us in steps of a second: three times as long is nothing. */
static void varied(void)
{
    uint32_t named = 0, right = 0, wrong = 0;

    for (seed = 1; seed <= 20; seed++) {
        run_varied(SLOW + 24, 20);
        named += is_named(2, 1, 2);
        right += links_get(l)->standing && llabs((long long)links_get(l)->from - (long long)(SLOW + 1)) <= 1;
        stop();
        run_varied(SLOW + 24, 1);
        wrong += links_get(l)->standing;
        stop();
    }
    ok(named >= 18, "a slow link whose messages differ widely is named, not a node\n%u of 20", named);
    ok(right >= 17, "since the step from which on it is slow\n%u of 20", right);
    is_int(wrong, 0, "as long as it is not slow nothing is named");
    seed = 3;
}

/* All transfers, `times` as long in the steps from `at` on, so many of them; then another such stretch.  Runs
 * `until` a step. */
struct stretch {
    uint32_t at, steps;
    double times;
};

static void run_stretches(const struct stretch two[2], uint32_t until)
{
    start(NODES);
    for (uint32_t i = 0; i < until; i++) {
        double times = 1;

        for (uint32_t k = 0; k < 2; k++)
            times *= i >= two[k].at && i < two[k].at + two[k].steps ? two[k].times : 1;
        for (uint32_t a = 0; a < NODES; a++)
            for (uint32_t b = a + 1; b < NODES; b++)
                for (uint32_t t = 0; t < 4; t++)
                    pair(a, b, i * 4 + t, i + 0.1 * t + 0.02 * (a + b), 0.005 * (1 + 0.03 * gauss()) * times);
        end_step(NODES, i);
    }
}

/* Transfers that are slow for some steps only. */
static void stretches(void)
{
    static const struct {
        struct stretch two[2];
        uint32_t until, from; /* the first slow step */
        const char *what;
    } cases[] = {
        { { { 90, 4, 6 } }, 94, 90, "four slow steps" },
        { { { 2, 1, 0.01 }, { 90, 4, 1.6 } }, 94, 90, "four slow steps long after one that was very fast" },
        { { { 40, 4, 8 }, { 70, 3, 1.8 } },
          73,
          70,
          "three steps that are slow after four that were far slower" },
        { { { 80, 2, 1.4 }, { 86, 4, 8 } },
          90,
          86,
          "four slow steps soon after two that were a little slow" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t named = 0;

        for (seed = 1; seed <= 10; seed++) {
            run_stretches(cases[i].two, cases[i].until);
            named += is_named(0, 0, 0) && links_get(l)->from == cases[i].from + 1;
            stop();
        }
        is_int(named, 10, "%s are named, since the first of them", cases[i].what);
    }
    seed = 3;
}

/* Just before all transfers become slow there are collectives that nobody had to wait for before. */
static void newcomers(void)
{
    uint32_t named = 0;

    for (seed = 1; seed <= 10; seed++) {
        start(NODES);
        for (uint32_t i = 0; i < STEPS; i++) {
            for (uint32_t a = 0; a < NODES; a++)
                for (uint32_t b = a + 1; b < NODES; b++)
                    pair(a, b, i, i + 0.02 * (a + b), 0.0005 * (1 + 0.1 * gauss()) * (i >= SLOW ? 30 : 1));
            for (uint32_t t = 0; t < 8 && i >= SLOW - 2; t++)
                collective_of_all(NODES, (i - SLOW + 2) * 8 + t, i + 0.2 + 0.08 * t,
                                  0.05 * (1 + 0.005 * gauss()));
            end_step(NODES, i);
        }
        named += is_named(0, 0, 0) && links_get(l)->from == SLOW + 1;
        stop();
    }
    is_int(named, 10, "what is new when transfers become slow does not show that others are fast");
    seed = 3;
}

static void tiny(void)
{

    g = graph_new();
    l = links_new();
    for (uint32_t r = 0; r < NODES; r++)
        graph_rank(g, r, r);
    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t t = 0; t < 4; t++)
            pair(0, 1, i * 4 + t, i + 0.1 * t, 5e-6 * (1 + 0.05 * gauss()) * (i >= SLOW ? 3 : 1));
        collective_of_all(NODES, i, i + 0.9, 1e-3);
        end_step(NODES, i);
    }
    ok(!links_get(l)->standing, "a link is not named for transfers that take a millionth of a step");
    stop();
}

/* All pairs meet once a step for 5 ms; in one step of so many those of nodes 0 and 1 take three times as
 * long.
 */
static void run_outliers(uint32_t every)
{
    start(NODES);
    for (uint32_t i = 0; i < 4 * STEPS; i++) {
        for (uint32_t a = 0; a < NODES; a++)
            for (uint32_t b = a + 1; b < NODES; b++)
                pair(a, b, i, i + 0.02 * (a + b),
                     0.005 * (1 + 0.02 * gauss()) * (a + b == 1 && i % every == every - 1 ? 3 : 1));
        end_step(NODES, i);
    }
}

static void message(uint32_t seq, double sent_s, double waited_from_s, double left_s)
{
    for (uint32_t i = 0; i < 2; i++)
        graph_call(g,
                   &(struct call){ .rank = i,
                                   .op = i ? RING_OP_RECV : RING_OP_SEND,
                                   .comm = 7,
                                   .seq = seq,
                                   .peer = 1 - i,
                                   .bytes = 1 << 20,
                                   .enter_ns = (uint64_t)((5 + (i ? waited_from_s : sent_s)) * 1e9),
                                   .leave_ns = (uint64_t)((5 + (i ? left_s : sent_s + 1e-6)) * 1e9) },
                   7);
}

/* In each step a node gets a message from another, and works for 20 ms before it takes it: there it is, after
 * 19 ms.  One of `every` is not there before 40 ms; no other is waited for. */
static void run_hidden(uint32_t every)
{
    start(NODES);
    for (uint32_t i = 0; i < 4 * STEPS; i++) {
        double sent_s = i + 0.1, taken_s = sent_s + 0.020 * (1 + 0.01 * gauss());

        message(i, sent_s, taken_s, i % every == every - 1 ? sent_s + 0.040 : taken_s + 2e-6);
        collective_of_all(NODES, i, i + 0.3, 1e-3 * (1 + 0.02 * gauss()));
        end_step(NODES, i);
    }
}

static void outliers(void)
{
    static const uint32_t every[] = { 12, 30, 60 };

    for (size_t i = 0; i < ARRAY_SIZE(every); i++) {
        run_outliers(every[i]);
        ok(!links_get(l)->standing && !links_get(l)->from,
           "a link is not named that is slow for one step of %u", every[i]);
        stop();
        run_hidden(every[i]);
        ok(!links_get(l)->standing && !links_get(l)->from,
           "nor one of whose messages one of %u is waited for, and the others are there", every[i]);
        stop();
    }
}

int main(void)
{
    static const double noise[] = { 0.01, 0.15 };
    uint32_t named = 0;

    for (size_t i = 0; i < ARRAY_SIZE(noise); i++) {
        double limit;

        run(1, noise[i], 0, 0);
        limit = links_limit(l, 1);
        ok(limit > 0.1 && limit < 1, "noise of %.2f: a node's limit is between 0.1 and 1\n%.3f", noise[i],
           limit);
        ok(links_limit(l, 0) <= limit && links_limit(l, 2) >= limit,
           "that of all is not above, that of a link not below\n%.3f, %.3f", links_limit(l, 0),
           links_limit(l, 2));
        ok(!links_get(l)->standing, "noise alone is no slow place");
        stop();
        run(1, noise[i], 0, 1.4 * limit);
        ok(links_get(l)->standing && links_get(l)->nodes == 1 && links_get(l)->node[0] == 1,
           "node 1 is named when its transfers are slower by 1.4 times the limit");
        stop();
        run(1, noise[i], 0, 0.5 * limit);
        ok(!links_get(l)->standing, "nothing is named when they are slower by half of it");
        stop();
    }
    for (seed = 1; seed <= 40; seed++) {
        run(4, 0.02, 0.4, 0);
        named += links_get(l)->standing;
        stop();
    }
    ok(named <= 2,
       "where all transfers of a step vary together as they did before, a place is seldom named\n%u of 40",
       named);
    run(4, 0.02, 0.1, 1);
    ok(links_get(l)->standing && links_get(l)->nodes == 1 && links_get(l)->node[0] == 1,
       "node 1 is named when its transfers take twice as long, far more than all vary by");
    stop();
    lines();
    pipelines();
    tiny();
    varied();
    outliers();
    rails();
    stretches();
    newcomers();
    g = graph_new();
    l = links_new();
    ok(isnan(links_limit(l, 0)), "before any transfer the limit is unknown");
    stop();
    return done_testing();
}
