#include "tests/workloads/shared/random.h"

#include "common/hash.h"

/* SplitMix64's finaliser (Steele, Lea, Flood 2014) over the three numbers. */
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15ull + stream * 0xd1342543de82ef95ull;

    for (int round = 0; round < 2; round++)
        z = hash_mix(z + index + 0x9e3779b97f4a7c15ull);
    return z;
}

double random_unit(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}
