/* report_job.h - guarded steps as JSON objects: the answer to "job", the rows of "jobs" and "nodes"
 * (doc/protocol.md).
 * Pure, but for job_scaling_renew: reads the job, changes nothing.  The objects are the caller's. */
#ifndef SYNCGUARD_JOB_REPORT_JOB_H
#define SYNCGUARD_JOB_REPORT_JOB_H

#include <jansson.h>
#include <stdbool.h>

#include "report/report_nodes.h"
#include "report/report_view.h"

struct guarded_runs;
struct job;
struct job_agent;

json_t *report_row(const struct job *j, double now_s);
json_t *report_job(const struct job *j, double now_s, const struct report_selection *selection);
json_t *report_agent(const struct job_agent *a, double now_s);
/* The nodes of this step, those that have an agent and no rank among them. */
void report_job_nodes(struct report_nodes *t, const struct job *j, double now_s);
json_t *report_job_node(const struct report_node *n, double now_s);

/* What the job keeps of scaling and strategies is made anew when it is older than JOB_SCALING_S. */
#define JOB_SCALING_S 10.0
void job_scaling_renew(struct job *j, double now_s, bool strong);

/* The job over its own unguarded reference.  first_action_s: Unix time of what was done to it first; NaN:
 * nothing was, or when is not known. */
json_t *report_guarded(const struct job *j, const struct guarded_runs *runs, double first_action_s,
                       double wall_s);

#endif
