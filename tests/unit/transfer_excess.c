/* How much longer transfers take since a step: two ranks that send each other messages, by hand. */
#include "calls/transfer_excess.h"

#include <math.h>

#include "calls/starvation.h"
#include "ring/ring.h"
#include "tests/random.h"
#include "tests/tap.h"

#define STEPS    60u
#define ONSET    40u  /* the first step in which they take longer */
#define MESSAGES 160u /* a step, in each direction */

/* Most messages are fast, some are slow, from the onset on as `since`. */
struct times {
    double fast_s, slow_s, slow_share;
};

static struct graph *g;
static uint32_t paused_at = STEPS; /* step */

static void call(uint8_t op, uint32_t rank, uint32_t peer, uint32_t seq, double enter_s, double leave_s)
{
    graph_call(g,
               &(struct call){ .rank = rank,
                               .op = op,
                               .comm = 1,
                               .seq = seq,
                               .peer = peer,
                               .bytes = 50000,
                               .enter_ns = (uint64_t)((5 + enter_s) * 1e9),
                               .leave_ns = (uint64_t)((5 + leave_s) * 1e9) },
               1);
}

/* In each step ranks 0 and 1 send each other messages in turn; those to rank 1 are other ones from the onset
 * on. */
static void run(const struct times *before, const struct times *since, uint32_t onset)
{
    double now_s = 0;

    g = graph_new();
    for (uint32_t r = 0; r < 2; r++)
        graph_rank(g, r, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t m = 0; m < 2 * MESSAGES; m++) {
            uint32_t to = m % 2;
            const struct times *t = to && i >= onset ? since : before;
            double took_s = i == paused_at && m == 1 ? 1 : uniform() < t->slow_share ? t->slow_s : t->fast_s;

            call(RING_OP_SEND, !to, to, i * MESSAGES + m / 2, now_s, now_s + 1e-6);
            call(RING_OP_RECV, to, !to, i * MESSAGES + m / 2, now_s, now_s + took_s);
            now_s += took_s + 1e-4;
        }
        for (uint32_t r = 0; r < 2; r++)
            graph_step_end(g, r, i + 1);
    }
    graph_finish(g);
}

static uint32_t by_receiver(const struct graph_kind_info *k, void *arg)
{
    (void)arg;
    return k->to;
}

/* Excess of the messages to a rank from the onset on, as it is known after all steps. */
static double excess_to(uint32_t rank, uint32_t onset)
{
    struct transfer_excess *l = transfer_excess_new();
    double excess;

    transfer_excess_update(l, g, onset + 1, STEPS, by_receiver, NULL, NULL);
    excess = transfer_excess_of_way(l, rank);
    transfer_excess_free(l);
    return excess;
}

