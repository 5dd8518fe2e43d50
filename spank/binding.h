/* binding.h - to which CPUs a task is bound where neither the user nor the site has bound it.
 *
 * A task that may run anywhere is soon on another NUMA node than what it allocated. So each is bound to the
 * CPUs of one NUMA node: that of its GPU, where the step's GPUs can be dealt to the tasks and their places
 * are known; otherwise tasks are dealt in order, to each NUMA node by its share of the CPUs, so that
 * neighbours stay together. Where there are fewer tasks than NUMA nodes, each has several. Nothing is bound
 * where a NUMA node would have fewer CPUs than its tasks need.
 *
 * Pure but for the reads of GPUs in topology/locality.h. */
#ifndef SYNCGUARD_SPANK_BINDING_H
#define SYNCGUARD_SPANK_BINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "topology/locality.h"

#define BINDING_TASKS_MAX 4096u /* on a node; more are left alone */
#define BINDING_GPUS_MAX  64u

struct binding_step {
    struct cpuset allowed;          /* where each task may run now */
    uint32_t tasks, cpus;           /* on this node; CPUs that each task needs */
    uint32_t gpu[BINDING_GPUS_MAX]; /* the numbers of the step's on this node */
    size_t n_gpus;
};

/* The CPUs of the task that is number `local` on this node, and for one line where they are ("NUMA node 1");
 * false with the reason why it is left alone. */
bool binding_choose(struct cpuset *cpus, char *text, size_t size, const struct locality *l,
                    const struct binding_step *s, uint32_t local);

#endif
