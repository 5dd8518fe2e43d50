#include "tests/workloads/zoo/zoo.h"

#include <string.h>

/* The ways to see requests done. */
enum way { WAIT, TEST, WAITALL, WAITANY, WAITSOME, TESTALL, TESTANY, TESTSOME, STATUS_THEN_WAIT, WAYS };

enum { MOST = ZOO_COMM_CREATE };

static int first_op(const struct zoo_comm *c)
{
    return c->neighbours.ins || c->neighbours.outs ? ZOO_NEIGHBOR_ALLGATHER : ZOO_BARRIER;
}

static int end_op(const struct zoo_comm *c)
{
    return c->neighbours.ins || c->neighbours.outs ? ZOO_COMM_CREATE : ZOO_NEIGHBOR_ALLGATHER;
}

static void one(struct zoo_comm *c, enum zoo_op op, int round)
{
    struct zoo_act *a = zoo_act_new(c, op, round);

    zoo_act_post(a, ZOO_BLOCKING);
    zoo_act_verify(a);
    zoo_act_free(a);
}

void zoo_blocking(struct zoo_comm *c, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int op = first_op(c); op < end_op(c); op++)
            one(c, (enum zoo_op)op, round);
}

static void one_by_one(int n, MPI_Request *r, enum way way)
{
    for (int i = 0; i < n; i++) {
        int done = 0;

        while (way == TEST && !done)
            MPI_Test(&r[i], &done, MPI_STATUS_IGNORE);
        while (way == STATUS_THEN_WAIT && !done)
            MPI_Request_get_status(r[i], &done, MPI_STATUS_IGNORE);
        if (way != TEST)
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    }
}

static void some_by_some(int n, MPI_Request *r, enum way way)
{
    MPI_Status status[MOST];
    int index[MOST], left = n;

    while (left > 0) {
        int done = 0;

        switch (way) {
        case WAITANY:
            MPI_Waitany(n, r, index, status);
            done = 1;
            break;
        case TESTANY:
            MPI_Testany(n, r, index, &done, status);
            break;
        case WAITSOME:
            MPI_Waitsome(n, r, &done, index, status);
            break;
        default:
            MPI_Testsome(n, r, &done, index, status);
            break;
        }
        left -= done;
    }
}

static void complete(int n, MPI_Request *r, enum way way)
{
    MPI_Status status[MOST];
    int done = 0;

    switch (way) {
    case WAIT:
    case TEST:
    case STATUS_THEN_WAIT:
        one_by_one(n, r, way);
        break;
    case WAITALL:
        MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
        break;
    case TESTALL:
        while (!done)
            MPI_Testall(n, r, &done, status);
        break;
    default:
        some_by_some(n, r, way);
    }
    for (int i = 0; i < n; i++)
        zoo_check(r[i] == MPI_REQUEST_NULL, "request %d is still there after way %d", i, (int)way);
}

void zoo_nonblocking(struct zoo_comm *c)
{
    for (int way = 0; way < WAYS; way++) {
        struct zoo_act *act[MOST];
        MPI_Request request[MOST];
        int n = 0;

        for (int op = first_op(c); op < end_op(c); op++, n++) {
            act[n] = zoo_act_new(c, (enum zoo_op)op, way);
            zoo_act_post(act[n], ZOO_NONBLOCKING);
            request[n] = *zoo_act_request(act[n]);
        }
        complete(n, request, (enum way)way);
        for (int i = 0; i < n; i++) {
            zoo_act_verify(act[i]);
            zoo_act_free(act[i]);
        }
    }
}

#ifdef ZOO_INIT
/* MPICH 4.0 repeats these wrongly or fails (its issues 6423 and 7078): the zoo is to try the probe, not
 * MPICH. */
static bool repeats_well(enum zoo_op op)
{
#ifdef MPICH_VERSION
    return op != ZOO_BCAST && op != ZOO_GATHER && op != ZOO_SCATTER && op != ZOO_ALLGATHER;
#else
    (void)op;
    return true;
#endif
}

/* Half of them by one call, the others each by its own; the same order on all ranks. */
static void start_all(struct zoo_comm *c, int n, const enum zoo_op *op, MPI_Request *request)
{
    MPI_Startall(n / 2, request);
    for (int i = n / 2; i < n; i++)
        MPI_Start(&request[i]);
    for (int i = 0; i < n; i++)
        zoo_count(c, op[i], ZOO_PERSISTENT);
}

void zoo_persistent(struct zoo_comm *c)
{
    struct zoo_act *act[MOST];
    MPI_Request request[MOST];
    enum zoo_op ops[MOST];
    int n = 0;

    for (int op = first_op(c); op < end_op(c); op++) {
        if (!repeats_well((enum zoo_op)op))
            continue;
        ops[n] = (enum zoo_op)op;
        act[n] = zoo_act_new(c, ops[n], op);
        zoo_act_post(act[n], ZOO_PERSISTENT);
        request[n] = *zoo_act_request(act[n]);
        n++;
    }
    for (int round = 0; round < 3; round++) {
        start_all(c, n, ops, request);
        if (round == 1)
            for (int i = 0; i < n; i++)
                MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        else
            MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) {
            zoo_act_verify(act[i]);
            zoo_act_reset(act[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        MPI_Request_free(&request[i]);
        zoo_act_free(act[i]);
    }
}
#else
void zoo_persistent(struct zoo_comm *c)
{
    (void)c;
}
#endif

void zoo_small(struct zoo_comm *c)
{
    static const enum zoo_op few[] = { ZOO_ALLREDUCE, ZOO_BCAST, ZOO_ALLGATHER, ZOO_BARRIER };

    for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
        struct zoo_act *a = zoo_act_new(c, few[i], (int)i);

        one(c, few[i], 1);
        zoo_act_post(a, ZOO_NONBLOCKING);
        MPI_Wait(zoo_act_request(a), MPI_STATUS_IGNORE);
        zoo_act_verify(a);
        zoo_act_free(a);
    }
}
