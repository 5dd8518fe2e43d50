/* onesided.c - wrappers of the calls that pass data one-sidedly (MPI_Put, MPI_Get, MPI_Accumulate) and of
 * those that synchronise and make windows (MPI_Win_fence, MPI_Win_lock).
 *
 * Their time and the bytes that were put are added up with those of point-to-point calls until the next
 * collective, and a call that may block is shown as in progress: which rank waits in MPI_Win_fence or for a
 * lock can be seen.  What is passed while a target is locked has an event (window.h).  Between fences there
 * is none: a fence has no sequence number that other collectives share.  A request that was made by MPI_Rput
 * and the like is not known; waiting for it counts as waiting, and what it passed is complete with the next
 * flush. */
#include "probe/p2p.h"
#include "probe/window.h"

/* After a call that passed data. */
static void passed(struct p2p *p, handle win, int target, uint64_t read, uint64_t written)
{
    p2p_over(p, p2p_leave(p, written));
    if (p->ring)
        window_passed(p->ring, win, target, p->enter, read, written);
}

/* Of win and to.  The types are looked at once the library has accepted them.  Of the bytes only those that
 * leave this rank are counted with point-to-point calls. */
#define PASSES(symbol, read, written, params, args)                     \
    EXPORTED(int symbol params)                                         \
    {                                                                   \
        static struct next next = { #symbol, NULL };                    \
        struct p2p p;                                                   \
        bool known;                                                     \
        int rc;                                                         \
                                                                        \
        if (!p2p_begin(&p, NULL, ENTRY(symbol)))                        \
            return ((int(*) params)next_get(&next))args;                \
        p2p_show(&p, 0);                                                \
        rc = ((int(*) params)next_get(&next))args;                      \
        known = !rc && p.ring;                                          \
        passed(&p, win, to, known ? (read) : 0, known ? (written) : 0); \
        return rc;                                                      \
    }
#define PASSING(name, read, written, params, args) BOTH(PASSES, name, read, written, params, args)
/* For int counts, and for the large counts of MPI 4. */
#define ALL(DEFINE, name) \
    DEFINE(name, int)     \
    DEFINE(name##_c, int64_t)

/* ---- passing data ---- */

#define DATA_PARAMS(COUNT) void *buf, COUNT n, handle type, int to, intptr_t at, COUNT tn, handle ttype
#define DATA_ARGS          buf, n, type, to, at, tn, ttype

#define PUT(name, COUNT) \
    PASSING(name, 0, bytes_of(n, type), (DATA_PARAMS(COUNT), handle win), (DATA_ARGS, win))
#define GET(name, COUNT) \
    PASSING(name, bytes_of(n, type), 0, (DATA_PARAMS(COUNT), handle win), (DATA_ARGS, win))
#define RPUT(name, COUNT)                                                                \
    PASSING(name, 0, bytes_of(n, type), (DATA_PARAMS(COUNT), handle win, void *request), \
            (DATA_ARGS, win, request))
#define RGET(name, COUNT)                                                                \
    PASSING(name, bytes_of(n, type), 0, (DATA_PARAMS(COUNT), handle win, void *request), \
            (DATA_ARGS, win, request))
#define ACCUMULATE(name, COUNT) \
    PASSING(name, 0, bytes_of(n, type), (DATA_PARAMS(COUNT), handle op, handle win), (DATA_ARGS, op, win))
#define RACCUMULATE(name, COUNT)                                                                    \
    PASSING(name, 0, bytes_of(n, type), (DATA_PARAMS(COUNT), handle op, handle win, void *request), \
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
static bool changes(handle op)
{
    return handle_of(op) != probe.abi.no_op;
}

#define FETCH(name, COUNT)                                                                         \
    PASSING(name, bytes_of(rn, rtype), changes(op) ? bytes_of(n, type) : 0, (FETCH_PARAMS(COUNT)), \
            (FETCH_ARGS))
#define RFETCH(name, COUNT)                                                 \
    PASSING(name, bytes_of(rn, rtype), changes(op) ? bytes_of(n, type) : 0, \
            (FETCH_PARAMS(COUNT), void *request), (FETCH_ARGS, request))
ALL(FETCH, Get_accumulate)
ALL(RFETCH, Rget_accumulate)

PASSING(Fetch_and_op, bytes_of(1, type), changes(op) ? bytes_of(1, type) : 0,
        (const void *buf, void *result, handle type, int to, intptr_t at, handle op, handle win),
        (buf, result, type, to, at, op, win))
PASSING(Compare_and_swap, bytes_of(1, type), bytes_of(1, type),
        (const void *buf, const void *compare, void *result, handle type, int to, intptr_t at, handle win),
        (buf, compare, result, type, to, at, win))

/* ---- synchronising ---- */

#define SYNC(name, params, args) BOTH(SHOWN, name, NULL, 0, params, args)

SYNC(Win_fence, (int assertion, handle win), (assertion, win))
SYNC(Win_start, (handle group, int assertion, handle win), (group, assertion, win))
SYNC(Win_complete, (handle win), (win))
SYNC(Win_post, (handle group, int assertion, handle win), (group, assertion, win))
SYNC(Win_wait, (handle win), (win))

/* A call that is shown, after which something is to be done with win:
 *  AROUND(symbol, communicator, what is to be done where it did not fail, parameters, arguments) */
#define AROUND(symbol, comm_used, after, params, args)   \
    EXPORTED(int symbol params)                          \
    {                                                    \
        static struct next next = { #symbol, NULL };     \
        struct p2p p;                                    \
        uint64_t now;                                    \
        int rc;                                          \
                                                         \
        if (!p2p_begin(&p, comm_used, ENTRY(symbol)))    \
            return ((int(*) params)next_get(&next))args; \
        p2p_show(&p, 0);                                 \
        rc = ((int(*) params)next_get(&next))args;       \
        now = p2p_leave(&p, 0);                          \
        p2p_over(&p, now);                               \
        if (!rc)                                         \
            after;                                       \
        return rc;                                       \
    }

#define LOCK(name, target, params, args) \
    BOTH(AROUND, name, NULL, window_locked(win, target, p.enter), params, args)
LOCK(Win_lock, rank, (int type, int rank, int assertion, handle win), (type, rank, assertion, win))
LOCK(Win_lock_all, WINDOW_ALL, (int assertion, handle win), (assertion, win))

#define COMPLETE(name, target, how, params, args) \
    BOTH(AROUND, name, NULL, window_completed(p.ring, win, target, how, now), params, args)
COMPLETE(Win_unlock, rank, WINDOW_UNLOCKED, (int rank, handle win), (rank, win))
COMPLETE(Win_unlock_all, WINDOW_ALL, WINDOW_UNLOCKED, (handle win), (win))
COMPLETE(Win_flush, rank, WINDOW_FLUSHED, (int rank, handle win), (rank, win))
COMPLETE(Win_flush_all, WINDOW_ALL, WINDOW_FLUSHED, (handle win), (win))
COMPLETE(Win_flush_local, rank, WINDOW_FLUSHED_LOCALLY, (int rank, handle win), (rank, win))
COMPLETE(Win_flush_local_all, WINDOW_ALL, WINDOW_FLUSHED_LOCALLY, (handle win), (win))

/* ---- making windows: collective, but over a communicator whose numbers other calls take ---- */

#define MAKE(name, params, args) \
    BOTH(AROUND, name, comm, window_made(p.comm, handle_at(win, 0)), params, args)

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

/* Its handle may mean another window as soon as the library has freed it. */
#define FREE(symbol)                                        \
    EXPORTED(int symbol(void *win))                         \
    {                                                       \
        static struct next next = { #symbol, NULL };        \
        struct p2p p;                                       \
        int rc;                                             \
                                                            \
        if (!p2p_begin(&p, NULL, ENTRY(symbol)))            \
            return ((int (*)(void *))next_get(&next))(win); \
        p2p_show(&p, 0);                                    \
        window_ending(handle_at(win, 0));                   \
        rc = ((int (*)(void *))next_get(&next))(win);       \
        p2p_over(&p, p2p_leave(&p, 0));                     \
        return rc;                                          \
    }
BOTH(FREE, Win_free)
