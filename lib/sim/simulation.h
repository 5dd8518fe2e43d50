/* simulation.h - a whole scenario: its fabric and all its jobs, run to their ends.
 *
 * One job runs in lockstep, several are played on one network; asynchronous jobs run by themselves.  Faults
 * of links are set when the job that times them comes to their step.  Pure: reads no clock, writes no file;
 * hooks can write a trace and show progress. */
#ifndef SYNCGUARD_SIM_SIMULATION_H
#define SYNCGUARD_SIM_SIMULATION_H

#include "sim/sim_job.h"

struct simulation;

/* hooks may be NULL.  NULL with the reason.  The scenario is borrowed. */
struct simulation *simulation_new(const struct scenario *s, const struct sim_job_hooks *hooks,
                                  struct err *err);
void simulation_free(struct simulation *m); /* NULL is fine */

/* 0, or -1 with a hook's reason. */
int simulation_run(struct simulation *m, struct err *err);

const struct sim_job_result *simulation_result(const struct simulation *m, size_t job);
const struct placement *simulation_placement(const struct simulation *m, size_t job);
/* Of all jobs. */
struct network_count simulation_network(const struct simulation *m);

#endif
