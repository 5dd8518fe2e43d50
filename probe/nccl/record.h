/* record.h - what NCCL does, written to rings: the communicators, their collectives and messages.
 *
 * A collective or message is enqueued by the program (record_begin, record_end), and runs on the GPU in
 * parts, one for each channel (record_part, record_end), if parts are wanted.  Its event has one of three
 * forms:
 *   no parts    from the beginning to the end of enqueueing: nonblocking, and not known when it completes
 *   parts       from the beginning of its first part to the end of its last: the time for which the GPU was in it.  A rank
 *               whose GPU comes late stays a short time, as in a blocking collective of MPI
 *   ends_early  as parts, but its end is no end (RING_EVENT_EARLY): it shows when the GPU came
 * The parts are seen by NCCL's thread that polls for them, later than they begin and end by its turn.  How
 * long an operation lasts is therefore taken from the GPU's own timer, once its rate is known from the
 * thread's clock beside it, where what it says can be: not longer than the thread saw since enqueueing, and
 * many times what the timer resolves.  It then lies as late as it can, so that neither its beginning nor its
 * end is behind the moment at which the thread saw it.
 *
 * Each thread has its own ring and its own events; no lock is shared.  Nothing is allocated after
 * record_open().  Like the probe it never prints, exits or changes errno.
 *
 * What has a fixed size, what happens when it is full, and the counter of `sgctl job` that shows it:
 *
 *   events that wait for the agent     RING_CAPACITY_MAIN, _THREAD  as in probe/probe.h                                     dropped, messages_missed
 *   communicators open                 RECORD_COMMS_MAX             operations of further ones are not recorded             missed, messages_missed
 *   communicators described            RING_COMMS_MAX               as in probe/probe.h                                     comms_missed
 *   threads that record                RING_NCCL_MAX                operations of further ones are not recorded             missed
 *   operations of a thread in flight   POOL (record.c)              the oldest is given up, or the new one is not recorded  missed
 *   other ranks of communicators       COUNTERS_MAX (record.c)      messages of further communicators are not recorded      messages_missed
 *
 * A message names its other end by its place in the communicator, for NCCL does not say which rank of the job
 * that is: who hears all members describe themselves knows (view/communicators.h).
 *
 * One process is one rank.  Where it has several ranks of one communicator, as with several GPUs a process,
 * they would be one rank that calls twice, and none of them stands for the others: from then on nothing of
 * the process is recorded, each operation is counted (missed, messages_missed), and a note says why. */
#ifndef SYNCGUARD_NCCL_RECORD_H
#define SYNCGUARD_NCCL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring.h"

/* "device": parts are wanted.  Anything else, or unset: only what the host does. */
#define RECORD_ENV_EVENTS "SYNCGUARD_NCCL_EVENTS"

#define RECORD_COMMS_MAX 512u       /* communicators open at the same time */
#define RECORD_RANKS_MAX (1u << 20) /* of one */
#define RECORD_FUNCTIONS 16u

struct record_comm;

/* A communicator opens.  ranks 0: neither its name nor its size are known yet; it is taken to have all ranks
 * of the job, and record_name() follows.  NULL: it is not recorded, because this process is not guarded or
 * there are too many. */
struct record_comm *record_open(uint64_t name, uint32_t ranks, uint32_t rank);
/* at each event: only the first names it */
void record_name(struct record_comm *c, uint64_t name, uint32_t rank);
void record_close(struct record_comm *c);           /* NULL is fine */
uint32_t record_ranks(const struct record_comm *c); /* 0: NULL */
bool record_wants_parts(void);                      /* not where nothing is recorded any more */

struct record_operation {
    enum ring_op op;   /* a collective, RING_OP_SEND or RING_OP_RECV */
    uint32_t function; /* below RECORD_FUNCTIONS: which of NCCL's counters seq is of */
    uint64_t seq;      /* of a collective: n-th of its function on the communicator, as NCCL counts */
    uint64_t bytes;
    int32_t root;   /* -1: none; of a message: the other rank of the communicator */
    uint32_t parts; /* that will run; 0: not known, or none */
    bool uncounted; /* seq is no count of them: they are counted as they come */
    /* The end of a part is told when the first of the GPU's threads in it has done its share, while others
     * may still wait for other ranks. */
    bool ends_early;
};

/* The handle of the operation or part, or NULL: it is not recorded.  c and operation may be NULL. */
void *record_begin(struct record_comm *c, const struct record_operation *o);
/* gpu: the GPU's timer when it began, and in record_part_stop(), which comes before its end, when it ended;
 * of any unit, and 0 where it is not known. */
void *record_part(struct record_comm *c, void *operation, uint64_t gpu);
void record_part_stop(void *part, uint64_t gpu);
void record_end(void *handle); /* of either */

/* A handle of the caller's own, n from 1 to 99: no operation or part has it, and these functions take it for
 * none. */
#define RECORD_OTHER(n) ((void *)(uintptr_t)(2 * (n)))

#endif
