/* control_private.h - a job's control as control.c, control_effect.c and control_report.c share it. */
#ifndef SYNCGUARD_DAEMON_CONTROL_PRIVATE_H
#define SYNCGUARD_DAEMON_CONTROL_PRIVATE_H

#include "daemon/control.h"
#include "history/audit.h"
#include "rules/site.h"

#define CONTROL_KEYS_MAX    64    /* of a policy */
#define CONTROL_CLUSTER_MAX 10001 /* actions an hour remembered: as many as ClusterActionsPerHour can be */

struct control_decision {
    struct audit_entry entry;
    double due_s; /* then its effect is measured; NaN: never, or it was */
};

struct control {
    struct job *job;
    struct engine engine;
    struct config_policy config;      /* the policy as configured */
    char *override[CONTROL_KEYS_MAX]; /* by key; NULL: not set */
    bool paused;
    bool owner_enforces; /* Action= was set by its owner, who may not touch nodes */
    /* A ring; NULL: not used yet.  Also what ended the runs before: it is measured in this one. */
    struct control_decision *decision[JOB_DECISIONS];
    size_t n_decisions;
    bool awaits;               /* what the run before did is to be measured in this one */
    double next_s, stepping_s; /* next look; first look with steps, NaN: none yet */
};

struct controls {
    struct controller *controller;
    struct ruleset *rules;
    struct site *site; /* NULL: there is none */
    struct audit *audit;
    struct budget cluster;
    struct budget_entry spent[CONTROL_CLUSTER_MAX];
    struct control **control;
    size_t n, cap;
};

/* The newest is 0; NULL: no more. */
struct control_decision *control_decision(const struct control *c, size_t i);
struct control_decision *control_keep(struct control *c, const struct audit_entry *e);
/* An entry about this job, of now, with nothing decided in it yet. */
void control_fill(struct audit_entry *e, const struct control *c);

/* control_effect.c */
/* What makes its action this one and no other, also where the audit is lost and its numbers begin again.
 * buf has ACTION_KEY_MAX bytes; returns buf. */
char *control_key(const struct audit_entry *e, char *buf);
/* Median step time now: of the policy's window, or of the newest part of it, of_s long (NaN: all of it). */
struct effect_level control_level(const struct control *c, double of_s);
/* Its action is over. */
void control_outcome(struct controls *cs, struct control *c, struct control_decision *k, bool done,
                     const char *outcome, double now_s);
/* Measure the effects that are due. */
void control_measure(struct controls *cs, struct control *c, double now_s);

#endif
