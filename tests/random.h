/* random.h - draws that are the same in every run: a test sets random_state to its seed. */
#ifndef SYNCGUARD_TESTS_RANDOM_H
#define SYNCGUARD_TESTS_RANDOM_H

#include <math.h>
#include <stdint.h>

static uint64_t random_state = 1;

/* From 0 to below 1. The generator is Knuth's MMIX. */
static inline double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / (double)(1ull << 53);
}

/* Mean 0, standard deviation 1, with tails as long as a normal variable's (Box & Muller, Ann. Math. Stat. 29,
 * 1958). */
static inline double box_muller(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* The same, about normal: a sum of twelve, and so never beyond 6. */
static inline double gauss(void)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum - 6;
}

#endif
