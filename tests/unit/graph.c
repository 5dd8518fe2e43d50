/* The graph of calls: small programs by hand, replayed as they were and with something changed. */
#include "graph/graph_private.h"

#include <math.h>

#include "graph/clock.h"
#include "ring/ring.h"
#include "tests/graph_calls.h"
#include "tests/tap.h"

#define MS    1000000ull
#define STEPS 12u

static struct graph *two_ranks(void)
{
    struct graph *g = graph_new();

    graph_rank(g, 0, 0);
    graph_rank(g, 1, 1);
    return g;
}

/* Work of this rank is half of what it was. */
static double half_of_rank(const struct graph_op *op, const struct graph_step *s, void *arg)
{
    (void)s;
    return op->rank == *(const uint32_t *)arg ? op->work_s / 2 : op->work_s;
}

static double without(struct graph *g, uint32_t rank)
{
    struct graph_change half = { .work = half_of_rank, .arg = &rank };

    return graph_replay(g, GRAPH_STEPS, &half);
}

static void replay_both(struct graph *g)
{
    uint32_t rank = 1, n;
    struct graph_change half = { .work = half_of_rank, .arg = &rank };
    struct graph_ends ends[GRAPH_STEPS];

    n = graph_replay_both(g, GRAPH_STEPS, &half, ends);
    is_int(n, graph_steps(g), "two replays in one pass show where each step ends");
    ok(near(ends[0].was_s, 0.031, 1e-3) && near(ends[0].changed_s, 0.016, 1e-3),
       "the first step ends after 31 ms, with half the work of the slow rank after 16 ms: %g, %g",
       ends[0].was_s, ends[0].changed_s);
    ok(ends[n - 1].was_s == graph_replay(g, GRAPH_STEPS, NULL) && ends[n - 1].changed_s == without(g, 1),
       "two replays in one pass end as each does alone\n%g, %g", ends[n - 1].was_s, ends[n - 1].changed_s);
}

/* Rank 0 works 10 ms, rank 1 works 30 ms, then both meet for 1 ms. */
static void a_barrier(void)
{
    struct graph *g = two_ranks();
    double now_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        collective(g, 0, i, now_s + 0.010, now_s + 0.031);
        collective(g, 1, i, now_s + 0.030, now_s + 0.031);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
        now_s += 0.031;
    }
    graph_finish(g);
    is_int(graph_steps(g), STEPS - 1,
           "all steps but the first, whose beginning is not known, are remembered");
    ok(near(graph_replay(g, GRAPH_STEPS, NULL), (STEPS - 1) * 0.031, 1e-3),
       "a replay with nothing changed takes what the steps took\n%g", graph_replay(g, GRAPH_STEPS, NULL));
    ok(near(without(g, 1), (STEPS - 1) * 0.016, 1e-3),
       "with half the work of the slow rank a step takes 16 ms\n%g", without(g, 1));
    ok(near(without(g, 0), (STEPS - 1) * 0.031, 1e-3),
       "half the work of the rank that waits saves nothing\n%g", without(g, 0));
    replay_both(g);
    graph_free(g);
}

/* The same with a collective that is begun and then awaited: who is always last is never held for long. */
static void always_last(void)
{
    struct graph *g = two_ranks();
    double now_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t r = 0; r < 2; r++) {
            double begun_s = now_s + (r ? 0.030 : 0.010);
            struct call c = collective_call(r, i, begun_s + 1e-4, now_s + 0.031);

            c.flags = RING_EVENT_NONBLOCKING;
            c.begin_ns = clock_of(r, begun_s);
            graph_call(g, &c, c.comm);
            graph_step_end(g, r, i + 1);
        }
        now_s += 0.031;
    }
    graph_finish(g);
    ok(near(without(g, 1), (STEPS - 1) * 0.016, 1e-2),
       "who is last each time to begin a collective is aligned with the others by it: with half its work a step takes 16 ms\n%g",
       without(g, 1));
    graph_free(g);
}

static void a_late_rank(void)
{
    struct graph *g = two_ranks();

    for (uint32_t i = 0; i < STEPS; i++)
        for (uint32_t r = 0; r < 2; r++) {
            collective(g, r, i, i * 0.02 + 0.010, i * 0.02 + 0.020);
            graph_step_end(g, r, i + 1);
        }
    for (uint32_t r = 2; r < 100; r++)
        graph_rank(g, r, r % 2);
    ok(near(graph_replay(g, GRAPH_STEPS, NULL), (STEPS - 1) * 0.020, 1e-3),
       "ranks that came after the remembered steps have no part in their replay\n%g",
       graph_replay(g, GRAPH_STEPS, NULL));
    ok(graph_begin_s(g, 0, 0) > 0 && isnan(graph_begin_s(g, 0, 99)),
       "a rank without a part in a step does not begin it");
    is_int(graph_seat(g, 99, 0), GRAPH_NONE, "a rank that came after seats were known has none");
    graph_free(g);
}

/* A pipeline of two stages: rank 0 works 20 ms and sends, rank 1 receives after 2 ms and works 5 ms; both
 * meet at the end. */
