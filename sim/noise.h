/* noise.h - how much longer than usual each rank of a job works in a step.
 *
 * A rank's factor is the product of its sources': its own, its node's, its switch's, the job's, each with
 * lasting differences and deviations from step to step (normal, cut at a tenth of the mean; lognormal; gamma;
 * all of mean 1), which may be correlated with those of the step before (a first-order autoregression of the
 * underlying normal; gamma has none).  Spikes are added, in units of the job's compute.  Faults that slow
 * work down multiply.
 *
 * A function of seed and step number: nothing depends on the order of calls but an autocorrelated source,
 * which takes its steps one after the other.  Memory: a few numbers a rank. */
#ifndef SYNCGUARD_SIM_NOISE_H
#define SYNCGUARD_SIM_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/random.h"
#include "sim/scenario.h"

struct noise;

/* Where the job's ranks are; borrowed for the life of the noise. */
struct noise_places {
    const uint32_t *node;        /* of a rank: the job's node, from 0 */
    const uint32_t *leaf;        /* of a rank: the fabric's switch */
    const uint32_t *fabric_node; /* of a rank */
    uint32_t nodes, leaves;      /* numbers are below these */
};

struct noise *noise_new(const struct scenario *s, size_t job, const struct noise_places *places);
void noise_free(struct noise *n); /* NULL is fine */

/* One value of a source without spikes and lasting differences, mean 1.  state: the autoregression's normal
 * of the draw before, and then of this one; NULL where there is none. */
double noise_value(const struct scenario_noise *s, const struct random *r, uint32_t place, uint64_t draw,
                   double *state);
/* The random numbers of the i-th source of a scenario, for noise_value(). */
struct random noise_random(const struct scenario *s, size_t i);

/* Of every rank: what its work in this step is multiplied with, and seconds of delay on top.  draw: counts
 * the steps that were simulated (faults strike in logical steps, which a restart repeats). */
void noise_step(struct noise *n, uint64_t draw, uint64_t step, double *factor, double *delay_s);
/* The same of one rank, for jobs in which each is in a step of its own.  Autocorrelated sources must be the
 * ranks' own. */
void noise_rank_step(struct noise *n, uint32_t rank, uint64_t step, double *factor, double *delay_s);

/* How many ranks faults of kind death have struck by this step; dead[rank] is set for those, if not NULL. */
uint32_t noise_dead(const struct noise *n, uint64_t step, bool *dead);
/* They were replaced: those that have struck by this step will not strike again. */
void noise_repair(struct noise *n, uint64_t step);

#endif
