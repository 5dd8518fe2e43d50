#include "spank/watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "spank/stepdir.h"

static struct {
    const struct keeper_plan *plan;
    pthread_t thread;
    int over; /* eventfd: readable once the step has ended */
    int keeper;
    bool given_up;
} watch = { .over = -1, .keeper = -1 };

/* True when the step ended meanwhile. */
static bool sleep_ms(int ms)
{
    struct pollfd over = { .fd = watch.over, .events = POLLIN };

    return poll(&over, 1, ms) > 0;
}

/* False when the step is over before there is anything for a keeper to do. */
static bool wait_for_ring(void)
{
    int waited_ms = 0;

    /* A look takes a few microseconds; inotify would delay the end of the step by 15 ms. */
    while (!watch.plan->at_once && !stepdir_has_ring(watch.plan->dir) && waited_ms < WATCH_PATIENCE_MS) {
        if (sleep_ms(WATCH_PERIOD_MS))
            return stepdir_has_ring(watch.plan->dir); /* of a program that ran since the last look */
        waited_ms += WATCH_PERIOD_MS;
    }
    return true;
}

static void *watch_main(void *arg)
{
    static const int backoff_ms[WATCH_RESTARTS_MAX] = { 0, 100, 500, 2000, 5000 };

    (void)arg;
    if (!wait_for_ring())
        return NULL;
    for (size_t tries = 0;; tries++) {
        watch.keeper = keeper_start(watch.plan);
        if (watch.keeper >= 0 && !keeper_died(watch.keeper, watch.over))
            return NULL;
        watch.given_up = tries == WATCH_RESTARTS_MAX;
        if (watch.given_up || sleep_ms(backoff_ms[tries]))
            return NULL;
        if (watch.keeper >= 0)
            close(watch.keeper);
    }
}

int watch_start(const struct keeper_plan *plan)
{
    pthread_attr_t small;
    sigset_t all, old;
    int rc;

    watch.plan = NULL;
    watch.keeper = -1;
    watch.given_up = false;
    watch.over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch.over < 0)
        return -1;
    watch.plan = plan;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    /* slurmstepd's signals must not be delivered to this thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    rc = pthread_create(&watch.thread, &small, watch_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&small);
    if (rc != 0) {
        close(watch.over);
        watch.plan = NULL;
    }
    errno = rc;
    return rc ? -1 : 0;
}

int watch_end(bool *given_up)
{
    *given_up = false;
    if (!watch.plan)
        return -1;
    eventfd_write(watch.over, 1);
    pthread_join(watch.thread, NULL);
    close(watch.over);
    watch.plan = NULL;
    *given_up = watch.given_up;
    return watch.keeper;
}
