/* options.h - what the agent is told: its command line, and Slurm's own environment variables.
 * Strings point into argv and environ; absent ones are NULL, absent numbers -1. */
#ifndef SYNCGUARD_AGENT_OPTIONS_H
#define SYNCGUARD_AGENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct options {
    const char *dir, *policy, *controller, *munge_socket, *node;
    bool policy_asked; /* the user named it */
    double rate_hz;

    const char *user, *name, *partition, *account, *qos, *notes;
    char leaf_switch[128]; /* "" when unknown */
    int64_t job, step, nodes, tasks, local_tasks, node_index;
    int64_t het_job, het_offset, array_job, array_task, restarts;
    int64_t end_time; /* of the job, Unix time */
};

/* 0; 1: --help or --version was asked for and printed; -1 with the reason. */
int options_read(struct options *o, int argc, char **argv, struct err *err);

#endif
