/* launch.h - the plugin in srun inside an allocation: has Slurm start the ranks in the order of placement.h,
 * and tells the MPI library the algorithm of tuning.h.
 *
 * The order is a host file (SLURM_HOSTFILE), which srun reads when all options are parsed; after
 * init_post_opt it would be too late. It is in srun's memory alone and ends with it, and the variable does
 * not reach the tasks. What was found does, as SYNCGUARD_PLACEMENT and SYNCGUARD_ALGORITHM, for the agents,
 * beside the variables of the MPI library. */
#ifndef SYNCGUARD_SPANK_LAUNCH_H
#define SYNCGUARD_SPANK_LAUNCH_H

#include "common/config_policy.h"
#include "spank/args.h"

/* From init or the option's callback; the last call counts. policy: NULL if unknown. */
void launch_place(const struct args *args, const struct choice *choice, const struct config_policy *policy);
/* srun has read the host file. */
void launch_read(void);
/* Say what was done: the user is heard only now, because srun sets its verbosity after the options'
 * callbacks. */
void launch_report(void);
void launch_end(void);

#endif
