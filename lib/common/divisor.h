/* divisor.h - the greatest common divisor (Euclid, Elements VII, proposition 2). */
#ifndef SYNCGUARD_COMMON_DIVISOR_H
#define SYNCGUARD_COMMON_DIVISOR_H

#include <stdint.h>

/* With 0 it is the other one. */
static inline uint64_t divisor_common(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

#endif
