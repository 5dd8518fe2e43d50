/* cadence.h - a step's checkpoints: what they cost, when one is due, and the request that all ranks hear at
 * the same step (doc/decisions/0019).
 *
 * A checkpoint is known to be written when the program reports its writes, or when all ranks pause right after
 * they were asked for one. Any other pause of all ranks only looks like one: it is reported as such, and what a
 * failure would cost counts on.
 *
 * Decides by policies/cadence.  A request names a call number that lies ahead of all ranks; the agents put it
 * on their pages (armed) and tell the counts after that; when all are below, it is committed, or else taken
 * back and tried anew.  Owned by the job; nothing here blocks, and what agents tell is bounded before it is
 * believed. Times: now_s is the controller's monotonic clock. */
#ifndef SYNCGUARD_JOB_CADENCE_H
#define SYNCGUARD_JOB_CADENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct job;
struct job_agent;
struct cadence;

/* say: sends {"control":{"checkpoint":...}} to one agent; takes o. */
struct cadence *cadence_new(double now_s);
void cadence_free(struct cadence *c); /* NULL is fine */
void cadence_sender_set(struct cadence *c,
                        void (*say)(struct job *j, struct job_agent *a, json_t *o, void *arg), void *arg);

/* The object "checkpoint" of an agent's message. */
void cadence_take(struct job *j, struct job_agent *a, double now_s, const json_t *report);
/* An agent connected (again): send it the current request. */
void cadence_hello(struct job *j, struct job_agent *a);
/* Time passes; also at once when something urgent was reported. */
void cadence_tick(struct job *j, double now_s);

/* Ask for a checkpoint now: reason is a few words for people.  -1: none can be asked for, and why.  What
 * comes of it is in the report. */
int cadence_request(struct job *j, const char *reason, struct err *err);
/* The job will be ended, grace_s from now (NaN: after the policy's PreemptionGrace).  A repeated notice
 * changes nothing. */
void cadence_notice(struct job *j, double now_s, double grace_s);
bool cadence_noticed(const struct job *j); /* and it did not outlive that */

/* When the job's time limit ends it (Unix time; NaN: not known, INFINITY: none). */
void cadence_limit_set(struct job *j, double end_wall_s);
/* What a history says of failures of jobs like it: so many in so many node-seconds; source: where from (a
 * word that lives forever), text: the same for people, "" where the word says it all. */
void cadence_history_set(struct job *j, double failures, double node_s, const char *source, const char *text);
/* What the earlier runs of this very job saw (before it was requeued, its other steps). */
void cadence_own_set(struct job *j, double failures, double node_s);

double cadence_samples_per_s(const struct job *j);       /* NaN: not reported */
json_t *cadence_json(const struct job *j, double now_s); /* the report's "checkpoint"; the caller's */

#endif
