/* In front of which calls somebody is slow: programs of several collectives a step, with known work. */
#include "calls/phase.h"

#include <math.h>
#include <stdlib.h>

#include "calls/price.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "tests/tap.h"

#define RANKS 8u
#define STEPS 12u
#define SLOW  3u

/* A collective of all ranks, and the work in front of it. */
struct part {
    enum ring_op op;
    uint64_t bytes;
    double work_s, more; /* of SLOW, times its work */
};

static void play(struct graph *g, const struct part *part, size_t n)
{
    double now_s = 5;
    uint32_t seq = 0;

    for (uint32_t r = 0; r < RANKS; r++)
        graph_rank(g, r, r / 2);
    for (uint32_t i = 0; i < STEPS; i++)
        for (size_t k = 0; k < n; k++, seq++) {
            double end_s = now_s + part[k].work_s * (1 + fmax(0, part[k].more)) + 1e-5;

            for (uint32_t r = 0; r < RANKS; r++) {
                double at_s = now_s + part[k].work_s * (r == SLOW ? 1 + part[k].more : 1);

                graph_call(g,
                           &(struct call){ .rank = r,
                                           .op = (uint8_t)part[k].op,
                                           .comm = 1,
                                           .seq = seq,
                                           .bytes = part[k].bytes,
                                           .enter_ns = (uint64_t)(at_s * 1e9),
                                           .leave_ns = (uint64_t)(end_s * 1e9) },
                           1);
                if (k + 1 == n)
                    graph_step_end(g, r, i + 1);
            }
            now_s = end_s;
        }
    graph_finish(g);
}

static bool is_slow(uint32_t rank, const void *arg)
{
    (void)arg;
    return rank == SLOW;
}

static bool is_anyone(uint32_t rank, const void *arg)
{
    (void)rank, (void)arg;
    return true;
}

static void phases(void)
{
    static const struct {
        const char *what;
        struct part part[4];
        size_t parts;
        struct slow_phase phase; /* pieces 0: none */
    } cases[] = {
        { "its experts",
          { { RING_OP_ALLREDUCE, 64, 0.1, 0 }, { RING_OP_ALLTOALL, 4096, 0.05, 0.8 } },
          2,
          { .pieces = 1, .n = 1, .alike = true, .op = RING_OP_ALLTOALL } },
        { "its experts, and a little elsewhere",
          { { RING_OP_ALLREDUCE, 64, 0.1, 0.04 }, { RING_OP_ALLTOALL, 4096, 0.05, 0.8 } },
          2,
          { .pieces = 1, .n = 1, .alike = true, .op = RING_OP_ALLTOALL } },
        { "every second of calls that are all alike",
          { { RING_OP_ALLTOALL, 4096, 0.1, 0 },
            { RING_OP_ALLTOALL, 4096, 0.05, 0.8 },
            { RING_OP_ALLTOALL, 4096, 0.1, 0 },
            { RING_OP_ALLTOALL, 4096, 0.05, 0.8 } },
          4,
          { .pieces = 2, .n = 4, .alike = true, .op = RING_OP_ALLTOALL } },
        { "different calls",
          { { RING_OP_ALLTOALL, 4096, 0.1, 0 },
            { RING_OP_BARRIER, 0, 0.05, 0.8 },
            { RING_OP_ALLTOALL, 4096, 0.1, 0 },
            { RING_OP_ALLREDUCE, 8, 0.05, 0.8 } },
          4,
          { .pieces = 2, .n = 4 } },
        { "what is no work of the others",
          { { RING_OP_ALLREDUCE, 64, 0.1, 0 }, { RING_OP_ALLTOALL, 4096, 1e-6, 4e4 } },
          2,
          { .pieces = 1, .n = 1, .alike = true, .op = RING_OP_ALLTOALL } },
        { "all of its work",
          { { RING_OP_ALLREDUCE, 64, 0.1, 0.3 }, { RING_OP_ALLTOALL, 4096, 0.1, 0.3 } },
          2,
          { .pieces = 0 } },
        { "the part that has most of the work",
          { { RING_OP_ALLREDUCE, 64, 0.9, 0.3 }, { RING_OP_ALLTOALL, 4096, 0.1, 0.3 } },
          2,
          { .pieces = 0 } },
        { "none",
          { { RING_OP_ALLREDUCE, 64, 0.1, -0.1 }, { RING_OP_ALLTOALL, 4096, 0.1, 0 } },
          2,
          { .pieces = 0 } },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct slow_phase *want = &cases[i].phase;
        struct graph *g = graph_new();
        struct slow_phase p = { 0 };
        bool found;

        play(g, cases[i].part, cases[i].parts);
        found = phase_find(g, 8, is_slow, NULL, &p, NULL);
        ok(found == (want->pieces > 0) && p.pieces == want->pieces && p.n == want->n &&
               p.alike == want->alike && (!p.alike || p.op == want->op),
           "slow in %s: %u of %u pieces, %s", cases[i].what, p.pieces, p.n,
           p.alike ? ring_op_name((enum ring_op)p.op) : "not alike");
        ok(!phase_find(g, 8, is_anyone, NULL, &p, NULL), "slow in %s: without peers nothing is said",
           cases[i].what);
        graph_free(g);
    }
}

/* All meet after each part: where it is slow in one of them, that its other work becomes shorter gains
 * nothing, and all that this part is longer by does. */
static void priced(void)
{
    static const struct part part[] = { { RING_OP_ALLREDUCE, 64, 0.1, 0 },
                                        { RING_OP_ALLTOALL, 4096, 0.05, 0.8 } };
    struct graph *g = graph_new();
    struct price_work work[RANKS] = { [SLOW] = { .excess = (float)(0.05 * 0.8 / 0.15), .from = 1 } };
    struct price_change change = { .from = 1, .work = work, .ranks = RANKS };
    struct phase_excess excess = { 0 };
    struct slow_phase p;
    float *by_place;
    struct price price;

    play(g, part, ARRAY_SIZE(part));
    by_place = xcalloc(graph_places(g), sizeof(*by_place));
    for (uint32_t i = 0; i < graph_places(g); i++)
        by_place[i] = NAN;
    for (unsigned i = 0; i < 2; i++) { /* again: what is told replaces what was */
        ok(phase_find(g, 8, is_slow, NULL, &p, &excess), "a part that is slow is found");
        phase_excess_by_place(&excess, g, is_slow, NULL, by_place);
    }
    change.place_excess = by_place;
    change.places = graph_places(g);
    price = price_take(g, &change, 0).all;
    is_near(price.saved_s / price.of_s, 0.05 * 0.8 / 0.19, 0.01,
            "the part is priced, and not the rank's other work");
    phase_excess_free(&excess);
    free(by_place);
    graph_free(g);
}

int main(void)
{
    phases();
    priced();
    return done_testing();
}
