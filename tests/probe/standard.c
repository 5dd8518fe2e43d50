/* standard.c - a program that was compiled for the standard's ABI.  Each rank prints "RANK ok" once it has
 * seen what it must see. */
#include "tests/probe/standard.h"

#include <stdio.h>
#include <string.h>

static int me, n, wrong;

#define CHECK(what) \
    ((what) ? (void)0 : (void)(wrong++ < 5 && printf("%d: %s, line %d\n", me, #what, __LINE__)))

static void collectives(MPI_Comm comm, int members)
{
    MPI_Request request;
    int one = 1, got = 0;

    MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_SUM, comm);
    CHECK(got == members);
    MPI_Allreduce(MPI_IN_PLACE, &got, 1, MPI_INT, MPI_SUM, comm);
    CHECK(got == members * members);
    MPI_Bcast(&got, 1, MPI_INT, 0, comm);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
}

/* Each sends to the next: named and with wildcards, alone and together, and to nobody. */
static void messages(MPI_Comm comm)
{
    int right = (me + 1) % n, left = (me + n - 1) % n, in[4] = { 0 }, out[4] = { me, me + 1, me + 2, me + 3 };
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Datatype three;

    MPI_Irecv(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Send(out, 4, MPI_INT, right, 7, comm);
    MPI_Wait(&requests[0], &statuses[0]);
    CHECK(statuses[0].MPI_SOURCE == left && statuses[0].MPI_TAG == 7 && in[3] == left + 3);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(in + i, 1, MPI_INT, i ? MPI_ANY_SOURCE : left, i, comm, &requests[i]);
        MPI_Isend(out + i, 1, MPI_INT, right, i, comm, &requests[2 + i]);
    }
    MPI_Waitall(4, requests, statuses);
    CHECK(in[0] == left && in[1] == left + 1 && statuses[1].MPI_SOURCE == left);
    MPI_Irecv(in, 1, three, left, 9, comm, &requests[0]);
    MPI_Isend(out, 1, three, right, 9, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[2] == left + 2);
    MPI_Type_free(&three);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 3, comm);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 3, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 1, MPI_INT, left, 9, comm, &requests[0]);
    MPI_Irecv(in + 1, 1, MPI_INT, left, 9, comm, &requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Barrier(comm); /* all have cancelled */
    MPI_Send(out, 1, MPI_INT, right, 9, comm);
    MPI_Wait(&requests[1], &statuses[1]);
    CHECK(in[1] == left);
}

int main(int argc, char **argv)
{
    MPI_Comm dup, half;
    int x = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    collectives(MPI_COMM_WORLD, n);
    CHECK(MPI_Bcast(&x, -1, MPI_INT, 0, MPI_COMM_WORLD));
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, me % 2, me, &half);
    collectives(half, (n + 1 - me % 2) / 2);
    messages(MPI_COMM_WORLD);
    messages(dup);
    CHECK(MPI_Send(&x, 1, MPI_INT, n + 5, 0, MPI_COMM_WORLD));
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!wrong)
        printf("%d ok\n", me);
    MPI_Finalize();
    return wrong != 0;
}
