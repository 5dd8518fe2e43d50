/* ring.h - one rank's events, passed from the probe to the agent through shared memory.
 *
 * A ring is a file in the step's directory (see below), mapped by both.  One writer (a thread of the
 * rank), one reader (the agent), no locks; a full ring drops and counts.  The call in progress is an event
 * that is not complete yet.  The events outlive the process: after a SIGKILL the agent can still read them,
 * and the call that the rank was in.
 *
 * It never waits, never allocates after creation and never trusts an unchecked file: ring_open()
 * verifies sizes and offsets, ring_drain() bounds all values from the writer.
 *
 * Units: times are ticks of the ring's clock (ring_info.clock); ring_clock_ns() turns them into
 * CLOCK_MONOTONIC nanoseconds.  Sizes are bytes. */
#ifndef SYNCGUARD_RING_RING_H
#define SYNCGUARD_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring/marks.h"

/* The step's directory on a node: /dev/shm/syncguard/UID.JOB.STEP.NODE, mode 0700, owned by the job's user,
 * in a directory that only root can change.  The plugin makes it and passes it to the tasks in SYNCGUARD_DIR;
 * the keeper removes it at the step's end (a probe killed while it creates a ring leaves a
 * .RANK.THREAD.PID.tmp).
 *   RANK.INCARNATION.THREAD.ring   one for each thread that calls MPI; THREAD 0 is the one that initialised
 *                                  MPI; 7 to 10 are NCCL's and 11 is Gloo's, where another has 0.
 *                                  RANK is the rank in MPI_COMM_WORLD, or SLURM_PROCID where that world
 *                                  has one member; INCARNATION counts the MPI programs that one task
 *                                  runs one after another
 *   control                        the control page (control_page.h), written by the agent
 *   PID.note, nccl.note            why a process is not recorded, or not all of it (note.h) */
#define RING_ENV_DIR "SYNCGUARD_DIR"

/* events, and the call in progress has the place of one: at most one less waits for the reader */
#define RING_CAPACITY_MAIN   16384u /* 1 MiB */
#define RING_CAPACITY_THREAD 2048u  /* further threads: 128 KiB each */
/* the file of a ring of RING_CAPACITY_MAIN events, at most */
#define RING_MAIN_BYTES (1088u << 10)
/* Rings of a rank: of threads that call MPI (together under 2 MiB), of threads that call NCCL or poll for a
 * communicator (3 MiB), and Gloo's. */
#define RING_THREADS_MAX 7u
#define RING_NCCL_MAX    16u
#define RING_RANK_MAX    (RING_THREADS_MAX + RING_NCCL_MAX + 1u)
/* The number of a guest's first ring beside another's; the guest that a process has alone begins with 0. */
#define RING_NCCL_FIRST RING_THREADS_MAX
#define RING_GLOO_FIRST (RING_NCCL_FIRST + RING_NCCL_MAX)
/* communicators in use that a ring describes; events may name further ones */
#define RING_COMMS_MAX 512u

/* Operations.  The trace format and all screens use the names of ring_op_name(); rings and batches have the
 * numbers: a new one changes RING_VERSION and LINK_VERSION. */
enum ring_op {
    RING_OP_NONE,
    RING_OP_BARRIER,
    RING_OP_BCAST,
    RING_OP_GATHER,
    RING_OP_GATHERV,
    RING_OP_SCATTER,
    RING_OP_SCATTERV,
    RING_OP_ALLGATHER,
    RING_OP_ALLGATHERV,
    RING_OP_ALLTOALL,
    RING_OP_ALLTOALLV,
    RING_OP_ALLTOALLW,
    RING_OP_REDUCE,
    RING_OP_ALLREDUCE,
    RING_OP_REDUCE_SCATTER,
    RING_OP_REDUCE_SCATTER_BLOCK,
    RING_OP_SCAN,
    RING_OP_EXSCAN,
    RING_OP_NEIGHBOR_ALLGATHER,
    RING_OP_NEIGHBOR_ALLGATHERV,
    RING_OP_NEIGHBOR_ALLTOALL,
    RING_OP_NEIGHBOR_ALLTOALLV,
    RING_OP_NEIGHBOR_ALLTOALLW,
    RING_OP_COMM_CREATE, /* split, dup, create...: collective over the parent communicator */
    /* call in progress only: any call that sends, receives or probes, or is one-sided */
    RING_OP_POINT_TO_POINT,
    RING_OP_WAIT, /* call in progress only: MPI_Wait and its variants */
    RING_OP_SEND, /* events only: one message */
    RING_OP_RECV,
    RING_OP_ACCESS, /* events only: one-sided, to the memory of a rank that makes no call */
    RING_OP_MAX
};

