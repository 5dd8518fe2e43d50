#include "sim/staleness.h"

uint64_t staleness_needs(uint64_t step, uint64_t bound)
{
    return step > bound ? step - bound : 0;
}
