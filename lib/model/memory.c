#include "model/memory.h"

#include <math.h>

static const struct {
    double kept, shared;
} zero[] = { { 16, 0 }, { 4, 12 }, { 2, 14 }, { 0, 16 } };

double memory_bytes_per_parameter(int zero_stage, double ranks)
{
    return zero[zero_stage].kept + zero[zero_stage].shared / ranks;
}

double memory_ranks_needed(int zero_stage, double parameters, double bytes_per_rank)
{
    double room = bytes_per_rank / parameters - zero[zero_stage].kept;

    if (zero[zero_stage].shared == 0)
        return room >= 0 ? 1 : INFINITY;
    return room > 0 ? fmax(1, ceil(zero[zero_stage].shared / room * (1 - 1e-12))) : INFINITY;
}
