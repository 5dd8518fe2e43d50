/* profiler.h - the variables by which the tasks' NCCL is told of our profiler plugin.  NCCL has one profiler:
 * one that the user has set stays. */
#ifndef SYNCGUARD_SPANK_PROFILER_H
#define SYNCGUARD_SPANK_PROFILER_H

#include <slurm/spank.h>

#define PROFILER_ENV        "NCCL_PROFILER_PLUGIN"  /* the plugin that NCCL loads */
#define PROFILER_ENV_OURS   "SYNCGUARD_NCCL"        /* marks that we have set it */
#define PROFILER_ENV_EVENTS "SYNCGUARD_NCCL_EVENTS" /* what ours records */

/* Take them back, where they are ours. */
void profiler_unset(spank_t sp);

/* In the task, as the user, whose files it reads: take them back where a file has another one, which the
 * environment would override, and leave the agent a note that names the file. */
void profiler_give_way(spank_t sp);

#endif
