/* pace.h - pacing of a rank: what the control page allows, the node's leader plans and this rank does.
 *
 * Levers change when and how a rank waits, never what is computed: no call is replaced, no message is added,
 * every collective is the library's own.  While pacing is off a collective costs one load more, and three
 * while it rests.  All of it happens in the thread of ring 0; others are never paced.
 *
 * Ranks need not agree: whoever has not heard of a plan yet enters as it always did.  At the gate those who
 * wait for it then wait until their time is up, once. */
#ifndef SYNCGUARD_PROBE_PACE_H
#define SYNCGUARD_PROBE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "probe/probe.h"

struct call;

/* At MPI_Init, with the step's directory, and at MPI_Finalize. */
void pace_setup(const char *dir);
void pace_finish(void);

extern atomic_bool pace_engaged; /* something is to be undone when pacing is switched off */

/* Collectives that follow each other within microseconds: what is done about them here would show.  Until
 * that time of the ring's clock they are left alone while nothing is planned; 0: no. */
extern _Atomic uint64_t pace_rest_until;
extern const _Atomic uint64_t *pace_plan; /* the node's; valid while resting */

static inline bool pace_resting(uint64_t enter)
{
    return enter < atomic_load_explicit(&pace_rest_until, memory_order_acquire) &&
           !atomic_load_explicit(pace_plan, memory_order_relaxed);
}

HOT bool pace_asked(uint64_t enter)
{
    if (__builtin_expect(__atomic_load_n(&probe.control->pace.levers, __ATOMIC_RELAXED) == 0, 1))
        return __builtin_expect(atomic_load_explicit(&pace_engaged, memory_order_relaxed), 0);
    return !pace_resting(enter);
}

/* Before the library is called, after call_enter(); and when it is back.  posted: it is not waited for. */
void pace_enter(struct call *k, bool posted);
void pace_leave(struct call *k);

#endif
