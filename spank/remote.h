/* remote.h - the plugin in slurmstepd: guards one step on one node.
 *
 * Nothing here fails the step.  A step that cannot be guarded runs unguarded.  The step's first node prints
 * the reason once on the user's stderr, the others write it to slurmd's log, and the agent, if it can run,
 * reports it to the controller. */
#ifndef SYNCGUARD_SPANK_REMOTE_H
#define SYNCGUARD_SPANK_REMOTE_H

#include <slurm/spank.h>

#include "spank/args.h"

/* Called first, in slurmstepd itself. */
void remote_init(void);
/* Start the guard.  Called in user_init, with the user's effective ids.  option: NULL when --sync-guard was
 * not given; unknown: an invalid argument in plugstack.conf, or NULL. */
void remote_begin(spank_t sp, const struct args *args, const struct choice *option, const char *unknown);
/* Called in a task as root, in the task's namespaces: show it the step's directory (portal.h). */
void remote_task_show(void);
/* Called in a task as the user, before its program: a task that does not see the step's directory runs
 * without the probe.  The agent gets a note; the step's first task says it on the user's stderr, too. */
void remote_task_check(spank_t sp);
/* Called when a task has exited.  After the node's last one, slurmstepd kills what is left of the step, so
 * the agent must finish here. */
void remote_task_exit(void);
/* Called when slurmstepd exits: end the agent if it still runs, and remove the step's directory. */
void remote_end(void);

#endif
