/* compat.h - libslurm's calls whose arguments differ from one release to the next, for
 * syncguard-slurm-helper.
 *
 * configure looks at what the installed <slurm/slurm.h> declares; no version number is compared.  All return
 * what libslurm does: SLURM_SUCCESS, or another value with errno set. */
#ifndef SYNCGUARD_SLURM_COMPAT_H
#define SYNCGUARD_SLURM_COMPAT_H

#include <stdint.h>
#include <sys/types.h>

#include <slurm/slurm.h>

/* All that Slurm knows of a job, with the other components of a het job; the caller frees it by
 * slurm_free_job_info_msg(). */
int compat_load_job(uint32_t job, job_info_msg_t **out);

/* The job's step, in a list that is empty if there is none; the caller frees it by
 * slurm_free_job_step_info_response_msg(). */
int compat_load_step(uint32_t job, uint32_t step, job_step_info_response_msg_t **out);

/* By slurmctld, as scancel does: slurm_signal_job_step(), which asks the nodes itself, fails in 24.11 without
 * a reason. */
int compat_signal_step(uint32_t job, uint32_t step, uint16_t signal);
int compat_requeue(uint32_t job);

/* Which job slurm_update_job() is to change. */
void compat_name_job(job_desc_msg_t *change, uint32_t job);

/* Who gives the reason that slurm_update_node() sets.  Where Slurm has no such field it takes the user from
 * the request's credential. */
void compat_name_user(update_node_msg_t *change, uid_t user);

#endif
