/* guest.h - the process as a guest of Gloo's: its ring, and the lock that its threads take.
 *
 * Gloo runs collectives in threads of its own beside the program's, and ends them in another order than they
 * were posted in; what one program waits for is one sequence.  So all threads write to one ring, under one
 * lock: it is held for less than a microsecond, while the fastest collective of Gloo takes a hundred.  It is
 * one exchange to take and one store to give back; who finds it taken sleeps for a moment, which is rare, and
 * right even where the holder has a lower priority.
 *
 * Like the probe it never prints, exits, or changes errno; what cannot be recorded is counted.
 *
 * What has a fixed size, what happens when it is full, and the counter of `sgctl job` that shows it:
 *
 *   events that wait for the agent    RING_CAPACITY_MAIN          as in probe/probe.h                               dropped, messages_missed
 *   groups, contexts of all groups    GROUPS, CONTEXTS (group.c)  collectives of further ones are not recorded      missed
 *   collectives of a group in flight  GROUP_FLIGHTS               the oldest is not recorded                        missed
 *   messages that nobody waited for   PENDING (message.c)         further ones are not recorded                     messages_missed
 *   streams of messages               NUMBER_STREAMS              as in probe/probe.h                               streams_forgotten
 *   stores                            STORES (group.c)            groups below the oldest are named as if it had    none: nothing is lost
 *                                                                 no name, on all ranks alike
 *
 * Places of groups are not used again. */
#ifndef SYNCGUARD_GLOO_GUEST_H
#define SYNCGUARD_GLOO_GUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring/control_page.h"
#include "ring/ring.h"

struct guest {
    atomic_bool active; /* there is a ring, and this is no forked child */
    uint32_t rank, world_size;
    struct ring *ring;
    const struct control_page *control;
};
extern struct guest guest __attribute__((visibility("hidden")));

/* The process makes its first group, which has all ranks of its world: from then on it is recorded.  Does
 * nothing without SYNCGUARD_DIR. Call it under the lock. */
void guest_join(uint32_t rank, uint32_t world_size);

/* It ends. */
void guest_leave(void);

/* Whether it is to be recorded: SYNCGUARD_DIR is set. */
bool guest_wanted(void);

extern atomic_bool guest_locked __attribute__((visibility("hidden")));
void guest_lock_later(void); /* sleeps until the lock was given back, and takes it; errno stays */

static inline void guest_lock_anyway(void) /* before it has joined */
{
    if (__builtin_expect(atomic_exchange_explicit(&guest_locked, true, memory_order_acquire), 0))
        guest_lock_later();
}

/* False, and the lock is not taken, where the process is not recorded. */
static inline bool guest_lock(void)
{
    if (!atomic_load_explicit(&guest.active, memory_order_acquire))
        return false;
    guest_lock_anyway();
    return true;
}

/* As guest_lock(), for 5 ms at most: at the end of a process the lock may be held by the thread that ends it,
 * in what a signal interrupted. */
bool guest_lock_soon(void);

static inline void guest_unlock(void)
{
    atomic_store_explicit(&guest_locked, false, memory_order_release);
}

static inline bool guest_records(void)
{
    return __atomic_load_n(&guest.control->record, __ATOMIC_RELAXED);
}

/* Tell why the process, or a part of what it does, is not recorded, and of which library this function is:
 * once. */
void guest_note(const char *why, const void *function);

#endif
