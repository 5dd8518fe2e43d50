/* srun.h - what the doctor's steps have in common: what they tell srun, and how they end it. */
#ifndef SYNCGUARD_DOCTOR_SRUN_H
#define SYNCGUARD_DOCTOR_SRUN_H

#include <stddef.h>
#include <sys/types.h>

/* --sync-guard of such a step: in srun's environment, over a site's default. */
#define SRUN_ENV_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_syncguard_sync_guard"

/* "--nodelist=n1,n2,...": the caller's. */
char *srun_nodelist(const char *const *nodes, size_t n);

/* Wait for srun, which has this long to end by itself (seconds; 0: no time).  Then it is told to end, on
 * which it cancels its step and gives the allocation back; after another end_s it is killed, which leaves
 * both. */
void srun_end(pid_t pid, double alone_s, double end_s);

#endif
