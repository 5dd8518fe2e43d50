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

/* ---- new and free ---- */

static void open_buckets(struct sim_job *j)
{
    const struct scenario_job *s = j->spec;
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
    struct schedule_spec spec = { .algorithm = SCHEDULE_RING, .bytes = j->spec->inner_bytes };
    uint32_t rank[SCENARIO_NODE_RANKS_MAX];

    if (j->spec->inner == 0)
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

static double *numbers(uint32_t n)
{
    return xcalloc(n, sizeof(double));
}

static void exchange_init(struct sim_job_exchange *x, uint32_t ranks)
{
    x->enter_s = numbers(3 * ranks);
    x->slept_s = x->enter_s + ranks;
    x->leave_s = x->slept_s + ranks;
    sim_job_exchange_empty(x);
}

static void make_arrays(struct sim_job *j)
{
    j->depth = j->spec->sync == SYNC_STALENESS ? (uint32_t)j->spec->staleness + 2 : 2;
    j->round = xcalloc(j->depth, sizeof(*j->round));
    for (uint32_t i = 0; i < j->depth; i++) {
        j->round[i].work_s = numbers(3 * j->n);
        j->round[i].delay_s = j->round[i].work_s + j->n;
        j->round[i].leave_s = j->round[i].delay_s + j->n;
    }
    for (int i = 0; i < 2; i++) {
        exchange_init(&j->exchange[i], j->n);
        exchange_init(&j->inside[i], j->inner ? j->n : 0);
    }
    j->factor = numbers(j->n);
    j->delay = numbers(j->n);
    j->at_s = numbers(j->n);
    j->free_s = numbers(j->n);
    j->wakes = xcalloc(j->n, sizeof(*j->wakes));
    j->seq = xcalloc(j->place->nodes, sizeof(*j->seq));
    for (uint32_t i = 0; i < j->n; i++)
        j->at_s[i] = j->free_s[i] = j->spec->start_s;
    if (j->spec->pacing == PACING_DELAY)
        j->pace = xcalloc((size_t)j->n * (size_t)j->spec->buckets, sizeof(*j->pace));
    if (j->spec->pacing == PACING_AUTO)
        j->paces = sim_job_paces_new(j);
}

struct sim_job *sim_job_open(const struct scenario *s, size_t index, const struct placement *p,
                             struct network *n, const struct sim_job_hooks *hooks)
{
    const struct scenario_job *sj = &s->jobs[index];
    struct sim_job *j = xcalloc(1, sizeof(*j));

    j->scenario = s;
    j->spec = sj;
    j->index = index;
    j->place = p;
    j->network = n;
    j->hooks = *hooks;
    sim_job_plan(j);
    j->noise = noise_new(s, index, p);
    sim_job_result_init(&j->result, j->n);
    j->result.begin_s = j->result.end_s = j->round_end_s = sj->start_s;
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

void sim_job_close(struct sim_job *j)
{
    if (!j)
        return;
    for (int b = 0; b < j->spec->buckets; b++)
        if (b == 0 || j->bucket[b] != j->bucket[b - 1])
            network_collective_free(j->bucket[b]);
    for (uint32_t i = 0; j->inner && i < j->place->nodes; i++)
        network_collective_free(j->inner[i]);
    free(j->bucket);
    free(j->inner);
    for (uint32_t i = 0; i < j->depth; i++)
        free(j->round[i].work_s);
    for (int i = 0; i < 2; i++) {
        free(j->exchange[i].enter_s);
        free(j->inside[i].enter_s);
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
    sim_job_play_free(j->play, j);
    free(j);
}
