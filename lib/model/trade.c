#include "model/trade.h"

#include <math.h>

double trade_local_s(double compute_s, double comm_s, double penalty, double k)
{
    return (1 + penalty * k) * (compute_s + comm_s / k);
}

double trade_local_best(double compute_s, double comm_s, double penalty)
{
    return penalty > 0 ? sqrt(comm_s / (penalty * compute_s)) : INFINITY;
}

double trade_local_best_whole(double compute_s, double comm_s, double penalty)
{
    double best = trade_local_best(compute_s, comm_s, penalty), below = fmax(1, floor(best));

    if (isinf(best))
        return best;
    return trade_local_s(compute_s, comm_s, penalty, below + 1) <
                   trade_local_s(compute_s, comm_s, penalty, below)
               ? below + 1
               : below;
}

double trade_compress_break_even(double ratio, double iterations_ratio)
{
    if (iterations_ratio <= 1)
        return 0;
    if (ratio * iterations_ratio >= 1)
        return INFINITY;
    return (iterations_ratio - 1) / (1 - ratio * iterations_ratio);
}

double trade_compress_time_ratio(double compute_s, double comm_s, double ratio, double iterations_ratio)
{
    return iterations_ratio * (compute_s + ratio * comm_s) / (compute_s + comm_s);
}
