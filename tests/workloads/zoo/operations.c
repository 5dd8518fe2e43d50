#include "tests/workloads/zoo/zoo.h"

#include <stdlib.h>

#include "common/xalloc.h"

/* Integers a block. Rank r puts r * 1000 + i in place i of what it sends, so that each result tells whence it
 * is. */
enum { BLOCK = 3, EMPTY = -1 };

struct zoo_act {
    struct zoo_comm *c;
    enum zoo_op op;
    int root, blocks; /* blocks: members, or neighbours */
    MPI_Request request;
    int *send, *recv;
    int *send_counts, *recv_counts, *displs, *byte_displs;
    MPI_Aint *aint_displs;
    MPI_Datatype *types;
};

/* The same arguments go to the three forms of a call, whose names differ as the standard says; spelled out,
 * the table of operations would be three times as long and easier to get wrong. */
#ifdef ZOO_INIT
#define ZOO_POST_PERSISTENT(Name, a, ...) ZOO_INIT(Name)(__VA_ARGS__, MPI_INFO_NULL, &(a)->request)
#else
#define ZOO_POST_PERSISTENT(Name, a, ...) (abort(), MPI_ERR_OTHER)
#endif
#define ZOO_POST(a, mode, Name, name, ...)                                 \
    ((mode) == ZOO_BLOCKING      ? MPI_##Name(__VA_ARGS__)                 \
     : (mode) == ZOO_NONBLOCKING ? MPI_I##name(__VA_ARGS__, &(a)->request) \
                                 : ZOO_POST_PERSISTENT(Name, a, __VA_ARGS__))

static const char *const names[ZOO_OPS] = {
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "comm_create",
};

const char *zoo_op_name(enum zoo_op op)
{
    return names[op];
}

static int count_of(int a)
{
    return a % BLOCK + 1;
}

static int value(int rank, int i)
{
    return rank * 1000 + i;
}

/* The sum over ranks 0..n-1 of place i. */
static int sum_of(int n, int i)
{
    return 1000 * (n * (n - 1) / 2) + n * i;
}

/* How much goes between this rank and each peer, as the operation wants it. */
static void set_counts(struct zoo_act *a)
{
    const struct zoo_neighbours *nb = &a->c->neighbours;
    int r = a->c->rank;

    for (int k = 0; k < a->blocks; k++) {
        int from = k < nb->ins ? nb->in[k] : MPI_PROC_NULL, slot = k < nb->ins ? nb->slot[k] : 0;

        a->displs[k] = k * BLOCK;
        a->byte_displs[k] = k * BLOCK * (int)sizeof(int);
        a->aint_displs[k] = a->byte_displs[k];
        a->types[k] = MPI_INT;
        if (a->op >= ZOO_NEIGHBOR_ALLGATHER) {
            a->send_counts[k] = count_of(r + k);
            a->recv_counts[k] = from == MPI_PROC_NULL              ? 0
                                : a->op == ZOO_NEIGHBOR_ALLGATHERV ? count_of(from)
                                                                   : count_of(from + slot);
        } else if (a->op == ZOO_ALLTOALLV || a->op == ZOO_ALLTOALLW) {
            a->send_counts[k] = a->recv_counts[k] = count_of(r + k);
        } else {
            a->send_counts[k] = a->recv_counts[k] = count_of(k);
        }
    }
}

struct zoo_act *zoo_act_new(struct zoo_comm *c, enum zoo_op op, int round)
{
    struct zoo_act *a = xcalloc(1, sizeof(*a));
    size_t n;

    a->c = c;
    a->op = op;
    a->root = round % c->size;
    a->blocks = op >= ZOO_NEIGHBOR_ALLGATHER ? 2 : c->size;
    a->request = MPI_REQUEST_NULL;
    n = (size_t)(a->blocks > c->size ? a->blocks : c->size);
    a->send = xcalloc(n * BLOCK, sizeof(int));
    a->recv = xcalloc(n * BLOCK, sizeof(int));
    a->send_counts = xcalloc(n, sizeof(int));
    a->recv_counts = xcalloc(n, sizeof(int));
    a->displs = xcalloc(n, sizeof(int));
    a->byte_displs = xcalloc(n, sizeof(int));
    a->aint_displs = xcalloc(n, sizeof(MPI_Aint));
    a->types = xcalloc(n, sizeof(MPI_Datatype));
    set_counts(a);
    zoo_act_reset(a);
    return a;
}

void zoo_act_free(struct zoo_act *a)
{
    free(a->send);
    free(a->recv);
    free(a->send_counts);
    free(a->recv_counts);
    free(a->displs);
    free(a->byte_displs);
    free(a->aint_displs);
    free(a->types);
    free(a);
}

void zoo_act_reset(struct zoo_act *a)
{
    for (int i = 0; i < a->blocks * BLOCK; i++) {
        a->send[i] = value(a->c->rank, i);
        a->recv[i] = EMPTY;
    }
    if (a->op == ZOO_BCAST && a->c->rank == a->root)
        for (int i = 0; i < BLOCK; i++)
            a->recv[i] = value(a->root, i);
}

