/* hash.h - 64-bit keys for comparison and lookup; not for secrets, and not safe against deliberate
 * collisions.
 *
 * FNV-1a, 64 bits (G. Fowler, L. C. Noll, K.-P. Vo, http://www.isthe.com/chongo/tech/comp/fnv/): among a
 * million different inputs, two collide with a probability of 3 in 10^8. The values are stored in keys of
 * actions and names of communicators, so the function must not change. The probe includes nothing of common/
 * and has its own copy. */
#ifndef SYNCGUARD_COMMON_HASH_H
#define SYNCGUARD_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

/* Continues from h: HASH_START, or the result of an earlier call. */
static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < n; i++)
        h = (h ^ byte[i]) * 0x100000001b3u;
    return h;
}

/* Spreads x over all 64 bits (SplitMix64's finish: Steele, Lea & Flood, OOPSLA 2014). */
static inline uint64_t hash_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
