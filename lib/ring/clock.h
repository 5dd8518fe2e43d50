/* clock.h - reading the clock of a ring; private to ring/, the probe and gloo/. Reading the CPU's counter
 * takes 10 ns, clock_gettime 22 ns; the counter is used only where it is reliable. */
#ifndef SYNCGUARD_RING_CLOCK_H
#define SYNCGUARD_RING_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "ring/ring.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#define CLOCK_HAVE_COUNTER 1
static inline uint64_t clock_counter(void)
{
    return __rdtsc();
}
#elif defined(__aarch64__)
#define CLOCK_HAVE_COUNTER 1
static inline uint64_t clock_counter(void)
{
    uint64_t t;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
}
#else
#define CLOCK_HAVE_COUNTER 0
static inline uint64_t clock_counter(void)
{
    return 0;
}
#endif

static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_read(enum ring_clock clock)
{
    return clock == RING_CLOCK_COUNTER ? clock_counter() : clock_monotonic_ns();
}

/* The better clock of this machine: the counter, if the CPU reports it as invariant and the kernel, which
 * compares it between CPUs and with other clocks, still lists it as a clock source. */
enum ring_clock clock_choose(void);

#endif
