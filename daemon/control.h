/* control.h - what the controller decides about its jobs: of each the engine of its policy, the parameters in
 * force, whether it is paused, what was decided and what came of it.
 *
 * It looks at a running job once a second, writes down every decision (history/audit.h), hands the enforced
 * ones to who acts (control_hands) and measures their effect afterwards. What people set by `sgctl policy`
 * lies over the configured policy: it survives a reload of the configuration and, read back from the audit, a
 * restart of the controller, and ends with the run. It refuses to act.
 *
 * Times: now_s is the controller's monotonic clock. */
#ifndef SYNCGUARD_DAEMON_CONTROL_H
#define SYNCGUARD_DAEMON_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "job/job.h"
#include "rules/engine.h"

#define CONTROL_EVERY_S 1.0

struct action;
struct action_record;
struct controller;
struct controls;

/* NULL: a rule is wrong, or asks another policy than the site's own.  One that cannot be loaded is told to
 * the log, and rules that ask it decide nothing. */
struct controls *controls_new(struct controller *s, const struct config *c, struct err *err);
/* Rules and the site's policy as configured now, or nothing changed and -1. */
int controls_configure(struct controls *cs, const struct config *c, struct err *err);
void controls_free(struct controls *cs); /* NULL is fine */

/* The job is new here: j->policy is its policy's name, config the parameters it has. */
void controls_add(struct controls *cs, struct job *j, const struct config_policy *config, double now_s);
void controls_remove(struct controls *cs, struct job *j); /* before it goes */
/* The configuration changed: its policy is now like this. */
void controls_renew(struct job *j, const struct config_policy *config);
/* Call it about every quarter second. */
void controls_tick(struct controls *cs, struct job *j, double now_s);
/* A person asked for this action, which was not begun before: one that ends the run is written down beside
 * the decisions, so that what it brings is measured. */
void controls_asked(struct controls *cs, struct job *j, const struct action *a, double now_s);
/* An action is over. false: it was of no rule's decision. */
bool controls_ended(struct controls *cs, const struct action_record *r, double now_s);

/* The commands of `sgctl policy`, by a user who may see the job. */
/* words: an array of "Key=Value" ("Key=default": as the policy has it). All of them, or none and -1. */
int controls_set(struct controls *cs, struct job *j, const json_t *words, uid_t by, double now_s,
                 struct err *err);
int controls_pause(struct controls *cs, struct job *j, bool pause, uid_t by, double now_s, struct err *err);
/* All verdicts that stand have been seen. */
int controls_acknowledge(struct controls *cs, struct job *j, uid_t by, double now_s, struct err *err);

/* Unix time of the first thing that was done to the run; NaN: nothing was, or it is no longer remembered. */
double controls_first_action(const struct job *j);
/* report gets the key `policy` (doc/protocol.md). */
void controls_put(const struct controls *cs, const struct job *j, double now_s, json_t *report);
/* Answers; the caller's. */
json_t *controls_policies(const struct controls *cs);                 /* all of them, briefly */
json_t *controls_policy(const struct controls *cs, const char *name); /* one; NULL: there is none */
json_t *controls_audit(struct controls *cs, uint32_t job, uid_t uid, int limit);
void controls_expire(struct controls *cs, int days);

#endif
