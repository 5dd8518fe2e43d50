/* control_private.h - a job's control, shared by control.c, which decides, and the files below it:
 * control_command.c, control_effect.c and, below these, control_decision.c; control_report.c is above. */
#ifndef SYNCGUARD_DAEMON_CONTROL_PRIVATE_H
#define SYNCGUARD_DAEMON_CONTROL_PRIVATE_H

#include "daemon/control.h"
#include "history/audit.h"
#include "rules/site.h"

#define CONTROL_CLUSTER_MAX 10001 /* actions kept per hour; ClusterActionsPerHour is less */

struct control_decision {
    struct audit_entry entry;
    double due_s; /* when its effect is measured; NaN: not to be measured */
};

struct control {
    struct job *job;
    struct engine engine;
    struct config_policy config; /* the policy as configured */
    char *override[KEYS_MAX];    /* set by users, by index of the key; NULL: not set */
    bool paused, paused_by_operator;
    bool fixed[KEYS_MAX];  /* by an operator, so that the job's owner cannot change it */
    bool non_finite, held; /* view_non_finite() and job_hold(), as last sent to the agents ... */
    double turned_s;       /* ... at this time */
    bool owner_enforces;   /* the owner has set Action=enforce: actions beyond the job stay dry runs */
    /* A ring; NULL: not used yet.  It includes actions that ended earlier runs: their effect is measured
     * here. */
    struct control_decision *decision[JOB_DECISIONS];
    size_t n_decisions;
    bool awaits; /* the effect of the action that ended the earlier run is still to be measured */
    double next_s, stepping_s; /* next evaluation; first evaluation with step times, NaN: none yet */
};

struct controls {
    struct controller *controller;
    struct ruleset *rules;
    struct site *site; /* the site's own policy; NULL: none */
    struct budget cluster;
    struct budget_entry spent[CONTROL_CLUSTER_MAX];
    struct control **control;
    size_t n, cap;
};

/* control_decision.c */
/* The i-th decision; 0: the newest; NULL: there are no more. */
struct control_decision *control_decision(const struct control *c, size_t i);
struct control_decision *control_keep(struct control *c, const struct audit_entry *e);
/* Fill in the job and the present time of an entry, without a decision. */
void control_fill(struct audit_entry *e, const struct control *c);

/* The job's figures, with those of earlier runs. */
void control_figures(const struct controls *cs, const struct control *c, double now_s, struct figures *f);

/* control_command.c */
/* Apply the configured policy, then the parameters that users set. */
void control_params_apply(struct control *c);
/* A command of the audit log.  The newest of each kind counts: a pause is over when it was resumed, whatever
 * else was said since. */
void control_command_restore(struct control *c, const char *text, bool trusted, double now_s);

/* control.c */
/* What the engine knows of the job whose rules it evaluates, but for the figures and the site's advice.  w
 * is lent. */
struct control_witness {
    struct controls *cs;
    const struct job *job;
    double now_s;
};
struct engine_input control_input(const struct control_witness *w);

/* control_decision.c */
/* Why the job's word is not enough to act on a node, whose figures its user could have invented.  NULL: a
 * running job of another user blames the node as well, or its lemon score does, by jobs of several users.
 * arg: a control_witness. */
const char *control_doubt(const char *node, const void *arg);

/* control_effect.c */
/* Write the key of the entry's action to buf, which has ACTION_KEY_MAX bytes; unique also if the audit log
 * was lost and its ids start again.  Returns buf. */
char *control_key(const struct audit_entry *e, char *buf);
/* Median step time of the policy's window, or of its latest of_s seconds (NaN: of the whole window). */
struct effect_level control_level(const struct control *c, double of_s);
/* Record the outcome of the decision's action. */
void control_outcome(struct controls *cs, struct control *c, struct control_decision *kept, bool done,
                     const char *outcome, double now_s);
/* Measure the effects that are due. */
void control_measure(struct controls *cs, struct control *c, double now_s);

#endif
