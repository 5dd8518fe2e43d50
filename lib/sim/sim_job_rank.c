/* What one rank does in a round, and how long its work takes; in lockstep and in play. */
#include <math.h>

#include "sim/sim_job_private.h"

void sim_job_sample(struct sim_job *j, uint64_t round)
{
    struct sim_job_round *r = &j->round[round % j->depth];
    uint64_t steps = sim_job_steps_of(j, round);

    if (round < j->sampled)
        return;
    for (uint32_t i = 0; i < j->n; i++)
        r->work_s[i] = r->delay_s[i] = 0;
    for (uint64_t k = 0; k < steps; k++) {
        noise_step(j->noise, j->steps_sampled++, round * j->per_round + k, j->factor, j->delay);
        for (uint32_t i = 0; i < j->n; i++) {
            r->work_s[i] += j->factor[i] * j->spec->compute_s;
            r->delay_s[i] += j->delay[i];
        }
    }
    r->last_s = -INFINITY;
    j->sampled = round + 1;
    j->hooks.step(j->hooks.arg, j->index, round * j->per_round + steps - 1);
}

void sim_job_rank_begin(struct sim_job *j, uint32_t rank, uint64_t round)
{
    uint64_t bound = j->spec->sync == SYNC_STALENESS ? (uint64_t)j->spec->staleness : 0;
    const struct sim_job_round *awaited;
    double waited_s;

    /* The slowest rank must have finished the step before the last `bound` ones (Ho et al. 2013). */
    if (round <= bound || !j->apart)
        return;
    awaited = &j->round[(round - bound - 1) % j->depth];
    waited_s = awaited->leave_s[rank] - j->at_s[rank];
    if (waited_s <= 0)
        return;
    sim_job_account_wait(j, waited_s, awaited->leave_s[rank] - awaited->last_s);
    j->at_s[rank] = awaited->leave_s[rank];
}

enum cores_waiting sim_job_waiting(const struct sim_job *j, uint32_t node)
{
    switch (j->spec->pacing) {
    case PACING_GATE:
        return CORES_GATE;
    case PACING_DELAY:
        return CORES_SLEEP;
    case PACING_AUTO:
        return sim_job_paces_waiting(j, node);
    default:
        return CORES_SPIN;
    }
}

double sim_job_part_work_s(const struct sim_job *j, uint32_t rank, uint64_t round, uint32_t part)
{
    const struct sim_job_round *r = &j->round[round % j->depth];

    return r->work_s[rank] * j->parts[part].share + (part == 0 ? r->delay_s[rank] : 0);
}

void sim_job_rank_worked(struct sim_job *j, uint32_t rank, double done_s)
{
    double took_s = done_s - j->at_s[rank];

    j->result.compute_s += took_s;
    j->result.work_s[rank] += took_s;
    j->at_s[rank] = done_s;
}

double sim_job_pace_delay_s(const struct sim_job *j, uint32_t rank, int bucket)
{
    struct pace_params p = { j->spec->pace.max_delay_s, j->spec->pace.share_ratio };

    if (j->paces)
        return sim_job_paces_delay_s(j, rank, bucket);
    return j->pace && bucket >= 0 ? pace_delay_s(&j->pace[(size_t)bucket * j->n + rank], &p) : 0;
}

double sim_job_rank_enter(struct sim_job *j, uint32_t rank, int bucket, struct sim_job_exchange *x)
{
    double ready_s = j->apart && bucket >= 0 ? fmax(j->at_s[rank], j->free_s[rank]) : j->at_s[rank];

    x->slept_s[rank] = sim_job_pace_delay_s(j, rank, bucket);
    x->enter_s[rank] = ready_s + x->slept_s[rank];
    x->last_s = fmax(x->last_s, x->enter_s[rank]);
    return x->enter_s[rank];
}

void sim_job_rank_leave(struct sim_job *j, uint32_t rank, uint64_t round, uint32_t part,
                        struct sim_job_exchange *x, double leave_s)
{
    x->leave_s[rank] = leave_s;
    x->left++;
    j->free_s[rank] = leave_s;
    if (!j->apart)
        j->at_s[rank] = leave_s + (j->wakes[rank] ? j->spec->wake_s : 0);
    if (part + 1 < j->n_parts)
        return;
    j->round[round % j->depth].leave_s[rank] = leave_s;
    j->round[round % j->depth].last_s = x->last_s; /* a rank leaves only after all have entered */
}
