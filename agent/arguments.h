/* arguments.h - what the plugin passes to the agent: its command line and Slurm's environment variables.
 * Strings point into argv and the environment.  Missing strings are NULL, missing numbers -1. */
#ifndef SYNCGUARD_AGENT_ARGUMENTS_H
#define SYNCGUARD_AGENT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"
#include "wire/link.h"

struct agent_arguments {
    const char *dir, *policy, *controller, *node;
    struct link_end end; /* the identity is the caller's to set */
    int identity_fd;     /* of identity_save(); -1: none */
    bool unconfirmed;    /* nothing of use was there; the caller's to set */
    bool policy_asked;   /* the user named the policy */
    double rate_hz;

    const char *user, *name, *partition, *account, *qos, *notes;
    char switch_name[128]; /* "" when unknown */
    char switches[256];    /* from the root down to it: "core.spine0.leaf1"; "" when unknown, or longer */
    struct {
        char pattern[32]; /* "": nothing is known */
        bool applied;     /* ranks are in the order chosen */
        bool compared;    /* with starts in the other order */
        /* of a step's communication by the model, in Slurm's order and in the one chosen */
        double slurm_s, chosen_s;
    } placement;
    struct {
        /* srun has looked for a faster algorithm of all-reduces: else no other field holds */
        bool looked;
        char name[32];          /* "": there is none */
        bool applied, compared; /* as in placement */
        /* of a step's all-reduces, by the library's own choice, and by this one at most */
        double usual_s, most_s;
    } algorithm;
    int64_t job, step, nodes, tasks, local_tasks, node_index;
    int64_t het_job, het_offset, restarts;
    int64_t tasks_parent; /* the process that starts the tasks */
    int64_t end_time;     /* time limit of the job, Unix seconds */
};

extern const struct options_program agent_program;

/* Take the parsed command line and read the environment.  0, or -1 with the reason. */
int agent_arguments_read(struct agent_arguments *a, const struct options *o, struct err *err);

#endif
