/* Slurm 26.05 and later take a job's number where a step's id is wanted, by macros. */
#define SLURM_BACKWARD_COMPAT 1

#include "slurm/compat.h"

int compat_load_job(uint32_t job, job_info_msg_t **out)
{
    return slurm_load_job(out, job, SHOW_ALL | SHOW_DETAIL);
}

int compat_requeue(uint32_t job)
{
    return slurm_requeue(job, 0);
}

#ifdef SLURM_STEPS_BY_NUMBERS
int compat_load_step(uint32_t job, uint32_t step, job_step_info_response_msg_t **out)
{
    return slurm_get_job_steps(0, job, step, out, SHOW_ALL);
}

int compat_signal_step(uint32_t job, uint32_t step, uint16_t signal)
{
#ifdef SLURM_KILL_HAS_FLAGS
    return slurm_kill_job_step(job, step, signal, 0);
#else
    return slurm_kill_job_step(job, step, signal);
#endif
}
#else
static slurm_step_id_t step_id(uint32_t job, uint32_t step)
{
    slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

    id.job_id = job;
    id.step_id = step;
    return id;
}

int compat_load_step(uint32_t job, uint32_t step, job_step_info_response_msg_t **out)
{
    slurm_step_id_t id = step_id(job, step);

    return slurm_get_job_steps(&id, out, SHOW_ALL);
}

int compat_signal_step(uint32_t job, uint32_t step, uint16_t signal)
{
    slurm_step_id_t id = step_id(job, step);

    return slurm_kill_job_step(&id, signal, 0);
}
#endif

void compat_name_job(job_desc_msg_t *change, uint32_t job)
{
#ifdef HAVE_JOB_DESC_MSG_T_JOB_ID
    change->job_id = job;
#else
    change->step_id.job_id = job;
#endif
}

void compat_name_user(update_node_msg_t *change, uid_t user)
{
#ifdef HAVE_UPDATE_NODE_MSG_T_REASON_UID
    change->reason_uid = user;
#else
    (void)change;
    (void)user;
#endif
}
