/* Other ways to run a job: what ranks wait by other rules against what is computed by hand and published,
 * what a collective moves when ranks share nodes, and strategies against the job they were made of. */
#include "model/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "model/allreduce_traffic.h"
#include "model/staleness.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS 32u
#define STEPS 4000u

static double scratch[WAITING_SCRATCH * RANKS];

/* ---- waiting ---- */

/* Rank 0 takes twice as long, the others 1 s. */
static void slow_rank(void *arg, size_t step, double *own_s)
{
    (void)arg;
    (void)step;
    for (uint32_t i = 0; i < 4; i++)
        own_s[i] = i ? 1 : 2;
}

/* Everybody is late in turn, by a second in four. */
static void in_turn(void *arg, size_t step, double *own_s)
{
    (void)arg;
    for (uint32_t i = 0; i < 4; i++)
        own_s[i] = step % 4 == i ? 2 : 1;
}

static float drawn[STEPS][RANKS];

static void of_drawn(void *arg, size_t step, double *own_s)
{
    (void)arg;
    for (uint32_t i = 0; i < RANKS; i++)
        own_s[i] = drawn[step][i];
}

static void test_lasting(void)
{
    uint32_t node[] = { 0, 0, 1, 1 };
    struct waiting_input in = { .ranks = 4, .nodes = 2, .node = node, .steps = 64, .work = slow_rank };
    struct waiting w;

    ok(waiting_replay(&in, scratch, &w) && near(w.all_s, 0.75, 1e-9), "ranks wait 0.75 s for the last one");
    for (int b = 0; b < WAITING_BOUNDS; b++)
        ok(near(w.bounded[b].value, 1, 1e-9), "a rank that is always slow is waited for with a bound of %u",
           waiting_bounds[b]);
    ok(near(w.local[2].value, 1, 1e-9), "a rank that is always slow is waited for with 8 local steps");
    ok(w.slow_rank == 0 && w.slow_node == 0 && w.no_rank.value < 0.1 && w.no_node.value < 0.1,
       "the slow rank is 0 on node 0, and without it hardly any waiting is left");
    ok(near(w.lasting, 0.6, 1e-9), "the lasting excess of the slow rank is 0.6 of the mean");
    ok(near(waiting_alone_s(&in, scratch, 0), 4 / 3.5, 1e-9),
       "ranks that do not wait complete 3.5 steps per second");
    ok(near(waiting_local(&w, 1.25, 1000).value, 1, 1e-9),
       "local steps do not help against a rank that is always slow");
    in.steps = WAITING_STEPS_MIN - 1;
    ok(!waiting_replay(&in, scratch, &w), "a replay of too few steps is rejected");
}

static void test_in_turn(void)
{
    struct waiting_input in = { .ranks = 4, .steps = 400, .work = in_turn };
    struct waiting w;

    waiting_replay(&in, scratch, &w);
    ok(near(w.local[1].value, 0, 1e-9) && near(w.local[3].value, 0, 1e-9),
       "with 4 or 16 local steps nobody waits for ranks that are late in turn");
    ok(w.bounded[2].value < 0.02 && w.bounded[0].value < 1, "a bound of 4 absorbs it\n%.3f",
       w.bounded[2].value);
    in.exchange_s = 0.5;
    waiting_replay(&in, scratch, &w);
    ok(w.exposed_s[2] < 0.01, "bounded staleness hides an exchange of 0.5 s");
    in.exchange_s = 3;
    waiting_replay(&in, scratch, &w);
    ok(near(1.25 + w.bounded[2].value * w.all_s + w.exposed_s[2], 3, 0.01),
       "an exchange of 3 s determines the step");
}

/* MODELS of the stale synchronous rule: cv 0.3, 64 ranks: 1.93, 1.22, 1.11, 1.06 times the mean work; 32
 * here, against a recurrence of its own (model/staleness.h). */
