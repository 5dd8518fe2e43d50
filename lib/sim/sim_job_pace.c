/* Pacing=auto: calls the live rules of pacing (pacing/pacer.h) as the probe does (probe/pace.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "sim/sim_job_private.h"

#define SLICE_S 0.003 /* the kernel's usual time slice of a rank that shares its core */

/* Collectives of a step that the probe cannot tell apart: one communicator, one size. */
enum sort { INNER, WHOLE_BUCKET, LAST_BUCKET, SORTS };

struct node_pace {
    struct pacer pacer;
    struct pacer_sight sight;
    uint32_t lever;   /* for the next collective; 0: none */
    uint32_t had;     /* lever of the collective that ranks are leaving */
    uint32_t left;    /* number of ranks that have left it; the first one ticks */
    double left_s[2]; /* and when, one of all ranks, one inside the node; NaN: there was none before */
    uint32_t in_row;  /* collectives without a lever */
    /* Sums over ranks: stays of the row, times of leaving now and when it began. */
    double stay_s, leave_s, since_s;
    uint64_t collectives, paced[PACER_LEVERS];
};

struct sim_job_paces {
    struct node_pace **node;         /* NULL: the node's ranks cannot be paced */
    uint32_t *local;                 /* by rank: its place on its node */
    struct pace_stays *stays[SORTS]; /* by rank, without a lever */
};

/* ---- new and free ---- */

static void sight_fill(const struct sim_job *j, uint32_t node, double wait_ratio, struct pacer_sight *s)
{
    uint32_t ranks = placement_node_size(j->place, node),
             cores = sim_job_shares_cores(j, node) ? (uint32_t)j->spec->cores : ranks;

    *s = (struct pacer_sight){ .able = (1u << PACER_LEVERS) - 1,
                               .ranks = ranks,
                               .cores = cores,
                               .switches_hz = ranks > cores ? (double)cores / ranks / SLICE_S : 0,
                               .wait_ratio = wait_ratio,
                               .spans = j->place->nodes > 1 };
}

static void node_begin(const struct sim_job *j, uint32_t node, struct node_pace *p)
{
    *p = (struct node_pace){ .left_s = { NAN, NAN } };
    sight_fill(j, node, NAN, &p->sight);
}

struct sim_job_paces *sim_job_paces_new(const struct sim_job *j)
{
    struct sim_job_paces *p = xcalloc(1, sizeof(*p));

    p->node = xcalloc(j->place->nodes, sizeof(struct node_pace *));
    p->local = xcalloc(j->n, sizeof(*p->local));
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        uint32_t n = placement_node_size(j->place, node);

        if (n > 1) /* a single rank has a core for itself, and no other to wait for */
            node_begin(j, node, p->node[node] = xcalloc(1, sizeof(struct node_pace)));
        for (uint32_t i = 0; i < n; i++)
            p->local[placement_node_ranks(j->place, node)[i]] = i;
    }
    for (int i = 0; i < SORTS; i++)
        p->stays[i] = xcalloc(j->n, sizeof(struct pace_stays));
    return p;
}

void sim_job_paces_free(struct sim_job_paces *p, const struct sim_job *j)
{
    if (!p)
        return;
    for (uint32_t node = 0; node < j->place->nodes; node++)
        free(p->node[node]);
    for (int i = 0; i < SORTS; i++)
        free(p->stays[i]);
    free(p->node);
    free(p->local);
    free(p);
}

void sim_job_paces_restart(struct sim_job *j)
{
    if (!j->paces)
        return;
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        struct node_pace *p = j->paces->node[node], was;

        if (!p)
            continue;
        was = *p;
        node_begin(j, node, p);
        p->collectives = was.collectives;
        memcpy(p->paced, was.paced, sizeof(p->paced));
    }
    for (int i = 0; i < SORTS; i++) {
        for (uint32_t rank = 0; rank < j->n; rank++)
            j->paces->stays[i][rank] = (struct pace_stays){ 0 };
    }
}

