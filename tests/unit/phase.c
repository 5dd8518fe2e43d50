/* In front of which calls somebody is slow: programs of several collectives a step, with known work. */
#include "calls/phase.h"

#include <math.h>
#include <stdlib.h>

#include "calls/price.h"
#include "calls/told_phases.h"
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

static bool is_on_node(uint32_t rank, const void *arg)
{
    (void)arg;
    return rank == SLOW || rank == SLOW + 1;
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

/* Two roles of four ranks with a communicator each, and a slow node that has a rank of both: what is told is
 * of one of them, and its other parts are those of its own step. */
static void of_two_roles(void)
{
    static const uint64_t bytes[2][3] = { { 64, 4096, 4096 }, { 64, 8192, 8192 } };
    struct graph *g = graph_new();
    struct phase_excess excess = { 0 };
    struct slow_phase p = { 0 };
    double now_s = 5;
    uint32_t told = 0;

    for (uint32_t r = 0; r < RANKS; r++)
        graph_rank(g, r, r);
    for (uint32_t i = 0; i < STEPS; i++)
        for (size_t k = 0; k < 3; k++) {
            double end_s = now_s + 0.1 + 1e-5;

            for (uint32_t r = 0; r < RANKS; r++) {
                uint32_t role = r / 4;
                double more = (r == SLOW || r == SLOW + 1) && k == 2 ? 0.8 : 0;

                graph_call(g,
                           &(struct call){ .rank = r,
                                           .op = k ? RING_OP_ALLTOALL : RING_OP_ALLREDUCE,
                                           .comm = 1 + role,
                                           .seq = i * 3 + (uint32_t)k,
                                           .bytes = bytes[role][k],
                                           .enter_ns = (uint64_t)((now_s + 0.05 * (1 + more)) * 1e9),
                                           .leave_ns = (uint64_t)(end_s * 1e9) },
                           1);
                if (k == 2)
                    graph_step_end(g, r, i + 1);
            }
            now_s = end_s;
        }
    graph_finish(g);
    is_int(graph_roles(g), 2, "two groups with other calls are two roles");
    ok(phase_find(g, 8, is_on_node, NULL, &p, &excess),
       "a node that is slow in a part of both roles is found");
    ok(p.pieces == 1 && p.n == 2 && p.alike,
       "of two roles the parts of one rank's step are counted\n%u of %u", p.pieces, p.n);
    for (size_t i = 0; i < (size_t)excess.roles * excess.pieces; i++)
        told += excess.of[i] > 0.5f;
    is_int(told, 2, "the excess is told of both roles");
    phase_excess_free(&excess);
    graph_free(g);
}

/* Whoever stops being slow is less so in the newest steps, and not in one part of them. */
static void fading(void)
{
    static const struct part slow[] = { { RING_OP_ALLREDUCE, 64, 0.1, 0 },
                                        { RING_OP_ALLTOALL, 4096, 0.05, 0.8 } },
                             even[] = { { RING_OP_ALLREDUCE, 64, 0.1, 0 },
                                        { RING_OP_ALLTOALL, 4096, 0.05, 0 } };
    struct straggler s = { .id = 1, .scope = SCOPE_RANK, .place = SLOW, .ranks = 1 };
    struct graph *g = graph_new(), *later = graph_new();
    struct told_phases *told = told_phases_new();
    struct work *w = work_new();
    float own_s[RANKS];
    struct slow_phase p;

    for (uint32_t r = 0; r < RANKS; r++)
        own_s[r] = r == SLOW ? 0.19f : 0.15f;
    for (uint32_t i = 0; i < STEPS; i++)
        work_take(w, i, own_s, RANKS, 0.19, 1e-5);
    play(g, slow, ARRAY_SIZE(slow));
    play(later, even, ARRAY_SIZE(even));
    told_phases_look(told, g, w, &s, 1, 100, false);
    ok(told_phases_get(told, SCOPE_RANK, SLOW, &p), "the part in which a straggler is slow is told");
    s.fading = true;
    told_phases_look(told, later, w, &s, 1, 200, false);
    ok(told_phases_get(told, SCOPE_RANK, SLOW, &p) && p.pieces == 1,
       "a straggler that is about to be over keeps the part in which it was slow");
    s.fading = false;
    told_phases_look(told, later, w, &s, 1, 300, false);
    ok(!told_phases_get(told, SCOPE_RANK, SLOW, &p),
       "a straggler that stands is slow in the part in which it is now, or in none");
    told_phases_free(told);
    work_free(w);
    graph_free(g);
    graph_free(later);
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
    of_two_roles();
    fading();
    priced();
    return done_testing();
}
