/* mpip.h - what one call costs a program that is profiled as mpiP does it, for comparison with our own hook.
 *
 * mpiP (Vetter & Chambreau, https://github.com/LLNL/mpiP, 8ff38c3) publishes no figure for a call, but its
 * source: a wrapper reads PMPI_Wtime() before and after the call and asks PMPI_Type_size(), looks the call
 * site up in a hash table of 256 chains by operation, rank and stack, and adds to the sums, minima and maxima
 * of the site.  mpip_enter() and mpip_leave() do the same with mpiP's option -k 0: no stack is walked, which
 * with -k 1 costs ten times as much as all the rest. Measured beside it on one machine, Open MPI: mpiP itself
 * (LD_PRELOAD=libmpiP.so MPIP="-k 0", built with
 * --disable-libunwind) added 75 ns to a barrier and 71 to an all-reduce, this added 60 and 59; -k 1 added
 * 770. */
#ifndef SYNCGUARD_BENCH_MPIP_H
#define SYNCGUARD_BENCH_MPIP_H

#include <mpi.h>

/* Before the call: the time in microseconds. */
double mpip_enter(void);
/* After it.  type is ignored where count is negative. */
void mpip_leave(unsigned op, double start_us, int count, MPI_Datatype type);

#endif
