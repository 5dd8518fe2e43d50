/* preloaded.h - the probe in the tasks' LD_PRELOAD: how it comes out again.
 *
 * Beside it stands a variable with the path that was added, by which a step inside a guarded one knows what
 * to take out, and the agent what the tasks were to load. */
#ifndef SYNCGUARD_SPANK_PRELOADED_H
#define SYNCGUARD_SPANK_PRELOADED_H

#include <slurm/spank.h>

/* Take the probe out of LD_PRELOAD, which has what the user set then, and forget its path. */
void preloaded_remove(spank_t sp);

/* In the task, as the user: where its root does not have the probe's file, as in a container that a plugin
 * before this one entered, take the probe out of LD_PRELOAD, and leave the agent a note.  The loader of each
 * program that the task starts would complain on standard error otherwise. */
void preloaded_check(spank_t sp);

#endif
