/* arguments.h - what the plugin passes to the agent: its command line and Slurm's environment variables.
 * Strings point into argv and the environment.  Missing strings are NULL, missing numbers -1. */
#ifndef SYNCGUARD_AGENT_ARGUMENTS_H
#define SYNCGUARD_AGENT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"
#include "wire/link.h"

/* What srun found, and what came of it. */
struct agent_choice {
    char name[32];            /* the pattern of the ranks' order, or the algorithm; "": nothing is known */
    bool applied;             /* the ranks have that order, or the library was told that algorithm */
    bool compared;            /* with starts without it */
    double before_s, after_s; /* of a step by the model, without and with it */
};

struct agent_arguments {
    const char *dir, *policy, *controller, *node;
    struct link_end end;    /* the identity is the caller's to set */
    int identity_fd;        /* of identity_save(); -1: none */
    struct err unconfirmed; /* why nothing of use was there, or ""; the caller's to set */
    bool policy_asked;      /* the user named the policy */
    double rate_hz;

    const char *user, *name, *partition, *account, *qos, *notes, *nodelist;
    char switch_name[128]; /* "" when unknown */
    char switches[256];    /* from the root down to it, as of view/switches.h; "" when unknown, or longer */
    struct agent_choice placement; /* times are those of its communication */
    /* times are those of its all-reduces: by the library's own choice, and by this one at most */
    struct agent_choice algorithm;
    bool algorithm_looked; /* srun has looked for a faster algorithm of all-reduces */
    int64_t job, step, nodes, tasks, local_tasks, node_index;
    int64_t het_job, het_offset, restarts;
    int64_t tasks_parent; /* the process that starts the tasks */
    int64_t end_time;     /* time limit of the job, Unix seconds */
};

extern const struct options_program agent_program;

/* Take the parsed command line and read the environment.  0, or -1 with the reason. */
int agent_arguments_read(struct agent_arguments *a, const struct options *o, struct err *err);

#endif
