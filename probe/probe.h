/* probe.h - what the wrappers of the probe share: the library's ABI, the process's state, a thread's state,
 * one call.
 *
 * The probe is one object for Open MPI, MPICH and its kin, and includes no mpi.h.  A handle travels in a
 * register or an eight-byte slot, be it a pointer or an int: only its width in memory differs, and an int's
 * upper half is garbage.
 *
 * It refuses to print, to exit, to touch errno, statuses or buffers, to call anything collective.  Whatever
 * fails leaves the program's calls going straight through; what could have been recorded and was not is
 * counted.
 *
 * What it does not reach, and the agent shows as ranks without a ring: MPI linked statically; programs that
 * ask dlsym() for each MPI function by the library's own handle (interposing dlsym would put every process of
 * the job at risk); MPI-4 sessions without MPI_Init. Since a function that the library lacks is exported all
 * the same (MPI_Allreduce_init under Open MPI 4), dlsym() and weak references find it; calling it raises
 * MPI_ERR_OTHER, as a library does for an operation that it does not support. */
#ifndef SYNCGUARD_PROBE_PROBE_H
#define SYNCGUARD_PROBE_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/next.h"
#include "ring/clock.h"
#include "ring/control.h"
#include "ring/hot.h"
#include "ring/ring.h"

#define EXPORT __attribute__((visibility("default")))

typedef void *handle; /* of any MPI object, as a parameter */

/* Read a handle that lies in the program's memory: the i-th of an array. */
static inline handle handle_at(const void *array, int i);
/* One that came as a parameter. */
static inline handle handle_of(handle h);

/* ---- the process ---- */

enum probe_abi { ABI_UNKNOWN, ABI_OPENMPI, ABI_MPICH };

struct probe {
    atomic_bool active; /* between MPI_Init and MPI_Finalize, with a ring, not in a forked child */
    enum probe_abi abi;
    uint32_t rank;       /* the name of this rank */
    uint32_t world_size; /* 1: rank is the Slurm task, and stands for world rank 0 */
    bool spawned;
    handle world, self_comm, null_comm, null_type, null_request, empty_request;
    void *in_place;
    const struct control_page *control; /* never NULL when active */
    struct ring *main;                  /* ring 0 */
};
extern struct probe probe;

static inline handle handle_of(handle h)
{
    return probe.abi == ABI_MPICH ? (handle)(uintptr_t)(uint32_t)(uintptr_t)h : h;
}

static inline handle handle_at(const void *array, int i)
{
    return probe.abi == ABI_MPICH ? (handle)(uintptr_t)((const uint32_t *)array)[i]
                                  : ((const handle *)array)[i];
}

/* ---- the thread ---- */

struct comm;
struct thread {
    struct ring *ring; /* NULL: none yet, or none left */
    void *frame;       /* of the outermost wrapper that we are inside of; NULL outside */
    struct comm *comm; /* of the last call, see comm.h; NULL: none yet */
};
extern _Thread_local struct thread self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Give this thread a ring, its first or one that an ended thread left.  NULL: too many threads; that is
 * counted. */
struct ring *thread_ring(void);
/* Once a process: what happens to threads' rings when threads end and when the process forks. */
int thread_setup(const char *dir, const struct ring_info *info);
void thread_states_set(enum ring_state state);
/* At MPI_Finalize: SCR's steps are over (scr.c). */
void scr_leave(void);

/* ---- one call ---- */

/* A wrapper inside another one: Open MPI's Fortran layer calls PMPI_X, MPICH's MPI_X, a tool between us and
 * the library PMPI_X.  The outermost counts.  Told by the stack rather than by a counter, so that a program
 * whose error handler jumps or throws out of a call does not leave the thread blind for ever. */
static inline bool call_nested(const void *frame)
{
    return self.frame && (uintptr_t)frame < (uintptr_t)self.frame;
}

static inline bool call_wanted(const void *frame)
{
    return atomic_load_explicit(&probe.active, memory_order_relaxed) && !call_nested(frame);
}

static inline bool recording(void)
{
    return __atomic_load_n(&probe.control->record, __ATOMIC_RELAXED) != 0;
}

/* The ring to write to, or NULL when recording is switched off or there is none. */
HOT struct ring *call_ring(void)
{
    if (!recording())
        return NULL;
    return self.ring ? self.ring : thread_ring();
}

/* ---- figures of arguments ---- */

uint64_t type_bytes_ask(handle type);

HOT uint64_t type_bytes(handle type)
{
    uint32_t h = (uint32_t)(uintptr_t)type;

    /* MPICH's ABI: a built-in type's handle holds its size. */
    if (probe.abi == ABI_MPICH && (h & 0xffff0000u) == 0x4c000000u)
        return (h & 0xff00u) >> 8;
    return type_bytes_ask(handle_of(type));
}

/* The type of no elements need not be valid, and asking about an invalid one would raise an error. */
HOT uint64_t bytes_of(int64_t count, handle type)
{
    return count > 0 ? (uint64_t)count * type_bytes(type) : 0;
}

#endif
