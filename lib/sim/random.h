/* random.h - random numbers that depend on their purpose, not on the order in which they are sampled.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a
 * block of bits is a function of the seed and of its purpose (job, purpose, who, when).  So a run with
 * another order of ranks gets the same numbers, and a what-if run differs only by the change (common random
 * numbers). Each sample takes one uniform number and the inverse of its distribution function, so a sample
 * that is larger in one distribution is larger in the other. */
#ifndef SYNCGUARD_SIM_RANDOM_H
#define SYNCGUARD_SIM_RANDOM_H

#include <stdint.h>

/* The random numbers of one purpose in one job. */
struct random {
    uint32_t key[2];
    uint32_t stream; /* job and purpose */
};

/* purpose: the caller's choice; both purpose and job are below 65536. */
struct random random_of(uint64_t seed, uint32_t job, uint32_t purpose);

/* The block itself: counter and key in, four words out. */
void random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* who: rank, node ...; when: step, incarnation ... (below 2^48). */
double random_uniform(const struct random *r, uint32_t who, uint64_t when);     /* in (0, 1) */
double random_normal(const struct random *r, uint32_t who, uint64_t when);      /* mean 0, deviation 1 */
double random_exponential(const struct random *r, uint32_t who, uint64_t when); /* mean 1 */
/* Mean 1 and this coefficient of variation (Marsaglia & Tsang 2000: rejection, further blocks where one is
 * not enough). */
double random_gamma(const struct random *r, uint32_t who, uint64_t when, double cv);
uint64_t random_bits(const struct random *r, uint32_t who, uint64_t when);

/* Of a lognormal of mean 1 and this coefficient of variation, from a standard normal. */
double random_lognormal_of(double z, double cv);

#endif
