/* cores.h - ranks of a node that share fewer cores than there are ranks: when each is done with its work.
 *
 * Processor sharing: all runnable ranks of the node advance at the same rate, min(1, cores / runnable)
 * (Kleinrock 1967; the limit of a fair scheduler with short slices).  A rank that waits in a collective
 * spins: it is runnable although it does nothing, unless pacing/pace.h makes it sleep or yield its core.
 * Not modelled: caches, priorities, pinning.  Pure; seconds. */
#ifndef SYNCGUARD_SIM_CORES_H
#define SYNCGUARD_SIM_CORES_H

#include <stdbool.h>
#include <stdint.h>

enum cores_waiting {
    CORES_SPIN,  /* a rank that is done spins until all are */
    CORES_SLEEP, /* ... after it has slept sleep_s */
    CORES_GATE,  /* ... yields its core until the last one of the node is done */
};

/* n ranks: rank i begins work_s[i] of work at start_s[i]; before that it spins, or has yielded its core with
 * CORES_GATE.  Fills in when each is done; sleep_s may be NULL unless CORES_SLEEP. */
void cores_run(uint32_t n, uint32_t cores, enum cores_waiting waiting, const double *start_s,
               const double *work_s, const double *sleep_s, double *done_s);

/* The same event by event, for callers that do not know beforehand when ranks begin.  Times must not decrease
 * from call to call; the end of a rank's work may change when others are done. */
struct cores;

struct cores *cores_new(uint32_t n, uint32_t cores); /* CORES_SPIN */
void cores_free(struct cores *c);
/* What waiting ranks do from now on; called while no rank works. */
void cores_wait(struct cores *c, enum cores_waiting waiting);
/* Rank i begins its work; if it is the first after all were done, or after cores_reset(), all others wait. */
void cores_begin(struct cores *c, uint32_t i, double now_s, double work_s);
void cores_reset(struct cores *c);
/* Its work is done, at the time of cores_end_s(), and it sleeps (0: it does not); its sleep is over. */
void cores_done(struct cores *c, uint32_t i, double now_s, double sleep_s);
void cores_slept(struct cores *c, uint32_t i, double now_s);
/* When its work ends if nothing changes; infinity: it has none. */
double cores_end_s(const struct cores *c, uint32_t i);
bool cores_all_done(const struct cores *c);

#endif
