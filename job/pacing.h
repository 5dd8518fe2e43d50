/* pacing.h - pacing of a job's ranks as the controller knows it: what the policy allows, what the nodes
 * report.  The ranks decide by themselves (pacing/pacer.h). */
#ifndef SYNCGUARD_JOB_PACING_H
#define SYNCGUARD_JOB_PACING_H

#include <jansson.h>

#include "job/job.h"

/* The "pace" of a control message. */
json_t *pacing_control_json(const struct config_policy *p);
/* An agent's {"pace":...}: what is of the right kind is kept. */
void pacing_take(struct job_agent *a, const json_t *pace);
/* The "pace" of a job. */
json_t *pacing_report(const struct job *j);

#endif
