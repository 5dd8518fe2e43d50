/* draw.h - a rank's own work in a step, drawn: mean 1, and the same for the same seed. */
#ifndef SYNCGUARD_PLAN_DRAW_H
#define SYNCGUARD_PLAN_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "model/order.h"

struct draw {
    uint64_t state;
    enum order_dist dist;
    double cv, slow_ratio; /* rank 0 takes so many times as long, always */
    size_t steps;          /* for the progress on a terminal; 0: none */
};

/* Draws of this step follow, the same whenever they are asked for. */
void draw_begin(struct draw *d, uint64_t seed, size_t step);
double draw_work(void *draw, size_t rank, size_t step); /* a staleness_sample_fn */

/* Mean time of a step over the mean own work with this bound on staleness (model/staleness.h). */
double draw_step_ratio(struct draw *d, size_t ranks, size_t bound, size_t steps);

#endif
