#include "model/step.h"

#include <math.h>

double step_exposed_s(double comm_s, double overlap, double backward_s)
{
    double left_s = comm_s - overlap * backward_s;

    return left_s < 0 ? 0 : left_s; /* NaN where an input is */
}

double step_efficiency(double compute_s, double exposed_s, double accumulate)
{
    return accumulate * compute_s / (accumulate * compute_s + exposed_s);
}

double step_speedup(double compute_s, double comm_s, double ranks)
{
    return (compute_s + comm_s) / (compute_s / ranks + comm_s);
}

double step_ranks_at_balance(double compute_s, double comm_s)
{
    return comm_s > 0 ? compute_s / comm_s : INFINITY;
}

double step_speedup_max(double compute_s, double comm_s)
{
    return comm_s > 0 ? 1 + compute_s / comm_s : INFINITY;
}
