/* remote.h - the plugin in slurmstepd: the guard of one step on one node.
 *
 * Nothing here fails the step.  What could not be done leaves it unguarded, is said once on the user's stderr
 * (by the step's first node, the others write it to slurmd's log), and goes to the controller with the agent,
 * where there is one. */
#ifndef SYNCGUARD_SPANK_REMOTE_H
#define SYNCGUARD_SPANK_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include <slurm/spank.h>

#include "spank/args.h"

/* user_init, with the user's effective ids.  option: NULL when the user did not say; unknown: an argument in
 * plugstack.conf that was not understood, or NULL. */
void remote_begin(spank_t sp, const struct args *args, const struct choice *option, const char *unknown);
/* A task has exited: after the node's last one, slurmstepd kills what is left of the step, so this is the
 * agent's time to say goodbye. */
void remote_task_exit(void);
void remote_end(void);

#endif
