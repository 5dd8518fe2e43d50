/* tool - a profiling tool that lies between the probe and the library, or before the probe: it makes other
 * calls of the program's, and, with TOOL_OWN in its environment, some of its own on its own communicator. */
#include <mpi.h>
#include <stdlib.h>

static MPI_Comm own = MPI_COMM_NULL;

static int begin(int rc)
{
    return rc || !getenv("TOOL_OWN") ? rc : PMPI_Comm_dup(MPI_COMM_WORLD, &own);
}

int MPI_Init(int *argc, char ***argv)
{
    return begin(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return begin(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void)
{
    if (own != MPI_COMM_NULL)
        PMPI_Comm_free(&own);
    return PMPI_Finalize();
}

int MPI_Barrier(MPI_Comm comm)
{
    /* how late is each? */
    int rc = comm == MPI_COMM_WORLD && own != MPI_COMM_NULL ? PMPI_Barrier(own) : MPI_SUCCESS;

    return rc ? rc : PMPI_Barrier(comm);
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int inter = 1, rc;

    PMPI_Comm_test_inter(comm, &inter);
    if (in == MPI_IN_PLACE || inter)
        return PMPI_Allreduce(in, out, n, type, op, comm);
    rc = PMPI_Reduce(in, out, n, type, op, 0, comm);
    return rc ? rc : PMPI_Bcast(out, n, type, 0, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    return PMPI_Comm_dup(comm, made);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    return PMPI_Comm_free(comm);
}

int MPI_Send(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    int rc = PMPI_Isend(buf, n, type, to, tag, comm, &request);

    return rc ? rc : PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

int MPI_Recv(void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    int rc = PMPI_Irecv(buf, n, type, from, tag, comm, &request);

    return rc ? rc : PMPI_Wait(&request, status);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    int rc = MPI_SUCCESS;

    if (statuses != MPI_STATUSES_IGNORE)
        return PMPI_Waitall(n, requests, statuses);
    for (int i = 0; i < n && !rc; i++)
        rc = PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return rc;
}
