/* pacing.h - state shared by the paced ranks of a node: one page in the step's directory, created by the
 * first rank that needs it.  It does not exist while pacing is off.
 *
 * One rank leads: only it writes the plan and the report.  The others follow the plan as long as it is fresh,
 * so that pacing ends when the leader exits.  The agent reads the report.
 *
 * Files of another size or version are rejected; numbers read from the file are bounded where they
 * are used.  Times are CLOCK_MONOTONIC nanoseconds. */
#ifndef SYNCGUARD_RING_PACING_H
#define SYNCGUARD_RING_PACING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PACING_FILE    "pacing"
#define PACING_MAGIC   0x4543415050435953u
#define PACING_VERSION 2u
#define PACING_SLOTS   512u /* ranks of a node; those beyond are not paced */
#define PACING_GATES   64u  /* communicators with a gate */
#define PACING_LEVERS  4u
#define PACING_CPUS    1024u
#define PACING_LINE    64

/* The leader's results for one lever. */
struct pacing_lever {
    uint32_t why; /* enum pacer_why */
    uint32_t compared;
    double log_mean, log_low, log_high; /* time with over time without; NaN: not known */
};

/* The leader's report. */
struct pacing_report {
    uint32_t mode; /* enum pacer_mode */
    uint32_t lever;
    uint32_t ranks, cores;
    uint64_t collectives, with, without; /* since the start; measured of these */
    uint64_t late;                       /* holds that ended by the clock, of all ranks so far */
    double switches_hz, wait_ratio;      /* NaN: not known */
    struct pacing_lever levers[PACING_LEVERS];
};

/* A rank's own line. */
struct pacing_slot {
    _Alignas(PACING_LINE) _Atomic uint32_t pid; /* 0: free */
    _Atomic uint32_t late;                      /* holds that ended by the clock */
    _Atomic uint64_t seen_ns;
    _Atomic uint64_t switches_mhz, wait_permille; /* UINT64_MAX: not known */
    _Atomic uint64_t cpus[PACING_CPUS / 64];      /* that it may run on */
};

/* Where the ranks of a communicator on this node wait for each other.  At most two collectives are in
 * progress: ranks may enter the next one while others are leaving the last, but never the one after it. */
struct pacing_gate {
    _Alignas(PACING_LINE) _Atomic uint64_t key; /* the communicator's name; 0: free */
    _Atomic uint32_t members;                   /* ranks that came here at least once */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t open;       /* a futex: changes when a collective's last rank has arrived */
    _Atomic uint64_t arrived[2]; /* of even and of odd collectives: number << 32 | ranks */
};

struct pacing_page {
    uint64_t magic;
    uint32_t version, bytes;
    _Alignas(PACING_LINE) _Atomic uint64_t plan;           /* pacing_plan() */
    _Atomic uint64_t fresh_ns;                             /* the plan is good until then */
    _Atomic uint32_t leader;                               /* slot + 1; 0: none */
    _Atomic uint32_t slots;                                /* used so far */
    _Alignas(PACING_LINE) _Atomic uint64_t report_version; /* odd: being written */
    _Atomic uint64_t report[(sizeof(struct pacing_report) + 7) / 8];
    struct pacing_gate gate[PACING_GATES];
    struct pacing_slot slot[PACING_SLOTS];
};

/* Identifies the communicator whose collectives number a plan's epochs, in those bits of a plan's lever that
 * no lever uses.  Without these bits, each communicator numbers its own epochs. */
static inline uint32_t pacing_communicator(uint64_t name)
{
    return (uint32_t)(name * 0x9e3779b97f4a7c15u >> 32 | 0x100) & ~0xffu;
}

/* A plan in one word: the lever (0: none), the collectives per epoch, and `every`: one epoch in `every` runs
 * without the lever. */
static inline uint64_t pacing_plan(uint32_t lever, uint32_t epoch, uint32_t every)
{
    return (uint64_t)(every & 0xffff) << 48 | (uint64_t)(epoch & 0xffff) << 32 | lever;
}

/* Map DIR/pacing, and create it if missing.  NULL on failure, errno set.  Not on the hot path. */
struct pacing_page *pacing_join(const char *dir);
/* Map it for reading.  NULL when it is missing or not ours, errno set. */
struct pacing_page *pacing_look(const char *dir);
void pacing_close(struct pacing_page *p); /* NULL is fine */

void pacing_report_put(struct pacing_page *p, const struct pacing_report *r); /* leader only */
bool pacing_report_get(struct pacing_page *p, struct pacing_report *r);       /* false: it is being written */

/* Join the gate of a communicator; each rank calls it once per communicator.  NULL: too many
 * communicators. */
struct pacing_gate *pacing_gate_join(struct pacing_page *p, uint64_t key);
/* A rank arrives at its seq-th collective.  The last one wakes the sleeping ranks and returns true. */
bool pacing_gate_arrive(struct pacing_gate *g, uint32_t seq);
/* Sleep until all ranks have arrived at seq, at most wait_ns.  True: they have. */
bool pacing_gate_sleep(struct pacing_gate *g, uint32_t seq, uint64_t wait_ns);

#endif
