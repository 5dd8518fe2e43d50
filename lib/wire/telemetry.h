/* telemetry.h - what an agent reports to the controller about its ranks: the items and their encoding.
 *
 * A batch is a header and items one after the other, each a kind byte and a fixed little-endian layout
 * (no padding, the fields in the order below).  A batch has at most TELEMETRY_BATCH_MAX bytes.  All of it
 * is checked before its first item is returned: a short, long or unknown item is an error that names it,
 * and the whole batch is rejected.
 *
 * Units: nanoseconds of the node's own CLOCK_MONOTONIC (the clocks of two nodes are unrelated),
 * bytes.  `rank` is the rank's name in the step, `app` counts the MPI programs that the step's tasks
 * ran one after another (ring_info.incarnation). */
#ifndef SYNCGUARD_WIRE_TELEMETRY_H
#define SYNCGUARD_WIRE_TELEMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "ring/call.h"
#include "ring/marks.h"

#define TELEMETRY_BATCH_MAX (256u << 10)

enum telemetry_kind {
    TELEMETRY_SAMPLE = 1,
    TELEMETRY_STEP,
    TELEMETRY_LIVE,
    TELEMETRY_COUNTS,
    TELEMETRY_COMM,
    TELEMETRY_NODE,
    TELEMETRY_TASK,
    TELEMETRY_GPU,
    TELEMETRY_CALL,
    TELEMETRY_PROCESS,
    TELEMETRY_TRAFFIC,
    TELEMETRY_PARTNER,
    TELEMETRY_PHASES,
    TELEMETRY_VALUE,
    TELEMETRY_COMM_END,
    TELEMETRY_LOSSES,
    TELEMETRY_SIGNALS,
    TELEMETRY_MEMBER,
    TELEMETRY_LEFT,
    TELEMETRY_GPU_STATE,
    TELEMETRY_ONESIDED,
};
/* A reader rejects kinds that it does not know, so an agent sends no newer ones than the controller's
 * `welcome` names. */
#define TELEMETRY_NEWEST  TELEMETRY_ONESIDED
#define TELEMETRY_UNNAMED TELEMETRY_CALL /* the newest one known where `welcome` names none */

/* Of a sample, besides the ring_event_flags of the first of its block. */
enum sample_flags {
    /* Sent in addition to the blocks because it, or one near it, was unusual: n is 1, sums are its own;
     * already contained in the block that covers its seq. */
    SAMPLE_WHOLE = 32,
    SAMPLE_GAP = 64, /* events are missing inside the block: the sums are of fewer than n */
};

/* A block of n collectives [seq, seq + n) of one communicator on one rank; n is a power of two and divides
 * seq, so blocks of ranks that thin out differently still nest.  n = 1: the collective itself. */
struct sample {
    uint32_t rank;
    uint16_t app;
    uint8_t op, flags; /* of the first */
    uint64_t comm;
    uint32_t seq, n;
    int32_t root;         /* of the first */
    uint64_t bytes;       /* of the first */
    uint64_t enter_ns;    /* of the first: when it entered (nonblocking: was posted) */
    uint64_t stay_ns;     /* of the first: leave - enter */
    uint64_t stay_sum_ns; /* of all n: how long it kept the rank (nonblocking: from beginning to wait) */
    uint64_t gap_sum_ns;  /* of all n: since the rank left its previous collective, of any communicator */
    uint64_t p2p_sum_ns;  /* the part of the gaps spent in point-to-point calls */
};

#define STEP_PARTS_MAX 8u

enum step_flags {
    STEP_INCOMPLETE = 1, /* records are missing: the sums are unknown, and stay_s where it is NaN */
};

/* n_steps training steps of one rank in a row, found from the period of the main communicator's sequence. A
 * step lasts from leaving the collective before its first one to leaving its last one: what a rank does
 * before a collective belongs to the step of that collective. */
