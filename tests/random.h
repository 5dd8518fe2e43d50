/* random.h - draws that are the same in every run: a test sets random_state to its seed. */
#ifndef SYNCGUARD_TESTS_RANDOM_H
#define SYNCGUARD_TESTS_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 1;

/* From 0 to below 1. The generator is Knuth's MMIX. */
static inline double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / (double)(1ull << 53);
}

/* Mean 0, standard deviation 1, about normal: a sum of twelve. */
static inline double gauss(void)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum - 6;
}

#endif
