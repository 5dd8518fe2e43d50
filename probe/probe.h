/* probe.h - what the probe's wrappers share: the library's ABI, the state of the process, of a thread and of
 * a call.
 *
 * One shared object serves Open MPI, MPICH and MPICH's derivatives, and MPI 5's standard ABI (abi.h); it
 * includes no mpi.h.  A handle, whether pointer or int, is passed in a register or an eight-byte slot; only
 * its width in memory differs, and the upper half of an int is garbage.
 *
 * The probe never prints, exits, changes errno, statuses or buffers, or calls anything collective.  When
 * something fails, the program's calls go straight to the library, and events that were lost are counted.
 *
 * It does not reach statically linked MPI, programs that look up each MPI function by dlsym() with the
 * library's own handle (interposing dlsym would put every process of the job at risk), and MPI-4 sessions
 * without MPI_Init.  The agent shows these as ranks without a ring.  The probe also exports functions that
 * the library lacks (MPI_Allreduce_init under Open MPI 4), so dlsym() and weak references find them; calling
 * one raises MPI_ERR_OTHER, as a library does for an operation that it does not support.
 *
 * What has a fixed size, what happens when it is full, and the counter of `sgctl job` that shows it:
 *
 *   events that wait for the agent   RING_CAPACITY_MAIN, _THREAD   dropped; messages leave a quarter of it to collectives       dropped, messages_missed
 *   communicators described          RING_COMMS_MAX                calls are recorded, their communicator's size is not known   comms_missed
 *   threads that record              RING_THREADS_MAX              calls of further ones are not recorded                       missed
 *   calls inside of calls            NESTED_MAX                    the outermost get no event                                   missed, messages_missed
 *   requests in progress             1,044,480 (request.h)         what completes is not recorded                               missed, messages_missed
 *   requests of one call             LENT_MAX (wait.c)             what completes is not recorded                               messages_missed
 *   streams of messages              NUMBER_STREAMS                the one unused longest is numbered from 0 again              streams_forgotten
 *   windows, targets of one at once  WINDOWS_MAX, WINDOW_TARGETS   accesses are not recorded                                    messages_missed
 *   ranks, gates of pacing           PACING_SLOTS, PACING_GATES    further ones are not paced                                   none: nothing is lost
 *
 * Communicators and who is in them take memory when they are made; a call on one that had none counts as
 * missed.  Other ranks have no table. */
#ifndef SYNCGUARD_PROBE_PROBE_H
#define SYNCGUARD_PROBE_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/abi.h"
#include "probe/next.h"
#include "ring/clock.h"
#include "ring/control_page.h"
#include "ring/hot.h"
#include "ring/ring.h"

typedef void *handle; /* of any MPI object, as a parameter */

/* ---- the process ---- */

struct probe {
    atomic_bool active; /* between MPI_Init and MPI_Finalize, with a ring, not in a forked child */
    struct abi abi;
    uint32_t rank; /* as in ring_info: the world rank, or the Slurm task where world_size is 1 */
    uint32_t world_size;
    uint64_t world_seed; /* of the names of communicators: differs between the worlds of a job */
    bool concurrent;     /* several threads may call MPI at the same time */
    const struct control_page *control; /* never NULL when active */
    struct ring *main;                  /* ring 0 */
};
extern struct probe probe __attribute__((visibility("hidden")));

/* A handle that was passed as a parameter, with any garbage in its upper half removed. */
static inline handle handle_of(handle h)
{
    return (handle)((uintptr_t)h & probe.abi.handle_mask);
}

/* Of one handle in the program's memory. */
static inline size_t handle_bytes(void)
{
    return probe.abi.kind == ABI_MPICH ? sizeof(uint32_t) : sizeof(handle);
}

/* Handle i of an array in the program's memory. */
static inline handle handle_at(const void *array, int i)
{
    return probe.abi.kind == ABI_MPICH ? (handle)(uintptr_t)((const uint32_t *)array)[i]
                                       : ((const handle *)array)[i];
}

/* ---- the thread ---- */

/* Calls that a thread is in at once, and that get an event: of further ones the outermost are counted as
 * missed. */
#define NESTED_MAX 4u