const char *ring_op_name(enum ring_op op);        /* "allreduce"; "unknown" out of range */
enum ring_op ring_op_from_name(const char *name); /* RING_OP_NONE when unknown, or no collective */
static inline bool ring_op_is_message(unsigned op)
{
    return op == RING_OP_SEND || op == RING_OP_RECV;
}
/* It has one other rank, and no number that all ranks of a communicator share. */
static inline bool ring_op_is_pairwise(unsigned op)
{
    return ring_op_is_message(op) || op == RING_OP_ACCESS;
}
/* Every rank leaves only after every rank has entered: allreduce, barrier, allgather, alltoall ...
 * Only for these does a short stay mean a late arrival (rooted and prefix operations do not synchronise). */
bool ring_op_synchronises(enum ring_op op);
/* Bytes may differ from rank to rank (the v and w variants): not part of the step's signature. */
bool ring_op_irregular(enum ring_op op);

/* The flags of samples go on from 32, see wire/telemetry.h. */
enum ring_event_flags {
    /* enter: posted; wait: the rank began to wait for it; leave: completion seen */
    RING_EVENT_NONBLOCKING = 1,
    RING_EVENT_PERSISTENT = 2, /* posted by MPI_Start; also NONBLOCKING */
    /* Completion seen by the first test, or later: it may have ended before leave.  Not set where an earlier
     * test found it incomplete: the rank polled, wait is the time of the first such test. */
    RING_EVENT_UNWAITED = 4,
    RING_EVENT_FAILED = 8, /* the library returned an error */
    RING_EVENT_INTER = 16, /* on an intercommunicator */
    /* Of a collective that is UNWAITED: leave may lie before the last rank came, enter is when this one did
     * (wait: until then it was in another one).  The agent, which may know when the last one came, takes it
     * away. */
    RING_EVENT_EARLY = 32,
    /* of a message: its other end is named by its rank in comm.  Samples have other flags from 32 on, and not
     * this one. */
    RING_EVENT_MEMBER = 128,
};

/* In the number of a message in parts (MPI_Psend_init): such match among themselves, and are counted
 * apart. */
#define RING_PARTITIONED 0x80000000u

/* A collective, or one end of a message: then op is RING_OP_SEND or RING_OP_RECV, and p2p is 0.  Messages
 * whose other end is in another MPI_COMM_WORLD, failed ones and cancelled ones have no event.
 *
 * Or RING_OP_ACCESS: from when the rank asked for another's memory until what it read or wrote there was
 * complete.  comm is what the window was made over, root the other rank as of messages, bytes what was
 * written. */
struct ring_event {        /* one cache line */
    uint64_t enter, leave; /* ticks */
    uint64_t wait;         /* ticks; nonblocking: began to wait.  0 otherwise */
    uint64_t comm;         /* the communicator's name, the same on all its ranks */
    /* count x size of the rank's send buffer (receive buffer where it only receives); received: as the status
     * says */
    uint64_t bytes;
    /* ticks spent in point-to-point and one-sided calls since the previous collective of this ring; posting a
     * nonblocking message counts as none, a loop of tests that ends with a message as one call */
    union {
        uint64_t p2p;
        uint64_t read_bytes; /* of an access */
    };
    /* n-th collective posted on comm by this rank, from 0: the same on all its ranks.  Message: n-th from its
     * sender to its receiver on comm with this tag, from 0: the same at both ends. */
    uint32_t seq; /* access: n-th of this rank by the window, from 0 */
    /* rooted operations: the root's rank in comm; -1 otherwise.  Message: the other end, as ring_info.rank,
     * or with RING_EVENT_MEMBER its rank in comm */
    int32_t root;
    union {
        /* point-to-point and one-sided calls since the previous collective of this ring */
        uint32_t p2p_calls;
        int32_t tag; /* of a message */
    };
    uint8_t op, flags;
    /* of a call in progress that waits for one request alone: RING_OP_SEND or RING_OP_RECV, with root and
     * tag */
    uint8_t awaits;
    uint8_t reserved;
};
_Static_assert(sizeof(struct ring_event) == 64, "events are 64 bytes");

