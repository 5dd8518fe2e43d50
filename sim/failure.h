/* failure.h - when nodes of a job fail, and how often the job should save its work.
 *
 * Each node fails at exponential intervals (a Poisson process, also while the job restarts), drawn by seed,
 * node and how often it failed before.  A failed node is replaced by one that is like it.  The interval
 * between checkpoints is the one the scenario fixes, or model/checkpoint's. */
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
/* That failure, or another cause, stops the job at at_s: when it works again, failures while it restarts
 * included, which are added to *count.  NaN: it never gets up (a million failures in a row). */
double failure_restart_s(struct failure *f, double at_s, uint64_t *count);

#endif
