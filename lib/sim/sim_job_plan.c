/* What is known of a job before it runs: the parts of its rounds, its buckets, and where ranks share cores */
#include "common/xalloc.h"
#include "sim/sim_job_private.h"

/* Each of the round's steps: the forward pass, with collectives inside the nodes; then the backward pass, in
 * the last step with an exchange after each bucket. */
static void plan_parts(struct sim_job *j)
{
    const struct scenario_job *s = j->spec;
    uint32_t at = 0;
    double step = 1.0 / (double)j->per_round, forward = s->forward_ratio * step, kept = 0,
           back = (step - forward) / s->buckets;

    j->n_parts = (uint32_t)(s->inner * (int)j->per_round + s->buckets);
    j->parts = xcalloc(j->n_parts, sizeof(*j->parts));
    for (uint64_t k = 0; k < j->per_round; k++) {
        kept += s->inner ? 0 : forward;
        for (int i = 0; i < s->inner; i++, kept = 0)
            j->parts[at++] = (struct sim_job_part){ kept + forward / s->inner, -1 };
        for (int b = 0; b < s->buckets; b++) {
            kept += back;
            if (k + 1 < j->per_round)
                continue;
            j->parts[at++] = (struct sim_job_part){ kept, b };
            kept = 0;
        }
    }
}

void sim_job_plan(struct sim_job *j)
{
    const struct scenario_job *s = j->spec;
    double whole = s->bytes / (s->buckets - 1 + s->last_ratio);

    j->n = (uint32_t)s->ranks;
    j->per_round = s->sync == SYNC_LOCAL ? (uint64_t)s->every : 1;
    j->rounds = ((uint64_t)s->steps + j->per_round - 1) / j->per_round;
    j->apart = s->overlap || s->sync == SYNC_STALENESS;
    plan_parts(j);
    j->bucket_bytes = xcalloc((size_t)s->buckets, sizeof(*j->bucket_bytes));
    for (int b = 0; b < s->buckets; b++)
        j->bucket_bytes[b] = b + 1 < s->buckets ? whole : whole * s->last_ratio;
}

uint64_t sim_job_steps_of(const struct sim_job *j, uint64_t round)
{
    uint64_t left = (uint64_t)j->spec->steps - round * j->per_round;

    return left < j->per_round ? left : j->per_round;
}

bool sim_job_shares_cores(const struct sim_job *j, uint32_t node)
{
    return j->spec->cores > 0 && placement_node_size(j->place, node) > (uint32_t)j->spec->cores;
}