/* The call that the rank is in at the moment. */
struct ring_live {
    uint64_t comm;  /* as in ring_event */
    uint64_t enter; /* since when (inside) or when it last left (outside) */
    uint64_t bytes; /* as in ring_event */
    uint32_t seq;
    uint16_t op; /* RING_OP_NONE: outside of any MPI call; then comm and seq name the last collective left */
    uint16_t flags;
    /* The one message that a call of messages lasts for, as in ring_event: RING_OP_SEND or RING_OP_RECV;
     * RING_OP_NONE: there are several, or its other end is not known. */
    uint16_t message;
    int32_t tag;
    uint32_t peer; /* with RING_EVENT_MEMBER in flags its rank in comm */
};

/* Of a communicator, besides RING_EVENT_INTER. */
enum ring_comm_flags {
    /* first and last are bounds: which rank has which place in it is known as its members describe themselves
     */
    RING_COMM_BOUNDED = 256,
};

struct ring_comm {
    uint64_t name;        /* as in ring_event.comm */
    uint64_t membership;  /* hash of the world ranks in order */
    uint32_t size, rank;  /* members, and this rank's place among them */
    uint32_t instance;    /* n-th communicator with that membership, from 0 */
    uint32_t first, last; /* smallest and largest world rank in it */
    uint32_t flags;       /* RING_EVENT_INTER, enum ring_comm_flags */
    /* in the ring's table, below RING_COMMS_MAX: given to another one after this one was freed */
    uint16_t place;
    bool freed;
};

enum ring_clock { RING_CLOCK_MONOTONIC = 1, RING_CLOCK_COUNTER = 2 }; /* ns; or the CPU's invariant counter */

enum ring_state { RING_STATE_RUNNING = 1, RING_STATE_FINALIZED, RING_STATE_ABORTED };

struct ring_info {
    uint32_t capacity;                  /* events */
    uint32_t rank, incarnation, thread; /* as in the file's name; rank is the name used everywhere */
    uint32_t task;                      /* SLURM_PROCID; UINT32_MAX when unset */
    uint32_t world_rank, world_size;    /* in its MPI_COMM_WORLD */
    pid_t pid;
    enum ring_clock clock;
    enum ring_state state;
    char program[64];   /* base name of the executable */
    char library[64];   /* "Open MPI 4.1.4", "MPICH 4.0.2" */
    char topology[128]; /* SLURM_TOPOLOGY_ADDR, "" when unset */
};

/* Running totals, kept by the writer, read at any time. */
struct ring_counts {
    uint64_t events;  /* recorded */
    uint64_t dropped; /* the ring was full */
    uint64_t missed;  /* not recorded for another reason (too many threads, lost request) */
    /* Messages not recorded, because they leave room in the ring to collectives or for another reason; and
     * streams of messages whose count was given up for others, see probe/number.h. */
    uint64_t messages_missed, streams_forgotten;
    uint64_t comms_missed; /* communicators that had no place, or lost it before a reader saw them */
    uint64_t p2p_calls, p2p_bytes, p2p_ticks; /* bytes: sent */
};

struct ring; /* layout.h */

/* Spawned MPI worlds of a step that are told apart by their numbers, which their ranks' incarnations begin
 * with. */
#define RING_SPAWNED_MAX 1024u

/* ---- writer: the guests.  No system call, allocation or lock in emit, leave and hot.h. ---- */

/* Create DIR/RANK.INCARNATION.THREAD.ring and map it.  Of info it uses thread, rank, task, world_*, program,
 * library, topology and incarnation; INCARNATION is info's or (thread 0) the first one from there on that is
 * free, and info gets it.  NULL on failure, errno set. */
