#include "gloo/guest.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gloo/origin.h"
#include "ring/launch.h"

#define LOCKED_NS 20000

struct guest guest;

static struct {
    bool tried, own; /* own: the process has no rings of another guest's */
} joined;
atomic_bool guest_locked;

static void forked(void)
{
    guest_unlock(); /* another thread of the parent may have held it */
    atomic_store_explicit(&guest.active, false, memory_order_relaxed);
}

static void join_step(const char *dir, uint32_t rank, uint32_t world_size)
{
    struct ring_info info = { .world_rank = rank, .world_size = world_size, .library = "Gloo" };

    launch_process(&info);
    info.rank = world_size == 1 && info.task != UINT32_MAX ? info.task : rank;
    joined.own = !launch_has_rings(dir, &info);
    info.thread = joined.own ? 0 : RING_GLOO_FIRST;
    if (pthread_atfork(NULL, NULL, forked))
        return;
    guest.ring = ring_create(dir, &info, joined.own ? RING_CAPACITY_MAIN : RING_CAPACITY_THREAD);
    if (!guest.ring)
        return;
    guest.control = control_page_follow(dir);
    guest.rank = rank;
    guest.world_size = world_size;
    atomic_store_explicit(&guest.active, true, memory_order_release);
}

bool guest_wanted(void)
{
    const char *dir = getenv(RING_ENV_DIR);

    return dir && *dir;
}

void guest_join(uint32_t rank, uint32_t world_size)
{
    const char *dir = getenv(RING_ENV_DIR);
    int saved = errno;

    if (!joined.tried && guest_wanted())
        join_step(dir, rank, world_size);
    joined.tried = true;
    errno = saved;
}

void guest_note(const char *why, const void *function)
{
    static atomic_bool noted;
    char origin[NOTE_MAX], text[NOTE_MAX];
    int saved = errno;

    if (guest_wanted() && !atomic_exchange(&noted, true)) {
        snprintf(text, sizeof(text), "unguarded: Gloo is not recorded: %s (%.160s)", why,
                 origin_text(function, origin, sizeof(origin)));
        launch_note(getenv(RING_ENV_DIR), text);
    }
    errno = saved;
}

void guest_lock_later(void)
{
    const struct timespec moment = { 0, LOCKED_NS };
    int saved = errno;

    do
        nanosleep(&moment, NULL);
    while (atomic_exchange_explicit(&guest_locked, true, memory_order_acquire));
    errno = saved;
}

bool guest_lock_soon(void)
{
    const struct timespec moment = { 0, LOCKED_NS };
    int saved = errno;

    if (!atomic_load_explicit(&guest.active, memory_order_acquire))
        return false;
    for (long waited_ns = 0; atomic_exchange_explicit(&guest_locked, true, memory_order_acquire);
         waited_ns += LOCKED_NS) {
        if (waited_ns >= 5000000)
            return false;
        nanosleep(&moment, NULL);
    }
    errno = saved;
    return true;
}

void guest_leave(void)
{
    if (atomic_exchange(&guest.active, false) && joined.own)
        ring_state_set(guest.ring, RING_STATE_FINALIZED);
}
