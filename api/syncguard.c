/* syncguard.c - see syncguard.h.  The work is done in ring/steps.h; this file keeps the page of steps of this
 * process. */
#include "api/syncguard.h"

#include <pthread.h>
#include <stdatomic.h>

#include "ring/steps.h"

#define EXPORT __attribute__((visibility("default")))

static struct steps *_Atomic own;
static atomic_bool asked; /* joining was tried */

/* A forked child shares its parent's page, which has one writer, so the child is not guarded. */
static void forked(void)
{
    atomic_store_explicit(&own, NULL, memory_order_relaxed);
}

static struct steps *steps(void)
{
    struct steps *s = atomic_load_explicit(&own, memory_order_acquire);

    if (s || atomic_load_explicit(&asked, memory_order_acquire))
        return s;
    if (!atomic_exchange_explicit(&asked, true, memory_order_acq_rel) &&
        pthread_atfork(NULL, NULL, forked) == 0) {
        s = steps_join();
        atomic_store_explicit(&own, s, memory_order_release);
    }
    return s;
}

__attribute__((destructor)) static void leave_step(void)
{
    steps_leave(atomic_exchange_explicit(&own, NULL, memory_order_acq_rel));
}

EXPORT int sg_checkpoint_due(void)
{
    return steps_due(steps());
}

EXPORT void sg_checkpoint_begin(void)
{
    steps_write_begin(steps());
}

EXPORT void sg_checkpoint_end(int ok)
{
    steps_write_end(steps(), ok != 0);
}

EXPORT void sg_samples(uint64_t n)
{
    steps_samples(steps(), n);
}

_Static_assert((int)SG_INPUT == (int)MARKS_INPUT && (int)SG_FORWARD == (int)MARKS_FORWARD &&
                   (int)SG_BACKWARD == (int)MARKS_BACKWARD &&
                   (int)SG_COMMUNICATION == (int)MARKS_COMMUNICATION &&
                   (int)SG_OPTIMIZER == (int)MARKS_OPTIMIZER,
               "phases have the same numbers");

EXPORT int sg_phase(int phase)
{
    return (int)steps_mark_phase(steps(), phase);
}

EXPORT void sg_step(void)
{
    steps_mark_step(steps());
}

EXPORT void sg_loss(double value)
{
    steps_mark_value(steps(), MARKS_LOSS, value);
}

EXPORT void sg_grad_norm(double value)
{
    steps_mark_value(steps(), MARKS_GRAD_NORM, value);
}

/* May run in a signal handler, where joining is not safe; a process that has not joined needs no report. */
EXPORT void sg_preempted(void)
{
    steps_notice(atomic_load_explicit(&own, memory_order_acquire));
}

EXPORT int sg_guarded(void)
{
    return steps() != NULL;
}