struct ring *ring_create(const char *dir, struct ring_info *info, uint32_t capacity);
uint64_t ring_now(const struct ring *r); /* ticks */
/* Fills in p2p and p2p_calls itself.  The call that was entered, if any, is over unless the ring is full. */
void ring_emit(struct ring *r, const struct ring_event *e);
/* leaving a call that has no event; keeps the last comm and seq */
void ring_leave(struct ring *r, uint64_t now);
void ring_missed(struct ring *r);         /* callable by any thread */
void ring_message_missed(struct ring *r); /* callable by any thread */
/* Describe a communicator (its place and freed are not looked at).  It gets a place that none had so far, or
 * that of the one which was freed first.  Returns the place; -1: all are in use, which is counted.  Not
 * thread-safe. */
int ring_comm_add(struct ring *r, const struct ring_comm *c);
/* The communicator with this place was freed, once; -1 is fine.  Not thread-safe. */
void ring_comm_end(struct ring *r, int place);
void ring_state_set(struct ring *r, enum ring_state state);

/* ---- reader: the agent, the dump ---- */

/* Map the ring at path for reading (the reader's position is kept in the file, so a restarted agent continues
 * where the last one stopped).  NULL on failure, errno set (EPROTO: not a ring, or another version).
 * peek: read-only; ring_drain() returns the present events and leaves the file's position unchanged. */
struct ring *ring_open(const char *path, bool peek);
void ring_close(struct ring *r); /* writer or reader; NULL is fine; the file stays */

/* Move up to max events into out (caller's memory); returns the number. */
size_t ring_drain(struct ring *r, struct ring_event *out, size_t max);
/* From now on drained events stay in the file for a later reader until ring_release(), because this one may
 * be killed before it has sent them.  When they take a quarter of the ring, draining releases them. */
void ring_hold(struct ring *r);
void ring_release(struct ring *r);
/* Copy up to max of the newest events before those that ring_drain() returns next, oldest first, as far as
 * the writer has not overwritten them; returns the number. */
size_t ring_past(const struct ring *r, struct ring_event *out, size_t max);
/* Copy up to max of the newest events, including drained ones, oldest first; returns the number. */
size_t ring_last(const struct ring *r, struct ring_event *out, size_t max);
/* Release the memory of the events; the file stays, to keep its INCARNATION in use.  Call it only when the
 * ring is drained and its process has finalised or exited: a writer would allocate the memory again, or get a
 * SIGBUS. */
void ring_retire(struct ring *r);
/* Remove this mapping's pages from our resident memory; they stay in the file and are loaded again on
 * access. */
void ring_relax(struct ring *r);
void ring_info_get(const struct ring *r, struct ring_info *info);
void ring_counts_get(const struct ring *r, struct ring_counts *counts);
/* A consistent copy; false when the writer changed it during every attempt (try again later). */
bool ring_live_get(const struct ring *r, struct ring_live *live);
/* Likewise, of the phases that a guest saw; all zero: none. */
bool ring_marks_get(const struct ring *r, struct marks_figures *f);
/* Copies the communicators that were described or freed since *seen (0: all that have a place), by place, and
 * moves *seen on; returns how many.  Who finds another one in a place may conclude that the one before was
 * freed. */
size_t ring_comms_get(const struct ring *r, uint64_t *seen, struct ring_comm out[RING_COMMS_MAX]);

/* ---- clocks ---- */

/* A node's map from counter ticks to CLOCK_MONOTONIC nanoseconds: one per node, so that all its ranks agree.
 * Calibrated over at least 50 ms from the first call; the slope is then fixed. */
struct ring_clock_map {
    uint64_t tick0, ns0;
    double ns_per_tick; /* 0: not calibrated yet */
};
void ring_clock_start(struct ring_clock_map *m);
/* True when the map can be used, false before calibration is complete (try after the next drain). */
bool ring_clock_ready(struct ring_clock_map *m);
uint64_t ring_clock_ns(const struct ring_clock_map *m, enum ring_clock clock, uint64_t ticks);

#endif
