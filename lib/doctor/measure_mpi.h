/* measure_mpi.h - a pair's measurement by MPI.
 *
 * Nothing is linked with MPI: the node's library is looked for at run time, by the names that Open MPI's and
 * MPICH's binary interfaces have (MPICH's is also that of Intel MPI, MVAPICH and Cray MPICH). LD_LIBRARY_PATH
 * says which one, as it does for the user's programs.
 *
 * MPI has no time limits: a call waits for its partner as long as it takes, and a task may end in it. */
#ifndef SYNCGUARD_DOCTOR_MEASURE_MPI_H
#define SYNCGUARD_DOCTOR_MEASURE_MPI_H

#include "doctor/measure.h"

struct measure_mpi;

/* Initialise MPI.  type: of srun's --mpi, by which ranks find each other.  NULL with the reason: there is no
 * library, or the number of its ranks, or this one's, is not the step's. */
struct measure_mpi *measure_mpi_open(const char *type, uint32_t self, uint32_t tasks, struct err *err);
const char *measure_mpi_name(const struct measure_mpi *m); /* what it calls itself */
/* Be A of a pair, whose B is the partner: the shortest round trip, or else (rates) what follows from that of
 * a long message, for both ways. Nothing is known where something else took a processor of theirs during each
 * of them. */
struct measured measure_mpi_call(const struct measure_mpi *m, uint32_t partner, bool rates);
void measure_mpi_answer(const struct measure_mpi *m, uint32_t partner, bool rates);
/* All ranks together. */
void measure_mpi_close(struct measure_mpi *m);

#endif
