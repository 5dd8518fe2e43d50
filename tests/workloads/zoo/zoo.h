/* zoo.h - every kind of MPI call that a guard must see, each with its result checked, and a count of its own
 * of what was done on which communicator, for a test to compare with what a probe recorded.
 *
 * A communicator is described as a probe can know it: its members' world ranks and how many communicators
 * with just these members this rank had before (instance). Operations have the names of the trace format.
 * Counting is not locked: threads use communicators of their own. */
#ifndef SYNCGUARD_WORKLOADS_ZOO_H
#define SYNCGUARD_WORKLOADS_ZOO_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdbool.h>
#include <stdio.h>

/* The call that makes a persistent collective, if this library has any: they came with MPI 4.0; Open MPI 4
 * has them as an extension, Open MPI 5 under their final names though it calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define ZOO_INIT(Name) MPI_##Name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define ZOO_INIT(Name) MPIX_##Name##_init
#endif

enum zoo_op {
    ZOO_BARRIER,
    ZOO_BCAST,
    ZOO_GATHER,
    ZOO_GATHERV,
    ZOO_SCATTER,
    ZOO_SCATTERV,
    ZOO_ALLGATHER,
    ZOO_ALLGATHERV,
    ZOO_ALLTOALL,
    ZOO_ALLTOALLV,
    ZOO_ALLTOALLW,
    ZOO_REDUCE,
    ZOO_ALLREDUCE,
    ZOO_REDUCE_SCATTER,
    ZOO_REDUCE_SCATTER_BLOCK,
    ZOO_SCAN,
    ZOO_EXSCAN,
    ZOO_NEIGHBOR_ALLGATHER,
    ZOO_NEIGHBOR_ALLGATHERV,
    ZOO_NEIGHBOR_ALLTOALL,
    ZOO_NEIGHBOR_ALLTOALLV,
    ZOO_NEIGHBOR_ALLTOALLW,
    ZOO_COMM_CREATE, /* on the parent; MPI_Comm_create_group is none: it is not collective over the parent */
    ZOO_OPS
};

enum zoo_mode { ZOO_BLOCKING, ZOO_NONBLOCKING, ZOO_PERSISTENT };

/* Who a rank's neighbours are in a topology: in[k] is a rank in the communicator or MPI_PROC_NULL, and
 * slot[k] the place of this rank among that neighbour's destinations. */
struct zoo_neighbours {
    int ins, outs, in[2], slot[2];
};

struct zoo_comm {
    MPI_Comm comm;
    const char *name; /* for people */
    int size, rank, first, last, instance;
    bool inter;
    struct zoo_neighbours neighbours;
    int *members; /* world ranks, in order; of an intercommunicator: the local group's, the remote one's */
    int member_count;
    int count[ZOO_OPS];
    int nonblocking, persistent; /* of all counted */
    struct zoo_comm *next;
};

/* registry.c: communicators, counts, checks */
struct zoo_comm *zoo_add(MPI_Comm comm, const char *name);
void zoo_count(struct zoo_comm *c, enum zoo_op op, enum zoo_mode mode);
void zoo_free(struct zoo_comm *c); /* MPI_Comm_free; the counts stay */
/* Says what is wrong, at most 20 times a process. */
__attribute__((format(printf, 2, 3))) void zoo_check(bool good, const char *fmt, ...);
bool zoo_good(void);
void zoo_print(FILE *out, int world_rank); /* what was expected: a line a communicator, then "ok" */
void zoo_forget(void);

/* operations.c: one collective with buffers of its own */
struct zoo_act;
struct zoo_act *zoo_act_new(struct zoo_comm *c, enum zoo_op op, int round);
void zoo_act_post(struct zoo_act *a, enum zoo_mode mode); /* persistent: makes the request, starts nothing */
void zoo_act_reset(struct zoo_act *a);                    /* before a persistent one is started again */
void zoo_act_verify(struct zoo_act *a);
void zoo_act_free(struct zoo_act *a);
MPI_Request *zoo_act_request(struct zoo_act *a);
const char *zoo_op_name(enum zoo_op op);

/* collectives.c: all operations that fit a communicator, in each mode; rounds differ in their roots */
void zoo_blocking(struct zoo_comm *c, int rounds);
void zoo_nonblocking(struct zoo_comm *c); /* once for each way to complete requests */
void zoo_persistent(struct zoo_comm *c);  /* does nothing where the library has none */
void zoo_small(struct zoo_comm *c);       /* a few, for the many communicators */

/* communicators.c, messages.c */
void zoo_communicators(struct zoo_comm *world);
void zoo_messages(struct zoo_comm *world);

#endif