struct step {
    uint32_t rank;
    uint16_t app;
    uint8_t flags;   /* enum step_flags */
    uint8_t parts;   /* min(period, STEP_PARTS_MAX) */
    uint64_t comm;   /* the communicator whose sequence repeats */
    uint32_t seq;    /* its collective that begins the (first) step: names the step on all ranks */
    uint32_t period; /* collectives a step on comm */
    uint32_t n_steps;
    uint64_t enter_ns;    /* when the first step began */
    uint64_t duration_ns; /* of all n_steps */
    uint64_t gap_ns;      /* outside of collectives: own work (point-to-point included) */
    uint64_t p2p_ns;      /* of gap_ns, in point-to-point calls */
    uint64_t stay_ns;     /* inside of collectives */
    /* The part of the stay in comm's collectives: stay_s[i] sums those with seq % period * parts / period =
     * i; NaN: unknown.  The parts are the same on all ranks, even where these disagree on where a step
     * begins. */
    float stay_s[STEP_PARTS_MAX];
};

/* The call that a rank is in, sent while it lasts longer than a second, and once when it has ended. */
struct live {
    uint32_t rank;
    uint16_t app;
    uint8_t op;    /* RING_OP_NONE: outside of MPI; comm and seq then name the last collective it left */
    uint8_t state; /* enum ring_state */
    uint64_t comm;
    uint32_t seq;
    uint64_t bytes;
    uint64_t enter_ns; /* since when */
    uint64_t age_ns;   /* for how long, by the node's own clock at sending; or LIVE_NEVER_LEFT */
};

/* Only in recorded traces: the record ends while the rank is inside, for an unknown time. */
#define LIVE_NEVER_LEFT UINT64_MAX

/* The one message that such a call lasts for, sent after it; its other end is known. */
struct partner_item {
    uint32_t rank;
    uint16_t app;
    uint8_t op; /* RING_OP_SEND or RING_OP_RECV */
    uint32_t peer;
    int32_t tag;
    uint64_t enter_ns; /* the call's, in struct live */
};

/* The same where its other end is named by its place in a communicator (RING_EVENT_MEMBER). */
struct member_item {
    uint32_t rank;
    uint16_t app;
    uint8_t op; /* RING_OP_SEND or RING_OP_RECV */
    uint64_t comm;
    uint32_t place;
    int32_t tag;
    uint64_t enter_ns; /* the call's, in struct live */
};

/* The call that a rank left last, as far as its calls are recorded: sent after an item struct live by which
 * it is in none. */
struct left_item {
    uint32_t rank;
    uint16_t app;
    uint8_t op, flags; /* as these are in struct call */
    uint64_t comm;
    uint32_t seq;
    uint32_t peer; /* of a message, and so is tag */
    int32_t tag;
    uint64_t age_ns; /* since it left it, by the node's own clock at sending */
};

/* Running totals of a rank's probe, since it began. */
struct counts {
    uint32_t rank;
    uint16_t app;
    uint64_t events, dropped, missed;
    uint64_t p2p_calls, p2p_bytes, p2p_ns;
};

/* A communicator as one of its ranks knows it. */
struct comm_item {
    uint32_t rank;
    uint16_t app;
    uint64_t name, membership;
    uint32_t size, comm_rank, instance, first, last, flags; /* see struct ring_comm */
};

/* A rank has freed a communicator that it described.  Samples of it may still come. */
struct comm_end_item {
    uint32_t rank;
    uint16_t app;
    uint64_t name;
};

/* What a rank's probe had no room for beside the events of struct counts, since it began: sent where some is
 * not 0. */
struct losses_item {
    uint32_t rank;
    uint16_t app;
    uint64_t messages; /* not recorded */
    /* of messages, whose count was given up: those after it have other numbers at both ends */
    uint64_t streams;
    uint64_t comms; /* communicators that could not be described */
};

/* The state of a node: rates and ratios over the time since the agent's previous reading.  `rank` is any rank
 * of the node and identifies it.  NaN: unknown on this node.  Ratios are shares of the time unless noted. */
