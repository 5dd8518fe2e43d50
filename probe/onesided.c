/* onesided.c - wrappers of the calls that pass data one-sidedly (MPI_Put, MPI_Get, MPI_Accumulate) and of
 * those that synchronise and make windows (MPI_Win_fence, MPI_Win_lock).
 *
 * Their time and the bytes that were put are added up with those of point-to-point calls until the next
 * collective, and a call that may block is shown as in progress: which rank waits in MPI_Win_fence or for a
 * lock can be seen.  They have no events of their own: a target does not know who wrote to it, and a fence
 * has no sequence number that other collectives share.  A request that was made by MPI_Rput and the like is
 * not known; waiting for it counts as waiting. */
#include "probe/p2p.h"

/* Only bytes that leave this rank are counted, as those of point-to-point calls are. */
#define PASSING(name, COUNT, bytes, params, args) BOTH(SHOWN, name, NULL, bytes, params, args)
/* For int counts, and for the large counts of MPI 4. */
#define ALL(DEFINE, name) \
    DEFINE(name, int)     \
    DEFINE(name##_c, int64_t)

/* ---- passing data ---- */

#define DATA_PARAMS(COUNT) void *buf, COUNT n, handle type, int to, intptr_t at, COUNT tn, handle ttype
#define DATA_ARGS          buf, n, type, to, at, tn, ttype

#define PUT(name, COUNT) \
    PASSING(name, COUNT, bytes_of(n, type), (DATA_PARAMS(COUNT), handle win), (DATA_ARGS, win))
#define GET(name, COUNT) PASSING(name, COUNT, 0, (DATA_PARAMS(COUNT), handle win), (DATA_ARGS, win))
#define RPUT(name, COUNT)                                                                    \
    PASSING(name, COUNT, bytes_of(n, type), (DATA_PARAMS(COUNT), handle win, void *request), \
            (DATA_ARGS, win, request))
#define RGET(name, COUNT) \
    PASSING(name, COUNT, 0, (DATA_PARAMS(COUNT), handle win, void *request), (DATA_ARGS, win, request))
#define ACCUMULATE(name, COUNT) \
    PASSING(name, COUNT, bytes_of(n, type), (DATA_PARAMS(COUNT), handle op, handle win), (DATA_ARGS, op, win))
#define RACCUMULATE(name, COUNT)                                                                        \
    PASSING(name, COUNT, bytes_of(n, type), (DATA_PARAMS(COUNT), handle op, handle win, void *request), \
            (DATA_ARGS, op, win, request))
ALL(PUT, Put)
ALL(GET, Get)
ALL(RPUT, Rput)
ALL(RGET, Rget)
ALL(ACCUMULATE, Accumulate)
ALL(RACCUMULATE, Raccumulate)

#define FETCH_PARAMS(COUNT)                                                                           \
    const void *buf, COUNT n, handle type, void *result, COUNT rn, handle rtype, int to, intptr_t at, \
        COUNT tn, handle ttype, handle op, handle win
#define FETCH_ARGS buf, n, type, result, rn, rtype, to, at, tn, ttype, op, win
/* With MPI_NO_OP nothing is sent, and count and type may be anything. */
#define FETCH(name, COUNT) PASSING(name, COUNT, 0, (FETCH_PARAMS(COUNT)), (FETCH_ARGS))
#define RFETCH(name, COUNT) \
    PASSING(name, COUNT, 0, (FETCH_PARAMS(COUNT), void *request), (FETCH_ARGS, request))
ALL(FETCH, Get_accumulate)
ALL(RFETCH, Rget_accumulate)

PASSING(Fetch_and_op, int, 0,
        (const void *buf, void *result, handle type, int to, intptr_t at, handle op, handle win),
        (buf, result, type, to, at, op, win))
PASSING(Compare_and_swap, int, 0,
        (const void *buf, const void *compare, void *result, handle type, int to, intptr_t at, handle win),
        (buf, compare, result, type, to, at, win))

/* ---- synchronising ---- */

#define SYNC(name, params, args) BOTH(SHOWN, name, NULL, 0, params, args)

SYNC(Win_fence, (int assertion, handle win), (assertion, win))
SYNC(Win_start, (handle group, int assertion, handle win), (group, assertion, win))
SYNC(Win_complete, (handle win), (win))
SYNC(Win_post, (handle group, int assertion, handle win), (group, assertion, win))
SYNC(Win_wait, (handle win), (win))
SYNC(Win_lock, (int type, int rank, int assertion, handle win), (type, rank, assertion, win))
SYNC(Win_lock_all, (int assertion, handle win), (assertion, win))
SYNC(Win_unlock, (int rank, handle win), (rank, win))
SYNC(Win_unlock_all, (handle win), (win))
SYNC(Win_flush, (int rank, handle win), (rank, win))
SYNC(Win_flush_all, (handle win), (win))
SYNC(Win_flush_local, (int rank, handle win), (rank, win))
SYNC(Win_flush_local_all, (handle win), (win))

/* ---- making windows: collective, but over a communicator whose numbers other calls take ---- */

#define MAKE(name, params, args) BOTH(SHOWN, name, comm, 0, params, args)

MAKE(Win_create, (void *base, intptr_t size, int unit, handle info, handle comm, void *win),
     (base, size, unit, info, comm, win))
MAKE(Win_create_c, (void *base, intptr_t size, intptr_t unit, handle info, handle comm, void *win),
     (base, size, unit, info, comm, win))
MAKE(Win_create_dynamic, (handle info, handle comm, void *win), (info, comm, win))
MAKE(Win_allocate, (intptr_t size, int unit, handle info, handle comm, void *base, void *win),
     (size, unit, info, comm, base, win))
MAKE(Win_allocate_c, (intptr_t size, intptr_t unit, handle info, handle comm, void *base, void *win),
     (size, unit, info, comm, base, win))
MAKE(Win_allocate_shared, (intptr_t size, int unit, handle info, handle comm, void *base, void *win),
     (size, unit, info, comm, base, win))
MAKE(Win_allocate_shared_c, (intptr_t size, intptr_t unit, handle info, handle comm, void *base, void *win),
     (size, unit, info, comm, base, win))
SYNC(Win_free, (void *win), (win))
