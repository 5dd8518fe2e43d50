/* What of a job's communication holds its ranks, and what more overlap could win: small programs by hand. */
#include "calls/overlap.h"

#include <math.h>

#include "ring/ring.h"
#include "tests/tap.h"

#define STEPS 20u

static const uint32_t all_in_one[256];

static uint64_t ns(double s)
{
    return (uint64_t)((5 + s) * 1e9);
}

static struct graph *ranks(uint32_t n)
{
    struct graph *g = graph_new();

    for (uint32_t r = 0; r < n; r++)
        graph_rank(g, r, r);
    return g;
}

/* begin_s < 0: it blocks */
static void collective(struct graph *g, uint32_t rank, uint32_t seq, uint64_t bytes, double begin_s,
                       double enter_s, double leave_s)
{
    graph_call(g,
               &(struct call){ .rank = rank,
                               .op = RING_OP_ALLREDUCE,
                               .comm = 1,
                               .seq = seq,
                               .bytes = bytes,
                               .flags = begin_s < 0 ? 0 : RING_EVENT_NONBLOCKING,
                               .begin_ns = begin_s < 0 ? 0 : ns(begin_s),
                               .enter_ns = ns(enter_s),
                               .leave_ns = ns(leave_s) },
               1);
}

static void step_end(struct graph *g, uint32_t n, uint32_t step)
{
    for (uint32_t r = 0; r < n; r++)
        graph_step_end(g, r, step + 1);
}

/* Rank 0 works 10 ms, rank 1 works 30 ms, then both meet for 5 ms in a blocking call. */
static void blocking(void)
{
    struct graph *g = ranks(2);
    struct overlap o;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.035;

        collective(g, 0, i, 1 << 20, -1, now_s + 0.010, now_s + 0.035);
        collective(g, 1, i, 1 << 20, -1, now_s + 0.030, now_s + 0.035);
        step_end(g, 2, i);
    }
    graph_finish(g);
    overlap_measure(&o, g, all_in_one, 1);
    ok(near(o.step_s, 0.035, 1e-3) && o.group[0].ranks == 2 && near(o.group[0].calls, 1, 1e-9),
       "two ranks call one collective in a step of 35 ms\n%g s, %g calls", o.step_s, o.group[0].calls);
    ok(o.group[0].nonblocking_ratio == 0, "a blocking call is not begun before it is awaited");
    is_near(o.group[0].waiting_s, 0.010, 1e-2, "one of two ranks waits 20 ms for the other");
    is_near(o.group[0].exposed_s, 0.005, 1e-2, "a blocking call's transfer is exposed");
    ok(fabs(o.group[0].hidden_s.value) < 1e-6 && fabs(o.group[0].hidden_s.high) < 1e-6,
       "a blocking call hides nothing\n%g", o.group[0].hidden_s.value);
    is_near(o.group[0].most_won_s, 0.005, 1e-2, "without its transfer a step is 5 ms shorter");
    ok(o.group[0].buckets.missing != NULL, "for blocking calls no size of buckets is estimated");
    graph_free(g);
}

/* Begun after 10 ms of 20 ms of work; the transfer takes 12 ms: 10 ms of it beside the work, 2 ms hold the
 * rank. */
static void half_hidden(void)
{
    struct graph *g = ranks(2);
    struct overlap o;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.022;

        for (uint32_t r = 0; r < 2; r++)
            collective(g, r, i, 1 << 20, now_s + 0.010, now_s + 0.020, now_s + 0.022);
        step_end(g, 2, i);
    }
    graph_finish(g);
    overlap_measure(&o, g, all_in_one, 1);
    ok(o.group[0].nonblocking_ratio == 1, "all calls are begun before they are awaited");
    is_near(o.group[0].exposed_s, 0.002, 2e-2, "2 ms of the transfer hold the ranks");
    is_near(o.group[0].hidden_s.value, 0.010, 1e-2, "10 ms of the transfer run beside the work");
    is_near(o.all.hidden_s.high, 0.010, 1e-2, "the job has what its only communicator has");
    is_near(o.group[0].most_won_s, 0.002, 2e-2, "to hide the rest wins 2 ms");
    ok(o.group[0].buckets.missing && isnan(o.group[0].buckets.won_s.value),
       "one call a step does not show what other buckets would win: %s", o.group[0].buckets.missing);
    graph_free(g);
}

/* Nobody waits for it: it took at most the 20 ms from its beginning to the call that found it complete. */
static void all_hidden(void)
{
    struct graph *g = ranks(2);
    struct overlap o;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.030;

        for (uint32_t r = 0; r < 2; r++)
            collective(g, r, i, 1 << 20, now_s + 0.010, now_s + 0.030, now_s + 0.030);
        step_end(g, 2, i);
    }
    graph_finish(g);
    overlap_measure(&o, g, all_in_one, 1);
    ok(o.group[0].exposed_s < 1e-6 && o.group[0].most_won_s < 1e-6,
       "what nobody waits for is not exposed\n%g", o.group[0].exposed_s);
    ok(isnan(o.group[0].hidden_s.value) && o.group[0].hidden_s.low == 0,
       "how much of it is hidden is unknown, not zero");
    is_near(o.group[0].hidden_s.high, 0.020, 1e-2, "at most 20 ms of it are hidden");
    graph_free(g);
}

