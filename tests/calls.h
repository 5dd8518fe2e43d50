/* calls.h - gives a view what agents send of collectives and of members of communicators, or a graph a call.
 */
#ifndef SYNCGUARD_TESTS_CALLS_H
#define SYNCGUARD_TESTS_CALLS_H

#include "graph/graph.h"
#include "ring/call.h"
#include "ring/ring.h"
#include "view/view.h"

/* Both the call and, as every call is one, its sample. */
static inline void give_collective(struct view *v, double now_s, const struct call *c)
{
    view_call(v, now_s, c);
    view_item(v, now_s,
              &(struct telemetry_item){ .kind = TELEMETRY_SAMPLE,
                                        .sample = { .rank = c->rank,
                                                    .op = c->op,
                                                    .comm = c->comm,
                                                    .seq = c->seq,
                                                    .n = 1,
                                                    .root = -1,
                                                    .bytes = c->bytes,
                                                    .enter_ns = c->enter_ns,
                                                    .stay_ns = c->leave_ns - c->enter_ns,
                                                    .stay_sum_ns = c->leave_ns - c->enter_ns } });
}

/* A rank's part of a small all-reduce. */
static inline void give_allreduce(struct graph *g, uint32_t rank, uint64_t comm, uint32_t seq,
                                  uint64_t enter_ns, uint64_t leave_ns)
{
    graph_call(g,
               &(struct call){ .rank = rank,
                               .op = RING_OP_ALLREDUCE,
                               .comm = comm,
                               .seq = seq,
                               .bytes = 8,
                               .enter_ns = enter_ns,
                               .leave_ns = leave_ns },
               comm);
}

static inline void give_member(struct view *v, uint32_t rank, uint64_t comm, uint32_t size, uint32_t place,
                               uint32_t first, uint32_t last)
{
    view_item(v, 0,
              &(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                        .comm = { .rank = rank,
                                                  .name = comm,
                                                  .size = size,
                                                  .comm_rank = place,
                                                  .first = first,
                                                  .last = last } });
}

#endif
