/* report_job.h - guarded steps as they are reported: the answer to "job", the rows of "jobs" and "nodes"
 * (sgctl(1), JSON).
 * Pure, except job_scaling_renew(): only reads the job.  The caller owns the objects. */
#ifndef SYNCGUARD_JOB_REPORT_JOB_H
#define SYNCGUARD_JOB_REPORT_JOB_H

#include <jansson.h>
#include <stdbool.h>

#include "report/report_nodes.h"
#include "report/report_past.h"
#include "report/report_row.h"
#include "report/report_view.h"

struct guarded_runs;
struct job;
struct report;

/* A row of "jobs"; report_row_free(). */
void report_job_row(struct report_row *r, const struct job *j, double now_s);
/* The report of "job", with the ranks, columns and agents of the selection, without what the controller has
 * of its policy and the history; report_free(). */
struct report *report_job_get(const struct job *j, double now_s, const struct report_selection *selection);
/* Its "agents" from that index to before end. */
json_t *report_job_agents(const struct job *j, double now_s, size_t from, size_t end);
/* Add the nodes of this step, including those that have an agent but no rank. */
void report_job_nodes(struct report_nodes *t, const struct job *j, double now_s);
/* Without the history; the caller frees its texts. */
void report_job_node_get(struct report_node *r, const struct report_node_sums *n, double now_s);

/* Recompute the job's projections and strategies when they are older than JOB_SCALING_S. */
#define JOB_SCALING_S 10.0
void job_scaling_renew(struct job *j, double now_s, bool strong);

/* The job compared with its own unguarded reference.  first_action_s: Unix time of the first action; NaN:
 * none, or its time is not known. */
void report_guarded_get(struct report_guarded *to, const struct job *j, const struct guarded_runs *runs,
                        double first_action_s, double wall_s);

#endif
