/* gentle - for tests, loaded before MPICH: a rank that waits gives its core away, as Open MPI's do with
 * mpi_yield_when_idle.
 *
 * Debian's MPICH 4.0.2 (ch4:ucx) calls neither sched_yield() nor anything else that sleeps while it waits,
 * whatever MPIR_CVAR_POLLS_BEFORE_YIELD says: six ranks on two busy cores take 130 s for what takes 3 s with
 * this.  Each of its loops asks UCX for progress; where there is none for a while, the rank naps. */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

#define YIELDS 20
#define NAP_NS 20000

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    static unsigned idle;
    unsigned n;

    if (!progress) { /* not RTLD_NEXT: the program may have loaded MPI with RTLD_LOCAL */
        void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);

        progress = ucp ? (unsigned (*)(void *))dlsym(ucp, "ucp_worker_progress") : NULL;
        if (!progress)
            return 0;
    }
    n = progress(worker);
    if (n)
        idle = 0;
    else if (++idle <= YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
    return n;
}
