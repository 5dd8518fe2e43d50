#include "sim/staleness.h"

uint64_t staleness_needs(uint64_t step, uint64_t bound)
{
    return step > bound ? step - bound : 0;
}

bool staleness_allows(uint64_t step, uint64_t slowest_finished, uint64_t bound)
{
    return slowest_finished >= staleness_needs(step, bound);
}
