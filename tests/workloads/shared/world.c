#include "tests/workloads/shared/world.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct world world_start(const char *program, bool gentle, int threads)
{
    struct world w = { .program = program, .gentle = gentle };
    int provided;

    MPI_Init_thread(NULL, NULL, threads, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    return w;
}

int world_agree(const struct world *w, int rc, const struct err *err)
{
    int first = rc < 0 ? w->rank : w->ranks;

    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == w->rank)
        fprintf(stderr, "%s: rank %d: %s\n", w->program, w->rank, err->text);
    return first < w->ranks ? -1 : 0;
}

int world_same(const struct world *w, MPI_Comm comm, uint64_t value, const char *what)
{
    uint64_t least[2] = { value, ~value };
    struct err err;
    int rc = 0;

    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_UINT64_T, MPI_MIN, comm);
    if (least[0] != ~least[1])
        rc = err_set(&err, "the ranks do not have the same %s", what);
    return world_agree(w, rc, &err);
}

/* A library that spins while it waits takes the core from the ranks that it waits for. */
void world_wait(const struct world *w, int n, MPI_Request *request)
{
    const struct timespec nap = { 0, 50 * 1000 };
    int done = 0;

    if (!w->gentle) {
        MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
        return;
    }
    for (;;) {
        MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
        if (done)
            return;
        nanosleep(&nap, NULL);
    }
}

void world_reduce(const struct world *w, void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;

    if (!w->gentle) {
        MPI_Allreduce(MPI_IN_PLACE, data, n, type, op, comm);
        return;
    }
    MPI_Iallreduce(MPI_IN_PLACE, data, n, type, op, comm, &request);
    world_wait(w, 1, &request);
}

bool world_over(const struct world *w, double begun_s, double seconds, const char *file)
{
    if (w->rank != 0)
        return false;
    return (seconds > 0 && clock_s() - begun_s >= seconds) || (file && access(file, F_OK) < 0);
}

double clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
