/* cadence.h - a step's checkpoints: what they cost, when one is due, and the request that all ranks receive
 * at the same step (doc/decisions/0019).
 *
 * A checkpoint is known to be written when the program reports its writes, or when all ranks pause right
 * after they were asked for one. Any other pause of all ranks may or may not be one: it is reported as a
 * possible checkpoint, and does not reduce the work that a failure would cost.
 *
 * rules/cadence decides when one is due.  A request names a call number that all ranks have yet to reach. The
 * agents put it on their pages (armed), then report the counts of their ranks; if all counts are below the
 * call, the request is committed, otherwise it is withdrawn and tried again with a later call.  Owned by the
 * job; nothing here blocks, and agents' reports are bounded before they are used. Times: now_s is the
 * controller's monotonic clock. */
#ifndef SYNCGUARD_JOB_CADENCE_H
#define SYNCGUARD_JOB_CADENCE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"

struct job;
struct job_agent;
struct cadence;
struct report_cadence;

struct cadence *cadence_new(double now_s);
void cadence_free(struct cadence *c); /* NULL is fine */

/* Process the object "checkpoint" of an agent's message. */
void cadence_take(struct job *j, struct job_agent *a, double now_s, const json_t *report);
/* An agent connected or reconnected: send it the current request. */
void cadence_hello(struct job *j, struct job_agent *a);
/* Advance decision and request; called periodically, and at once after an urgent report. */
void cadence_tick(struct job *j, double now_s);

/* Whether the ranks can be told of a request at all: 0, or -1 with what keeps them from it for longer than a
 * request waits. */
int cadence_can(const struct job *j, struct err *err);
/* Ask for a checkpoint now, if cadence_can(); reason is a short phrase for people.  The outcome is in
 * cadence_get(). */
int cadence_request(struct job *j, const char *reason, struct err *err);
/* The job will be ended in grace_s seconds (NaN: after the policy's PreemptionGrace).  Repeated notices are
 * ignored. */
void cadence_notice(struct job *j, double now_s, double grace_s);
bool cadence_noticed(
    const struct job *j); /* the job was given notice of its end, and that time is not over */

/* When the job's time limit ends it (Unix time; NaN: not known, INFINITY: none). */
void cadence_limit_set(struct job *j, double end_wall_s);
/* Failures of similar jobs and the node-seconds in which they occurred, from the history.  source: a word for
 * the origin of the numbers, with static lifetime; text: the same for people, "" if the word is enough. */
void cadence_history_set(struct job *j, double failures, double node_s, const char *source, const char *text);
/* Failures and node-seconds of this job's own earlier runs: before it was requeued, and its other steps. */
void cadence_own_set(struct job *j, double failures, double node_s);

/* Since when there is work that a failure would lose; set: as it was before the controller was restarted. */
double cadence_unsaved_since_s(const struct job *j);
void cadence_unsaved_set(struct job *j, double since_s);

double cadence_samples_per_s(const struct job *j); /* NaN: not reported */
void cadence_get(struct report_cadence *to, const struct job *j, double now_s);

#endif