MPI_Request *zoo_act_request(struct zoo_act *a)
{
    return &a->request;
}

static int post_rooted(struct zoo_act *a, enum zoo_mode mode)
{
    MPI_Comm comm = a->c->comm;
    int *s = a->send, *r = a->recv, root = a->root, mine = count_of(a->c->rank);

    switch (a->op) {
    case ZOO_BCAST:
        return ZOO_POST(a, mode, Bcast, bcast, r, BLOCK, MPI_INT, root, comm);
    case ZOO_GATHER:
        return ZOO_POST(a, mode, Gather, gather, s, BLOCK, MPI_INT, r, BLOCK, MPI_INT, root, comm);
    case ZOO_GATHERV:
        return ZOO_POST(a, mode, Gatherv, gatherv, s, mine, MPI_INT, r, a->recv_counts, a->displs, MPI_INT,
                        root, comm);
    case ZOO_SCATTER:
        return ZOO_POST(a, mode, Scatter, scatter, s, BLOCK, MPI_INT, r, BLOCK, MPI_INT, root, comm);
    case ZOO_SCATTERV:
        return ZOO_POST(a, mode, Scatterv, scatterv, s, a->send_counts, a->displs, MPI_INT, r, mine, MPI_INT,
                        root, comm);
    default:
        return ZOO_POST(a, mode, Reduce, reduce, s, r, BLOCK, MPI_INT, MPI_SUM, root, comm);
    }
}

static int post_exchange(struct zoo_act *a, enum zoo_mode mode)
{
    MPI_Comm comm = a->c->comm;
    int *s = a->send, *r = a->recv, mine = count_of(a->c->rank);

    switch (a->op) {
    case ZOO_ALLGATHER:
        return ZOO_POST(a, mode, Allgather, allgather, s, BLOCK, MPI_INT, r, BLOCK, MPI_INT, comm);
    case ZOO_ALLGATHERV:
        return ZOO_POST(a, mode, Allgatherv, allgatherv, s, mine, MPI_INT, r, a->recv_counts, a->displs,
                        MPI_INT, comm);
    case ZOO_ALLTOALL:
        return ZOO_POST(a, mode, Alltoall, alltoall, s, BLOCK, MPI_INT, r, BLOCK, MPI_INT, comm);
    case ZOO_ALLTOALLV:
        return ZOO_POST(a, mode, Alltoallv, alltoallv, s, a->send_counts, a->displs, MPI_INT, r,
                        a->recv_counts, a->displs, MPI_INT, comm);
    case ZOO_ALLTOALLW:
        return ZOO_POST(a, mode, Alltoallw, alltoallw, s, a->send_counts, a->byte_displs, a->types, r,
                        a->recv_counts, a->byte_displs, a->types, comm);
    default:
        return ZOO_POST(a, mode, Barrier, barrier, comm);
    }
}

static int post_reduction(struct zoo_act *a, enum zoo_mode mode)
{
    MPI_Comm comm = a->c->comm;
    int *s = a->send, *r = a->recv;

    switch (a->op) {
    case ZOO_ALLREDUCE:
        return ZOO_POST(a, mode, Allreduce, allreduce, s, r, BLOCK, MPI_INT, MPI_SUM, comm);
    case ZOO_REDUCE_SCATTER:
        return ZOO_POST(a, mode, Reduce_scatter, reduce_scatter, s, r, a->recv_counts, MPI_INT, MPI_SUM,
                        comm);
    case ZOO_REDUCE_SCATTER_BLOCK:
        return ZOO_POST(a, mode, Reduce_scatter_block, reduce_scatter_block, s, r, BLOCK, MPI_INT, MPI_SUM,
                        comm);
    case ZOO_SCAN:
        return ZOO_POST(a, mode, Scan, scan, s, r, BLOCK, MPI_INT, MPI_SUM, comm);
    default:
        return ZOO_POST(a, mode, Exscan, exscan, s, r, BLOCK, MPI_INT, MPI_SUM, comm);
    }
}

static int post_neighbour(struct zoo_act *a, enum zoo_mode mode)
{
    MPI_Comm comm = a->c->comm;
    int *s = a->send, *r = a->recv, mine = count_of(a->c->rank);

    switch (a->op) {
    case ZOO_NEIGHBOR_ALLGATHER:
        return ZOO_POST(a, mode, Neighbor_allgather, neighbor_allgather, s, BLOCK, MPI_INT, r, BLOCK, MPI_INT,
                        comm);
    case ZOO_NEIGHBOR_ALLGATHERV:
        return ZOO_POST(a, mode, Neighbor_allgatherv, neighbor_allgatherv, s, mine, MPI_INT, r,
                        a->recv_counts, a->displs, MPI_INT, comm);
    case ZOO_NEIGHBOR_ALLTOALL:
        return ZOO_POST(a, mode, Neighbor_alltoall, neighbor_alltoall, s, BLOCK, MPI_INT, r, BLOCK, MPI_INT,
                        comm);
    case ZOO_NEIGHBOR_ALLTOALLV:
        return ZOO_POST(a, mode, Neighbor_alltoallv, neighbor_alltoallv, s, a->send_counts, a->displs,
                        MPI_INT, r, a->recv_counts, a->displs, MPI_INT, comm);
    default:
        return ZOO_POST(a, mode, Neighbor_alltoallw, neighbor_alltoallw, s, a->send_counts, a->aint_displs,
                        a->types, r, a->recv_counts, a->aint_displs, a->types, comm);
    }
}

