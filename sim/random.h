/* random.h - random numbers that depend on what they are for, not on when they are drawn.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a
 * block of bits is a function of the seed and of what it is drawn for (job, purpose, who, when).  So a run
 * with another order of ranks draws the same, and a what-if run differs by what was changed alone (common
 * random numbers).  One draw, one uniform number, turned into its distribution by the inverse of its
 * distribution function: what is larger in one distribution is larger in the other. */
#ifndef SYNCGUARD_SIM_RANDOM_H
#define SYNCGUARD_SIM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* The draws of one purpose in one job. */
struct random {
    uint32_t key[2];
    uint32_t stream; /* job and purpose */
};

/* purpose: any number of the caller's, below 65536, as is job. */
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

/* n normals for who = 0 ... n-1. */
void random_normals(const struct random *r, uint64_t when, size_t n, double *out);

/* Of a lognormal of mean 1 and this coefficient of variation, from a standard normal. */
double random_lognormal_of(double z, double cv);

#endif
