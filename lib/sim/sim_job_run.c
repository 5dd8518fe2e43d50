/* A job in lockstep: each part of a round is a loop over the ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "sim/cores.h"
#include "sim/sim_job_private.h"

/* ---- work ---- */

static void node_worked(struct sim_job *j, uint32_t node, uint64_t round, uint32_t part)
{
    const uint32_t *rank = placement_node_ranks(j->place, node);
    uint32_t n = placement_node_size(j->place, node);
    double start[SCENARIO_NODE_RANKS_MAX] = { 0 }, work[SCENARIO_NODE_RANKS_MAX] = { 0 };
    double sleep[SCENARIO_NODE_RANKS_MAX] = { 0 }, done[SCENARIO_NODE_RANKS_MAX], last_s = -INFINITY;
    enum cores_waiting waiting = sim_job_waiting(j, node);
    int bucket = j->parts[part].bucket;

    for (uint32_t i = 0; i < n; i++) {
        start[i] = j->at_s[rank[i]];
        work[i] = sim_job_part_work_s(j, rank[i], round, part);
        sleep[i] = sim_job_pace_delay_s(j, rank[i], bucket);
    }
    cores_run(n, (uint32_t)j->spec->cores, waiting, start, work, sleep, done);
    for (uint32_t i = 0; i < n; i++)
        last_s = fmax(last_s, done[i]);
    for (uint32_t i = 0; i < n; i++) {
        sim_job_rank_worked(j, rank[i], done[i]);
        j->wakes[rank[i]] =
            waiting == CORES_GATE && done[i] < last_s && pace_gives_core(n, (uint32_t)j->spec->cores, 1);
    }
}

static void work_ranks(struct sim_job *j, uint64_t round, uint32_t part)
{
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        if (sim_job_shares_cores(j, node)) {
            node_worked(j, node, round, part);
            continue;
        }
        for (uint32_t k = 0; k < placement_node_size(j->place, node); k++) {
            uint32_t i = placement_node_ranks(j->place, node)[k];

            sim_job_rank_worked(j, i, j->at_s[i] + sim_job_part_work_s(j, i, round, part));
        }
    }
}

/* ---- collectives ---- */

static void meet_inside(struct sim_job *j, uint64_t round, uint32_t part, struct sim_job_exchange *x)
{
    double at[SCENARIO_NODE_RANKS_MAX];

    for (uint32_t node = 0; node < j->place->nodes; node++) {
        const uint32_t *rank = placement_node_ranks(j->place, node);
        uint32_t n = placement_node_size(j->place, node);

        for (uint32_t i = 0; i < n; i++)
            at[i] = sim_job_rank_enter(j, rank[i], -1, x);
        if (j->inner[node])
            network_run(j->inner[node], (enum network_mode)j->scenario->network, at, at, &j->result.network);
        for (uint32_t i = 0; i < n; i++) {
            x->leave_s[rank[i]] = at[i];
            j->at_s[rank[i]] = at[i] + (j->wakes[rank[i]] ? j->spec->wake_s : 0);
        }
        sim_job_paces_node_left(j, node, round, part, x);
        sim_job_account_inner(j, node, x);
    }
}

static void enter_all(struct sim_job *j, uint32_t part, struct sim_job_exchange *x)
{
    for (uint32_t i = 0; i < j->n; i++)
        sim_job_rank_enter(j, i, j->parts[part].bucket, x);
}

static void meet_all(struct sim_job *j, uint64_t round, uint32_t part, struct sim_job_exchange *x)
{
    struct network_collective *c = j->bucket[j->parts[part].bucket];

    if (c)
        network_run(c, (enum network_mode)j->scenario->network, x->enter_s, x->leave_s, &j->result.network);
    else
        memcpy(x->leave_s, x->enter_s, j->n * sizeof(*x->leave_s));
    for (uint32_t node = 0; j->paces && node < j->place->nodes; node++)
        sim_job_paces_node_left(j, node, round, part, x);
    for (uint32_t i = 0; i < j->n; i++)
        sim_job_rank_leave(j, i, round, part, x, x->leave_s[i]);
    sim_job_account(j, round, part, x);
}

/* False when a failure happened before the end of the round. */
static bool run_round(struct sim_job *j, uint64_t round)
{
    struct sim_job_exchange *x = &j->exchange[0];
    double fails_s = j->failure ? failure_next_s(j->failure) : INFINITY;

    for (uint32_t i = 0; i < j->n; i++)
        sim_job_rank_begin(j, i, round);
    for (uint32_t part = 0; part < j->n_parts; part++) {
        work_ranks(j, round, part);
        if (j->parts[part].bucket < 0) {
            meet_inside(j, round, part, &j->inside[0]);
            continue;
        }
        enter_all(j, part, x);
        if (x->last_s >= fails_s)
            return false;
        meet_all(j, round, part, x);
    }
    return j->round_end_s < fails_s;
}

/* ---- the run ---- */

static void stall_round(struct sim_job *j, uint64_t round)
{
    bool *dead = xcalloc(j->n, sizeof(*dead));
    struct sim_job_exchange *x = &j->exchange[0];
    uint32_t part = 0;

    while (j->parts[part].bucket < 0)
        part++;
    noise_dead(j->noise, round * j->per_round, dead);
    for (uint32_t i = 0; i < j->n; i++)
        sim_job_rank_begin(j, i, round);
    work_ranks(j, round, part);
    enter_all(j, part, x);
    sim_job_account_stall(j, (uint32_t)j->parts[part].bucket, x, dead);
    free(dead);
}

static uint64_t one_round(struct sim_job *j, uint64_t round)
{
    sim_job_sample(j, round);
    if (noise_dead(j->noise, round * j->per_round, NULL)) {
        if (!j->failure) {
            stall_round(j, round);
            return j->rounds;
        }
        noise_repair(j->noise, round * j->per_round);
        return sim_job_fall_back(j, j->round_end_s);
    }
    if (!run_round(j, round))
        return sim_job_fall_back(j, failure_next_s(j->failure));
    return j->failure && sim_job_is_due(j, round, j->round_end_s) ? sim_job_checkpoint(j, round) : round + 1;
}

int sim_job_run(struct sim_job *j, struct err *err)
{
    for (uint64_t round = 0; round < j->rounds && !j->broken;)
        round = one_round(j, round);
    return sim_job_over(j, j->result.state == SIM_JOB_RUNNING ? SIM_JOB_DONE : j->result.state, err);
}
