/* marks.h - what a program marks inside of its steps: the phase it is in, and values that show whether it
 * still computes what it should.  A part of a rank's page of steps (steps.h): one writer, the program, and
 * one reader, the agent.  Of a program that marks nothing a guest may see its phases in what it calls
 * (probe/gloo/phase.h): then they are a part of its ring.
 *
 * A rank is in one phase at a time, and what is in none is MARKS_OTHER, so that the phases of a step add up
 * to it exactly. A step that has ended is published as a whole.  Values are counted: given once a step, the
 * n-th is that of step n on all ranks.
 *
 * The writer's half lives in other people's processes: it never blocks, allocates or calls anything.  Times
 * are CLOCK_MONOTONIC nanoseconds. */
#ifndef SYNCGUARD_RING_MARKS_H
#define SYNCGUARD_RING_MARKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* As in api/syncguard.h. */
enum marks_phase {
    MARKS_OTHER,
    MARKS_INPUT, /* waits for input data; seen by a guest: stands still between two steps */
    MARKS_FORWARD,
    MARKS_BACKWARD,
    MARKS_COMMUNICATION, /* waits for communication, and computes nothing meanwhile */
    MARKS_OPTIMIZER,
    MARKS_PHASES
};
/* beside phases: a guest saw them, the program marked none */
#define MARKS_SEEN (UINT64_C(1) << 7)

/* In the order in which a step has them: what is wrong with the former shows in the latter. */
enum marks_value { MARKS_LOSS, MARKS_GRAD_NORM, MARKS_VALUES };

/* "input"; "unknown" for anything else. */
const char *marks_phase_name(enum marks_phase phase);
const char *marks_value_name(enum marks_value value); /* "grad_norm" */

struct marks_series {
    uint64_t given;      /* how many so far */
    uint64_t non_finite; /* of them: infinite, or not a number */
    uint64_t since;      /* from this one on, counted from 1, none was finite; 0: the newest is */
    double newest;
};

struct marks_figures {
    uint64_t steps, steps_ns;        /* that have ended, and what they took together ... */
    uint64_t phase_ns[MARKS_PHASES]; /* ... in each phase */
    uint64_t used;                   /* 1 << phase of each that was ever marked; MARKS_SEEN */
    uint64_t phase, since_ns;        /* in which it is, and since when */
    struct marks_series value[MARKS_VALUES];
};
#define MARKS_WORDS (sizeof(struct marks_figures) / sizeof(uint64_t))
_Static_assert(sizeof(struct marks_figures) % sizeof(uint64_t) == 0, "words");

/* What is shared; all zero: nothing was ever marked. */
struct marks_page {
    _Atomic uint64_t version; /* odd: being written */
    _Atomic uint64_t word[MARKS_WORDS];
};

/* ---- the program ---- */

struct marks { /* initially all zero */
    struct marks_figures f;
    uint64_t begun_ns; /* the step in progress; 0: none */
    uint64_t open_ns[MARKS_PHASES];
};

/* From now on the rank is in this phase.  Returns the one before; another number than a phase's changes
 * nothing. */
enum marks_phase marks_phase(struct marks *m, struct marks_page *p, int phase, uint64_t now_ns);
/* A step ends, and the next one begins.  What came before the first call belongs to no step. */
void marks_step(struct marks *m, struct marks_page *p, uint64_t now_ns);
void marks_value(struct marks *m, struct marks_page *p, enum marks_value value, double x);

/* ---- the agent ---- */

/* A consistent copy, unchecked; false when the writer changed it during every attempt. */
bool marks_get(const struct marks_page *p, struct marks_figures *f);

#endif