static double draw_again(void *arg, size_t rank, size_t step)
{
    (void)arg;
    return drawn[step % STEPS][rank];
}

static void test_drawn(void)
{
    struct waiting_input in = { .ranks = RANKS, .steps = STEPS, .work = of_drawn };
    double finish[RANKS], gate[5];
    struct waiting w;

    random_state = 11;
    for (uint32_t k = 0; k < STEPS; k++)
        for (uint32_t i = 0; i < RANKS; i++)
            drawn[k][i] = (float)fmax(0, 1 + 0.3 * gauss());
    waiting_replay(&in, scratch, &w);
    for (int b = 0; b < WAITING_BOUNDS; b++) {
        double ratio =
            staleness_step_ratio(RANKS, waiting_bounds[b], STEPS / 2, draw_again, NULL, finish, gate);

        ok(near(1 + w.bounded[b].value * w.all_s, ratio, 0.01),
           "bound %u: a step is as long as by the other way\n%.3f, %.3f", waiting_bounds[b],
           1 + w.bounded[b].value * w.all_s, ratio);
    }
    ok(near(w.local[2].value, 1 / sqrt(8), 0.05), "noise averages out over 8 steps\n%.3f", w.local[2].value);
    ok(fabs(w.bounded[0].error) < 0.05 && w.no_rank.value > 0.95,
       "replacing a rank does not help against independent noise");
}

/* ---- traffic of an all-reduce ---- */

static void test_allreduce_traffic(void)
{
    uint32_t apart[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, beside[8] = { 0, 0, 0, 0, 1, 1, 1, 1 },
             dealt[8] = { 0, 1, 0, 1, 0, 1, 0, 1 };
    struct allreduce_place p = { 8, 8, apart };
    struct allreduce_traffic c = allreduce_traffic(ALLREDUCE_RING, &p, 1, scratch);

    ok(c.hops == 14 && near(c.bytes, 1.75, 1e-9), "a ring of 8: 14 hops, 7/4 of the vector");
    c = allreduce_traffic(ALLREDUCE_HALVING, &p, 1, scratch);
    ok(c.hops == 6 && near(c.bytes, 1.75, 1e-9), "halving: 6 hops, 7/4 of the vector");
    c = allreduce_traffic(ALLREDUCE_TREE, &p, 1, scratch);
    ok(c.hops == 6 && near(c.bytes, 6, 1e-9), "a tree: 6 hops, the whole vector at each");
    p = (struct allreduce_place){ 8, 2, beside };
    c = allreduce_traffic(ALLREDUCE_RING, &p, 1, scratch);
    ok(near(c.bytes, 1.75, 1e-9), "a ring on two nodes sends 7/4 of the vector over each link");
    c = allreduce_traffic(ALLREDUCE_HALVING, &p, 1, scratch);
    ok(near(c.bytes, 2 * 4 / 8.0, 1e-9) && near(c.inner_bytes, 1.5, 1e-9),
       "halving, nearest first: four eighths of the vector leave a node, twice");
    c = allreduce_traffic(ALLREDUCE_TREE, &p, 1, scratch);
    ok(c.hops == 2 && c.bytes == 2 && c.inner_hops == 4, "a tree on two nodes has one level between them");
    c = allreduce_traffic(ALLREDUCE_SERVER, &p, 2, scratch);
    ok(near(c.bytes, 4, 1e-9),
       "two servers: four ranks send half of the vector to the other node, and receive it back");
    p.node = dealt;
    c = allreduce_traffic(ALLREDUCE_RING, &p, 1, scratch);
    ok(near(c.bytes, 4 * 1.75, 1e-9), "a ring over ranks placed round-robin sends four times the bytes");
}

/* ---- strategies ---- */

static const struct strategy *find(const struct strategies *s, enum strategy_kind kind)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].kind == kind)
            return &s->list[i];
    return NULL;
}

