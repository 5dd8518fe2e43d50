/* What a view holds is bounded, whoever fills it, and is no more than it says. */
#include <malloc.h>

#include "ring/ring.h"
#include "tests/tap.h"
#include "view/comms.h"
#include "view/verdicts.h"
#include "view/view.h"

static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

static double held_bytes(void)
{
    struct mallinfo2 m = mallinfo2();

    return (double)(m.uordblks + m.hblkhd);
}

static void comm(struct view *v, uint64_t name, uint32_t size, uint32_t rank)
{
    struct telemetry_item i = {
        .kind = TELEMETRY_COMM,
        .comm = { .rank = rank, .name = name, .size = size, .comm_rank = rank, .last = size - 1 }
    };

    view_item(v, 1, &i);
}

static void step(struct view *v, double now_s, uint32_t rank, uint32_t seq, uint32_t period)
{
    struct telemetry_item i = { .kind = TELEMETRY_STEP,
                                .step = { .rank = rank,
                                          .comm = 1,
                                          .seq = seq,
                                          .period = period,
                                          .n_steps = 1,
                                          .parts = 1,
                                          .duration_ns = 1000000,
                                          .gap_ns = 900000 } };

    view_item(v, now_s, &i);
}

static void sample(struct view *v, double now_s, uint32_t rank, uint32_t seq)
{
    struct telemetry_item i = { .kind = TELEMETRY_SAMPLE,
                                .sample = { .rank = rank,
                                            .op = RING_OP_ALLREDUCE,
                                            .comm = 1,
                                            .seq = seq,
                                            .n = 1,
                                            .root = -1,
                                            .stay_ns = 1000,
                                            .stay_sum_ns = 1000,
                                            .gap_sum_ns = 1000000 } };

    view_item(v, now_s, &i);
}

static void health(struct view *v, double now_s, uint32_t rank)
{
    struct telemetry_item i = { .kind = TELEMETRY_NODE, .node = { .rank = rank } };

    view_item(v, now_s, &i);
    i = (struct telemetry_item){ .kind = TELEMETRY_TASK, .task = { .rank = rank } };
    view_item(v, now_s, &i);
    i = (struct telemetry_item){ .kind = TELEMETRY_PHASES, .phases = { .rank = rank } };
    view_item(v, now_s, &i);
}

/* A node a rank, with everything that is kept of each. */
static void test_estimate(uint32_t ranks, uint32_t per_node)
{
    double before = held_bytes(), held;
    struct view *v = view_new(&params, 0);
    char node[32];

    for (uint32_t r = 0; r < ranks; r++) {
        snprintf(node, sizeof(node), "node%u", r / per_node);
        view_rank_add(v, r, 0, node, "switch");
        comm(v, 1, ranks, r);
        health(v, 1, r);
    }
    for (uint32_t s = 0; s < 200; s++) {
        for (uint32_t r = 0; r < ranks; r++) {
            sample(v, 1 + s * 0.1, r, s);
            step(v, 1 + s * 0.1, r, s, 1);
        }
        if (s % 2)
            view_tick(v, 1 + s * 0.1);
    }
    held = held_bytes() - before;
    if (held > 0) { /* a sanitizer's allocator does not say */
        ok(view_bytes(v) >= held,
           "%u ranks, %u a node: a view holds at most what it says\n%.0f of %.0f bytes", ranks, per_node,
           held, view_bytes(v));
        ok(view_bytes(v) < 4 * held + (1 << 19),
           "%u ranks, %u a node: what a view says is at most 4 times what it holds\n%.0f, %.0f", ranks,
           per_node, view_bytes(v), held);
    }
    view_free(v);
}

static void test_ranks(void)
{
    struct view *v = view_new(&params, 0);

    is_int(view_rank_add(v, VIEW_RANKS_MAX - 1, 0, "a", NULL), 0, "a rank of the last number is added");
    is_int(view_rank_add(v, VIEW_RANKS_MAX, 0, "a", NULL), -1, "one beyond it is rejected");
    comm(v, 5, VIEW_RANKS_MAX + 1, VIEW_RANKS_MAX - 1);
    is_int(view_comm_size(v, 5), 0, "a communicator of more ranks than there may be is rejected");
    is_int((long long)view_rejected_get(v).large, 1, "the rejected communicator is counted");
    view_rank_add(v, 7, 0, "a", NULL);
    comm(v, 5, 8, 7);
    is_int(view_comm_size(v, 5), 1, "one of fewer is known");
    view_free(v);
}

static void test_bytes(void)
{
    double before = held_bytes(), bytes;
    struct view *v = view_new(&params, 0);

    view_bound(v, 32e6);
    is_int(view_rank_add(v, 65535, 0, "a", NULL), -1,
           "a rank whose arrays take more than the memory is rejected");
    is_int(view_rank_add(v, 0, 0, "a", NULL), 0, "a rank that fits is added");
    for (uint64_t c = 1; c <= 1000; c++) {
        comm(v, c, 65536, 0);
        for (uint32_t s = 0; s < 40; s++)
            sample(v, 1, 0, s);
    }
    bytes = held_bytes() - before;
    ok(bytes < 32e6, "1000 communicators of 65536 members stay within the view's memory\n%.0f bytes", bytes);
    ok(view_rejected_get(v).memory > 900, "communicators that do not fit are counted");
    view_free(v);
    ok(held_bytes() - before < 1e5, "a view that is freed gives back its memory");
}

/* One rank reports two periods in turn. */
static void test_period(void)
{
    struct view *v = view_new(&params, 0);
    struct view_event e;
    int changes = 0;

    view_rank_add(v, 0, 0, "a", NULL);
    comm(v, 1, 2, 0);
    for (unsigned k = 0; k < 100; k++) {
        step(v, 1, 0, 0, 3 + (k & 1));
        while (view_event_take(v, &e))
            changes++;
    }
    is_int(changes, 16, "a period that alternates is adopted at most 16 times at once");
    step(v, 10, 0, 0, 7);
    changes = view_event_take(v, &e);
    is_int(changes, 1, "a period that changes later is adopted");
    view_free(v);
    /* as many as half of the ranks must agree */
    v = view_new(&params, 0);
    for (uint32_t r = 0; r < 6; r++)
        view_rank_add(v, r, 0, "a", NULL);
    comm(v, 1, 6, 0);
    step(v, 1, 0, 0, 4);
    step(v, 1, 1, 0, 4);
    step(v, 1, 1, 0, 5);
    step(v, 1, 2, 0, 4);
    is_int(view_event_take(v, &e), 0, "two of six ranks that report a period are too few");
    view_rank_end(v, 3, 0, false);
    view_rank_end(v, 0, 0, false);
    step(v, 1, 2, 0, 4);
    is_int(view_event_take(v, &e), 0, "a rank that has ended has no vote");
    step(v, 1, 4, 0, 4);
    is_int(view_event_take(v, &e), 1, "two of four ranks that run agree");
    view_free(v);
}

int main(void)
{
    test_estimate(512, 1);
    test_estimate(2048, 64);
    test_estimate(16, 1);
    test_ranks();
    test_bytes();
    test_period();
    return done_testing();
}
