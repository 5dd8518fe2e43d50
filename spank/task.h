/* task.h - the plugin in a task that is about to start: binds it to CPUs (binding.h) where placement is
 * on. */
#ifndef SYNCGUARD_SPANK_TASK_H
#define SYNCGUARD_SPANK_TASK_H

#include <slurm/spank.h>

/* In slurmstepd, before the tasks: whether they are to be bound, CONFIG_PLACEMENT_....  Nothing is unless
 * this was called. */
void task_plan(int placement);
/* In the task, as the user. */
void task_bind(spank_t sp);

#endif
