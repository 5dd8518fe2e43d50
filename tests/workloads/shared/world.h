/* world.h - the ranks of a workload: how they agree, and how they wait for each other. */
#ifndef SYNCGUARD_WORKLOADS_WORLD_H
#define SYNCGUARD_WORKLOADS_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct world {
    const char *program;
    int rank, ranks;
    bool gentle; /* while waiting, sleep between looks, so that others on this core compute */
};

/* MPI_Init with a level of threads. */
struct world world_start(const char *program, bool gentle, int threads);

/* All ranks go on, or none: the lowest one that failed prints its reason.  -1 on all of them. */
int world_agree(const struct world *w, int rc, const struct err *err);
/* The same, where the members of comm do not all have the same value. */
int world_same(const struct world *w, MPI_Comm comm, uint64_t value, const char *what);

void world_wait(const struct world *w, int n, MPI_Request *request);
/* An all-reduce in place. */
void world_reduce(const struct world *w, void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* On rank 0, which has to tell the others: whether the run was to end, after so many seconds (0: no limit) or
 * because a file (NULL: none) is gone. */
bool world_over(const struct world *w, double begun_s, double seconds, const char *file);

double clock_s(void); /* CLOCK_MONOTONIC */

#endif
