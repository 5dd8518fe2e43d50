#include "spank/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "spank/stepdir.h"

static struct {
    const struct keeper_plan *plan;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool over;
    int keeper;
} watch = { .keeper = -1 };

/* True when the step ended meanwhile. */
static bool sleep_ms(int ms)
{
    struct timespec until;
    bool over;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&watch.lock);
    while (!watch.over && pthread_cond_timedwait(&watch.wake, &watch.lock, &until) == 0)
        ;
    over = watch.over;
    pthread_mutex_unlock(&watch.lock);
    return over;
}

static void *watch_main(void *arg)
{
    int waited_ms = 0;

    (void)arg;
    /* A look takes a few microseconds; inotify would delay the end of the step by 15 ms. */
    while (!watch.plan->at_once && !stepdir_has_ring(watch.plan->dir) && waited_ms < WATCH_PATIENCE_MS) {
        if (sleep_ms(WATCH_PERIOD_MS)) {
            /* A program that ran since the last look has left a ring, which the agent must read. */
            if (!stepdir_has_ring(watch.plan->dir))
                return NULL;
            break;
        }
        waited_ms += WATCH_PERIOD_MS;
    }
    watch.keeper = keeper_start(watch.plan);
    return NULL;
}

int watch_start(const struct keeper_plan *plan)
{
    pthread_condattr_t monotonic;
    pthread_attr_t small;
    sigset_t all, old;
    int rc;

    watch.plan = plan;
    watch.over = false;
    watch.keeper = -1;
    pthread_mutex_init(&watch.lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    /* slurmstepd's signals must not be delivered to this thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    rc = pthread_create(&watch.thread, &small, watch_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&small);
    if (rc != 0)
        watch.plan = NULL;
    errno = rc;
    return rc ? -1 : 0;
}

int watch_end(void)
{
    if (!watch.plan)
        return -1;
    pthread_mutex_lock(&watch.lock);
    watch.over = true;
    pthread_cond_signal(&watch.wake);
    pthread_mutex_unlock(&watch.lock);
    pthread_join(watch.thread, NULL);
    pthread_cond_destroy(&watch.wake);
    pthread_mutex_destroy(&watch.lock);
    watch.plan = NULL;
    return watch.keeper;
}
