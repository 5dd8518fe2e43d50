/* control_private.h - a job's control as control.c and control_report.c share it. */
#ifndef SYNCGUARD_DAEMON_CONTROL_PRIVATE_H
#define SYNCGUARD_DAEMON_CONTROL_PRIVATE_H

#include "daemon/audit.h"
#include "daemon/control.h"
#include "daemon/site.h"

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
    struct control_decision *decision[CONTROL_DECISIONS]; /* a ring; NULL: not used yet */
    size_t n_decisions;
    bool awaits;               /* what the run before did is to be measured in this one */
    double next_s, stepping_s; /* next look; first look with steps, NaN: none yet */
};

struct controls {
    struct server *server;
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

#endif