static void a_pipeline(void)
{
    struct graph *g = two_ranks();
    const struct graph_kind_info *k = NULL;
    double now_s = 0, transfer_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        message(g, RING_OP_SEND, 0, 1, i, now_s + 0.020, now_s + 0.0201);
        message(g, RING_OP_RECV, 1, 0, i, now_s, now_s + 0.022);
        collective(g, 0, i, now_s + 0.0201, now_s + 0.028);
        collective(g, 1, i, now_s + 0.027, now_s + 0.028);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
        now_s += 0.028;
    }
    graph_finish(g);
    for (size_t i = 0; i < graph_step_get(g, 0).n; i++) {
        const struct graph_op *op = &graph_step_get(g, 0).op[i];

        if (graph_kind_get(g, graph_meeting_get(g, op->meeting)->kind)->message) {
            k = graph_kind_get(g, graph_meeting_get(g, op->meeting)->kind);
            transfer_s = graph_meeting_get(g, op->meeting)->transfer_s;
        }
    }
    ok(k && k->nodes == 2 && k->from == 0 && k->to == 1,
       "a message connects the nodes of its sender and its receiver");
    ok(near(transfer_s, 0.002, 0.02), "with aligned clocks a message took 2 ms\n%g", transfer_s);
    ok(near(without(g, 0), (STEPS - 1) * 0.018, 1e-3),
       "half the work of the first stage saves 10 ms a step\n%g", without(g, 0));
    ok(near(without(g, 1), (STEPS - 1) * 0.0255, 1e-3),
       "half the work of the second stage saves 2.5 ms a step\n%g", without(g, 1));
    graph_free(g);
}

struct watched {
    double enter_s, leave_s, begin_s, over_s;
    uint32_t held, arrived;
};

static void watch(const struct graph_op *op, const struct graph_step *s, const struct graph_stay *stay,
                  void *arg)
{
    struct watched *w = arg;

    (void)s;
    if (op->rank)
        return;
    w->held += (op->does & GRAPH_IS_HELD) != 0;
    w->arrived += isnan(stay->over_s);
    w->enter_s = stay->enter_s;
    w->leave_s = stay->leave_s;
    w->begin_s = stay->begin_s;
    w->over_s = stay->over_s;
}

/* Both begin a reduction after 10 ms and are held from 20 ms on; it takes from 12 ms, when the second begins
 * it, to 25 ms. */
static void stays(void)
{
    struct graph *g = two_ranks();
    struct watched w = { 0 };
    struct graph_change change = { .stay = watch, .arg = &w };
    double now_s = 0, before_s;

    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t r = 0; r < 2; r++) {
            struct call c = collective_call(r, i, now_s + 0.020, now_s + 0.025);

            c.comm = 7;
            c.bytes = 1 << 20;
            c.flags = RING_EVENT_NONBLOCKING;
            c.begin_ns = clock_of(r, now_s + 0.010 + 0.002 * r);
            graph_call(g, &c, c.comm);
        }
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
        now_s += 0.025;
    }
    graph_finish(g);
    before_s = graph_step_get(g, 0).begin_s;
    graph_replay(g, GRAPH_STEPS, &change);
    ok(w.held == STEPS - 1 && w.arrived == STEPS - 1, "each beginning and each completion is one stay");
    ok(near(w.enter_s - before_s, 0.020, 1e-2) && near(w.begin_s - before_s, 0.012, 1e-2) &&
           near(w.over_s - before_s, 0.025, 1e-2) && near(w.leave_s - before_s, 0.025, 1e-2),
       "of a stay it is known when the rank was held, and when the transfer was under way\n%g %g, %g %g",
       w.enter_s - before_s, w.leave_s - before_s, w.begin_s - before_s, w.over_s - before_s);
    ok(graph_kind_get(g, 0)->comm == 7 && graph_kind_get(g, 0)->op == RING_OP_ALLREDUCE &&
           graph_kind_get(g, 0)->bytes == 1 << 20,
       "a kind of transfers knows its communicator, operation and bytes");
    graph_free(g);
}

/* Rank 0 works, sends to rank 1, and works on; rank 1 works, receives and works on; both meet for 1 ms. */
static const struct sends {
    const char *name;
    double begun_s, enter_s, left_s;  /* begun: of a nonblocking one, 0: it blocks */
    double recv_s, received_s, met_s; /* met: rank 1 is the last to come */
    double transfer_s, half_s[2];     /* NaN: not known; of the step with half the work of each rank */
    double send_work_s;               /* rank 0's, after the message */
} sends_cases[] = {
    { "is completed later", 0.020, 0.024, 0.024, 0, 0.022, 0.027, 0.002, { 0.018, 0.0255 }, 0 },
    { "is copied, and on its way when it is completed",
      0.020,
      0.020,
      0.0201,
      0,
      0.025,
      0.030,
      0.005,
      { 0.021, 0.0285 },
      0.0029 },
    { "blocks until it is received", 0, 0.002, 0.0115, 0.010, 0.0115, 0.020, NAN, { 0.021, 0.01175 }, 0.001 },
};

static double transfer_of_message(const struct graph *g)
{
    struct graph_step s = graph_step_get(g, 0);

    for (size_t i = 0; i < s.n; i++) {
        const struct graph_meeting *m = graph_meeting_get(g, s.op[i].meeting);

        if (graph_kind_get(g, m->kind)->message)
            return m->transfer_s;
    }
    return NAN;
}

