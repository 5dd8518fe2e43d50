/* probe.h - what the probe's wrappers share: the library's ABI, the state of the process, of a thread and of a
 * call.
 *
 * One shared object serves Open MPI, MPICH and MPICH's derivatives, and it includes no mpi.h.  A handle, whether
 * pointer or int, is passed in a register or an eight-byte slot; only its width in memory differs, and the upper
 * half of an int is garbage.
 *
 * The probe never prints, exits, changes errno, statuses or buffers, or calls anything collective.  When
 * something fails, the program's calls go straight to the library, and events that were lost are counted.
 *
 * It does not reach statically linked MPI, programs that look up each MPI function by dlsym() with the library's
 * own handle (interposing dlsym would put every process of the job at risk), and MPI-4 sessions without
 * MPI_Init.  The agent shows these as ranks without a ring.  The probe also exports functions that the library
 * lacks (MPI_Allreduce_init under Open MPI 4), so dlsym() and weak references find them; calling one raises
 * MPI_ERR_OTHER, as a library does for an operation that it does not support. */
#ifndef SYNCGUARD_PROBE_PROBE_H
#define SYNCGUARD_PROBE_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/next.h"
#include "ring/clock.h"
#include "ring/control_page.h"
#include "ring/hot.h"
#include "ring/ring.h"

#define EXPORT __attribute__((visibility("default")))

typedef void *handle; /* of any MPI object, as a parameter */

/* ---- the process ---- */

enum probe_abi { ABI_UNKNOWN, ABI_OPENMPI, ABI_MPICH };

struct probe {
    atomic_bool active; /* between MPI_Init and MPI_Finalize, with a ring, not in a forked child */
    enum probe_abi abi;
    uint32_t rank; /* as in ring_info: the world rank, or the Slurm task where world_size is 1 */
    uint32_t world_size;
    bool spawned;
    bool concurrent; /* several threads may call MPI at the same time */
    handle world, self_comm, null_comm, null_type, null_request, empty_request;
    uintptr_t handle_mask; /* the bits of a parameter that are the handle's */
    void *in_place;
    const struct control_page *control; /* never NULL when active */
    struct ring *main;                  /* ring 0 */
};
extern struct probe probe __attribute__((visibility("hidden")));

/* A handle that was passed as a parameter, with any garbage in its upper half removed. */
static inline handle handle_of(handle h)
{
    return (handle)((uintptr_t)h & probe.handle_mask);
}

/* Handle i of an array in the program's memory. */
static inline handle handle_at(const void *array, int i)
{
    return probe.abi == ABI_MPICH ? (handle)(uintptr_t)((const uint32_t *)array)[i]
                                  : ((const handle *)array)[i];
}

/* ---- the thread ---- */

struct comm;
struct thread {
    struct ring *ring; /* NULL: none yet, or none left */
    void *frame;       /* of the outermost wrapper in progress; NULL: none */
    struct comm *comm; /* of the last call, see comm.h; NULL: none yet */
    /* The last predefined datatype whose size was asked for: it cannot be freed, so its handle never means another. */
    handle type;
    uint64_t type_bytes;
};
extern _Thread_local struct thread self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Give this thread a ring: a new one, or one that an ended thread left.  NULL when all are taken or a ring
 * cannot be created; the missed event is counted in ring 0. */
struct ring *thread_ring(void);
/* Called once per process: keep dir and info for later rings, and register what happens to rings when a thread
 * ends or the process forks.  0 or -1. */
int thread_setup(const char *dir, const struct ring_info *info);
/* Set the state of all rings of this process. */
void thread_states_set(enum ring_state state);
/* Called in MPI_Finalize: the steps that SCR marked are over (scr.c). */
void scr_leave(void);

/* ---- one call ---- */

/* Whether the wrapper with this frame records its call: the probe is active, and the wrapper is not called inside
 * another one.  Open MPI's Fortran layer calls PMPI_X, MPICH's calls MPI_X, a tool between the probe and the library
 * calls PMPI_X; only the outermost is recorded.  Nesting is detected by
 * the stack rather than by a counter, so that a program whose error handler jumps or throws out of a call does
 * not stop recording for good. */
static inline bool call_wanted(const void *frame)
{
    return atomic_load_explicit(&probe.active, memory_order_relaxed) &&
           (uintptr_t)frame >= (uintptr_t)self.frame;
}

/* The ring to write to, or NULL when recording is switched off or there is none. */
HOT struct ring *call_ring(void)
{
    if (!__atomic_load_n(&probe.control->record, __ATOMIC_RELAXED))
        return NULL;
    return self.ring ? self.ring : thread_ring();
}

/* ---- sizes of arguments ---- */

/* Bytes of one element as the library reports them; 0 when it cannot. */
uint64_t type_bytes_ask(handle type);

HOT uint64_t type_bytes(handle type)
{
    type = handle_of(type);
    return __builtin_expect(type == self.type, 1) ? self.type_bytes : type_bytes_ask(type);
}

/* With count 0 the type need not be valid, and asking about an invalid type would raise an error. */
HOT uint64_t bytes_of(int64_t count, handle type)
{
    return __builtin_expect(count > 0, 1) ? (uint64_t)count * type_bytes(type) : 0;
}

#endif