/* ---- identity of a collective ---- */

static enum sort sort_of(const struct sim_job *j, int bucket)
{
    if (bucket < 0)
        return INNER;
    return j->bucket_bytes[bucket] == j->bucket_bytes[0] ? WHOLE_BUCKET : LAST_BUCKET;
}

/* The number of the communicator's collective that this one is, or that comes next: those inside a node come
 * before a round's exchanges. */
static uint32_t seq_of(const struct sim_job *j, uint64_t comm, uint64_t round, uint32_t part)
{
    uint32_t exchanges = (uint32_t)j->spec->buckets, inner = j->n_parts - exchanges;

    if (comm & UINT32_MAX)
        return (uint32_t)(part < inner ? round * inner + part : (round + 1) * inner);
    return (uint32_t)(round * exchanges + (part < inner ? 0 : part - inner));
}

/* ---- the rule ---- */

static struct pacer_params params_in(const struct sim_job *j, uint64_t round)
{
    return (struct pacer_params){ .levers = scenario_levers(j->scenario, j->index, round * j->per_round),
                                  .epoch = (uint32_t)j->spec->pace.epoch,
                                  .every = (uint32_t)j->spec->pace.holdout };
}

/* The lever for the collective that follows this one. */
static uint32_t lever_after(const struct sim_job *j, uint32_t node, uint64_t round, uint32_t part)
{
    const struct pacer *p = &j->paces->node[node]->pacer;
    struct pacer_params params;
    uint32_t lever = pacer_current(p);

    if (!lever)
        return 0;
    round += part + 1 == j->n_parts;
    part = (part + 1) % j->n_parts;
    params = params_in(j, round);
    lever &= params.levers;
    return lever && holdout_paced(p->comm, seq_of(j, p->comm, round, part), pacer_epoch(p),
                                  pacer_every(p, &params))
               ? lever
               : 0;
}

/* The first rank of the node leaves the collective. */
static void tick_node(struct sim_job *j, uint32_t node, uint64_t round, uint32_t part, double now_s)
{
    struct node_pace *p = j->paces->node[node];
    const struct pacer_params params = params_in(j, round);
    uint32_t leader = *placement_node_ranks(j->place, node);
    double leave_s = now_s + (j->wakes[leader] ? j->spec->wake_s : 0),
           *left_s = &p->left_s[j->parts[part].bucket < 0];
    uint64_t comm = (uint64_t)j->scenario->seed << 32 | (j->parts[part].bucket < 0 ? 1 + node : 0);
    const struct pacer_collective c = { .paced = p->lever != 0,
                                        .comm = comm,
                                        .seq = seq_of(j, comm, round, part),
                                        .signature = 1 + (uint64_t)sort_of(j, j->parts[part].bucket),
                                        .cycle_s = leave_s - *left_s };

    p->collectives++;
    for (uint32_t i = 0; i < PACER_LEVERS; i++)
        p->paced[i] += p->lever == 1u << i;
    pacer_tick(&p->pacer, &params, &p->sight, &c);
    p->had = p->lever;
    *left_s = leave_s;
    p->lever = lever_after(j, node, round, part);
}

/* ---- state of the node ---- */

static void one_left(struct sim_job *j, uint32_t rank, uint32_t part, const struct sim_job_exchange *x,
                     double leave_s)
{
    uint32_t node = j->place->node[rank];
    struct node_pace *p = j->paces->node[node];
    double stay_s = leave_s - x->enter_s[rank] + x->slept_s[rank];

    if (!p->had)
        pace_stayed(&j->paces->stays[sort_of(j, j->parts[part].bucket)][rank], stay_s);
    p->stay_s += stay_s;
    p->leave_s += leave_s;
    if (++p->left < placement_node_size(j->place, node))
        return;
    /* It was the last rank of the node. */
    if (p->had) {
        p->in_row = 0;
    } else if (p->in_row++ % PACER_LOOK == 0) {
        if (p->in_row > 1 && p->leave_s > p->since_s)
            sight_fill(j, node, p->stay_s / (p->leave_s - p->since_s), &p->sight);
        p->stay_s = 0;
        p->since_s = p->leave_s;
    }
    p->left = 0;
    p->leave_s = 0;
}

