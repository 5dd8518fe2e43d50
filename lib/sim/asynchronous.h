/* asynchronous.h - a job without steps in common: each rank works, sends its gradient to the parameter
 * servers, takes the parameters back, and works on.
 *
 * The servers are one queue: updates are served in the order in which they come, each for 2 bytes / (servers
 * x link), so N ranks that come at once take the 2 N m b / S of the synchronous parameter server.  The job is
 * over after ranks x steps updates, whoever made them: throughput is the sum of the ranks' own rates while
 * the servers keep up.  Not modelled: contention on the way to the servers, with itself or other jobs. */
#ifndef SYNCGUARD_SIM_ASYNCHRONOUS_H
#define SYNCGUARD_SIM_ASYNCHRONOUS_H

#include "sim/sim_job.h"

/* Fills in *r, which is sim_job_result_init()ed. */
void asynchronous_run(const struct scenario *s, size_t job, const struct placement *p,
                      struct sim_job_result *r);

#endif
