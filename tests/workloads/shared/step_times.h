/* step_times.h - how long the steps of a run took: the whole, and the parts for messages and in collectives.
 * Seconds of CLOCK_MONOTONIC; the first steps are left out of the summary when there are others (warm-up). */
#ifndef SYNCGUARD_WORKLOADS_STEP_TIMES_H
#define SYNCGUARD_WORKLOADS_STEP_TIMES_H

#include <stddef.h>

#include "tests/workloads/shared/world.h"

struct step_times {
    double *step_s, *inside_s;
    size_t n, step_cap, inside_cap;
    double all_s, messages_s, collectives_s; /* of all steps */
};

struct step_times_summary {
    double mean_s, p50_s, p95_s, cv; /* of the steps; NaN without steps */
    double inside_s;                 /* mean */
};

void step_times_add(struct step_times *p, double step_s, double messages_s, double collectives_s);
struct step_times_summary step_times_sum(const struct step_times *p);
/* Collective: rank 0 prints its own steps, and the fastest and the slowest rank's time outside of MPI.  What
 * each rank computed in a step differs from what it waited: the slowest rank shows in both.  And the shares
 * of all ranks' time, in all steps. */
void step_times_print(const struct step_times *p, const struct world *w);
void step_times_free(struct step_times *p);

#endif
