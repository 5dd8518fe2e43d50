/* message.h - one end of a message as an event of the ring: its partner, tag and number.
 *
 * An event with op RING_OP_NONE is no message of the job: the partner is MPI_PROC_NULL or in another
 * MPI_COMM_WORLD, the message was cancelled, or the call's arguments are invalid.  A receive with a wildcard
 * has a negative root or tag until its status is known.
 *
 * Statuses have the same layout in all releases of a library's ABI.  They are read, never written; where the
 * program ignores the status of a receive, the library writes it to the probe's memory. */
#ifndef SYNCGUARD_PROBE_MESSAGE_H
#define SYNCGUARD_PROBE_MESSAGE_H

#include "probe/comm.h"
#include "probe/number.h"

/* ---- statuses ---- */

#define STATUS_BYTES_MAX 32u

struct status {
    uint64_t words[STATUS_BYTES_MAX / 8];
};

static inline bool status_ignored(const void *status)
{
    return status == probe.abi.status_ignore;
}

/* The program's status, or own where it ignores it. */
static inline void *status_wanted(void *status, struct status *own)
{
    return status_ignored(status) ? own : status;
}

/* Element i of an array of statuses. */
static inline const void *status_at(const void *statuses, int i)
{
    return (const char *)statuses + (size_t)i * probe.abi.status_bytes;
}

/* which: probe.abi.status_source, status_tag or status_error. */
static inline int status_word(const void *status, unsigned which)
{
    return ((const int *)status)[which];
}

/* Whether the statuses tell what became of each request: MPI_ERR_IN_STATUS. */
bool status_in_status(int rc);
/* Whether an error in a status says that the request has neither failed nor completed: MPI_ERR_PENDING. */
bool status_pending(int error);
/* What only the library can read in a status of the standard's ABI. */
bool status_cancelled_ask(const void *status);
uint64_t status_bytes_ask(const void *status);

/* Of a request that completed.  Of other calls MPICH leaves the bit as it was. */
static inline bool status_cancelled(const void *status)
{
    const int *word = status;

    if (probe.abi.kind == ABI_MPICH)
        return word[1] & 1;
    return probe.abi.kind == ABI_OPENMPI ? word[3] != 0 : status_cancelled_ask(status);
}

static inline uint64_t status_bytes(const void *status)
{
    const int *word = status;

    if (probe.abi.kind == ABI_MPICH)
        return (uint32_t)word[0] | (uint64_t)((uint32_t)word[1] >> 1) << 32;
    return probe.abi.kind == ABI_OPENMPI ? *(const uint64_t *)(word + 4) : status_bytes_ask(status);
}

/* ---- events ---- */

HOT uint64_t message_key(const struct ring_event *e)
{
    return number_key(e->comm, (uint32_t)e->root, e->tag, e->op == RING_OP_RECV);
}

HOT bool message_wild(const struct ring_event *e)
{
    return e->root < 0 || e->tag < 0;
}

/* Fill in all but the number.  c NULL: no message. */
HOT void message_prepare(struct ring_event *e, const struct comm *c, enum ring_op op, int peer, int tag)
{
    uint32_t other = c ? comm_peer(c, peer) : COMM_FOREIGN;
    bool any = op == RING_OP_RECV && c && peer == probe.abi.any_source;

    *e = (struct ring_event){ .op = RING_OP_NONE };
    if (!any && other > INT32_MAX)
        return;
    if (tag < 0 && !(op == RING_OP_RECV && tag == probe.abi.any_tag))
        return;
    e->op = (uint8_t)op;
    e->flags = c->flags;
    e->comm = c->name;
    e->root = any ? -1 : (int32_t)other;
    e->tag = tag;
}

/* Before the call: fill in what is known but for the number.  The result is to be counted when the library
 * has accepted the message. */
HOT struct number message_unnumbered(struct ring_event *e, const struct comm *c, enum ring_op op, int peer,
                                     int tag)
{
    message_prepare(e, c, op, peer, tag);
    if (e->op == RING_OP_NONE || message_wild(e))
        return (struct number){ 0, NULL };
    return number_of(message_key(e));
}

/* The same with the number that the message will have.  Written out: built on message_unnumbered(), the event
 * is numbered in memory and loaded in other parts than it was stored in, which waits for the store buffer. */
HOT struct number message_begin(struct ring_event *e, const struct comm *c, enum ring_op op, int peer,
                                int tag)
{
    struct number n = { 0, NULL };

    message_prepare(e, c, op, peer, tag);
    if (e->op == RING_OP_NONE || message_wild(e))
        return n;
    n = number_of(message_key(e));
    e->seq = number_next(n);
    return n;
}

/* A receive is complete, or a probe found its message; c: its communicator. */
HOT void message_status(struct ring_event *e, const struct comm *c, const void *status)
{
    if (e->op == RING_OP_NONE)
        return;
    e->bytes = status_bytes(status);
    if (message_wild(e)) {
        uint32_t other =
            c->name == e->comm ? comm_peer(c, status_word(status, probe.abi.status_source)) : COMM_FOREIGN;

        if (other > INT32_MAX) {
            e->op = RING_OP_NONE;
            return;
        }
        e->root = (int32_t)other;
        e->tag = status_word(status, probe.abi.status_tag);
        e->seq = number_count(number_of(message_key(e)));
    }
}

#endif
