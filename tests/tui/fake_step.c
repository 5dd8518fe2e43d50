/* fake_step.c - a step of a pipeline, drawn: eight stages, two replicas, six pieces of work; one rank is
 * slow. */
#include <math.h>
#include <stdio.h>

#include "report/report_step.h"
#include "ring/ring.h"
#include "tests/tui/fake.h"

#define STAGES   8u
#define REPLICAS 2u
#define RANKS    (STAGES * REPLICAS)
#define PIECES   6u
#define STEPS    6u
#define SLOW     10u
#define PIECE_S  0.010
#define SLOW_S   0.016
#define SEND_S   0.0004
#define REDUCE_S 0.003

static uint64_t ns(double s)
{
    return (uint64_t)((5 + s) * 1e9);
}

static void message(struct graph *g, uint8_t op, uint32_t rank, uint32_t peer, uint32_t number,
                    double enter_s, double leave_s)
{
    graph_call(g,
               &(struct call){ .rank = rank,
                               .op = op,
                               .comm = 1,
                               .seq = number,
                               .peer = peer,
                               .bytes = 1 << 20,
                               .enter_ns = ns(enter_s),
                               .leave_ns = ns(leave_s) },
               1);
}

/* One piece after another through the stages of a replica; returns when the last one is done. */
static double run_replica(struct graph *g, uint32_t replica, uint32_t step, double begin_s,
                          double free_s[RANKS])
{
    for (uint32_t stage = 0; stage < STAGES; stage++)
        free_s[stage * REPLICAS + replica] = begin_s;
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        double there_s = begin_s;

        for (uint32_t stage = 0; stage < STAGES; stage++) {
            uint32_t rank = stage * REPLICAS + replica, number = step * PIECES + piece;
            double *now_s = &free_s[rank];

            if (stage) {
                double got_s = fmax(*now_s + 1e-6, there_s + SEND_S);

                message(g, RING_OP_RECV, rank, rank - REPLICAS, number, *now_s, got_s);
                *now_s = got_s;
            }
            *now_s += rank == SLOW ? SLOW_S : PIECE_S;
            there_s = *now_s;
            if (stage + 1 < STAGES) {
                message(g, RING_OP_SEND, rank, rank + REPLICAS, number, *now_s, *now_s + 1e-5);
                *now_s += 1e-5;
            }
        }
    }
    return free_s[(STAGES - 1) * REPLICAS + replica];
}

json_t *fake_step(unsigned rows)
{
    struct graph *g = graph_new();
    struct picture *p;
    double now_s = 0;
    json_t *o;

    for (uint32_t r = 0; r < RANKS; r++)
        graph_rank(g, r, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        double free_s[RANKS], last_s = now_s;

        for (uint32_t k = 0; k < REPLICAS; k++)
            last_s = fmax(last_s, run_replica(g, k, i, now_s, free_s));
        now_s = last_s + REDUCE_S;
        for (uint32_t r = 0; r < RANKS; r++) {
            graph_call(g,
                       &(struct call){ .rank = r,
                                       .op = RING_OP_ALLREDUCE,
                                       .comm = 2,
                                       .seq = i,
                                       .bytes = 8,
                                       .enter_ns = ns(free_s[r]),
                                       .leave_ns = ns(now_s) },
                       2);
            graph_step_end(g, r, i + 1);
        }
    }
    graph_finish(g);
    p = picture_of_calls(g, 0, RANKS, rows);
    p->step = 1204;
    p->age_s = 0.4;
    for (size_t i = 0; i < p->n_rows; i++)
        snprintf(p->row[i].node, sizeof(p->row[i].node), "node%02d", (int)p->row[i].rank / 4);
    for (size_t i = 0; i < p->n_parts; i++)
        snprintf(p->part[i].node, sizeof(p->part[i].node), "node%02d", (int)p->part[i].rank / 4);
    picture_describe(p);
    o = report_step_json(p);
    picture_free(p);
    graph_free(g);
    return o;
}