/* Buckets of 1 and 3 MB alternate, 24 MB in a step, ready at an even rate over 24 ms; a transfer takes 1 ms
 * and 1 ms/MB. All in buckets of 1 ms each: 12 of them take 36 ms; 4 would take 28 ms, and so on. */
static void buckets(void)
{
    enum { N = 12 };
    struct graph *g = ranks(2);
    struct overlap o;
    double exposed_s = 0;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.050, over_s = 0, ready_s = now_s, left_s = now_s + 0.024;
        double over[N];

        for (uint32_t b = 0; b < N; b++) {
            double mb = b % 2 ? 3 : 1;

            ready_s += mb * 1e-3;
            over_s = fmax(ready_s, over_s) + (1 + mb) * 1e-3;
            over[b] = over_s;
        }
        exposed_s = over_s - left_s;
        for (uint32_t b = 0; b < N; b++) {
            double leave_s = fmax(left_s, over[b]), at_s = now_s;

            for (uint32_t j = 0; j <= b; j++)
                at_s += (j % 2 ? 3 : 1) * 1e-3;
            for (uint32_t r = 0; r < 2; r++)
                collective(g, r, i * N + b, b % 2 ? 3000000 : 1000000, at_s, left_s, leave_s);
            left_s = leave_s;
        }
        step_end(g, 2, i);
    }
    graph_finish(g);
    overlap_measure(&o, g, all_in_one, 1);
    is_near(o.group[0].exposed_s, exposed_s, 1e-2,
            "exposed: from the end of the work to the last transfer's end");
    is_near(o.group[0].exposed_s + o.group[0].hidden_s.value, 0.036, 0.1,
            "together the transfers take 36 ms");
    ok(!o.group[0].buckets.missing, "with two sizes there is an estimate: %s",
       o.group[0].buckets.missing ? o.group[0].buckets.missing : "yes");
    is_near(o.group[0].buckets.now, N, 1e-6, "there are 12 buckets now");
    ok(o.group[0].buckets.best < 8 && o.group[0].buckets.won_s.value > 0.003 &&
           o.group[0].buckets.won_s.value < o.group[0].most_won_s,
       "fewer buckets would win some, less than hiding all\n%g of them win %g of %g", o.group[0].buckets.best,
       o.group[0].buckets.won_s.value, o.group[0].most_won_s);
    ok(o.group[0].buckets.won_s.low <= o.group[0].buckets.won_s.value &&
           o.group[0].buckets.won_s.high >= o.group[0].buckets.won_s.value,
       "what they would win has an interval\n%g to %g", o.group[0].buckets.won_s.low,
       o.group[0].buckets.won_s.high);
    graph_free(g);
}

/* Rank 0 works 20 ms, sends for 0.1 ms and goes on; rank 1 receives after 22 ms. Both meet at 30 ms. */
static void messages(void)
{
    static const uint32_t group[] = { 0, 1, 1 };
    struct graph *g = ranks(2);
    struct overlap o;

    for (uint32_t i = 0; i < STEPS; i++) {
        double now_s = i * 0.030;
        struct call m = { .comm = 1, .seq = i, .bytes = 1000, .op = RING_OP_SEND, .peer = 1 };

        m.enter_ns = ns(now_s + 0.020);
        m.leave_ns = ns(now_s + 0.0201);
        graph_call(g, &m, m.comm);
        m = (struct call){ .comm = 1, .seq = i, .bytes = 1000, .op = RING_OP_RECV, .rank = 1 };
        m.enter_ns = ns(now_s);
        m.leave_ns = ns(now_s + 0.022);
        graph_call(g, &m, m.comm);
        for (uint32_t r = 0; r < 2; r++)
            collective(g, r, i, 8, -1, now_s + 0.029, now_s + 0.030);
        step_end(g, 2, i);
    }
    graph_finish(g);
    overlap_measure(&o, g, group, 2);
    is_near(o.group[0].waiting_s, 0.010, 2e-2, "the receiver waits 20 ms until the message is sent");
    is_near(o.group[0].exposed_s, 0.00105, 3e-2, "exposed are 2 ms of the receiver, 0.1 ms of the sender");
    is_near(o.group[1].exposed_s, 0.001, 3e-2, "the collective is a group of its own");
    is_near(o.all.exposed_s, 0.00205, 3e-2, "the job has both");
    graph_free(g);
}

int main(void)
{
    blocking();
    half_hidden();
    all_hidden();
    buckets();
    messages();
    return done_testing();
}