struct comm;
struct thread {
    struct ring *ring; /* NULL: none yet, or none left */
    struct comm *comm; /* of the last call, see comm.h; NULL: none yet */
    /* The call that comes back as PMPI_X, see call_passed_on(): its frame (NULL: there is none) and its
     * communicator. */
    const void *passing;
    handle passing_comm;
    const void *shown; /* the frame of the call that the ring showed last */
    struct { /* calls that are in progress and not shown any more, the outer ones first (nested.c) */
        const void *frame;
        struct ring_event event;
    } nested[NESTED_MAX];
    unsigned n_nested;
    int poll_from; /* where the next test looks among its requests (wait.c) */
    /* The last predefined datatype whose size was asked for: it cannot be freed, so its handle never means
     * another. */
    handle type;
    uint64_t type_bytes;
    uint64_t polling; /* ticks: the first test in vain since one that completed something; 0: none (wait.c) */
};
extern _Thread_local struct thread self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Give this thread a ring: a new one, or one that an ended thread left.  NULL when all are taken or a ring
 * cannot be created; the missed event is counted in ring 0. */
struct ring *thread_ring(void);
/* Called once per process: keep dir and info for later rings, and register what happens to rings when a
 * thread ends or the process forks.  0 or -1. */
int thread_setup(const char *dir, const struct ring_info *info);
/* Set the state of all rings of this process. */
void thread_states_set(enum ring_state state);
/* Called in MPI_Finalize: the steps that SCR marked are over (scr.c). */
void scr_leave(void);

/* ---- one call ---- */

/* How a wrapper was called. */
struct entry {
    const void *frame; /* the wrapper's stack frame */
    bool pmpi;         /* as PMPI_X */
};
#define ENTRY(symbol) ((struct entry){ __builtin_frame_address(0), #symbol[0] == 'P' })

/* Each call of the program has an event and a number, at whatever depth: callbacks of attributes, error
 * handlers and generalized requests call MPI, too, on some ranks only, and error handlers jump or throw out
 * of a call.  Not so a call that is passed on: a tool between the probe and the library calls PMPI_X inside
 * the MPI_X that it wraps, and Open MPI's MPI_Sendrecv_replace calls PMPI_Sendrecv; then the outer one stands
 * for both.  That is what a PMPI_X is which is called below the frame of a call that may be passed on, on the
 * same communicator, or on none.  The frame of a call that was left by a jump does no harm: it is forgotten
 * at the next MPI_X. */
static inline bool call_passed_on(struct entry e, handle comm)
{
    if ((uintptr_t)e.frame >= (uintptr_t)self.passing || (comm && handle_of(comm) != self.passing_comm))
        return false;
    if (!next_layered)
        self.passing = NULL; /* the library does so once */
    return true;
}

/* Whether the wrapper records its call.  comm: NULL for a call without one. */
HOT bool call_wanted(struct entry e, handle comm)
{
    if (!atomic_load_explicit(&probe.active, memory_order_relaxed))
        return false;
    return !e.pmpi || __builtin_expect(!self.passing, 1) || !call_passed_on(e, comm);
}

/* The call may come back as PMPI_X, until call_over(). */
HOT void call_passes(struct entry e, handle comm)
{
    self.passing = e.frame;
    self.passing_comm = handle_of(comm);
}

/* After call_wanted(). */
HOT void call_entered(struct entry e, handle comm)
{
    if (__builtin_expect(next_layered, 0) && !e.pmpi)
        call_passes(e, comm);
}

HOT void call_over(void)
{
    self.passing = NULL;
}

/* The ring to write to, or NULL when recording is switched off or there is none. */
HOT struct ring *call_ring(void)
{
    if (!__atomic_load_n(&probe.control->record, __ATOMIC_RELAXED))
        return NULL;
    return self.ring ? self.ring : thread_ring();
}

/* Whether a call that failed took part in what it was called for, and so has a number: it did not where the
 * library refused its arguments, and then the program may call it again. */
bool call_took_part(int rc);

/* ---- sizes of arguments ---- */

/* Bytes of one element as the library reports them; 0 when it cannot.  Asking about what is no type would
 * raise an error: only when the library has accepted it. */
uint64_t type_bytes_ask(handle type);

HOT uint64_t type_bytes(handle type)
{
    type = handle_of(type);
    return __builtin_expect(type == self.type, 1) ? self.type_bytes : type_bytes_ask(type);
}

/* With count 0 the type need not be valid. */
HOT uint64_t bytes_of(int64_t count, handle type)
{
    return __builtin_expect(count > 0, 1) ? (uint64_t)count * type_bytes(type) : 0;
}

/* The same before the library has seen the arguments; 0: not known yet. */
HOT uint64_t bytes_before(int64_t count, handle type)
{
    return __builtin_expect(count > 0 && handle_of(type) == self.type, 1) ? (uint64_t)count * self.type_bytes
                                                                          : 0;
}

#endif
