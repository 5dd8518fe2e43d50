/* scr.c - programs that checkpoint with SCR (Scalable Checkpoint/Restart).  They call SCR_Need_checkpoint
 * once a step, so SyncGuard's requests reach them without a change to the program; SCR's calls before and
 * after a write show what a checkpoint costs.
 *
 * The answer is yes when SCR or SyncGuard wants a checkpoint.  SCR's yes may stand for a halt or for an
 * interval that the user set, and is never withheld.  All ranks get the same answer, as with SCR itself
 * (doc/decisions/0019).  Programs that use libsyncguard themselves are ignored here: their steps would be
 * counted twice. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#include "probe/probe.h"
#include "ring/steps.h"

#define SCR_FAILURE         1
#define SCR_FLAG_CHECKPOINT 1 /* of SCR_Start_output: scr.h */

static struct steps *_Atomic own;
static atomic_bool joined;

static struct steps *steps(void)
{
    if (!atomic_load_explicit(&probe.active, memory_order_relaxed))
        return NULL;
    if (!atomic_exchange_explicit(&joined, true, memory_order_acq_rel)) {
        int saved = errno;
        bool asks_itself = next_ask(RTLD_DEFAULT, "sg_checkpoint_due") != NULL;

        if (!asks_itself)
            atomic_store_explicit(&own, steps_join(), memory_order_release);
        errno = saved;
    }
    return atomic_load_explicit(&own, memory_order_acquire);
}

void scr_leave(void)
{
    steps_leave(atomic_exchange_explicit(&own, NULL, memory_order_acq_rel));
}

/* SCR's own function; NULL where SCR is not loaded (the program then found ours by dlsym()), and asks again
 * for each step. */
static void *library_own(void *_Atomic *at, const char *name)
{
    static _Atomic unsigned long long missing; /* objects that were loaded when SCR was in none */
    void *found = atomic_load_explicit(at, memory_order_acquire);
    unsigned long long loaded;

    if (found || (loaded = next_loaded()) == atomic_load_explicit(&missing, memory_order_relaxed))
        return found;
    found = next_look(name);
    if (!found)
        atomic_store_explicit(&missing, loaded, memory_order_relaxed);
    atomic_store_explicit(at, found, memory_order_release);
    return found;
}

EXPORTED(int SCR_Need_checkpoint(int *flag))
{
    static void *_Atomic at;
    int (*need)(int *) = (int (*)(int *))library_own(&at, "SCR_Need_checkpoint");
    int rc = need ? need(flag) : SCR_FAILURE;
    bool due = steps_due(steps());

    if (!rc && flag && due)
        *flag = 1;
    return rc;
}

EXPORTED(int SCR_Start_checkpoint(void))
{
    static void *_Atomic at;
    int (*start)(void) = (int (*)(void))library_own(&at, "SCR_Start_checkpoint");

    steps_write_begin(steps());
    return start ? start() : SCR_FAILURE;
}

static int complete_write(void *library, int valid)
{
    int rc = library ? ((int (*)(int))library)(valid) : SCR_FAILURE;

    steps_write_end(steps(), !rc && valid);
    return rc;
}

EXPORTED(int SCR_Complete_checkpoint(int valid))
{
    static void *_Atomic at;

    return complete_write(library_own(&at, "SCR_Complete_checkpoint"), valid);
}

EXPORTED(int SCR_Start_output(const char *name, int flags))
{
    static void *_Atomic at;
    int (*start)(const char *, int) = (int (*)(const char *, int))library_own(&at, "SCR_Start_output");

    if (flags & SCR_FLAG_CHECKPOINT)
        steps_write_begin(steps());
    return start ? start(name, flags) : SCR_FAILURE;
}

EXPORTED(int SCR_Complete_output(int valid))
{
    static void *_Atomic at;

    return complete_write(library_own(&at, "SCR_Complete_output"), valid);
}