static void tails(void)
{
    static const struct times before = { 3e-5, 2e-3, 0.25 };
    static const struct {
        const char *name;
        struct times since;
        double excess;
    } cases[] = {
        { "ten times slower, but for the slow ones that take most of the time", { 3e-4, 1.19e-3, 0.25 }, 0 },
        { "as fast, but for the slow ones, which take three times as long", { 3e-5, 6e-3, 0.25 }, 1.91 },
        { "as fast, but for the slow ones, which are twice as many", { 3e-5, 2e-3, 0.5 }, 0.94 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        double excess;

        random_state = i + 1;
        run(&before, &cases[i].since, ONSET);
        excess = excess_to(1, ONSET);
        ok(fabs(excess - cases[i].excess) < 0.25,
           "messages that are %s: as much longer as expected\n%.2f, %.2f expected", cases[i].name, excess,
           cases[i].excess);
        is_near(excess_to(0, ONSET), 0, 0, "those of the other direction are as before");
        graph_free(g);
    }
}

static void noise(void)
{
    static const struct times same = { 3e-5, 2e-3, 0.25 };
    static const uint32_t onset[] = { 5, ONSET };

    for (size_t i = 0; i < ARRAY_SIZE(onset); i++) {
        uint32_t seeds = tried_of(100), found = 0;

        for (uint64_t seed = 1; seed <= seeds; seed++) {
            random_state = seed;
            run(&same, &same, onset[i]);
            found += excess_to(1, onset[i]) > 0;
            graph_free(g);
        }
        ok(found <= 1, "with %u steps before, chance alone is seldom taken for longer transfers", onset[i]);
        printf("# %u of %u\n", found, seeds);
    }
}

/* One step before the onset in which a message takes a second. */
static void pause_before(void)
{
    static const struct times before = { 1e-3, 1e-3, 0 }, since = { 3e-3, 3e-3, 0 };
    double excess;

    paused_at = 3;
    run(&before, &since, ONSET);
    paused_at = STEPS;
    excess = excess_to(1, ONSET);
    ok(fabs(excess - 2) < 0.1, "a pause before hides no transfers that take three times as long\n%.2f longer",
       excess);
    graph_free(g);
}

static void too_early(void)
{
    static const struct times before = { 1e-4, 1e-4, 0 }, since = { 1e-3, 1e-3, 0 };

    run(&before, &since, 2);
    is_near(excess_to(1, 2), 0, 0, "of two steps before too little is known");
    graph_free(g);
}

/* The same of a straggler: what it receives takes longer, what it sends does not. */
static void straggler(void)
{
    static const struct times before = { 3e-5, 2e-3, 0.25 }, since = { 3e-5, 6e-3, 0.25 };
    struct straggler slow = { .id = 7, .scope = SCOPE_NODE, .place = 1, .onset = ONSET };
    struct starvation *s = starvation_new();
    struct work *w = work_new();
    uint32_t to_it = 0, from_it = 0;

    for (uint32_t r = 0; r < 2; r++)
        work_place(w, r, r, 0);
    random_state = 9;
    run(&before, &since, ONSET);
    for (uint32_t k = 0; k < graph_kinds(g); k++)
        *(graph_kind_get(g, k)->to == 1 ? &to_it : &from_it) = k;
    starvation_update(s, g, w, &slow, ONSET + 1, STEPS, NULL);
    ok(starvation_has(s, 7), "a node is starved that takes longer for what it receives since it is slow");
    ok(fabs(starvation_excess(s, 7, to_it) - 1.91) < 0.25, "its messages take 1.91 longer\n%.2f",
       starvation_excess(s, 7, to_it));
    is_near(starvation_excess(s, 7, from_it), 0, 0, "what it sends does not");
    slow.place = 0;
    starvation_update(s, g, w, &slow, ONSET + 1, STEPS, NULL);
    ok(fabs(starvation_excess(s, 7, to_it) - 1.91) < 0.25 && starvation_excess(s, 7, from_it) <= 0,
       "seen at the other node, the same messages are those that it sends");
    starvation_keep(s, NULL, 0);
    ok(!starvation_has(s, 7), "a straggler that is over is forgotten");
    starvation_free(s);
    work_free(w);
    graph_free(g);
}

/* Rank 0, alone on its node, exchanges messages with ranks 1 to `partners`, each on its own; from the onset
 * on, those with ranks up to `slow` take three times as long. */
static void run_star(uint32_t partners, uint32_t slow)
{
    double now_s = 0;

    g = graph_new();
    for (uint32_t r = 0; r <= partners; r++)
        graph_rank(g, r, r);
    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t m = 0; m < 20 * partners; m++) {
            uint32_t peer = 1 + m / 2 % partners, from = m % 2 ? peer : 0, to = m % 2 ? 0 : peer,
                     seq = i * 10 + m / 2 / partners;
            double took_s = 1e-3 * (1 + 0.1 * uniform()) * (i >= ONSET && peer <= slow ? 3 : 1);

            call(RING_OP_SEND, from, to, seq, now_s, now_s + 1e-6);
            call(RING_OP_RECV, to, from, seq, now_s, now_s + took_s);
            now_s += took_s + 1e-4;
        }
        for (uint32_t r = 0; r <= partners; r++)
            graph_step_end(g, r, i + 1);
    }
    graph_finish(g);
}

/* A straggler with a slow link: is it late itself, or is only the link slow? */
static void beside_link(void)
{
    static const struct {
        const char *name;
        uint32_t partners, slow;
        bool not_starved;
    } cases[] = {
        { "of two partners one is slow to reach: it is the link", 2, 1, true },
        { "both are: it may be the straggler", 2, 2, false },
        { "it has no other partner: it may be the straggler", 1, 1, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct straggler slow = { .id = 7, .scope = SCOPE_NODE, .place = 0, .onset = ONSET };
        struct links_slow link = {
            .standing = true, .nodes = 2, .node = { 0, 1 }, .from = ONSET + 1, .excess = 2
        };
        struct starvation *s = starvation_new();
        struct work *w = work_new();

        random_state = i + 1;
        run_star(cases[i].partners, cases[i].slow);
        for (uint32_t r = 0; r <= cases[i].partners; r++)
            work_place(w, r, r, 0);
        starvation_update(s, g, w, &slow, ONSET + 1, STEPS, NULL);
        ok(starvation_has(s, 7), "its messages take longer");
        is_int(starvation_refuted(s, g, w, &slow, ONSET + 1, STEPS, &link), cases[i].not_starved, "%s",
               cases[i].name);
        starvation_update(s, g, w, &slow, ONSET + 1, STEPS, &link);
        is_int(starvation_has(s, 7), cases[i].slow == 2,
               "without those of the link, messages take longer only where others do");
        starvation_free(s);
        work_free(w);
        graph_free(g);
    }
}

int main(void)
{
    tails();
    noise();
    pause_before();
    too_early();
    straggler();
    beside_link();
    return done_testing();
}