static void test_measured(void)
{
    struct traffic_link link = {
        .op = COLLECTIVE_ALLREDUCE, .ranks = RANKS, .grows = true, .per_step = 1, .bytes = 1e8, .time_s = 0.4
    };
    struct traffic_wire wire = { .algorithm = TRAFFIC_RING, .fixed_s = { 0.0062 } };
    struct strategy_input in = { .ranks = { .ranks = RANKS, .steps = 256, .work = of_drawn },
                                 .ranks_per_node = NAN,
                                 .step_s = 2,
                                 .compute_s = 1,
                                 .waiting_s = 0.6,
                                 .link = &link,
                                 .n_links = 1,
                                 .wire = &wire,
                                 .n_wires = 1,
                                 .shards = RANKS,
                                 .every = 8,
                                 .staleness_penalty = NAN,
                                 .local_penalty = NAN,
                                 .async_growth = NAN };
    struct strategies s;
    const struct strategy *k;

    ok(strategy_rank(&in, scratch, &s), "a measured job is ranked");
    k = find(&s, STRATEGY_NOW);
    ok(k && k->ratio.p5 == 1 && k->ratio.p95 == 1, "the present strategy is listed with ratio 1");
    k = find(&s, STRATEGY_RING);
    ok(k && near(k->ratio.p50, 1, 1e-3), "the algorithm in use has ratio 1");
    k = find(&s, STRATEGY_TREE);
    /* 10 hops of 100 us, and ten times the vector instead of 62/32 of it: 0.3938 s * 10 / (62 / 32) */
    ok(k && near(k->exchange_s, 10 * 1e-4 + 0.3938 * 320 / 62, 0.01),
       "a tree exchanges in the time computed by hand\n%.3f s", k ? k->exchange_s : NAN);
    k = find(&s, STRATEGY_STALENESS);
    ok(k && isnan(k->growth) && k->ratio.p50 > 1.5, "bounded staleness without a penalty has unknown growth");
    ok(!find(&s, STRATEGY_HIERARCHICAL) && !find(&s, STRATEGY_ORDER) && !find(&s, STRATEGY_MERGED),
       "strategies that need nodes or several exchanges are not listed without them");
    ok(!isnan(s.list[0].growth) && isnan(s.list[s.n - 1].growth), "strategies of unknown growth come last");
    in.staleness_penalty = 0.001;
    in.async_growth = 10;
    strategy_rank(&in, scratch, &s);
    ok(s.list[0].kind == STRATEGY_STALENESS, "bounded staleness with a small penalty is the best");
    k = find(&s, STRATEGY_ASYNCHRONOUS);
    ok(k && near(strategy_time_s(k), 10 * k->step_s.p50, 1e-9) && k->growth == 10,
       "growth by 10 gives 10 times the time");
    ok(k && !k->assumed && !strstr(k->name, "assumed"), "a given number of servers is not marked as assumed");
    in.shards_assumed = in.every_assumed = true;
    strategy_rank(&in, scratch, &s);
    k = find(&s, STRATEGY_ASYNCHRONOUS);
    ok(k && k->assumed && strstr(k->name, " (assumed)"),
       "a default number of servers is marked as assumed: %s", k ? k->name : "");
    k = find(&s, STRATEGY_LOCAL);
    ok(k && k->assumed && !strcmp(k->name, "local SGD, K = 8 (assumed)"),
       "a default number of local steps is marked as assumed: %s", k ? k->name : "");
    in.local_penalty = 0.01;
    strategy_rank(&in, scratch, &s);
    k = find(&s, STRATEGY_LOCAL);
    ok(k && !k->assumed, "a number of local steps from a given penalty is not marked as assumed");
    in.n_wires = 0;
    ok(!strategy_rank(&in, scratch, &s), "without traffic and network nothing is ranked");
}

int main(void)
{
    test_lasting();
    test_in_turn();
    test_drawn();
    test_allreduce_traffic();
    test_measured();
    return done_testing();
}
