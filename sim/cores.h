/* cores.h - ranks of a node that share fewer cores than there are ranks: when each is done with its work.
 *
 * Processor sharing: all runnable ranks of the node advance at the same rate, min(1, cores / runnable)
 * (Kleinrock 1967; the limit of a fair scheduler with short slices).  A rank that waits in a collective
 * spins: it is runnable although it does nothing, unless policies/pace.h has it sleep or give its core away.
 * Not modelled: caches, priorities, pinning.  Pure; seconds. */
#ifndef SYNCGUARD_SIM_CORES_H
#define SYNCGUARD_SIM_CORES_H

#include <stdint.h>

#define CORES_RANKS_MAX 256u

enum cores_waiting {
    CORES_SPIN,  /* a rank that is done spins until all are */
    CORES_SLEEP, /* ... after it has slept sleep_s */
    CORES_GATE,  /* ... gives its core away until the last one of the node is done */
};

/* n ranks, at most CORES_RANKS_MAX: rank i begins work_s[i] of work at start_s[i], before that it spins, or
 * rests if the waiting is gated.  Fills in when each is done; sleep_s may be NULL unless CORES_SLEEP. */
void cores_run(uint32_t n, uint32_t cores, enum cores_waiting waiting, const double *start_s,
               const double *work_s, const double *sleep_s, double *done_s);

#endif
