/* control.h - decides about jobs: keeps for each job the engine of its policy, the parameters in force,
 * whether it is paused, and the decisions with their outcomes.
 *
 * It evaluates a running job once a second, and at once when the values that it reports cease or begin to be
 * finite; it records every decision (history/audit.h), starts the enforced ones (actions/action.h) and later
 * measures their effect. While such a value is not finite it holds the job's levers (job_hold()). Parameters
 * that users set by `sgctl policy` override the configured policy until the run ends; they survive a reload
 * of the configuration and, by the audit log, a restart of the controller.
 *
 * Times: now_s is the controller's monotonic clock. */
#ifndef SYNCGUARD_DAEMON_CONTROL_H
#define SYNCGUARD_DAEMON_CONTROL_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "job/job.h"
#include "rules/engine.h"

#define CONTROL_EVERY_S 1.0

struct action;
struct action_record;
struct controller;
struct controls;
struct report_control;

/* NULL with a reason: a rule is invalid, or asks another policy than the site's own.  If the site's policy
 * cannot be loaded, this is logged, and rules that ask it make no decisions. */
struct controls *controls_new(struct controller *s, const struct config *c, struct err *err);
/* Use the rules and the site's policy of c; on failure nothing changes and -1 is returned. */
int controls_configure(struct controls *cs, const struct config *c, struct err *err);
void controls_free(struct controls *cs); /* NULL is fine */

/* Add a new job: j->policy is the name of its policy, config its parameters. */
void controls_add(struct controls *cs, struct job *j, const struct config_policy *config, double now_s);
void controls_remove(struct controls *cs, struct job *j); /* before it is freed */
/* Slurm has confirmed the job; its policy is j->policy.  What the audit log has of the run is restored. */
void controls_confirm(struct controls *cs, struct job *j, const struct config_policy *config, double now_s);
/* The configuration changed: use these parameters of the job's policy. */
void controls_renew(struct job *j, const struct config_policy *config);
/* Evaluate the job; call it about every quarter of a second. */
void controls_tick(struct controls *cs, struct job *j, double now_s);
/* A user asked for this action, which is new: an action that ends the run is recorded like a decision, so
 * that its effect is measured. */
void controls_asked(struct controls *cs, struct job *j, const struct action *a, double now_s);
/* An action has ended. false: it was not a rule's decision. */
bool controls_ended(struct controls *cs, const struct action_record *r, double now_s);

/* The commands of `sgctl policy`, by a user who may see the job. */
/* Set parameters.  words: an array of "Key=Value"; "Key=default" restores the policy's value. All of them are
 * set, or none and -1 with a reason. */
int controls_set(struct controls *cs, struct job *j, const json_t *words, uid_t by, double now_s,
                 struct err *err);
int controls_pause(struct controls *cs, struct job *j, bool pause, uid_t by, double now_s, struct err *err);
/* Acknowledge all standing verdicts. */
int controls_acknowledge(struct controls *cs, struct job *j, uid_t by, double now_s, struct err *err);

/* Unix time of the first action on the run; NaN: none, or no longer known. */
double controls_first_action(const struct job *j);
/* What is decided about the job: report_control_free(). */
void controls_get(struct controls *cs, const struct job *j, double now_s, struct report_control *to);
/* Answers to queries; the caller owns them. */
json_t *controls_policies(const struct controls *cs);                 /* all of them, briefly */
json_t *controls_policy(const struct controls *cs, const char *name); /* one; NULL: there is none */

#endif