void zoo_act_post(struct zoo_act *a, enum zoo_mode mode)
{
    int rc;

    if (a->op >= ZOO_NEIGHBOR_ALLGATHER)
        rc = post_neighbour(a, mode);
    else if (a->op >= ZOO_ALLREDUCE)
        rc = post_reduction(a, mode);
    else if ((a->op >= ZOO_BCAST && a->op <= ZOO_SCATTERV) || a->op == ZOO_REDUCE)
        rc = post_rooted(a, mode);
    else
        rc = post_exchange(a, mode);
    zoo_check(rc == MPI_SUCCESS, "%s on %s returned %d", names[a->op], a->c->name, rc);
    if (mode != ZOO_PERSISTENT) /* those count when they are started */
        zoo_count(a->c, a->op, mode);
}

/* n received integers from block on: rank's values from place on. */
static void expect(const struct zoo_act *a, int block, int n, int rank, int place)
{
    for (int i = 0; i < n; i++)
        zoo_check(a->recv[block * BLOCK + i] == value(rank, place + i),
                  "%s on %s, rank %d of %d: block %d is %d, not %d", names[a->op], a->c->name, a->c->rank,
                  a->c->size, block, a->recv[block * BLOCK + i], value(rank, place + i));
}

static void expect_sum(const struct zoo_act *a, int n, int ranks, int place)
{
    for (int i = 0; i < n; i++)
        zoo_check(a->recv[i] == sum_of(ranks, place + i), "%s on %s, rank %d of %d: sum is %d, not %d",
                  names[a->op], a->c->name, a->c->rank, a->c->size, a->recv[i], sum_of(ranks, place + i));
}

static void verify_blocks(const struct zoo_act *a)
{
    int r = a->c->rank;

    for (int k = 0; k < a->c->size; k++)
        switch (a->op) {
        case ZOO_GATHER:
        case ZOO_ALLGATHER:
            expect(a, k, BLOCK, k, 0);
            break;
        case ZOO_GATHERV:
        case ZOO_ALLGATHERV:
            expect(a, k, count_of(k), k, 0);
            break;
        case ZOO_ALLTOALL:
            expect(a, k, BLOCK, k, r * BLOCK);
            break;
        default: /* alltoallv, alltoallw */
            expect(a, k, count_of(r + k), k, r * BLOCK);
            break;
        }
}

static void verify_neighbours(const struct zoo_act *a)
{
    const struct zoo_neighbours *nb = &a->c->neighbours;

    for (int k = 0; k < nb->ins; k++) {
        int from = nb->in[k], place = nb->slot[k] * BLOCK;

        if (from == MPI_PROC_NULL)
            continue;
        if (a->op == ZOO_NEIGHBOR_ALLGATHER)
            expect(a, k, BLOCK, from, 0);
        else if (a->op == ZOO_NEIGHBOR_ALLGATHERV)
            expect(a, k, count_of(from), from, 0);
        else
            expect(a, k, a->op == ZOO_NEIGHBOR_ALLTOALL ? BLOCK : a->recv_counts[k], from, place);
    }
}

void zoo_act_verify(struct zoo_act *a)
{
    int r = a->c->rank, n = a->c->size, before = 0;

    for (int k = 0; k < r; k++)
        before += count_of(k);
    switch (a->op) {
    case ZOO_BARRIER:
        break;
    case ZOO_BCAST:
        expect(a, 0, BLOCK, a->root, 0);
        break;
    case ZOO_SCATTER:
        expect(a, 0, BLOCK, a->root, r * BLOCK);
        break;
    case ZOO_SCATTERV:
        expect(a, 0, count_of(r), a->root, r * BLOCK);
        break;
    case ZOO_REDUCE:
        expect_sum(a, r == a->root ? BLOCK : 0, n, 0);
        break;
    case ZOO_ALLREDUCE:
        expect_sum(a, BLOCK, n, 0);
        break;
    case ZOO_REDUCE_SCATTER:
        expect_sum(a, count_of(r), n, before);
        break;
    case ZOO_REDUCE_SCATTER_BLOCK:
        expect_sum(a, BLOCK, n, r * BLOCK);
        break;
    case ZOO_SCAN:
        expect_sum(a, BLOCK, r + 1, 0);
        break;
    case ZOO_EXSCAN: /* undefined on rank 0 */
        expect_sum(a, r ? BLOCK : 0, r, 0);
        break;
    default:
        if (a->op >= ZOO_NEIGHBOR_ALLGATHER)
            verify_neighbours(a);
        else if ((a->op != ZOO_GATHER && a->op != ZOO_GATHERV) || r == a->root)
            verify_blocks(a);
    }
}
