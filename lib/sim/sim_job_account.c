#include <math.h>

#include "sim/sim_job_private.h"

static void report_collective(struct sim_job *j, const struct sim_job_collective *c)
{
    if (!j->broken && j->hooks.collective(j->hooks.arg, c, &j->err) < 0)
        j->broken = true;
}

static void account_lateness(struct sim_job *j, uint32_t bucket, const struct sim_job_exchange *x)
{
    double first_s = INFINITY;
    uint32_t last = 0;

    for (uint32_t i = 0; i < j->n; i++) {
        first_s = fmin(first_s, x->enter_s[i]);
        last = x->enter_s[i] > x->enter_s[last] ? i : last;
    }
    for (uint32_t i = 0; i < j->n; i++) {
        j->result.late_s[i] += x->enter_s[i] - first_s;
        if (j->pace)
            pace_learn(&j->pace[(size_t)bucket * j->n + i], x->slept_s[i], x->last_s - x->enter_s[i]);
    }
    if (j->n > 1)
        j->result.last[last]++;
    j->result.collectives++;
}

static void account_round(struct sim_job *j, uint64_t round, const struct sim_job_exchange *x)
{
    uint64_t steps = sim_job_steps_of(j, round);
    double end_s = -INFINITY;

    for (uint32_t i = 0; i < j->n; i++)
        end_s = fmax(end_s, fmax(x->leave_s[i], j->at_s[i]));
    spread_add(&j->result.step, (end_s - j->round_end_s) / (double)steps);
    j->round_end_s = j->result.end_s = end_s;
    j->result.steps += steps;
    j->result.simulated += steps;
}

void sim_job_account(struct sim_job *j, uint64_t round, uint32_t part, struct sim_job_exchange *x)
{
    uint32_t bucket = (uint32_t)j->parts[part].bucket;
    struct sim_job_collective c = { .job = j->index,
                                    .node = -1,
                                    .seq = (uint32_t)j->exchanges,
                                    .bytes = j->bucket_bytes[bucket],
                                    .n = j->n,
                                    .enter_s = x->enter_s,
                                    .leave_s = x->leave_s };

    account_lateness(j, bucket, x);
    for (uint32_t i = 0; i < (j->apart ? 0 : j->n);
         i++) { /* with overlap they wait later, sim_job_account_wait() */
        j->result.sync_s += x->last_s - x->enter_s[i] + x->slept_s[i];
        j->result.paced_s += x->slept_s[i];
        j->result.comm_s += x->leave_s[i] - x->last_s;
    }
    if (j->n > 1)
        report_collective(j, &c);
    if (part + 1 == j->n_parts)
        account_round(j, round, x);
    j->exchanges++;
    sim_job_exchange_empty(x);
}

void sim_job_account_wait(struct sim_job *j, double waited_s, double transfer_s)
{
    double comm_s = fmin(waited_s, fmax(transfer_s, 0));

    j->result.comm_s += comm_s;
    j->result.sync_s += waited_s - comm_s;
}

void sim_job_account_inner(struct sim_job *j, uint32_t node, struct sim_job_exchange *x)
{
    uint32_t n = placement_node_size(j->place, node);
    double enter_s[SCENARIO_NODE_RANKS_MAX], leave_s[SCENARIO_NODE_RANKS_MAX], last_s = -INFINITY;
    struct sim_job_collective c = { .job = j->index,
                                    .node = node,
                                    .seq = j->seq[node]++,
                                    .bytes = j->spec->inner_bytes,
                                    .n = n,
                                    .rank = placement_node_ranks(j->place, node),
                                    .enter_s = enter_s,
                                    .leave_s = leave_s };

    for (uint32_t i = 0; i < n; i++) {
        enter_s[i] = x->enter_s[c.rank[i]];
        leave_s[i] = x->leave_s[c.rank[i]];
        last_s = fmax(last_s, enter_s[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        j->result.sync_s += last_s - enter_s[i] + x->slept_s[c.rank[i]];
        j->result.paced_s += x->slept_s[c.rank[i]];
        j->result.comm_s += leave_s[i] - last_s;
    }
    if (n > 1)
        report_collective(j, &c);
}

int sim_job_over(struct sim_job *j, enum sim_job_state state, struct err *err)
{
    if (j->broken) {
        if (err)
            *err = j->err;
        return -1;
    }
    j->result.state = state;
    sim_job_paces_result(j);
    return 0;
}

void sim_job_account_stall(struct sim_job *j, uint32_t bucket, const struct sim_job_exchange *x,
                           const bool *dead)
{
    struct sim_job_collective c = { .job = j->index,
                                    .node = -1,
                                    .seq = (uint32_t)j->exchanges,
                                    .bytes = j->bucket_bytes[bucket],
                                    .n = j->n,
                                    .enter_s = x->enter_s,
                                    .absent = dead };

    for (uint32_t i = 0; i < j->n; i++) {
        if (!dead[i])
            j->result.end_s = fmax(j->result.end_s, x->enter_s[i]);
    }
    j->result.state = SIM_JOB_STALLED;
    report_collective(j, &c);
}
