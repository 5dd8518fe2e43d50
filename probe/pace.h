/* pace.h - pacing of one rank.  The control page lists the levers that are allowed, one rank of the node (the
 * leader) plans which is in force, and every rank applies it.
 *
 * Levers change when and how a rank waits, never what is computed: no call is replaced, no message is added,
 * every collective is the library's own.  Pacing that is off costs a collective one load; pacing that rests
 * costs three.  Only the thread of ring 0 is paced.
 *
 * Ranks need not agree.  A rank that has not seen a plan yet enters its collective as usual; ranks that wait
 * for it at the gate then wait until their limit, once. */
#ifndef SYNCGUARD_PROBE_PACE_H
#define SYNCGUARD_PROBE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/probe.h"

struct collective;

/* Called in MPI_Init, with the step's directory. */
void pace_setup(const char *dir);
/* Called in MPI_Finalize: undo all levers and release this rank's slot. */
void pace_finish(void);

extern atomic_bool pace_engaged; /* disengage() has something to undo once pacing is switched off */

/* Where collectives follow each other within microseconds, pacing's own bookkeeping would slow the program
 * down.  It rests until this time of the ring's clock as long as no plan is in force.  0: it does not
 * rest. */
extern _Atomic uint64_t pace_rest_until;
extern const _Atomic uint64_t *pace_plan; /* the node's plan; valid while pacing rests */

/* Whether pace_enter() must be called for a collective entered at this time of the ring's clock. */
HOT bool pace_asked(uint64_t enter)
{
    if (__builtin_expect(__atomic_load_n(&probe.control->pace.levers, __ATOMIC_RELAXED) == 0, 1))
        return __builtin_expect(atomic_load_explicit(&pace_engaged, memory_order_relaxed), 0);
    return enter >= atomic_load_explicit(&pace_rest_until, memory_order_acquire) ||
           atomic_load_explicit(pace_plan, memory_order_relaxed);
}

/* Called after call_enter(), before the library.  posted: the call does not wait, so only its time counts. */
void pace_enter(struct collective *k, bool posted);
/* Called when the library has returned from a call with paced_ns set. */
void pace_leave(struct collective *k);

#endif
