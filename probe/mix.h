/* mix.h - hashes of 64 bits: names that all ranks compute alike. */
#ifndef SYNCGUARD_PROBE_MIX_H
#define SYNCGUARD_PROBE_MIX_H

#include <stdint.h>

/* The finalizer of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
