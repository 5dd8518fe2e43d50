/* steps.h - what a program reports about its steps, and how it learns that a checkpoint is due: one page per
 * rank in the step's directory, written by the program and read by the agent; requests are on the control
 * page.
 *
 * Every rank calls steps_due() once per step, and calls are numbered: a request names a number that no rank
 * has reached yet, so that all ranks receive it at the same step (doc/decisions/0019).
 *
 * The writer's half lives in other people's processes: it never prints, exits, blocks or allocates after
 * steps_join(), and does not change errno.  Times are CLOCK_MONOTONIC nanoseconds. */
#ifndef SYNCGUARD_RING_STEPS_H
#define SYNCGUARD_RING_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring/marks.h"

#define STEPS_SUFFIX ".steps" /* DIR/RANK.INCARNATION.steps */

enum steps_state { STEPS_RUNNING = 1, STEPS_LEFT };

struct steps; /* layout private to steps.c */

/* ---- the program ---- */

/* Joins the step named by the environment (RING_ENV_DIR).  NULL: not guarded, or no space. */
struct steps *steps_join(void);
void steps_leave(struct steps *s); /* the file stays; NULL is fine, here and below */
/* To be called once per step: true when all ranks should write a checkpoint now. */
bool steps_due(struct steps *s);
void steps_write_begin(struct steps *s);
void steps_write_end(struct steps *s, bool written); /* false: it failed, and its duration is ignored */
void steps_samples(struct steps *s, uint64_t n);     /* processed by this rank since the last call */
void steps_notice(struct steps *s);                  /* the job is about to be ended; async-signal-safe */
/* Marks inside of the steps, see marks.h. */
enum marks_phase steps_mark_phase(struct steps *s, int phase);
void steps_mark_step(struct steps *s);
void steps_mark_value(struct steps *s, enum marks_value value, double x);

/* ---- the agent ---- */

struct steps_figures {
    uint32_t rank, incarnation;
    pid_t pid; /* as its process knows it */
    enum steps_state state;
    uint64_t calls, call_ns; /* so far, and time of the newest; 0: none */
    uint64_t yes, yes_at;    /* calls that returned true, and the newest of them */
    uint64_t samples;        /* so far */
    uint64_t begun_ns;       /* begin of the write in progress; 0: none */
    uint64_t writes;         /* finished writes */
    uint64_t write_ns;       /* duration of the newest */
    bool notice;
    bool hears;  /* it has mapped the control page */
    bool marked; /* marks is set; false: it is being written */
    struct marks_figures marks;
};

/* Maps DIR/NAME read-only.  NULL on failure, errno set (EPROTO: not such a page, another version, or the
 * page of another rank). */
struct steps *steps_open(const char *dir, const char *name);
void steps_close(struct steps *s); /* NULL is fine */
/* The program's figures, unchecked except for state and rank. */
void steps_figures_get(const struct steps *s, struct steps_figures *f);
/* Parses "RANK.INCARNATION.steps"; false for other names. */
bool steps_name_parse(const char *name, uint32_t *rank, uint32_t *incarnation);

#endif
