/* steps.h - what a program tells of its own steps, and how it hears that a checkpoint is due: a page a rank
 * in the step's directory, written by the program, read by the agent; the answer is on the control page.
 *
 * Every rank asks once a step, and the asking is counted: a request names a call number that lies ahead of
 * all ranks, so that all of them hear it at the same step (doc/decisions/0019).
 *
 * The writer's half lives in other people's processes: it never prints, exits, blocks or allocates after
 * steps_join(), and leaves errno alone.  Times are CLOCK_MONOTONIC nanoseconds. */
#ifndef SYNCGUARD_RING_STEPS_H
#define SYNCGUARD_RING_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STEPS_SUFFIX ".steps" /* DIR/RANK.INCARNATION.steps */

enum steps_state { STEPS_RUNNING = 1, STEPS_LEFT };

struct steps; /* layout private to steps.c */

/* ---- the program ---- */

/* Joins the step that the environment tells of (RING_ENV_DIR).  NULL: no guard, or no room. */
struct steps *steps_join(void);
void steps_leave(struct steps *s); /* the file stays; NULL is fine, here and below */
/* Once a step: true when all ranks are to write a checkpoint now. */
bool steps_due(struct steps *s);
void steps_write_begin(struct steps *s);
void steps_write_end(struct steps *s, bool written); /* false: it failed, and is no measure of the cost */
void steps_samples(struct steps *s, uint64_t n);     /* that this rank has worked on since the last call */
void steps_notice(struct steps *s);                  /* it will be ended soon; safe in a signal handler */

/* ---- the agent ---- */

struct steps_figures {
    uint32_t rank, incarnation;
    pid_t pid; /* as its process knows it */
    enum steps_state state;
    uint64_t calls, call_ns; /* so far, and when the newest was; 0: none */
    uint64_t yes, yes_at;    /* calls that were told yes, and which was the newest */
    uint64_t samples;        /* so far */
    uint64_t begun_ns;       /* a write is going on since; 0: none */
    uint64_t writes;         /* that were finished ... */
    uint64_t write_ns;       /* ... and how long the newest took */
    bool notice;
    bool hears; /* it has the control page */
};

/* Maps DIR/NAME read-only.  NULL on failure, errno set (EPROTO: no such page, of another version, or it says
 * that it is another rank's). */
struct steps *steps_open(const char *dir, const char *name);
void steps_close(struct steps *s); /* NULL is fine */
/* As the program says: anything may stand there, but state and rank are what they should be. */
void steps_figures_get(const struct steps *s, struct steps_figures *f);
/* "RANK.INCARNATION.steps": false when the name is another. */
bool steps_name_parse(const char *name, uint32_t *rank, uint32_t *incarnation);

#endif
