/* op.c - names and properties of the operations, in one table.  See ring.h. */
#include "ring/ring.h"

#include <string.h>

static const struct {
    const char *name;
    bool synchronises, irregular;
} ops[RING_OP_MAX] = {
    [RING_OP_NONE] = { "none", false, false },
    [RING_OP_BARRIER] = { "barrier", true, false },
    [RING_OP_BCAST] = { "bcast", false, false },
    [RING_OP_GATHER] = { "gather", false, false },
    [RING_OP_GATHERV] = { "gatherv", false, true },
    [RING_OP_SCATTER] = { "scatter", false, false },
    [RING_OP_SCATTERV] = { "scatterv", false, true },
    [RING_OP_ALLGATHER] = { "allgather", true, false },
    [RING_OP_ALLGATHERV] = { "allgatherv", true, true },
    [RING_OP_ALLTOALL] = { "alltoall", true, false },
    [RING_OP_ALLTOALLV] = { "alltoallv", true, true },
    [RING_OP_ALLTOALLW] = { "alltoallw", true, true },
    [RING_OP_REDUCE] = { "reduce", false, false },
    [RING_OP_ALLREDUCE] = { "allreduce", true, false },
    [RING_OP_REDUCE_SCATTER] = { "reduce_scatter", true, false },
    [RING_OP_REDUCE_SCATTER_BLOCK] = { "reduce_scatter_block", true, false },
    [RING_OP_SCAN] = { "scan", false, false },
    [RING_OP_EXSCAN] = { "exscan", false, false },
    /* A rank waits only for its neighbours. */
    [RING_OP_NEIGHBOR_ALLGATHER] = { "neighbor_allgather", false, false },
    [RING_OP_NEIGHBOR_ALLGATHERV] = { "neighbor_allgatherv", false, true },
    [RING_OP_NEIGHBOR_ALLTOALL] = { "neighbor_alltoall", false, false },
    [RING_OP_NEIGHBOR_ALLTOALLV] = { "neighbor_alltoallv", false, true },
    [RING_OP_NEIGHBOR_ALLTOALLW] = { "neighbor_alltoallw", false, true },
    /* Mostly an agreement on a context id, but spawn, create and accept need not synchronise. */
    [RING_OP_COMM_CREATE] = { "comm_create", false, false },
    [RING_OP_POINT_TO_POINT] = { "point_to_point", false, false },
    [RING_OP_WAIT] = { "wait", false, false },
    [RING_OP_SEND] = { "send", false, false },
    [RING_OP_RECV] = { "recv", false, false },
    [RING_OP_ACCESS] = { "access", false, false },
};

const char *ring_op_name(enum ring_op op)
{
    return (unsigned)op < RING_OP_MAX ? ops[op].name : "unknown";
}

enum ring_op ring_op_from_name(const char *name)
{
    for (int op = RING_OP_NONE + 1; op < RING_OP_POINT_TO_POINT; op++)
        if (!strcmp(ops[op].name, name))
            return (enum ring_op)op;
    return RING_OP_NONE;
}

bool ring_op_synchronises(enum ring_op op)
{
    return (unsigned)op < RING_OP_MAX && ops[op].synchronises;
}

bool ring_op_irregular(enum ring_op op)
{
    return (unsigned)op < RING_OP_MAX && ops[op].irregular;
}