#define TELEMETRY_NIC_TEXT 16u
struct node_item {
    uint32_t rank;
    uint16_t app;
    uint16_t cpus;         /* online; 0: not known */
    float run_queue;       /* tasks running or ready to run, at that moment */
    float busy_ratio;      /* of all its CPUs' time */
    float steal_ratio;     /* of all its CPUs' time: the hypervisor gave it to others */
    float frequency_hz;    /* mean of the ranks' CPUs that are busy */
    float frequency_ratio; /* the same over their maximum */
    float throttled_per_s; /* thermal events of the CPU that has most */
    float quota_ratio;     /* the step's cgroup was held at its CPU quota */
    /* Some task waited for a CPU, memory, storage: of the step's cgroup where available, else of the node. */
    float cpu_pressure_ratio, memory_pressure_ratio, io_pressure_ratio;
    float swap_per_s;             /* pages swapped in and out */
    float retransmits_per_s;      /* TCP segments and RDMA packets sent again */
    float nic_errors_per_s;       /* errors and drops of all interfaces and RDMA ports */
    char nic[TELEMETRY_NIC_TEXT]; /* the interface with most of them; "" */
};

/* The state of a rank's process on its node.  Run delay and switches are those of its main thread. */
enum task_flags {
    TASK_SHARED_CPU = 1,   /* ranks outnumber the CPUs that it and they may run on */
    TASK_SEVERAL_GPUS = 2, /* it computes on more than one: `gpu` is the one that is held down most */
};
#define TELEMETRY_CPUS_TEXT 32u
struct task_item {
    uint32_t rank;
    uint16_t app;
    uint16_t flags;
    int16_t cpu;            /* where it ran last; -1: not known */
    uint16_t n_cpus;        /* that it may run on; 0: not known */
    int16_t numa, nic_numa; /* NUMA node of those CPUs (-1: not known, or several), and of the nearest NIC */
    int16_t gpu, gpu_numa;  /* the GPU that it uses, by NVML's index, and its NUMA node; -1 */
    float run_delay_ratio;  /* ready to run, but another ran */
    float cpu_ratio;        /* CPU time of all its threads over time: 2 is two CPUs */
    float foreign_ratio;    /* of its CPUs' time: used by processes other than ranks of the step */
    float involuntary_per_s, voluntary_per_s; /* context switches */
    float major_faults_per_s;
    char cpus[TELEMETRY_CPUS_TEXT]; /* that it may run on, as the kernel writes them; cut: ends in ".." */
};

/* What keeps a rank's process from running, sent every second while it lasts and once, with PROCESS_RUNS,
 * when it is over. */
enum process_state {
    PROCESS_RUNS,    /* or sleeps, or waits for a CPU */
    PROCESS_STOPPED, /* by a signal: SIGSTOP, SIGTSTP... */
    PROCESS_TRACED,  /* stopped by a debugger */
    PROCESS_BLOCKED, /* uninterruptible, in the kernel: most often it waits for storage */
    PROCESS_STATES
};
struct process_item {
    uint32_t rank;
    uint16_t app;
    uint8_t state;   /* enum process_state */
    uint64_t age_ns; /* since the agent first saw that state */
};

/* The signals that do not end a rank's process, whatever their default action: those that it catches, ignores
 * or blocks. */
struct signals_item {
    uint32_t rank;
    uint16_t app;
    uint64_t endured; /* as in proc(5): signal n is bit n - 1 */
};

/* What the node's TCP connections of the job's user sent from one address to another, since the agent's
 * previous reading.  Addresses are IPv6's, high half first; IPv4's as ::ffff:a.b.c.d. */
struct traffic_item {
    uint32_t rank; /* as in node_item */
    uint16_t app;
    uint64_t local[2], remote[2];
    uint64_t bytes; /* that the other side has acknowledged */
    /* some were under way, summed over the connections; without what the program at the other end was slow to
     * read */
    uint64_t busy_ns;
};

#define GPU_THROTTLE_IDLE 1u /* nvml.h: nvmlClocksEventReasonGpuIdle */
struct gpu_item {
    uint32_t rank; /* as in node_item */
    uint16_t app;
    uint16_t index;    /* NVML's */
    uint32_t throttle; /* NVML's reasons for a lower clock, as bits; 0: none */
    float clock_ratio; /* of the multiprocessors' clock over its largest */
    float temperature_c, power_w, busy_ratio;
};

