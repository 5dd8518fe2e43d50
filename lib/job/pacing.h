/* pacing.h - pacing of a job's ranks as the controller knows it: the limits of the policy and the reports of
 * the nodes.  The ranks themselves decide how to pace (pacing/pacer.h).  The caller owns the JSON that is
 * returned. */
#ifndef SYNCGUARD_JOB_PACING_H
#define SYNCGUARD_JOB_PACING_H

#include <jansson.h>

#include "job/job.h"

/* The value of "pace" in a control message.  held: without levers. */
json_t *pacing_control_json(const struct config_policy *p, bool held);
/* Store an agent's {"pace":...}; values of the wrong type are ignored. */
void pacing_take(struct job_agent *a, const json_t *pace);
/* With nodes of the first max agents; the caller frees it by report_pace_free(). */
void pacing_get(struct report_pace *to, const struct job *j, size_t max);
/* The nodes of a job's report: those of the agents from that index to before end that reported. */
json_t *pacing_nodes(const struct job *j, size_t from, size_t end);

#endif