static void sends(const struct sends *c)
{
    struct graph *g = two_ranks();
    double now_s = 0, step_s = c->met_s + 0.001;

    for (uint32_t i = 0; i < STEPS; i++, now_s += step_s) {
        graph_call(g,
                   &(struct call){ .rank = 0,
                                   .op = RING_OP_SEND,
                                   .comm = 1,
                                   .seq = i,
                                   .peer = 1,
                                   .bytes = 1000,
                                   .flags = c->begun_s > 0 ? RING_EVENT_NONBLOCKING : 0,
                                   .begin_ns = c->begun_s > 0 ? clock_of(0, now_s + c->begun_s) : 0,
                                   .enter_ns = clock_of(0, now_s + c->enter_s),
                                   .leave_ns = clock_of(0, now_s + c->left_s) },
                   1);
        message(g, RING_OP_RECV, 1, 0, i, now_s + c->recv_s, now_s + c->received_s);
        collective(g, 0, i, now_s + c->left_s + c->send_work_s, now_s + step_s);
        collective(g, 1, i, now_s + c->met_s, now_s + step_s);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
    }
    graph_finish(g);
    if (!isnan(c->transfer_s))
        if (!isnan(c->transfer_s))
            ok(near(transfer_of_message(g), c->transfer_s, 1e-2),
               "a send that %s: its transfer takes %g s\n%g", c->name, c->transfer_s, transfer_of_message(g));
    ok(near(graph_replay(g, GRAPH_STEPS, NULL), (STEPS - 1) * step_s, 1e-3),
       "a send that %s: a replay takes what the steps took, %g s\n%g", c->name, (STEPS - 1) * step_s,
       graph_replay(g, GRAPH_STEPS, NULL));
    for (uint32_t r = 0; r < 2; r++)
        ok(near(without(g, r), (STEPS - 1) * c->half_s[r], 1e-2),
           "a send that %s: with half the work of rank %u the steps take %g s\n%g", c->name, r,
           (STEPS - 1) * c->half_s[r], without(g, r));
    graph_free(g);
}

/* Steps in which it is known how long some transfer took. */
static uint32_t steps_with_transfers(const struct graph *g)
{
    uint32_t known = 0;

    for (uint32_t back = 0; back < graph_steps(g); back++) {
        struct graph_step s = graph_step_get(g, back);
        bool any = false;

        for (size_t i = 0; i < s.n; i++)
            any = any || !isnan(graph_meeting_get(g, s.op[i].meeting)->transfer_s);
        known += any;
    }
    return known;
}

/* Both begin a reduction, work on for 20 ms and wait: it takes 10 ms, and nobody is held, but for the moment
 * that a call takes. */
static void overlap(void)
{
    struct graph *g = two_ranks();
    double now_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t r = 0; r < 2; r++) {
            struct call c = collective_call(r, i, now_s + 0.030, now_s + 0.030 + 12e-6);

            c.bytes = 1 << 20;
            c.flags = RING_EVENT_NONBLOCKING;
            c.begin_ns = clock_of(r, now_s + 0.010);
            graph_call(g, &c, c.comm);
        }
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
        now_s += 0.030;
    }
    graph_finish(g);
    ok(near(graph_replay(g, GRAPH_STEPS, NULL), (STEPS - 1) * 0.030, 1e-2),
       "a hidden reduction costs nothing\n%g", graph_replay(g, GRAPH_STEPS, NULL));
    is_int(steps_with_transfers(g), 0, "in no step, not in the first either, does it show what it took");
    graph_free(g);
}

static void clocks(void)
{
    struct graph_clock *c = graph_clock_new();
    double worst_s = 0;

    graph_clock_see(c, 0, clock_of(0, 0));
    graph_clock_see(c, 1, clock_of(1, 0));
    graph_clock_see(c, 2, 55);
    for (int i = 0; i < 40; i++) /* ends differ by up to 20 us from node to node */
        graph_clock_meet(c, 0, clock_of(0, i * 0.1 + (i * 7 % 5) * 4e-6), 1,
                         clock_of(1, i * 0.1 + (i * 3 % 5) * 4e-6));
    graph_clock_align(c, 3);
    for (int i = 0; i < 40; i++)
        worst_s = fmax(worst_s, fabs(graph_clock_s(c, 0, clock_of(0, i * 0.1)) -
                                     graph_clock_s(c, 1, clock_of(1, i * 0.1))));
    ok(worst_s < 2e-5, "two clocks that drift apart are aligned to 20 us by the ends of 40 collectives\n%g",
       worst_s);
    ok(graph_clock_comparable(c, 0, 1) && !graph_clock_comparable(c, 0, 2),
       "the clock of a node that met nobody is not comparable");
    graph_clock_free(c);
}

/* Messages take 200 us or more there and 300 us or more back; the second node leaves collectives `late_s`
 * later than the first. */
