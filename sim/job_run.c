/* A job in lockstep: each part of a round is a loop over the ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "sim/cores.h"
#include "sim/job_private.h"

/* So often in a row may it fail before it has saved anything new, then it counts as stuck. */
#define FAILURES_MAX 10000

/* What a failure takes the job back to. */
struct saved {
    uint64_t round, steps;
    uint32_t failed; /* so often since */
    double at_s, compute_s, sync_s, comm_s, paced_s;
};

/* ---- work ---- */

static void node_worked(struct job *j, uint32_t node, uint64_t round, uint32_t part)
{
    uint32_t first = j->place->first[node], n = j->place->first[node + 1] - first;
    const uint32_t *rank = j->place->by_node + first;
    double start[SCENARIO_NODE_RANKS_MAX] = { 0 }, work[SCENARIO_NODE_RANKS_MAX] = { 0 };
    double sleep[SCENARIO_NODE_RANKS_MAX] = { 0 }, done[SCENARIO_NODE_RANKS_MAX], last_s = -INFINITY;
    enum cores_waiting waiting = j->j->pacing == PACING_GATE    ? CORES_GATE
                                 : j->j->pacing == PACING_DELAY ? CORES_SLEEP
                                                                : CORES_SPIN;
    int bucket = j->parts[part].bucket;

    for (uint32_t i = 0; i < n; i++) {
        start[i] = j->at_s[rank[i]];
        work[i] = job_part_work_s(j, rank[i], round, part);
        sleep[i] = bucket < 0 ? 0 : job_pace_delay_s(j, rank[i], (uint32_t)bucket);
    }
    cores_run(n, (uint32_t)j->j->cores, waiting, start, work, sleep, done);
    for (uint32_t i = 0; i < n; i++)
        last_s = fmax(last_s, done[i]);
    for (uint32_t i = 0; i < n; i++) {
        job_rank_worked(j, rank[i], done[i]);
        j->wakes[rank[i]] =
            waiting == CORES_GATE && done[i] < last_s && pace_gives_core(n, (uint32_t)j->j->cores, 1);
    }
}

static bool shares_cores(const struct job *j, uint32_t node)
{
    return j->j->cores > 0 && j->place->first[node + 1] - j->place->first[node] > (uint32_t)j->j->cores;
}

static void work(struct job *j, uint64_t round, uint32_t part)
{
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        if (shares_cores(j, node)) {
            node_worked(j, node, round, part);
            continue;
        }
        for (uint32_t k = j->place->first[node]; k < j->place->first[node + 1]; k++) {
            uint32_t i = j->place->by_node[k];

            job_rank_worked(j, i, j->at_s[i] + job_part_work_s(j, i, round, part));
        }
    }
}

/* ---- collectives ---- */

static void meet_inside(struct job *j, struct job_exchange *x)
{
    double at[SCENARIO_NODE_RANKS_MAX];

    for (uint32_t node = 0; node < j->place->nodes; node++) {
        uint32_t first = j->place->first[node], n = j->place->first[node + 1] - first;
        const uint32_t *rank = j->place->by_node + first;

        for (uint32_t i = 0; i < n; i++)
            at[i] = x->enter_s[rank[i]] = j->at_s[rank[i]];
        if (j->inner[node])
            network_run(j->inner[node], j->mode, at, at, &j->result.network);
        for (uint32_t i = 0; i < n; i++) {
            x->leave_s[rank[i]] = at[i];
            j->at_s[rank[i]] = at[i] + (j->wakes[rank[i]] ? j->j->wake_s : 0);
        }
        job_account_inner(j, node, x);
    }
}

static void enter_all(struct job *j, uint32_t part, struct job_exchange *x)
{
    for (uint32_t i = 0; i < j->n; i++)
        job_rank_enter(j, i, (uint32_t)j->parts[part].bucket, x);
}

static void meet(struct job *j, uint64_t round, uint32_t part, struct job_exchange *x)
{
    struct network_collective *c = j->bucket[j->parts[part].bucket];

    if (c)
        network_run(c, j->mode, x->enter_s, x->leave_s, &j->result.network);
    else
        memcpy(x->leave_s, x->enter_s, j->n * sizeof(*x->leave_s));
    for (uint32_t i = 0; i < j->n; i++)
        job_rank_leave(j, i, round, part, x, x->leave_s[i]);
    job_account(j, round, part, x);
}

