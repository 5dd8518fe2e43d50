/* onesided - passes data one-sidedly in the ways that hold a rank: fences, post and start, locks, flushes.
 *     onesided [FILE]
 * Rank 0 comes late to a fence, and holds an exclusive lock on rank 1's window as long: it makes FILE each
 * time and waits until somebody has removed it.  Prints for each rank a line with what it has at the end, the
 * same in every run, and "done". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { N = 64, ROUNDS = 20 };

static int rank, ranks;
static const char *file;

static void late(void)
{
    FILE *f = file ? fopen(file, "w") : NULL;

    if (!f)
        return;
    fclose(f);
    while (access(file, F_OK) == 0)
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* Each rank writes to the next, reads from the one before, and adds to rank 0. */
static long fences(void)
{
    long *mine, got[N], value[N], sum = 0;
    MPI_Win win;

    MPI_Win_allocate(2 * N * sizeof(*mine), sizeof(*mine), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    for (int i = 0; i < 2 * N; i++)
        mine[i] = 0;
    MPI_Win_fence(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            value[i] = rank + round * i;
        if (round == ROUNDS / 2) /* what the ring has of this fence is between two barriers */
            MPI_Barrier(MPI_COMM_WORLD);
        if (round == ROUNDS / 2 && rank == 0)
            late();
        MPI_Put(value, N, MPI_LONG, (rank + 1) % ranks, 0, N, MPI_LONG, win);
        MPI_Win_fence(0, win);
        if (round == ROUNDS / 2)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Get(got, N, MPI_LONG, (rank + ranks - 1) % ranks, 0, N, MPI_LONG, win);
        MPI_Accumulate(value, N, MPI_LONG, 0, N, N, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < N; i++)
            sum += got[i] * (i + 1);
    }
    for (int i = 0; i < N; i++)
        sum += mine[N + i];
    MPI_Win_free(&win);
    return sum;
}

/* Rank 1's memory behind locks: what each adds does not depend on the order. */
static long locks(void)
{
    long mine[3] = { 0, 0, 0 }, one = rank + 1, before, sum;
    MPI_Win win;

    MPI_Win_create(mine, sizeof(mine), sizeof(*mine), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win); /* the lock is held now, whenever the library takes it */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        late();
        MPI_Win_unlock(1, win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Accumulate(&one, 1, MPI_LONG, 1, 1, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(1, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 2, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    sum = mine[0] + mine[1] * 1000 + mine[2] * 1000000;
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    return sum;
}

/* Even ranks write to the odd rank after them. */
static long post_and_start(void)
{
    long *mine, value = 7 * rank, got;
    MPI_Group all, one;
    int other = rank ^ 1;
    MPI_Win win;

    MPI_Win_allocate(N * sizeof(*mine), sizeof(*mine), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    *mine = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &one);
    if (rank % 2) {
        MPI_Win_post(one, 0, win);
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(one, 0, win);
        MPI_Put(&value, 1, MPI_LONG, other, 0, 1, MPI_LONG, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&all);
    got = *mine;
    MPI_Win_free(&win);
    return got;
}

int main(int argc, char **argv)
{
    long fenced, locked, posted;

    file = argc > 1 ? argv[1] : NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks % 2)
        return 2;
    fenced = fences();
    MPI_Barrier(MPI_COMM_WORLD); /* what the ring has of the fences ends with it */
    locked = locks();
    MPI_Barrier(MPI_COMM_WORLD);
    posted = post_and_start();
    printf("%d fenced %ld locked %ld posted %ld done\n", rank, fenced, locked, posted);
    MPI_Finalize();
    return 0;
}
