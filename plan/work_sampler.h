/* work_sampler.h - random samples of a rank's own work in a step, with mean 1.  The same seed gives the same
 * samples. */
#ifndef SYNCGUARD_PLAN_WORK_SAMPLER_H
#define SYNCGUARD_PLAN_WORK_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "model/order.h"

struct work_sampler {
    uint64_t state;
    enum order_dist dist;
    double cv, slow_ratio; /* slow_ratio: factor by which rank 0 always takes longer */
    size_t steps;          /* total, for the progress on a terminal; 0: no progress */
};

/* Start the samples of this step; they depend only on seed and step. */
void work_sampler_begin(struct work_sampler *d, uint64_t seed, size_t step);
double work_sampler_next(void *sampler, size_t rank, size_t step); /* a staleness_sample_fn */

/* Mean step time over mean own work, with this bound on staleness (model/staleness.h). */
double work_sampler_step_ratio(struct work_sampler *d, size_t ranks, size_t bound, size_t steps);

#endif
