/* trainer.c - libsyncguard in a program with MPI: every rank works, all sum up, and all write a checkpoint at
 * the step at which the guard says that one is due.
 *
 *     mpicc -o trainer trainer.c $(pkg-config --cflags --libs syncguard) srun --sync-guard=POLICY trainer
 *     STEPS STEP_MS WRITE_MS [FILE]
 *
 * FILE.RANK gets a line for every step at which the rank heard yes. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <syncguard.h>

#define BATCH 32

static void on_term(int sig)
{
    (void)sig;
    sg_preempted(); /* and go on: the last checkpoint is asked for in time */
}

static void pause_ms(double ms)
{
    struct timespec t = { (time_t)(ms / 1000), (long)((ms - 1000.0 * (double)(time_t)(ms / 1000)) * 1e6) };

    while (nanosleep(&t, &t) < 0)
        continue;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 1000;
    double step_ms = argc > 2 ? atof(argv[2]) : 20, write_ms = argc > 3 ? atof(argv[3]) : 100;
    char path[4096];
    FILE *log = NULL;
    int rank;

    signal(SIGTERM, on_term);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 4) {
        snprintf(path, sizeof(path), "%s.%d", argv[4], rank);
        log = fopen(path, "w");
    }
    for (long step = 1; step <= steps; step++) {
        double gradient = 1;

        pause_ms(step_ms);
        MPI_Allreduce(MPI_IN_PLACE, &gradient, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sg_samples(BATCH);
        if (sg_checkpoint_due()) {
            if (log) {
                fprintf(log, "%ld\n", step);
                fflush(log);
            }
            sg_checkpoint_begin();
            if (rank == 0) /* writes; the others wait for it */
                pause_ms(write_ms);
            sg_checkpoint_end(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
        }
    }
    if (log)
        fclose(log);
    MPI_Finalize();
    return 0;
}
