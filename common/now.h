/* now.h - what time it is, in seconds. */
#ifndef SYNCGUARD_COMMON_NOW_H
#define SYNCGUARD_COMMON_NOW_H

#include <time.h>

static inline double now_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* By the clock that only goes forwards: for spans, and within this machine. */
static inline double now_s(void)
{
    return now_of(CLOCK_MONOTONIC);
}

/* Since 1970, as people set the clock: for what is stored and shown. */
static inline double wall_s(void)
{
    return now_of(CLOCK_REALTIME);
}

#endif
