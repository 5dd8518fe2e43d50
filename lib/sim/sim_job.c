#include "sim/sim_job.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/sim_job_private.h"

/* ---- results ---- */

void sim_job_result_init(struct sim_job_result *r, uint32_t ranks)
{
    *r = (struct sim_job_result){ .interval_s = NAN };
    r->late_s = xcalloc(ranks, sizeof(*r->late_s));
    r->work_s = xcalloc(ranks, sizeof(*r->work_s));
    r->last = xcalloc(ranks, sizeof(*r->last));
}

void sim_job_result_clear(struct sim_job_result *r)
{
    free(r->late_s);
    free(r->work_s);
    free(r->last);
    *r = (struct sim_job_result){ 0 };
}

const struct sim_job_result *sim_job_result_get(const struct sim_job *j)
{
    return &j->result;
}

/* ---- parts of a round ---- */

/* Each of the round's steps: the forward pass, with collectives inside the nodes; then the backward pass, in
 * the last step with an exchange after each bucket. */
static void plan_parts(struct sim_job *j)
{
    const struct scenario_job *s = j->j;
    uint32_t per_step = (uint32_t)(s->inner + s->buckets), at = 0;
    double step = 1.0 / (double)j->per_round, back = (1 - s->forward_ratio) / per_step * step, kept = 0;

    j->n_parts = (uint32_t)(s->inner * (int)j->per_round + s->buckets);
    j->parts = xcalloc(j->n_parts, sizeof(*j->parts));
    for (uint64_t k = 0; k < j->per_round; k++) {
        kept += s->forward_ratio * step;
        for (int i = 0; i < s->inner; i++, kept = 0)
            j->parts[at++] = (struct sim_job_part){ kept + back, -1 };
        for (int b = 0; b < s->buckets; b++) {
            kept += back;
            if (k + 1 < j->per_round)
                continue;
            j->parts[at++] = (struct sim_job_part){ kept, b };
            kept = 0;
        }
    }
}

static void plan_buckets(struct sim_job *j)
{
    const struct scenario_job *s = j->j;
    double whole = s->bytes / (s->buckets - 1 + s->last_ratio);

    j->bucket_bytes = xcalloc((size_t)s->buckets, sizeof(*j->bucket_bytes));
    for (int b = 0; b < s->buckets; b++)
        j->bucket_bytes[b] = b + 1 < s->buckets ? whole : whole * s->last_ratio;
}

static void open_buckets(struct sim_job *j)
{
    const struct scenario_job *s = j->j;
    struct schedule_spec spec = { .algorithm = (enum schedule_algorithm)s->algorithm,
                                  .members = j->n,
                                  .group = (uint32_t)s->ranks_per_node,
                                  .shards = (uint32_t)s->servers };

    j->bucket = xcalloc((size_t)s->buckets, sizeof(*j->bucket));
    for (int b = 0; b < s->buckets && j->n > 1; b++) {
        spec.bytes = j->bucket_bytes[b];
        /* Buckets of one size share their cached rates. */
        if (b > 0 && j->bucket_bytes[b] == j->bucket_bytes[b - 1] && !j->apart)
            j->bucket[b] = j->bucket[b - 1];
        else
            j->bucket[b] = network_collective_new(j->network, &spec, j->place->fabric_rank);
    }
}

static void open_inner(struct sim_job *j)
{
    struct schedule_spec spec = { .algorithm = SCHEDULE_RING, .bytes = j->j->inner_bytes };
    uint32_t rank[SCENARIO_NODE_RANKS_MAX];

    if (j->j->inner == 0)
        return;
    j->inner = xcalloc(j->place->nodes, sizeof(struct network_collective *));
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        spec.members = placement_node_size(j->place, node);
        for (uint32_t i = 0; i < spec.members; i++)
            rank[i] = j->place->fabric_rank[placement_node_ranks(j->place, node)[i]];
        if (spec.members > 1)
            j->inner[node] = network_collective_new(j->network, &spec, rank);
    }
}

/* ---- new and free ---- */

static double *numbers(uint32_t n)
{
    return xcalloc(n, sizeof(double));
}

static void exchange_init(struct sim_job_exchange *x, uint32_t n)
{
    x->enter_s = numbers(n);
    x->slept_s = numbers(n);
    x->leave_s = numbers(n);
    x->last_s = -INFINITY;
}

static void exchange_clear(struct sim_job_exchange *x)
{
    free(x->enter_s);
    free(x->slept_s);
    free(x->leave_s);
}

static void make_arrays(struct sim_job *j)
{
    j->depth = j->j->sync == SYNC_STALENESS ? (uint32_t)j->j->staleness + 2 : 2;
    j->round = xcalloc(j->depth, sizeof(*j->round));
    for (uint32_t i = 0; i < j->depth; i++) {
        j->round[i].work_s = numbers(j->n);
        j->round[i].delay_s = numbers(j->n);
        j->round[i].leave_s = numbers(j->n);
    }
    for (int i = 0; i < 2; i++) {
        exchange_init(&j->exchange[i], j->n);
        exchange_init(&j->inside[i], j->inner ? j->n : 0);
        j->inside_left[i] = xcalloc(j->place->nodes, sizeof(uint32_t));
    }
    j->factor = numbers(j->n);
    j->delay = numbers(j->n);
    j->at_s = numbers(j->n);
    j->free_s = numbers(j->n);
    j->wakes = xcalloc(j->n, sizeof(*j->wakes));
    j->seq = xcalloc(j->place->nodes, sizeof(*j->seq));
    for (uint32_t i = 0; i < j->n; i++)
        j->at_s[i] = j->free_s[i] = j->j->start_s;
    if (j->j->pacing == PACING_DELAY)
        j->pace = xcalloc((size_t)j->n * (size_t)j->j->buckets, sizeof(*j->pace));
    if (j->j->pacing == PACING_AUTO)
        j->paces = sim_job_paces_new(j);
}

