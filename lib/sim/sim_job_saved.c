/* A job's checkpoints, and its return to the last one after a failure; with and without contention. */
#include <math.h>

#include "sim/sim_job_private.h"

/* A job that fails this often in a row without a new checkpoint counts as stuck. */
#define FAILURES_MAX 10000

void sim_job_save(struct sim_job *j, uint64_t round, double at_s)
{
    const struct sim_job_result *r = &j->result;

    j->saved =
        (struct sim_job_saved){ round, r->steps, 0, at_s, r->compute_s, r->sync_s, r->comm_s, r->paced_s };
}

/* Continue all ranks at at_s. */
static void align_ranks(struct sim_job *j, double at_s)
{
    for (uint32_t i = 0; i < j->n; i++)
        j->at_s[i] = j->free_s[i] = at_s;
    for (uint32_t k = 0; k < j->depth; k++) {
        for (uint32_t i = 0; i < j->n; i++)
            j->round[k].leave_s[i] = at_s;
    }
    j->round_end_s = j->result.end_s = at_s;
}

uint64_t sim_job_fall_back(struct sim_job *j, double at_s)
{
    struct sim_job_saved *s = &j->saved;
    struct sim_job_result *r = &j->result;
    double up_s;

    r->failures++;
    up_s = failure_restart_s(j->failure, at_s, &r->failures);
    r->lost_s += (isnan(up_s) ? at_s : up_s) - s->at_s;
    r->steps = s->steps;
    r->compute_s = s->compute_s;
    r->sync_s = s->sync_s;
    r->comm_s = s->comm_s;
    r->paced_s = s->paced_s;
    if (isnan(up_s) || ++s->failed > FAILURES_MAX) {
        r->state = SIM_JOB_STUCK;
        return j->rounds;
    }
    j->sampled = s->round;
    sim_job_paces_restart(j);
    sim_job_exchange_empty(&j->exchange[0]);
    sim_job_exchange_empty(&j->exchange[1]);
    s->at_s = up_s;
    align_ranks(j, up_s);
    return s->round;
}

bool sim_job_is_due(const struct sim_job *j, uint64_t round, double at_s)
{
    /* A whole number of steps, nearest to the interval. */
    double step_s = j->result.step.mean * (double)j->per_round;

    return round + 1 < j->rounds && at_s - j->saved.at_s + step_s / 2 >= j->result.interval_s;
}

uint64_t sim_job_checkpoint(struct sim_job *j, uint64_t round)
{
    double write_s = j->scenario->checkpoints[j->index].write_s, done_s = j->round_end_s + write_s;

    if (failure_next_s(j->failure) <= done_s)
        return sim_job_fall_back(j, failure_next_s(j->failure));
    j->result.checkpoints++;
    j->result.checkpoint_s += write_s;
    align_ranks(j, done_s);
    sim_job_save(j, round + 1, done_s);
    return round + 1;
}