static double clocks_of_messages(bool collectives, double late_s)
{
    struct graph_clock *c = graph_clock_new();
    double worst_s = 0;

    for (uint32_t node = 0; node < 2; node++)
        graph_clock_see(c, node, clock_of(node, 0));
    for (int i = 1; i < 300; i++) {
        double now_s = i * 0.1;

        if (collectives)
            graph_clock_meet(c, 0, clock_of(0, now_s), 1, clock_of(1, now_s + late_s));
        graph_clock_message(c, 0, clock_of(0, now_s), 1, clock_of(1, now_s + 200e-6 + (i % 7) * 1e-3));
        graph_clock_message(c, 1, clock_of(1, now_s), 0, clock_of(0, now_s + 300e-6 + (i % 5) * 1e-3));
        graph_clock_align(c, 2);
        if (i > 20)
            worst_s = fmax(worst_s, fabs(graph_clock_s(c, 0, clock_of(0, now_s)) -
                                         graph_clock_s(c, 1, clock_of(1, now_s))));
    }
    graph_clock_free(c);
    return worst_s;
}

static void messages(void)
{
    ok(clocks_of_messages(false, 0) < 250e-6,
       "two clocks that drift apart are aligned by messages alone to half of what these take there and back\n%g",
       clocks_of_messages(false, 0));
    ok(clocks_of_messages(true, 0.010) < 250e-6,
       "collectives that end 10 ms later on one node, which messages contradict, align no clocks\n%g",
       clocks_of_messages(true, 0.010));
    ok(clocks_of_messages(true, 20e-6) < 25e-6,
       "where messages agree with them, collectives align the clocks\n%g", clocks_of_messages(true, 20e-6));
}

static void clocks_of_few_collectives(void)
{
    struct graph_clock *c = graph_clock_new();

    graph_clock_see(c, 0, clock_of(0, 0));
    graph_clock_see(c, 1, clock_of(1, 0));
    for (int i = 0; i < 2; i++)
        graph_clock_meet(c, 0, clock_of(0, i), 1, clock_of(1, i));
    graph_clock_align(c, 2);
    ok(isinf(graph_clock_error_s(c, 0, 1)), "two collectives do not show how exact they are");
    for (int i = 2; i < 6; i++)
        graph_clock_meet(c, 0, clock_of(0, i + i % 2 * 1e-6), 1, clock_of(1, i));
    graph_clock_align(c, 2);
    ok(near(graph_clock_s(c, 0, clock_of(0, 6)), graph_clock_s(c, 1, clock_of(1, 6)), 1e-6),
       "six collectives, a second apart, show a drift of 40 us a second\n%g",
       graph_clock_s(c, 0, clock_of(0, 6)) - graph_clock_s(c, 1, clock_of(1, 6)));
    ok(graph_clock_error_s(c, 0, 1) < 3e-6, "and the error is known\n%g", graph_clock_error_s(c, 0, 1));
    graph_clock_free(c);
}

/* Nodes in a line that exchange messages: 1 ms between nodes 0 and 1, 1 and 2, 20 us between nodes 2 and 3.
 */
static void clocks_in_a_line(void)
{
    struct graph_clock *c = graph_clock_new();

    for (int i = 0; i < 40; i++)
        for (uint32_t a = 0; a < 3; a++) {
            double takes_s = a < 2 ? 1e-3 : 20e-6;

            for (uint32_t k = 0; k < 2; k++) /* up, down */
                graph_clock_message(c, a + k, clock_of(a + k, i), a + !k, clock_of(a + !k, i + takes_s));
        }
    graph_clock_align(c, 4);
    ok(graph_clock_error_s(c, 2, 3) < 20e-6,
       "the error of two clocks is not that of the way to the first one, which they share\n%g",
       graph_clock_error_s(c, 2, 3));
    ok(graph_clock_error_s(c, 0, 3) > 2 * graph_clock_error_s(c, 0, 1), "errors of a line add up\n%g, %g",
       graph_clock_error_s(c, 0, 3), graph_clock_error_s(c, 0, 1));
    graph_clock_free(c);
}

/* Rank 0 sends at once, rank 1 works 10 ms and receives; a message takes 2 ms.  In each fifth step the
 * receiver comes first, so that it is seen what the message takes. */
static void protocols(bool waits)
{
    struct graph *g = two_ranks();
    double now_s = 0, longest_s = 0;
    uint32_t known = 0;

    for (uint32_t i = 0; i < 2 * STEPS; i++) {
        bool early = i % 5 == 0;
        double sent_s = now_s + (early ? 0.012 : 0.001),
               there_s = waits && !early ? now_s + 0.012 : sent_s + 0.002;

        message(g, RING_OP_SEND, 0, 1, i, sent_s, sent_s + 1e-6);
        message(g, RING_OP_RECV, 1, 0, i, now_s + 0.010, fmax(now_s + 0.010002, there_s));
        for (uint32_t r = 0; r < 2; r++)
            collective(g, r, i, now_s + 0.015 + 1e-3 * r, now_s + 0.017);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
        now_s += 0.017;
    }
    graph_finish(g);
    for (uint32_t back = 0; back < STEPS; back++) {
        struct graph_step s = graph_step_get(g, back);

        for (size_t i = 0; i < s.n; i++) {
            const struct graph_meeting *m = graph_meeting_get(g, s.op[i].meeting);

            if (!graph_kind_get(g, m->kind)->message || !s.op[i].first)
                continue;
            known += !isnan(m->transfer_s);
            longest_s = fmax(longest_s, m->transfer_s);
        }
    }
    ok(near(longest_s, 0.002, 0.05), "a message that %s is not taken for a slow one\n%g",
       waits ? "begins when its receiver comes" : "was there when its receiver came", longest_s);
    is_int(known, waits ? STEPS : STEPS / 5, "of so many it is known what they took");
    graph_free(g);
}

