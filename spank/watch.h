/* watch.h - a thread in slurmstepd that starts the keeper once there is a ring, or after WATCH_PATIENCE_MS,
 * and starts another one when it has died.
 *
 * Most steps of a script are over before that.  They cost a thread and a directory, but no copy of slurmstepd
 * (0.8 ms on each node, measured with eight nodes on two cores) and no agent.  slurmstepd has other threads;
 * this one blocks all signals, calls no function of Slurm, and is joined before the plugin can be unloaded.
 *
 * The next keeper has a new credential made and starts a new agent, which reads the rings from where they
 * stand.  It is started at once the first time, then after longer and longer waits, at most
 * WATCH_RESTARTS_MAX times in a step, and never after watch_end() was called.
 *
 * At most one per process. */
#ifndef SYNCGUARD_SPANK_WATCH_H
#define SYNCGUARD_SPANK_WATCH_H

#include "spank/keeper.h"

#define WATCH_PATIENCE_MS  1000
#define WATCH_PERIOD_MS    10
#define WATCH_RESTARTS_MAX 5

/* Start the thread.  The plan must stay valid until watch_end().  0, or -1 with errno. */
int watch_start(const struct keeper_plan *plan);
/* Join the thread.  Returns the socket of the last keeper, which the caller closes, or -1 when there is none,
 * because the step ended without a ring or no keeper could be started.  *given_up: the keeper died more than
 * WATCH_RESTARTS_MAX times. */
int watch_end(bool *given_up);

#endif
