/* comm.h - communicators: from the library's handle to the name that all members give it, without
 * communication.
 *
 * The name is a hash of (world ranks in order, n-th communicator with that membership): communicators are
 * made collectively, so members count alike.  A communicator that reaches outside of this MPI_COMM_WORLD
 * (spawn, accept, connect) has a name that is only this world's. */
#ifndef SYNCGUARD_PROBE_COMM_H
#define SYNCGUARD_PROBE_COMM_H

#include "probe/probe.h"

struct pacing_gate;

struct comm {
    handle _Atomic at; /* NULL: free for another */
    struct comm *next; /* in its bucket; never changes */
    uint64_t name;
    _Atomic uint32_t seq; /* collectives posted so far */
    uint32_t size;        /* members; of both groups where there are two */
    int32_t rank;         /* in the own group */
    uint32_t peers; /* of a rooted or all-to-all operation: the remote group's size where there is one */
    uint32_t sources, destinations; /* neighbours in its topology */
    uint8_t flags;                  /* RING_EVENT_INTER */
    uint64_t gate_of;               /* the name that gate was taken for; 0: not yet */
    struct pacing_gate *gate;       /* of the ranks on this node, see pace.h; NULL: none left */
    uint64_t left_ns;               /* its last collective while pacing was on; 0: none */
};

/* One collective call on a communicator (call.h). */
struct call {
    struct comm *comm; /* NULL: the call is not ours to record */
    struct ring *ring; /* NULL: nor is it recorded, but its sequence number counts */
    struct ring_event event;
    uint64_t paced_ns; /* 0: pacing has nothing to do with it */
    uint32_t lever;    /* that it is entered with */
};

/* Registers what it does not know; NULL when that fails (or for a null handle). */
struct comm *comm_find(handle h);

/* Hot path: the same, and most often that of this thread's last call.  A struct comm is never freed. */
HOT struct comm *comm_get(handle h)
{
    struct comm *c = self.comm;

    h = handle_of(h);
    if (__builtin_expect(!c || !h || atomic_load_explicit(&c->at, memory_order_acquire) != h, 0))
        self.comm = c = comm_find(h);
    return c;
}
/* A communicator was made: name it now, in the order of making. */
void comm_made(handle h);
/* It is about to be freed; its handle may mean another one the next moment. */
struct comm *comm_forget(handle h);
void comm_keep(struct comm *c, handle h); /* freeing failed after all */

/* The next number on c.  Collectives on one communicator are ordered by the program, so this needs no locked
 * addition. */
static inline uint32_t comm_next_seq(struct comm *c)
{
    uint32_t seq = atomic_load_explicit(&c->seq, memory_order_relaxed);

    atomic_store_explicit(&c->seq, seq + 1, memory_order_relaxed);
    return seq;
}

#endif
