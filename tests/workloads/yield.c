/* yield.c - linked into a test's program, it makes MPICH on UCX give its core away whenever there is nothing to receive.
 * The library polls without end and has no setting against that (MPIR_CVAR_POLLS_BEFORE_YIELD is of other devices; Debian's
 * 4.0.2 never calls sched_yield), so that four ranks on two cores crawl: half the time of a step and two thirds of the
 * processor's went by waiting.  mpi.sh tells Open MPI the same by a variable.  Where MPICH has another device, this is
 * never called. */
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    unsigned n;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
    n = real(worker);
    if (!n)
        sched_yield();
    return n;
}
