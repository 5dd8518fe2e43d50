/* now.h - the current time, in seconds unless a name says otherwise. */
#ifndef SYNCGUARD_COMMON_NOW_H
#define SYNCGUARD_COMMON_NOW_H

#include <stdint.h>
#include <time.h>

static inline double now_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Monotonic: for durations, on this machine only. */
static inline double now_s(void)
{
    return now_of(CLOCK_MONOTONIC);
}

static inline uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Since 1970, by the wall clock: for times that are stored or shown. */
static inline double wall_s(void)
{
    return now_of(CLOCK_REALTIME);
}

#endif
