/* random.h - counter-based random bits: no state to save, any of them can be drawn again. */
#ifndef SYNCGUARD_WORKLOADS_RANDOM_H
#define SYNCGUARD_WORKLOADS_RANDOM_H

#include <stdint.h>

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);
double random_unit(uint64_t seed, uint64_t stream, uint64_t index); /* in [0, 1) */

#endif
