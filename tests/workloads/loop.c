/* loop - the same step over and over: some work, then the ranks meet in one of several ways.
 *     loop allreduce | polled | exchange | crossed | solver STEPS
 * allreduce: a blocking collective; polled: MPI_Ibarrier and a loop of MPI_Test; exchange: messages with both
 * neighbours in a ring, and no collective; crossed: the same, but after 50 steps each rank first receives
 * from the one before it, so that none ever sends; solver: two sums of one number and four of 256, as an
 * iterative solver does them, with little work. Each rank first prints "loop: rank 2 pid 4711". */
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK_S 0.01
#define CELLS  256

static void work(void)
{
    double end_s = MPI_Wtime() + WORK_S;

    while (MPI_Wtime() < end_s)
        ;
}

static void allreduce(void)
{
    double mine[CELLS] = { 1 }, sum[CELLS];

    MPI_Allreduce(mine, sum, CELLS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void polled(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
}

static void exchange(void)
{
    static double from[2][CELLS], to[2][CELLS];
    MPI_Request request[4];
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++) {
        int neighbour = (rank + (i ? 1 : size - 1)) % size;

        MPI_Irecv(from[i], CELLS, MPI_DOUBLE, neighbour, !i, MPI_COMM_WORLD, &request[i]);
        MPI_Isend(to[i], CELLS, MPI_DOUBLE, neighbour, i, MPI_COMM_WORLD, &request[2 + i]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

static void crossed(void)
{
    static int steps;
    double from;
    int rank, size;

    exchange();
    if (++steps < 50)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Recv(&from, 1, MPI_DOUBLE, (rank + size - 1) % size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void solver(void)
{
    for (int i = 0; i < 6; i++) {
        double mine[CELLS] = { 1 }, sum[CELLS];

        MPI_Allreduce(mine, sum, i % 3 ? CELLS : 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name;
    void (*meet)(void);
    bool rests; /* instead of work() */
} ways[] = { { "allreduce", allreduce, false },
             { "polled", polled, false },
             { "exchange", exchange, false },
             { "crossed", crossed, false },
             { "solver", solver, true } };

int main(int argc, char **argv)
{
    size_t way = 0, n = sizeof(ways) / sizeof(ways[0]);
    long steps = argc == 3 ? atol(argv[2]) : 0;
    int rank;

    while (way < n && (argc != 3 || strcmp(argv[1], ways[way].name) != 0))
        way++;
    if (way == n || steps <= 0) {
        fprintf(stderr, "Usage: loop allreduce|polled|exchange|crossed|solver STEPS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("loop: rank %d pid %ld\n", rank, (long)getpid());
    fflush(stdout);
    for (long i = 0; i < steps; i++) {
        if (ways[way].rests)
            usleep(2000);
        else
            work();
        ways[way].meet();
    }
    MPI_Finalize();
    return 0;
}