/* false: a failure struck before the round was over. */
static bool run_round(struct job *j, uint64_t round)
{
    struct job_exchange *x = &j->exchange[0];
    double fails_s = j->failure ? failure_next_s(j->failure) : INFINITY;

    for (uint32_t i = 0; i < j->n; i++)
        job_rank_begin(j, i, round);
    for (uint32_t part = 0; part < j->n_parts; part++) {
        work(j, round, part);
        if (j->parts[part].bucket < 0) {
            meet_inside(j, &j->inside[0]);
            continue;
        }
        enter_all(j, part, x);
        if (x->last_s >= fails_s)
            return false;
        meet(j, round, part, x);
    }
    return j->round_end_s < fails_s;
}

/* ---- failures ---- */

static void save(const struct job *j, struct saved *s, uint64_t round, double at_s)
{
    const struct job_result *r = &j->result;

    *s = (struct saved){ round, r->steps, 0, at_s, r->compute_s, r->sync_s, r->comm_s, r->paced_s };
}

/* All ranks go on at at_s. */
static void align(struct job *j, double at_s)
{
    for (uint32_t i = 0; i < j->n; i++)
        j->at_s[i] = j->free_s[i] = at_s;
    for (uint32_t k = 0; k < j->depth; k++) {
        for (uint32_t i = 0; i < j->n; i++)
            j->round[k].leave_s[i] = at_s;
    }
    j->round_end_s = j->result.end_s = at_s;
}

/* What was done since is lost.  Returns the round to go on with. */
static uint64_t fall_back(struct job *j, struct saved *s, double at_s)
{
    struct job_result *r = &j->result;
    double up_s;

    r->failures++;
    up_s = failure_restart_s(j->failure, at_s, &r->failures);
    if (isnan(up_s) || ++s->failed > FAILURES_MAX) {
        r->state = JOB_STUCK;
        return j->rounds;
    }
    r->lost_s += up_s - s->at_s;
    r->steps = s->steps;
    r->compute_s = s->compute_s;
    r->sync_s = s->sync_s;
    r->comm_s = s->comm_s;
    r->paced_s = s->paced_s;
    j->drawn = s->round;
    j->exchange[0].entered = 0;
    j->exchange[0].last_s = -INFINITY;
    s->at_s = up_s;
    align(j, up_s);
    return s->round;
}

/* The round is over: true if it is time to write, which takes place if nothing fails meanwhile. */
static bool due(const struct job *j, const struct saved *s, uint64_t round)
{
    /* Steps come in whole ones: the nearest to the interval. */
    double step_s = j->result.step.mean * (double)j->per_round;

    return round + 1 < j->rounds && j->round_end_s - s->at_s + step_s / 2 >= j->result.interval_s;
}

static uint64_t write_checkpoint(struct job *j, struct saved *s, uint64_t round)
{
    double write_s = j->scenario->checkpoints[j->index].write_s, done_s = j->round_end_s + write_s;

    if (failure_next_s(j->failure) <= done_s)
        return fall_back(j, s, failure_next_s(j->failure));
    j->result.checkpoints++;
    j->result.checkpoint_s += write_s;
    align(j, done_s);
    save(j, s, round + 1, done_s);
    return round + 1;
}

/* ---- the run ---- */

static void stall(struct job *j, uint64_t round)
{
    bool *dead = xcalloc(j->n, sizeof(*dead));
    struct job_exchange *x = &j->exchange[0];
    uint32_t part = 0;

    while (j->parts[part].bucket < 0)
        part++;
    noise_dead(j->noise, round * j->per_round, dead);
    for (uint32_t i = 0; i < j->n; i++)
        job_rank_begin(j, i, round);
    work(j, round, part);
    enter_all(j, part, x);
    job_account_stall(j, (uint32_t)j->parts[part].bucket, x, dead);
    free(dead);
}

static uint64_t one_round(struct job *j, uint64_t round, struct saved *s)
{
    job_draw(j, round);
    if (noise_dead(j->noise, round * j->per_round, NULL)) {
        if (!j->failure) {
            stall(j, round);
            return j->rounds;
        }
        noise_repair(j->noise, round * j->per_round);
        return fall_back(j, s, j->round_end_s);
    }
    if (!run_round(j, round))
        return fall_back(j, s, failure_next_s(j->failure));
    return j->failure && due(j, s, round) ? write_checkpoint(j, s, round) : round + 1;
}

int job_run(struct job *j, struct err *err)
{
    struct saved saved;

    save(j, &saved, 0, j->j->start_s);
    for (uint64_t round = 0; round < j->rounds && !j->broken;)
        round = one_round(j, round, &saved);
    if (j->broken) {
        if (err)
            *err = j->err;
        return -1;
    }
    if (j->result.state == JOB_RUNNING)
        j->result.state = JOB_DONE;
    return 0;
}
