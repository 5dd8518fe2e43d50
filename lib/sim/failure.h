/* failure.h - times at which nodes of a job fail, and its checkpoint interval.
 *
 * Each node fails at exponential intervals (a Poisson process, also while the job restarts), sampled by seed,
 * node and its number of earlier failures.  A failed node is replaced by an identical one.  The interval
 * between checkpoints is fixed by the scenario or computed by model/cadence. */
#ifndef SYNCGUARD_SIM_FAILURE_H
#define SYNCGUARD_SIM_FAILURE_H

#include <stdint.h>

#include "sim/scenario.h"

struct failure;

struct failure *failure_new(const struct scenario *s, size_t job);
void failure_free(struct failure *f); /* NULL is fine */

/* Seconds of work between two checkpoints. */
double failure_interval_s(const struct failure *f);
/* The next failure of any node; infinity if nodes do not fail. */
double failure_next_s(const struct failure *f);
/* That failure, or another cause, stops the job at at_s.  Returns when it works again, after failures during
 * the restart, which are added to *count.  NaN: it never restarts (a million failures in a row). */
double failure_restart_s(struct failure *f, double at_s, uint64_t *count);

#endif