/* Two ranks wait for messages of each other, which take 0.5 ms in every tenth step and 1 ms otherwise: no
 * clock is more exact than they show. */
static void transfers_and_clocks(void)
{
    struct graph *g = two_ranks();
    uint32_t known = 0;
    double sum_s = 0;

    for (uint32_t i = 0; i < 40; i++) {
        double now_s = 0.02 * i, takes_s = i % 10 ? 0.001 : 0.0005;

        for (uint32_t from = 0; from < 2; from++) {
            double sent_s = now_s + 0.005 + 0.005 * from;

            message(g, RING_OP_SEND, from, !from, i, sent_s, sent_s + 1e-6);
            message(g, RING_OP_RECV, !from, from, i, sent_s - 0.003, sent_s + takes_s);
        }
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
    }
    graph_finish(g);
    for (uint32_t back = 0; back < 20; back++) {
        struct graph_step s = graph_step_get(g, back);

        for (size_t i = 0; i < s.n; i++) {
            const struct graph_meeting *m = graph_meeting_get(g, s.op[i].meeting);

            if (!s.op[i].first || isnan(m->transfer_s))
                continue;
            known++;
            sum_s += m->transfer_s;
        }
    }
    ok(known >= 36 && near(sum_s / known, 0.001, 0.1),
       "transfers are known where the clocks' error is less than half of them\n%u of 40, on average %g s",
       known, sum_s / known);
    graph_free(g);
}

/* Stage 0 on ranks 0 and 2, stage 1 on ranks 1 and 3; the replicas of a stage have a communicator. */
static void roles(void)
{
    struct graph *g = graph_new();

    for (uint32_t r = 0; r < 4; r++)
        graph_rank(g, r, r % 2);
    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t r = 0; r < 4; r++) {
            double now_s = i * 0.1;

            message(g, r % 2 ? RING_OP_RECV : RING_OP_SEND, r, r ^ 1, i, now_s + 0.01, now_s + 0.02);
            graph_call(g,
                       &(struct call){ .rank = r,
                                       .op = RING_OP_ALLREDUCE,
                                       .comm = 10 + r % 2,
                                       .seq = i,
                                       .bytes = 64,
                                       .enter_ns = clock_of(r, now_s + 0.05),
                                       .leave_ns = clock_of(r, now_s + 0.06) },
                       10 + r % 2);
            graph_step_end(g, r, i + 1);
        }
    }
    graph_finish(g);
    ok(graph_roles(g) == 2 && graph_role(g, 0) == graph_role(g, 2) && graph_role(g, 1) == graph_role(g, 3) &&
           graph_role(g, 0) != graph_role(g, 1),
       "ranks that make the same calls are one role\n%u roles", graph_roles(g));
    graph_free(g);
}

/* Two pipelines of two replicas each, whose stages call the same in other orders, and beside them four ranks
 * that do neither. */
static void orders(void)
{
    static const uint32_t part[] = { 0, 1, 0, 1, 2, 3, 2, 3, 4, 4, 4, 4 };
    struct graph *g = graph_new();
    bool right = true;

    for (uint32_t r = 0; r < ARRAY_SIZE(part); r++)
        graph_rank(g, r, r);
    for (uint32_t i = 0; i < STEPS; i++)
        for (uint32_t r = 0; r < ARRAY_SIZE(part); r++) {
            double now_s = i * 0.1;

            for (uint32_t k = 0; k < 2 && part[r] < 4; k++) {
                bool sends = (r + k) % 2 == 0;

                graph_call(g,
                           &(struct call){ .rank = r,
                                           .op = sends ? RING_OP_SEND : RING_OP_RECV,
                                           .comm = 1,
                                           .seq = i,
                                           .peer = r ^ 1,
                                           .tag = (int32_t)part[r] / 2,
                                           .bytes = 1000,
                                           .enter_ns = clock_of(r, now_s + 0.02 * k + 0.01),
                                           .leave_ns = clock_of(r, now_s + 0.02 * k + 0.02) },
                           1);
            }
            collective(g, r, i, now_s + 0.05, now_s + 0.06);
            graph_step_end(g, r, i + 1);
        }
    graph_finish(g);
    is_int(graph_roles(g), 5, "stages that call the same in other orders are roles of their own");
    for (uint32_t r = 0; r < ARRAY_SIZE(part); r++)
        for (uint32_t q = 0; q < r; q++)
            right = right && (graph_role(g, r) == graph_role(g, q)) == (part[r] == part[q]);
    ok(right, "ranks that call the same in one order are of one role");
    graph_free(g);
}

/* Two groups of four ranks, which are on nodes of their own; in the first steps one rank sends a message to
 * its neighbour, now this and now that one. */
