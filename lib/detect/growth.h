/* growth.h - do values rise as a ramp does, surely?
 *
 * The slope of a least-squares fit of the ramp's shape (onset_rise()), whose error is that of values that
 * hang together. Unknown values (NaN) are left out. Pure. */
#ifndef SYNCGUARD_DETECT_GROWTH_H
#define SYNCGUARD_DETECT_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

/* A ramp that rises from value `from` to value `to`; to == from: a step. */
struct growth_shape {
    uint32_t from, to;
};

/* Do y[a] to y[b - 1] rise so, with that probability (0.5 or more)?  false: they do not, or are too few. */
bool growth_is_sure(const float *y, uint32_t a, uint32_t b, struct growth_shape shape, double probability);

#endif
