#include "model/pipeline.h"

#include <math.h>

double pipeline_bubble(double stages, double microbatches, double chunks)
{
    return (stages - 1) / (chunks * microbatches + stages - 1);
}

double pipeline_speedup(double stages, double microbatches, double chunks)
{
    return stages * (1 - pipeline_bubble(stages, microbatches, chunks));
}

double pipeline_in_flight(enum pipeline_schedule schedule, double stages, double microbatches, double chunks)
{
    switch (schedule) {
    case PIPELINE_GPIPE:
        return microbatches;
    case PIPELINE_1F1B:
        return fmin(stages, microbatches);
    case PIPELINE_INTERLEAVED:
        return fmin(stages + (stages - 1) / chunks, microbatches);
    }
    return NAN;
}

double pipeline_microbatches(double utilization, double stages, double chunks)
{
    double exact = utilization * (stages - 1) / (1 - utilization) / chunks;

    /* the factor prevents that a rounding error makes 91 out of 90 */
    return fmax(1, ceil(exact * (1 - 1e-12)));
}

double pipeline_time_s(const double *stage_s, size_t stages, double microbatches)
{
    double sum = 0, slowest = 0;

    for (size_t i = 0; i < stages; i++) {
        sum += stage_s[i];
        slowest = fmax(slowest, stage_s[i]);
    }
    return sum + (microbatches - 1) * slowest;
}