static bool has_seats(uint32_t varied)
{
    struct graph *g = graph_new();
    bool seated;

    for (uint32_t r = 0; r < 8; r++)
        graph_rank(g, r, r);
    for (uint32_t i = 0; i < 60; i++)
        for (uint32_t r = 0; r < 8; r++) {
            double now_s = i * 0.1;

            if (i < varied && (r == i % 8 || r == (i + 1) % 8))
                message(g, r == i % 8 ? RING_OP_SEND : RING_OP_RECV, r,
                        r == i % 8 ? (r + 1) % 8 : (r + 7) % 8, i, now_s + 0.01, now_s + 0.02);
            graph_call(g,
                       &(struct call){ .rank = r,
                                       .op = RING_OP_ALLTOALL,
                                       .comm = 10 + r / 4,
                                       .seq = i,
                                       .bytes = 64,
                                       .enter_ns = clock_of(r, now_s + 0.03),
                                       .leave_ns = clock_of(r, now_s + 0.04) },
                       10 + r / 4);
            collective(g, r, i, now_s + 0.05, now_s + 0.06);
            graph_step_end(g, r, i + 1);
        }
    graph_finish(g);
    seated = graph_seat(g, 5, 0) != GRAPH_NONE;
    graph_free(g);
    return seated;
}

static void seats(void)
{
    ok(has_seats(0), "ranks have seats in their groups");
    ok(has_seats(14), "seats are found when some steps had other calls");
    ok(!has_seats(50), "seats are not looked for for ever when all steps have other calls");
}

/* Records are missing: nothing waits for them for ever. */
static void lost(void)
{
    struct graph *g = two_ranks();
    double now_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        if (i != 5)
            collective(g, 0, i, now_s + 0.010, now_s + 0.031);
        else
            graph_lost(g, 0);
        message(g, RING_OP_RECV, 1, 0, i, now_s + 0.01,
                now_s + 0.02); /* of which the sender's end is never seen */
        collective(g, 1, i, now_s + 0.030, now_s + 0.031);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
        now_s += 0.031;
    }
    graph_finish(g);
    ok(near(graph_replay(g, GRAPH_STEPS, NULL), (STEPS - 1) * 0.031, 1e-2),
       "with calls missing a replay still takes what the steps took\n%g", graph_replay(g, GRAPH_STEPS, NULL));
    graph_free(g);
}

/* Rank 0 sends after 20 ms of work, rank 1 receives and works 5 ms, both meet; in one step a record is
 * missing. */
static void repaired(void)
{
    static const char *const what[] = { "a message's sender", "a message's receiver",
                                        "a rank in a collective",
                                        "a rank in the collective that ends the step" };

    for (uint32_t missing = 0; missing < 4; missing++) {
        struct graph *g = two_ranks();
        double now_s = 0;
        bool known = true;

        for (uint32_t i = 0; i < 2 * STEPS; i++) {
            bool lost = i == STEPS, ends = !lost || missing < 3;

            if (!lost || missing != 0)
                message(g, RING_OP_SEND, 0, 1, i, now_s + 0.020, now_s + 0.0201);
            if (!lost || missing != 1)
                message(g, RING_OP_RECV, 1, 0, i, now_s, now_s + 0.022);
            collective(g, 0, 2 * i, now_s + 0.0201, now_s + 0.028);
            if (!lost || missing != 2)
                collective(g, 1, 2 * i, now_s + 0.027, now_s + 0.028);
            collective(g, 0, 2 * i + 1, now_s + 0.0281, now_s + 0.0291);
            if (ends)
                collective(g, 1, 2 * i + 1, now_s + 0.0281, now_s + 0.0291);
            if (lost)
                graph_lost(g, missing > 0);
            graph_step_end(g, 0, i + 1);
            if (ends)
                graph_step_end(g, 1, i + 1);
            now_s += 0.0291;
        }
        graph_finish(g);
        is_int(graph_steps(g), 2 * STEPS - 1, "%s has no record: no step is lost", what[missing]);
        for (uint32_t back = 0; back < graph_steps(g); back++)
            for (size_t i = 0; i < graph_step_get(g, back).n; i++)
                known = known && (missing == 3 || graph_step_get(g, back).op[i].known);
        ok(known, "all work is known");
        ok(near(without(g, 0), (2 * STEPS - 1) * 0.01905, 5e-3),
           "half the work of the first stage saves 10 ms in each step\n%g", without(g, 0));
        graph_free(g);
    }
}

/* Of every 20 steps 6 are sampled; what one rank reports of them comes before the other's. */
static void stretches(void)
{
    struct graph *g = two_ranks();

    for (uint32_t stretch = 0; stretch < 4; stretch++)
        for (uint32_t rank = 0; rank < 2; rank++) {
            graph_gap(g, rank);
            for (uint32_t i = 20 * stretch + rank; i < 20 * stretch + 6; i++) {
                double now_s = i * 0.031;

                collective(g, rank, i, now_s + (rank ? 0.030 : 0.010), now_s + 0.031);
                graph_step_end(g, rank, i + 1);
            }
        }
    graph_finish(g);
    is_int(graph_steps(g), 4 * 4, "of each stretch the steps that are whole on both ranks are taken");
    ok(near(graph_step_get(g, 4).end_s - graph_step_get(g, 4).begin_s, 0.031, 1e-3) &&
           near(graph_step_get(g, 3).begin_s - graph_step_get(g, 4).end_s, 16 * 0.031, 1e-3),
       "between two stretches time passes, and no step is made of it");
    graph_free(g);
}

