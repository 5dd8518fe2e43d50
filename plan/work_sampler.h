/* work_sampler.h - random samples of a rank's own work in a step: mean 1, the same for the same seed. */
#ifndef SYNCGUARD_PLAN_WORK_SAMPLER_H
#define SYNCGUARD_PLAN_WORK_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "model/order.h"

struct work_sampler {
    uint64_t state;
    enum order_dist dist;
    double cv, slow_ratio; /* how many times as long rank 0 always takes */
    size_t steps;          /* for the progress on a terminal; 0: none */
};

/* Begin the samples of this step; they are the same whenever they are asked for. */
void work_sampler_begin(struct work_sampler *d, uint64_t seed, size_t step);
double work_sampler_next(void *sampler, size_t rank, size_t step); /* a staleness_sample_fn */

/* Mean time of a step over the mean own work with this bound on staleness (model/staleness.h). */
double work_sampler_step_ratio(struct work_sampler *d, size_t ranks, size_t bound, size_t steps);

#endif
