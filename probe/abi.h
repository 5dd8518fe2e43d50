/* abi.h - which MPI library this is: the numbers and layouts that its mpi.h fixes when a program is compiled.
 *
 * Open MPI has its own; MPICH, Intel MPI, MVAPICH and Cray MPI share one; MPI 5 defines a third, which the
 * libraries offer beside their own as libmpi_abi (MPI 5.0, chapter 20 and appendix A).  No other is guessed
 * at. */
#ifndef SYNCGUARD_PROBE_ABI_H
#define SYNCGUARD_PROBE_ABI_H

#include <stdbool.h>
#include <stdint.h>

enum abi_kind { ABI_UNKNOWN, ABI_OPENMPI, ABI_MPICH, ABI_STANDARD };

struct abi {
    enum abi_kind kind;
    uint8_t status_bytes;
    uint8_t status_source, status_tag, status_error; /* numbers of words */
    int any_source, any_tag, proc_null;
    int thread_multiple;
    int err_arg; /* the last class of errors that say that an argument was refused */
    int err_other, err_pending, err_in_status;
    int combiner_named;
    int cart, graph, dist_graph; /* kinds of topology */
    void *in_place, *status_ignore;
    /* Predefined handles; empty_request: of Open MPI's operations that were complete at once. */
    void *world, *self_comm, *null_comm, *null_type, *null_request, *empty_request;
    void *no_op;           /* MPI_NO_OP */
    uintptr_t handle_mask; /* the bits of a parameter that are a handle's */
    bool ignored_stay;     /* where statuses are ignored, errors are told in another way, which stays so */
    bool small_requests;   /* requests are numbers; those from 2^30 to 2^31 were complete at once */
};

/* name: what the library calls itself, for people, whether it is known or not.  False: its ABI is not
 * known. */
bool abi_know(struct abi *abi, char name[64]);

#endif
