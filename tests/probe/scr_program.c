/* scr_program.c - a program that checkpoints with SCR; rank 0 prints the steps at which a checkpoint was due.
 */
#include <mpi.h>
#include <stdio.h>

int SCR_Need_checkpoint(int *flag);
int SCR_Start_checkpoint(void);
int SCR_Complete_checkpoint(int valid);

int main(int argc, char **argv)
{
    int rank, bad = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 1; step <= 10; step++) {
        int due = 7, all;

        bad |= SCR_Need_checkpoint(&due);
        MPI_Allreduce(&due, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0 && all)
            printf("due %d on %d\n", step, all);
        if (due) {
            bad |= SCR_Start_checkpoint();
            bad |= SCR_Complete_checkpoint(1);
        }
    }
    MPI_Finalize();
    return bad;
}