/* The job ends: its ranks do one after the other, and the last steps are complete without those that have. */
static void the_end(void)
{
    struct graph *g = two_ranks();

    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t i = 0; i < STEPS + 2 * rank; i++) {
            collective(g, rank, i, i * 0.031 + (i % 5 == 4 ? 0.029 : 0.010), i * 0.031 + 0.031);
            graph_step_end(g, rank, i + 1);
        }
    is_int(graph_steps(g), STEPS - 1, "steps that a rank did not come to are not complete");
    graph_rank_end(g, 0);
    is_int(graph_steps(g), STEPS + 1, "they are once that rank has ended");
    graph_rank_end(g, 1);
    graph_finish(g);
    is_int(graph_steps(g), STEPS + 1, "and nothing is left when all have");
    graph_free(g);
}

/* Buckets: ends a millisecond after one another, whose differences grow by chance; the next ones come 10 s
 * later. */
static void a_burst(void)
{
    struct graph_clock *c = graph_clock_new();
    double apart_s;

    graph_clock_see(c, 0, clock_of(0, 0));
    graph_clock_see(c, 1, clock_of(1, 0));
    for (int i = 0; i < 6; i++)
        graph_clock_meet(c, 0, clock_of(0, i * 1e-3), 1, clock_of(1, i * 1e-3 + i * 2e-5));
    graph_clock_align(c, 2);
    apart_s = fabs(graph_clock_s(c, 0, clock_of(0, 10)) - graph_clock_s(c, 1, clock_of(1, 10)));
    ok(apart_s < 2e-3,
       "a burst of ends shows no drift: 10 s later the clocks are apart by less than 2 ms\n%g s", apart_s);
    graph_clock_free(c);
}

/* Two ranks meet `calls` times a step, every 2 ms; before each the first works for 1 ms, and 0.5 ms, in turn.
 */
static struct graph *long_steps(uint32_t steps, uint32_t calls)
{
    struct graph *g = two_ranks();

    for (uint32_t i = 0; i < steps; i++) {
        for (uint32_t c = 0; c < calls; c++) {
            double now_s = 0.002 * (i * calls + c);

            collective(g, 0, i * calls + c, now_s + (c % 2 ? 0.0005 : 0.001), now_s + 0.002);
            collective(g, 1, i * calls + c, now_s + 0.0019, now_s + 0.002);
        }
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
    }
    graph_finish(g);
    return g;
}

static void bounded(void)
{
    struct graph *g = long_steps(40, 8000);
    uint32_t steps = graph_steps(g);
    const struct graph_meeting *m;
    struct graph_step s;
    double work_s = 0;
    size_t of_first = 0;

    ok(steps >= GRAPH_STEPS_MIN && steps < 39, "of long steps not all are remembered\n%u", steps);
    ok(g->bytes < GRAPH_BYTES + GRAPH_BYTES / 2, "what is remembered has a bound\n%zu bytes", g->bytes);
    s = graph_step_get(g, steps - 1);
    for (size_t i = 0; i < s.n; i++)
        if (s.op[i].rank == 0 && s.op[i].has_work) {
            work_s += s.op[i].work_s;
            of_first++;
        }
    ok(of_first == 8000 && near(work_s, 4000 * 0.0015, 1e-3), "the oldest step has all its work\n%g", work_s);
    m = graph_meeting_get(g, s.op[s.n - 1].meeting);
    ok(m && near(m->end_s, s.end_s, 1e-4) && near(m->transfer_s, 1e-4, 1e-3),
       "its last meeting is known, with its transfer and its end");
    ok(near(graph_replay(g, steps, NULL), steps * 16.0, 1e-3), "all that is remembered can be replayed\n%g",
       graph_replay(g, steps, NULL));
    graph_free(g);
    g = long_steps(GRAPH_STEPS_MIN + 3, 30000);
    is_int(graph_steps(g), GRAPH_STEPS_MIN, "however long steps are, some are remembered");
    graph_free(g);
    g = long_steps(GRAPH_STEPS + 20, 2);
    is_int(graph_steps(g), GRAPH_STEPS, "of short steps no more than %u are remembered", GRAPH_STEPS);
    graph_free(g);
}

/* In every third step a message is sent that the next one receives. */
static void over_ends(void)
{
    struct graph *g = two_ranks();
    bool known = true;

    for (uint32_t i = 0; i < 60; i++) {
        double now_s = 0.01 * i;

        if (i % 3 == 1 && i > 1)
            message(g, RING_OP_RECV, 1, 0, i / 3, now_s + 0.001, now_s + 0.002);
        collective(g, 0, i, now_s + 0.004, now_s + 0.009);
        collective(g, 1, i, now_s + 0.008, now_s + 0.009);
        if (i % 3 == 2) /* after what ends the step on rank 1 */
            message(g, RING_OP_SEND, 0, 1, i / 3 + 1, now_s + 0.0095, now_s + 0.0095);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
    }
    graph_finish(g);
    for (uint32_t back = 0; back < graph_steps(g); back++) {
        struct graph_step s = graph_step_get(g, back);

        for (size_t i = 0; i < s.n; i++) {
            const struct graph_meeting *m = graph_meeting_get(g, s.op[i].meeting);

            known = known && m && m->kind < graph_kinds(g);
        }
    }
    ok(known && graph_steps(g) == 59, "a message that is received a step later belongs to both steps");
    ok(near(graph_replay(g, 59, NULL), 0.59, 1e-2), "a replay takes what the steps took\n%g",
       graph_replay(g, 59, NULL));
    graph_free(g);
}

