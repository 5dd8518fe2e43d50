/* watch.h - a thread in slurmstepd that starts the keeper once there is a ring, or after WATCH_PATIENCE_MS.
 *
 * Most steps of a script are over before that.  They cost a thread and a directory, but no copy of slurmstepd
 * (0.8 ms on each node, measured with eight nodes on two cores) and no agent.  slurmstepd has other threads;
 * this one blocks all signals, calls no function of Slurm, and is joined before the plugin can be unloaded.
 *
 * At most one per process. */
#ifndef SYNCGUARD_SPANK_WATCH_H
#define SYNCGUARD_SPANK_WATCH_H

#include "spank/keeper.h"

#define WATCH_PATIENCE_MS 1000
#define WATCH_PERIOD_MS   10

/* Start the thread.  The plan must stay valid until watch_end().  0, or -1 with errno. */
int watch_start(const struct keeper_plan *plan);
/* Join the thread.  Returns the keeper's socket, which the caller closes, or -1 when no keeper was started,
 * because the step ended without a ring. */
int watch_end(void);

#endif
