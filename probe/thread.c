/* thread.c - a ring for each thread that calls MPI, reused after the thread ends.  See probe.h. */
#include "probe/probe.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

_Thread_local struct thread self __attribute__((tls_model("initial-exec")));

/* A ring has one writer, so it belongs to at most one thread at a time. */
static struct {
    struct ring *_Atomic ring;
    atomic_bool taken;
} rings[RING_THREADS_MAX];

static pthread_key_t ended;
static char directory[PATH_MAX];
static struct ring_info template;

/* When a thread ends, its ring becomes free for another thread. */
static void thread_end(void *arg)
{
    size_t i = (size_t)arg - 1;

    if (self.ring)
        ring_leave(self.ring, clock_read(self.ring->clock));
    self.ring = NULL;
    self.n_nested = 0;
    call_over();
    atomic_store_explicit(&rings[i].taken, false, memory_order_release);
}

/* A forked child shares the parent's rings, which have one writer, so the child records nothing. */
static void forked(void)
{
    atomic_store_explicit(&probe.active, false, memory_order_relaxed);
    self.ring = NULL;
    self.n_nested = 0;
    call_over();
}

int thread_setup(const char *dir, const struct ring_info *info)
{
    if (snprintf(directory, sizeof(directory), "%s", dir) >= (int)sizeof(directory))
        return -1;
    template = *info;
    if (pthread_key_create(&ended, thread_end) || pthread_atfork(NULL, NULL, forked))
        return -1;
    rings[0].ring = probe.main;
    rings[0].taken = true;
    self.ring = probe.main;
    return pthread_setspecific(ended, (void *)1) ? -1 : 0;
}

static struct ring *ring_of(size_t i)
{
    struct ring *r = rings[i].ring;
    struct ring_info info = template;

    if (r)
        return r;
    info.thread = (uint32_t)i;
    r = ring_create(directory, &info, RING_CAPACITY_THREAD);
    atomic_store_explicit(&rings[i].ring, r, memory_order_release);
    return r;
}

struct ring *thread_ring(void)
{
    int saved = errno;

    for (size_t i = 0; i < RING_THREADS_MAX && !self.ring; i++) {
        if (atomic_load_explicit(&rings[i].taken, memory_order_relaxed) ||
            atomic_exchange_explicit(&rings[i].taken, true, memory_order_acquire))
            continue;
        if (pthread_setspecific(ended, (void *)(i + 1)) == 0)
            self.ring = ring_of(i);
        if (!self.ring) { /* stays taken: trying again at each call would cost a system call */
            pthread_setspecific(ended, NULL);
            break;
        }
    }
    if (!self.ring)
        ring_missed(probe.main);
    errno = saved;
    return self.ring;
}

void thread_states_set(enum ring_state state)
{
    for (size_t i = 0; i < RING_THREADS_MAX; i++) {
        struct ring *r = atomic_load_explicit(&rings[i].ring, memory_order_acquire);

        if (r)
            ring_state_set(r, state);
    }
}
