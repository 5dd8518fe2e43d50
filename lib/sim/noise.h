/* noise.h - the factor on each rank's work in a step of a job.
 *
 * A rank's factor is the product of its sources': its own, its node's, its switch's, the job's, each with
 * lasting differences and deviations from step to step (normal, cut at a tenth of the mean; lognormal; gamma;
 * all of mean 1), which may be correlated with those of the step before (a first-order autoregression of the
 * underlying normal; gamma has none).  Spikes are added, in units of the job's compute.  Faults that slow
 * work down multiply.
 *
 * A function of seed and step number, independent of the order of calls, except for autocorrelated sources,
 * which need their steps in order.  Memory: a few numbers a rank. */
#ifndef SYNCGUARD_SIM_NOISE_H
#define SYNCGUARD_SIM_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/placement.h"
#include "sim/random.h"

struct noise;

/* The scenario and placement are borrowed. */
struct noise *noise_new(const struct scenario *s, size_t job, const struct placement *p);
void noise_free(struct noise *n); /* NULL is fine */

/* One value of a source without spikes and lasting differences, mean 1.  state: the autoregression's normal
 * of the previous sample, updated to this one's; NULL without autocorrelation. */
double noise_value(const struct scenario_noise *s, const struct random *r, uint32_t place, uint64_t sample,
                   double *state);
/* The random numbers of the i-th source of a scenario, for noise_value(). */
struct random noise_random(const struct scenario *s, size_t i);

/* For every rank: the factor on its work in this step, and seconds of additional delay.  sample: counts the
 * simulated steps (faults occur in logical steps, which a restart repeats). */
void noise_step(struct noise *n, uint64_t sample, uint64_t step, double *factor, double *delay_s);
/* The same of one rank, for jobs in which each is in a step of its own.  Autocorrelated sources must be the
 * ranks' own. */
void noise_rank_step(struct noise *n, uint32_t rank, uint64_t step, double *factor, double *delay_s);

/* Does the fault last in this step?  One of kind stall does in the steps that it strikes. */
bool noise_fault_is_on(const struct scenario_fault *f, uint64_t step);
/* The number of ranks that faults of kind death have hit by this step; dead[rank] is set for those, if not
 * NULL. */
uint32_t noise_dead(const struct noise *n, uint64_t step, bool *dead);
/* Dead ranks were replaced: deaths up to this step do not occur again. */
void noise_repair(struct noise *n, uint64_t step);

#endif