struct sim_job *sim_job_open(const struct scenario *s, size_t index, const struct placement *p,
                             struct network *n, const struct sim_job_hooks *hooks)
{
    const struct scenario_job *sj = &s->jobs[index];
    struct sim_job *j = xcalloc(1, sizeof(*j));

    j->scenario = s;
    j->j = sj;
    j->index = index;
    j->place = p;
    j->network = n;
    j->hooks = *hooks;
    j->n = (uint32_t)sj->ranks;
    j->per_round = sj->sync == SYNC_LOCAL ? (uint64_t)sj->every : 1;
    j->rounds = ((uint64_t)sj->steps + j->per_round - 1) / j->per_round;
    j->apart = sj->overlap || sj->sync == SYNC_STALENESS;
    j->noise = noise_new(s, index, p);
    sim_job_result_init(&j->result, j->n);
    j->result.begin_s = j->result.end_s = j->round_end_s = sj->start_s;
    plan_parts(j);
    plan_buckets(j);
    open_buckets(j);
    open_inner(j);
    make_arrays(j);
    if (s->checkpoints[index].given) {
        j->failure = failure_new(s, index);
        j->result.interval_s = failure_interval_s(j->failure);
    }
    sim_job_save(j, 0, sj->start_s);
    return j;
}

static void free_collectives(struct sim_job *j)
{
    for (int b = 0; b < j->j->buckets; b++) {
        if (b == 0 || j->bucket[b] != j->bucket[b - 1])
            network_collective_free(j->bucket[b]);
    }
    for (uint32_t i = 0; j->inner && i < j->place->nodes; i++)
        network_collective_free(j->inner[i]);
    free(j->bucket);
    free(j->inner);
}

void sim_job_close(struct sim_job *j)
{
    if (!j)
        return;
    free_collectives(j);
    for (uint32_t i = 0; i < j->depth; i++) {
        free(j->round[i].work_s);
        free(j->round[i].delay_s);
        free(j->round[i].leave_s);
    }
    for (int i = 0; i < 2; i++) {
        exchange_clear(&j->exchange[i]);
        exchange_clear(&j->inside[i]);
        free(j->inside_left[i]);
    }
    noise_free(j->noise);
    failure_free(j->failure);
    sim_job_result_clear(&j->result);
    free(j->round);
    free(j->parts);
    free(j->bucket_bytes);
    free(j->factor);
    free(j->delay);
    free(j->at_s);
    free(j->free_s);
    free(j->wakes);
    free(j->seq);
    free(j->pace);
    sim_job_paces_free(j->paces, j);
    for (uint32_t i = 0; j->cores && i < j->place->nodes; i++)
        cores_free(j->cores[i]);
    free(j->cores);
    free(j->play);
    free(j->dead);
    free(j);
}

/* ---- rounds ---- */

uint64_t sim_job_steps_of(const struct sim_job *j, uint64_t round)
{
    uint64_t left = (uint64_t)j->j->steps - round * j->per_round;

    return left < j->per_round ? left : j->per_round;
}

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
            r->work_s[i] += j->factor[i] * j->j->compute_s;
            r->delay_s[i] += j->delay[i];
        }
    }
    r->last_s = -INFINITY;
    j->sampled = round + 1;
    j->hooks.step(j->hooks.arg, j->index, round * j->per_round + steps - 1);
}

/* ---- one rank ---- */

void sim_job_rank_begin(struct sim_job *j, uint32_t rank, uint64_t round)
{
    uint64_t bound = j->j->sync == SYNC_STALENESS ? (uint64_t)j->j->staleness : 0;
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

bool sim_job_shares_cores(const struct sim_job *j, uint32_t node)
{
    return j->j->cores > 0 && placement_node_size(j->place, node) > (uint32_t)j->j->cores;
}

enum cores_waiting sim_job_waiting(const struct sim_job *j, uint32_t node)
{
    switch (j->j->pacing) {
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
    struct pace_params p = { j->j->pace.max_delay_s, j->j->pace.share_ratio };

    if (j->paces)
        return sim_job_paces_delay_s(j, rank, bucket);
    return j->pace && bucket >= 0 ? pace_delay_s(&j->pace[(size_t)bucket * j->n + rank], &p) : 0;
}

double sim_job_rank_enter_inner(struct sim_job *j, uint32_t rank, struct sim_job_exchange *x)
{
    x->slept_s[rank] = sim_job_pace_delay_s(j, rank, -1);
    x->enter_s[rank] = j->at_s[rank] + x->slept_s[rank];
    return x->enter_s[rank];
}

double sim_job_rank_enter(struct sim_job *j, uint32_t rank, uint32_t bucket, struct sim_job_exchange *x)
{
    double ready_s = j->apart ? fmax(j->at_s[rank], j->free_s[rank]) : j->at_s[rank];

    x->slept_s[rank] = sim_job_pace_delay_s(j, rank, (int)bucket);
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
        j->at_s[rank] = leave_s + (j->wakes[rank] ? j->j->wake_s : 0);
    if (part + 1 < j->n_parts)
        return;
    j->round[round % j->depth].leave_s[rank] = leave_s;
    j->round[round % j->depth].last_s = x->last_s; /* a rank leaves only after all have entered */
}
