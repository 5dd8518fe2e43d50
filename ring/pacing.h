/* pacing.h - what the paced ranks of a node tell each other: one page, made by the first of them that needs
 * it, in the step's directory.  Nobody needs it while pacing is off.
 *
 * One rank leads: it alone writes the plan and the report.  The others follow the plan as long as it is
 * fresh, so that a leader that is gone leaves the job as it would be without us.  The agent reads the report.
 *
 * It refuses to believe a file that is not of its size and version; numbers found in it are bounded by
 * whoever uses them.  Times are CLOCK_MONOTONIC nanoseconds. */
#ifndef SYNCGUARD_RING_PACING_H
#define SYNCGUARD_RING_PACING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PACING_FILE    "pacing"
#define PACING_MAGIC   0x4543415050435953u
#define PACING_VERSION 2u
#define PACING_SLOTS   512u /* ranks of a node; those beyond are not paced */
#define PACING_GATES   64u  /* communicators that a gate is kept for */
#define PACING_LEVERS  4u
#define PACING_CPUS    1024u
#define PACING_LINE    64

/* What the leader says of a lever. */
struct pacing_lever {
    uint32_t why; /* enum pacer_why */
    uint32_t compared;
    double log_mean, log_low, log_high; /* time with over time without; NaN: not known */
};

/* What the leader reports. */
struct pacing_report {
    uint32_t mode; /* enum pacer_mode */
    uint32_t lever;
    uint32_t ranks, cores;
    uint64_t collectives, with, without; /* since the start; measured */
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

/* Where the ranks of a communicator on this node wait for each other.  Collectives follow each other two by
 * two: the next one is entered while the last is being left, never the one after it. */
struct pacing_gate {
    _Alignas(PACING_LINE) _Atomic uint64_t key; /* the communicator's name; 0: free */
    _Atomic uint32_t members;                   /* ranks that came here at least once */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t open;       /* a futex: changes when a collective's last rank has come */
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

/* Of the communicator whose collectives a plan's epochs are drawn by: in the bits of a plan's lever that no
 * lever has.  A plan with none: each communicator by its own. */
static inline uint32_t pacing_communicator(uint64_t name)
{
    return (uint32_t)(name * 0x9e3779b97f4a7c15u >> 32 | 0x100) & ~0xffu;
}

/* A plan in one word: the lever (0: none), how many collectives an epoch has, and that one epoch in `every`
 * goes without. */
static inline uint64_t pacing_plan(uint32_t lever, uint32_t epoch, uint32_t every)
{
    return (uint64_t)(every & 0xffff) << 48 | (uint64_t)(epoch & 0xffff) << 32 | lever;
}

/* Map DIR/pacing, make it when it is not there.  NULL on failure, errno set.  Not on the hot path. */
struct pacing_page *pacing_join(const char *dir);
/* Map it to read.  NULL when it is not there or not ours, errno set. */
struct pacing_page *pacing_look(const char *dir);
void pacing_close(struct pacing_page *p); /* NULL is fine */

void pacing_report_put(struct pacing_page *p, const struct pacing_report *r); /* the leader alone */
bool pacing_report_get(struct pacing_page *p, struct pacing_report *r);       /* false: it is being written */

/* The gate for a communicator, joined: call once a rank and communicator.  NULL: too many communicators. */
struct pacing_gate *pacing_gate_join(struct pacing_page *p, uint64_t key);
/* A rank arrives at its seq-th collective: true when it is the last one, and those who sleep are woken. */
bool pacing_gate_arrive(struct pacing_gate *g, uint32_t seq);
/* Sleep until all have arrived at seq, wait_ns at most.  True: they have. */
bool pacing_gate_sleep(struct pacing_gate *g, uint32_t seq, uint64_t wait_ns);

#endif
