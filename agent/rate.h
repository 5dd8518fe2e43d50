/* rate.h - how fast a counter that only grows does so.  Pure: times are the caller's, in seconds. */
#ifndef SYNCGUARD_AGENT_RATE_H
#define SYNCGUARD_AGENT_RATE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct rate {
    double at_s;
    uint64_t count;
    bool known;
};

/* Since the last time, a second.  NaN: this is the first time, the counter could not be read (known false)
 * now or then, or it went back. */
static inline double rate_next(struct rate *r, bool known, uint64_t count, double now_s)
{
    struct rate before = *r;

    *r = (struct rate){ .at_s = now_s, .count = count, .known = known };
    if (!known || !before.known || count < before.count || now_s <= before.at_s)
        return NAN;
    return (double)(count - before.count) / (now_s - before.at_s);
}

/* A sum in which what is not known is left out; NaN when neither is. */
static inline double rate_sum(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

#endif
