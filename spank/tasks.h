/* tasks.h - the tasks of each node in a step that srun is about to create on a whole allocation.
 *
 * Known for certain only where Slurm would not have to decide: one task per node, the same number on each
 * because --ntasks-per-node or the nodes' CPUs say so, or the numbers that Slurm gave with the allocation. A
 * host file with other numbers could ask for CPUs that the job does not have on that node, so everything else
 * is left to Slurm.
 *
 * Pure but for memory; never aborts. */
#ifndef SYNCGUARD_SPANK_TASKS_H
#define SYNCGUARD_SPANK_TASKS_H

#include "spank/command.h"
#include "topology/layout.h"

struct tasks {
    struct layout_node *node; /* in Slurm's order */
    size_t n;
    uint32_t total;
    char *names; /* private */
};

/* The whole text, from 1 to PATTERN_RANKS_MAX; 0: it is not such a number. NULL is none. */
uint32_t tasks_number(const char *text);

typedef char *tasks_env_fn(const char *name); /* getenv(), or a test's */

/* 0, or -1 with the reason why the step is to be left alone: the user decided where ranks run, its size is
 * not certain, no memory. */
int tasks_read(struct tasks *t, const struct command *c, tasks_env_fn *env, struct err *err);
void tasks_free(struct tasks *t);

#endif
