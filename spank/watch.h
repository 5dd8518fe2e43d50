/* watch.h - a thread in slurmstepd that waits for a reason to start the keeper: the first ring, or
 * WATCH_PATIENCE_MS.
 *
 * Most steps of a script are over before: they pay for a thread and a directory, not for a copy of slurmstepd
 * (0.8 ms on each node, measured with eight nodes on two cores) nor for a program. slurmstepd has threads of
 * its own; this one takes no signal, calls nothing of Slurm, and is joined before the plugin can be unloaded.
 *
 * One a process. */
#ifndef SYNCGUARD_SPANK_WATCH_H
#define SYNCGUARD_SPANK_WATCH_H

#include "spank/keeper.h"

#define WATCH_PATIENCE_MS 1000
#define WATCH_PERIOD_MS   10

/* The plan must stay until watch_end().  0, or -1 with errno. */
int watch_start(const struct keeper_plan *plan);
/* Join the thread.  Returns the keeper's socket, or -1 when there is none: the step is over and left no ring.
 */
int watch_end(void);

#endif