void sim_job_paces_left(struct sim_job *j, uint32_t rank, uint64_t round, uint32_t part,
                        const struct sim_job_exchange *x, double leave_s)
{
    uint32_t node = j->place->node[rank];

    if (!j->paces || !j->paces->node[node])
        return;
    if (j->paces->node[node]->left == 0)
        tick_node(j, node, round, part, leave_s);
    one_left(j, rank, part, x, leave_s);
}

void sim_job_paces_node_left(struct sim_job *j, uint32_t node, uint64_t round, uint32_t part,
                             const struct sim_job_exchange *x)
{
    const uint32_t *rank = placement_node_ranks(j->place, node);
    double first_s = INFINITY;

    if (!j->paces || !j->paces->node[node])
        return;
    for (uint32_t i = 0; i < placement_node_size(j->place, node); i++)
        first_s = fmin(first_s, x->leave_s[rank[i]]);
    tick_node(j, node, round, part, first_s);
    for (uint32_t i = 0; i < placement_node_size(j->place, node); i++)
        one_left(j, rank[i], part, x, x->leave_s[rank[i]]);
}

/* ---- the levers ---- */

enum cores_waiting sim_job_paces_waiting(const struct sim_job *j, uint32_t node)
{
    const struct node_pace *p = j->paces->node[node];

    if (!p || !p->lever)
        return CORES_SPIN;
    return p->lever & (PACER_RELEASE | PACER_GATE) ? CORES_GATE : CORES_SLEEP;
}

double sim_job_paces_delay_s(const struct sim_job *j, uint32_t rank, int bucket)
{
    const struct pace_params params = { j->spec->pace.max_delay_s, j->spec->pace.share_ratio };
    uint32_t node = j->place->node[rank];
    const struct node_pace *p = j->paces->node[node];
    const struct pace_stays *w = &j->paces->stays[sort_of(j, bucket)][rank];

    if (p && p->lever == PACER_DELAY)
        return pace_delay_s(&w->early, &params);
    if (p && p->lever == PACER_STAGGER)
        return pace_stagger_s(j->paces->local[rank], placement_node_size(j->place, node), w->least_s,
                              &params);
    return 0;
}

/* ---- results ---- */

static void lever_result(struct sim_job_lever *l, const struct pacer_lever *p)
{
    l->why = (enum pacer_why)p->why;
    l->compared = p->seen.n;
    l->ratio = exp(holdout_mean(&p->seen));
    if (holdout_interval(&p->seen, 0.05, &l->low, &l->high)) {
        l->low = exp(l->low);
        l->high = exp(l->high);
    } else {
        l->low = l->high = NAN;
    }
}

void sim_job_paces_result(struct sim_job *j)
{
    struct sim_job_result *r = &j->result;

    r->pace_nodes = 0;
    for (uint32_t node = 0; j->paces && node < j->place->nodes; node++) {
        const struct node_pace *p = j->paces->node[node];

        if (!p)
            continue;
        r->pace_nodes++;
        r->pace_collectives += ((double)p->collectives - r->pace_collectives) / r->pace_nodes;
        for (uint32_t i = 0; i < PACER_LEVERS; i++) {
            struct sim_job_lever *l = &r->lever[i];

            l->in_force += p->pacer.mode == PACER_IN_FORCE && p->pacer.current == i;
            l->paced += ((double)p->paced[i] - l->paced) / r->pace_nodes;
            if (r->pace_nodes == 1 || p->pacer.lever[i].seen.n > l->compared)
                lever_result(l, &p->pacer.lever[i]);
        }
    }
}
