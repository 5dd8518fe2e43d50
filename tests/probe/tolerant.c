/* tolerant - between the probe and an Open MPI that it makes fault tolerant by its word: counts for how many
 * calls statuses are written, and each rank says so at its end. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

extern bool ompi_ftmpi_enabled;
bool ompi_ftmpi_enabled = true;

static int written;

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    written += statuses != MPI_STATUSES_IGNORE;
    return PMPI_Waitall(n, requests, statuses);
}

int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    written += statuses != MPI_STATUSES_IGNORE;
    return PMPI_Testall(n, requests, flag, statuses);
}

int MPI_Finalize(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: %d with statuses\n", rank, written);
    fflush(stdout);
    return PMPI_Finalize();
}