/* Rank 0 works for 5 ms, posts a send, works for 4 ms, and meets rank 1 in the collective that ends the step;
 * the wait for the send comes in the next step.  All of its work stays where it was done. */
static void completed_later(void)
{
    struct graph *g = two_ranks();
    double least_s = INFINITY, most_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = 0.010 * i;

        if (i)
            graph_call(g,
                       &(struct call){ .rank = 0,
                                       .op = RING_OP_SEND,
                                       .comm = 1,
                                       .seq = i - 1,
                                       .peer = 1,
                                       .bytes = 1000,
                                       .flags = RING_EVENT_NONBLOCKING,
                                       .begin_ns = clock_of(0, now_s - 0.005),
                                       .enter_ns = clock_of(0, now_s + 0.001),
                                       .leave_ns = clock_of(0, now_s + 0.001) },
                       1);
        if (i)
            message(g, RING_OP_RECV, 1, 0, i - 1, now_s + 0.001, now_s + 0.002);
        collective(g, 0, i, now_s + 0.009, now_s + 0.010);
        collective(g, 1, i, now_s + 0.009, now_s + 0.010);
        graph_step_end(g, 0, i + 1);
        graph_step_end(g, 1, i + 1);
    }
    graph_finish(g);
    for (uint32_t back = 0; back + 1 < graph_steps(g); back++) {
        struct graph_step s = graph_step_get(g, back);
        double work_s = 0;

        for (size_t i = 0; i < s.n; i++)
            work_s += s.op[i].rank == 0 ? s.op[i].work_s : 0;
        least_s = fmin(least_s, work_s);
        most_s = fmax(most_s, work_s);
    }
    ok(near(least_s, 0.009, 1e-2) && near(most_s, 0.009, 1e-2),
       "a send that is waited for in the next step takes no work from either\n%g to %g s", least_s, most_s);
    graph_free(g);
}

/* In each step a message whose receiver comes 50 ms late, and one whose receiver waits for it: both take 4
 * ms, once it is there.  The sender of the second one goes on after `stays_s` and works 10 ms; that of the
 * first does so, too, or stays until its end. */
static double took_with_sends(double stays_s, bool waits)
{
    struct graph *g = two_ranks();
    double now_s = 0, took_s, replayed_s;

    for (uint32_t i = 0; i < STEPS; i++) {
        double left_s = now_s + 0.010 + (waits ? 0.054 : stays_s), sent_s = now_s + 0.090,
               out_s = sent_s + stays_s, end_s = out_s + 0.011;

        message(g, RING_OP_SEND, 0, 1, 2 * i, now_s + 0.010, left_s);
        message(g, RING_OP_RECV, 1, 0, 2 * i, now_s + 0.060, now_s + 0.064);
        message(g, RING_OP_SEND, 0, 1, 2 * i + 1, sent_s, out_s);
        message(g, RING_OP_RECV, 1, 0, 2 * i + 1, now_s + 0.065, sent_s + 0.004);
        collective(g, 0, i, out_s + 0.010, end_s);
        collective(g, 1, i, sent_s + 0.0045, end_s);
        for (uint32_t r = 0; r < 2; r++)
            graph_step_end(g, r, i + 1);
        now_s = end_s;
    }
    graph_finish(g);
    took_s = graph_step_about(g, 0).end_s - graph_step_about(g, graph_steps(g) - 1).begin_s;
    replayed_s = graph_replay(g, GRAPH_STEPS, NULL);
    graph_free(g);
    return replayed_s / took_s;
}

/* Who let go of a message before its receiver came does not stay until its end, either, when that is soon. */
static void senders_that_go_on(void)
{
    ok(near(took_with_sends(0.003, false), 1, 3e-3), /* in the first steps clocks are not aligned */
       "of senders that go on while their receivers come late a replay takes what the steps took\n%g",
       took_with_sends(0.003, false));
    ok(near(took_with_sends(0.004, true), 1, 1e-3), "and of those that stay until the end\n%g",
       took_with_sends(0.004, true));
}

int main(void)
{
    a_barrier();
    always_last();
    a_late_rank();
    a_pipeline();
    for (size_t i = 0; i < ARRAY_SIZE(sends_cases); i++)
        sends(&sends_cases[i]);
    overlap();
    stays();
    clocks();
    a_burst();
    messages();
    clocks_of_few_collectives();
    clocks_in_a_line();
    transfers_and_clocks();
    protocols(true);
    protocols(false);
    roles();
    orders();
    seats();
    lost();
    bounded();
    over_ends();
    completed_later();
    repaired();
    stretches();
    the_end();
    senders_that_go_on();
    return done_testing();
}
