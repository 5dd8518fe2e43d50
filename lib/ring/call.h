/* call.h - a call of a rank, a collective, one end of a message, or an access to another rank's memory, as
 * all behind the rings have it.
 *
 * The agent makes it of an event of a ring, the reader of traces of a line.  It is summed up in samples, sent
 * to the controller, recorded and put into the graph of calls as it is.
 *
 * Units: nanoseconds of the clock of the rank's node, bytes.  One cache line. */
#ifndef SYNCGUARD_RING_CALL_H
#define SYNCGUARD_RING_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring.h"

struct call {
    uint64_t comm;  /* name of the communicator, the same on all its ranks */
    uint64_t bytes; /* as in struct ring_event */
    union {
        uint64_t begin_ns;   /* nonblocking: when it was posted; see call_begin_ns() */
        uint64_t read_bytes; /* access: bytes are those that it wrote */
    };
    /* It held the rank from, to.  Nonblocking: from when it was waited for, or posted where nobody waited. */
    uint64_t enter_ns, leave_ns;
    uint32_t rank;
    uint32_t seq; /* as in struct ring_event */
    union {
        int32_t root;  /* as in struct ring_event */
        uint32_t peer; /* message, access: the other rank; with RING_EVENT_MEMBER its rank in comm */
    };
    int32_t tag;       /* message */
    uint16_t app;      /* which of its MPI programs made it: ring_info.incarnation */
    uint8_t op, flags; /* enum ring_op, enum ring_event_flags */
};
_Static_assert(sizeof(struct call) == 64, "calls are 64 bytes");

static inline bool call_is_message(const struct call *c)
{
    return ring_op_is_message(c->op);
}

/* An access is blocking, and has no tag. */
static inline bool call_is_access(const struct call *c)
{
    return c->op == RING_OP_ACCESS;
}

/* With one other rank, which is `peer`. */
static inline bool call_is_pairwise(const struct call *c)
{
    return ring_op_is_pairwise(c->op);
}

static inline bool call_is_nonblocking(const struct call *c)
{
    return c->flags & RING_EVENT_NONBLOCKING;
}

/* When the rank made it. */
static inline uint64_t call_begin_ns(const struct call *c)
{
    return call_is_nonblocking(c) ? c->begin_ns : c->enter_ns;
}

/* Which part the rank has in what it calls. */
enum call_side { CALL_COLLECTIVE, CALL_SENDS, CALL_RECEIVES };

static inline enum call_side call_side(unsigned op)
{
    return op == RING_OP_SEND ? CALL_SENDS : op == RING_OP_RECV ? CALL_RECEIVES : CALL_COLLECTIVE;
}

#endif