/* What else is known of the GPU of that index, sent behind its gpu_item. */
enum gpu_state_flags {
    GPU_STATE_PARTS = 1, /* it is divided by MIG: what is known of it is that of all parts */
};
#define GPU_ERRORS_UNKNOWN UINT64_MAX
struct gpu_state_item {
    uint32_t rank; /* as in node_item */
    uint16_t app;
    uint16_t index, flags;           /* flags: enum gpu_state_flags */
    float clock_mhz, clock_max_mhz;  /* of its multiprocessors */
    uint64_t corrected, uncorrected; /* errors of its memory since the agent began; GPU_ERRORS_UNKNOWN */
};

/* What a rank's program marked of its steps, or a guest saw of them (ring/marks.h), since its previous item,
 * and the phase that it is in. */
struct phases_item {
    uint32_t rank;
    uint16_t app;
    uint8_t phase;        /* enum marks_phase ... */
    uint8_t used;         /* 1 << phase of each that there ever was; MARKS_SEEN */
    uint64_t age_ns;      /* ... and for how long, by the node's own clock at sending */
    uint32_t steps;       /* that ended; 0: none did, and the times are 0 */
    uint64_t duration_ns; /* of these together, and in each phase */
    uint64_t phase_ns[MARKS_PHASES];
};

/* A value that a rank's program reports once a step.  Sent at once when it ceases or begins to be finite. */
struct value_item {
    uint32_t rank;
    uint16_t app;
    uint8_t value;              /* enum marks_value */
    uint64_t given, non_finite; /* so far, as in struct marks_series */
    uint64_t since;
    double newest;
};

struct telemetry_item {
    enum telemetry_kind kind;
    union {
        struct sample sample;
        struct step step;
        struct live live;
        struct counts counts;
        struct comm_item comm;
        struct node_item node;
        struct task_item task;
        struct gpu_item gpu;
        struct gpu_state_item gpu_state;
        /* A call by itself, sent only while the controller asks for calls, a rank's in the order in which it
         * left them; nonblocking: enter_ns is leave_ns where nobody waited for it.  With RING_EVENT_MEMBER
         * only to a controller that knows TELEMETRY_MEMBER.  op RING_OP_NONE: between
         * the call before and the one after it some of the rank's are missing.  Beside them the same
         * collectives are in samples.
         * TELEMETRY_ONESIDED: an access, the same way. */
        struct call call;
        struct process_item process;
        struct traffic_item traffic;
        struct partner_item partner;
        struct phases_item phases;
        struct value_item value;
        struct comm_end_item comm_end;
        struct losses_item losses;
        struct signals_item signals;
        struct member_item member;
        struct left_item left;
    };
};

static inline bool telemetry_is_call(const struct telemetry_item *item)
{
    return item->kind == TELEMETRY_CALL || item->kind == TELEMETRY_ONESIDED;
}

struct telemetry_header {
    uint64_t batch;  /* counts the agent's batches from 1: the controller acknowledges it, a gap is a loss */
    uint64_t now_ns; /* the node's CLOCK_MONOTONIC at sending */
    uint32_t items;
};

/* A batch being written: caller's memory of TELEMETRY_BATCH_MAX bytes. */
struct telemetry_writer {
    uint8_t *data;
    size_t bytes, cap;
    uint32_t items;
};
void telemetry_begin(struct telemetry_writer *w, uint8_t *data, size_t cap);
/* 0, or -1 when the batch is full; nothing was written then: send this batch and begin another. */
int telemetry_put(struct telemetry_writer *w, const struct telemetry_item *item);
/* Fill in the header; returns the batch's bytes. */
size_t telemetry_end(struct telemetry_writer *w, uint64_t batch, uint64_t now_ns);

struct telemetry_reader {
    const uint8_t *data;
    size_t bytes, at;
    struct telemetry_header header;
};
/* Check the whole batch.  -1 with the reason when it is malformed; then none of it may be used. */
int telemetry_open(struct telemetry_reader *r, const uint8_t *data, size_t bytes, struct err *err);
/* The next item; false after the last.  It cannot fail: telemetry_open() has checked them all. */
bool telemetry_next(struct telemetry_reader *r, struct telemetry_item *item);

#endif
