/* comm.h - communicators: maps the library's handle to a name that all members compute without communicating.
 *
 * The name is a hash of the members' world ranks, in order, and of the communicator's origin: its parent's
 * name and the number of the collective on the parent that made it, which are the same on all members,
 * whatever other threads and callbacks make meanwhile.  Where the members have no parent in common, or only
 * some of the parent's took part, the origin is a tag, and communicators of the same members and tag are
 * counted.  The name of a communicator with members outside this MPI_COMM_WORLD (spawn, accept, connect) is
 * valid only within this world. */
#ifndef SYNCGUARD_PROBE_COMM_H
#define SYNCGUARD_PROBE_COMM_H

#include "probe/probe.h"

struct pacing_gate;

struct comm {
    handle _Atomic at; /* NULL: the entry is free */
    struct comm *next; /* in its bucket; never changes */
    uint64_t name;
    int place;            /* its description's in the ring, see ring_comm_add(); -1: none */
    _Atomic uint32_t seq; /* collectives posted so far */
    uint32_t size;        /* number of members; an intercommunicator's two groups added up */
    int32_t rank;         /* this process's rank in its own group */
    uint32_t peers;       /* of a rooted or all-to-all operation: the remote group's size, if there is one */
    uint32_t
        *world; /* the peers' names in the job, COMM_FOREIGN: none; NULL: each peer is called as its rank */
    uint32_t destinations;    /* number of neighbours in its topology that this rank sends to */
    uint8_t flags;            /* RING_EVENT_INTER */
    _Atomic uint32_t uses;    /* communicators that the entry was for */
    uint64_t gate_of;         /* the name that gate belongs to; 0: no gate looked up yet */
    struct pacing_gate *gate; /* gate of the ranks on this node, see pace.h; NULL: none was free */
    struct ring_comm described;
    uint64_t left_ns; /* when its last collective ended while pacing was on; 0: never */
};

#define COMM_FOREIGN UINT32_MAX

/* The name in the job (ring_info.rank) of the process with this rank among the peers; COMM_FOREIGN: none. */
HOT uint32_t comm_peer(const struct comm *c, int rank)
{
    if ((uint32_t)rank >= c->peers)
        return COMM_FOREIGN;
    return c->world ? c->world[rank] : (uint32_t)rank;
}

/* One collective call on a communicator (call.h). */
struct collective {
    struct comm *comm; /* NULL: a nested call or an unknown communicator; ignored */
    struct ring *ring; /* NULL: counted in the sequence number, but not recorded */
    struct ring_event event;
    struct ring_event *at; /* the event's place in the ring */
    uint64_t paced_ns;     /* when pacing took it up; 0: not paced */
    uint32_t lever;        /* lever in force, PACER_...; 0: none */
};

/* The entry of a communicator.  NULL for a null handle, and for one that is not known, which is counted as a
 * missed call: asking the library about it would raise an error where it is none.  A struct comm is never
 * freed. */
struct comm *comm_find(handle h);

/* Hot path: the same as comm_find(), with the communicator of this thread's last call cached. */
HOT struct comm *comm_get(handle h)
{
    struct comm *c = self.comm;

    h = handle_of(h);
    if (__builtin_expect(!c || !h || atomic_load_explicit(&c->at, memory_order_acquire) != h, 0))
        self.comm = c = comm_find(h);
    return c;
}

/* Where a communicator comes from.  Communicators of the same members have different origins, or are
 * counted. */
struct comm_origin {
    uint64_t hash;
    bool counted;
};

/* and that with the parents of a spawned world */
#define COMM_PREDEFINED ((struct comm_origin){ 0, true })
/* The collective with this number on a parent. */
struct comm_origin comm_child(uint64_t parent, uint32_t number);
/* A call of members that agree on a tag; parent: its name, or 0. */
struct comm_origin comm_tagged(uint64_t parent, uint64_t tag);
uint64_t comm_text(const char *text); /* as a tag; NULL is fine */

/* Name a communicator that was just made, or is predefined (COMM_PREDEFINED).  like: NULL, or another one
 * with the same members, where the library may not be asked about them yet: it is still being made. */
void comm_made(handle h, struct comm_origin origin, const struct comm *like);

/* A communicator that the library is to free. */
struct comm_end {
    struct comm *comm; /* NULL: unknown */
    handle at;
    uint32_t uses; /* of the entry, when it was for this one */
};
struct comm_end comm_ending(handle h);
/* The library has freed it: forget its name, unless another communicator has its handle by now. */
void comm_ended(struct comm_end end);

/* The number that comm_next_seq() will give. */
static inline uint32_t comm_seq(struct comm *c)
{
    return atomic_load_explicit(&c->seq, memory_order_relaxed);
}

/* Take the next sequence number on c.  The program orders the collectives on one communicator, so no atomic
 * addition is needed. */
static inline uint32_t comm_next_seq(struct comm *c)
{
    uint32_t seq = atomic_load_explicit(&c->seq, memory_order_relaxed);

    atomic_store_explicit(&c->seq, seq + 1, memory_order_relaxed);
    return seq;
}

/* The call that took this number was refused: give it back if it is the latest. */
static inline void comm_undo_seq(struct comm *c, uint32_t seq)
{
    if (comm_seq(c) == seq + 1)
        atomic_store_explicit(&c->seq, seq, memory_order_relaxed);
}

#endif
