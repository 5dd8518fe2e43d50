/* graph_calls.h - calls made by hand for the graph: two nodes, even and odd ranks, whose clocks are apart. */
#ifndef SYNCGUARD_TESTS_GRAPH_CALLS_H
#define SYNCGUARD_TESTS_GRAPH_CALLS_H

#include "graph/graph.h"

/* Two nodes whose clocks are apart, and drift. */
static inline uint64_t clock_of(uint32_t rank, double s)
{
    return rank % 2 ? (uint64_t)((7000 + s * (1 + 40e-6)) * 1e9) : (uint64_t)((3 + s) * 1e9);
}

static inline struct call collective_call(uint32_t rank, uint32_t seq, double enter_s, double leave_s)
{
    return (struct call){ .rank = rank,
                          .op = RING_OP_ALLREDUCE,
                          .comm = 1,
                          .seq = seq,
                          .bytes = 8,
                          .enter_ns = clock_of(rank, enter_s),
                          .leave_ns = clock_of(rank, leave_s) };
}

static inline void collective(struct graph *g, uint32_t rank, uint32_t seq, double enter_s, double leave_s)
{
    struct call c = collective_call(rank, seq, enter_s, leave_s);

    graph_call(g, &c, c.comm);
}

static inline void message(struct graph *g, uint8_t op, uint32_t rank, uint32_t peer, uint32_t number,
                           double enter_s, double leave_s)
{
    graph_call(g,
               &(struct call){ .rank = rank,
                               .op = op,
                               .comm = 1,
                               .seq = number,
                               .peer = peer,
                               .bytes = 1000,
                               .enter_ns = clock_of(rank, enter_s),
                               .leave_ns = clock_of(rank, leave_s) },
               1);
}

#endif
