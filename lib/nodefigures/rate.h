/* rate.h - rate of a counter that only grows.  Pure: times, in seconds, come from the caller. */
#ifndef SYNCGUARD_NODEFIGURES_RATE_H
#define SYNCGUARD_NODEFIGURES_RATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct rate {
    double at_s;
    uint64_t count;
    bool known;
};

/* Counts per second since the last call.  NaN at the first call, when the counter could not be read (known
 * false) in this call or the last, or when it decreased. */
static inline double rate_next(struct rate *r, bool known, uint64_t count, double now_s)
{
    struct rate before = *r;

    *r = (struct rate){ .at_s = now_s, .count = count, .known = known };
    if (!known || !before.known || count < before.count || now_s <= before.at_s)
        return NAN;
    return (double)(count - before.count) / (now_s - before.at_s);
}

/* The sum of the known ones; NaN when both are unknown. */
static inline double rate_sum(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

#endif
