/* A job with contention: the network asks each rank in turn what it does next. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/sim_job_private.h"

/* HELD: at the end of a round, until all ranks have arrived. */
enum phase { BEFORE, WORKING, SLEEPING, READY, INSIDE, HELD };

/* What a rank does next. */
struct turn {
    uint64_t round;
    uint32_t part, exchanges, insides; /* collectives that the rank has left */
    enum phase phase;
};

struct sim_job_play {
    struct turn *turn;        /* by rank */
    uint32_t *inside_left[2]; /* by node: ranks that have left the collective inside it */
    struct cores **cores;     /* of each node where ranks share them, else NULL */
    bool *dead;               /* died at the beginning of dead_round; NULL: none did */
    uint64_t dead_round;
    /* With checkpoints: all wait for each other at the end of some rounds. */
    uint64_t decided; /* whether ranks wait at the end of a round is decided up to this one */
    bool holds;       /* at the end of that one they do */
    uint32_t held;    /* ranks that wait there */
    bool over;        /* all ranks have reached the end of the job */
};

/* The rank's index among the ranks of its node. */
static uint32_t local_of(const struct sim_job *j, uint32_t rank)
{
    const uint32_t *ranks = placement_node_ranks(j->place, j->place->node[rank]);
    uint32_t local = 0;

    while (ranks[local] != rank)
        local++;
    return local;
}

static void wait_until(struct network_op *op, double now_s, double at_s)
{
    *op = (struct network_op){ .kind = NETWORK_COMPUTE, .seconds = at_s - now_s };
}

static void left_inside(struct sim_job *j, uint32_t rank, double now_s)
{
    struct turn *t = &j->play->turn[rank];
    uint32_t node = j->place->node[rank], which = t->insides++ & 1,
             *left = &j->play->inside_left[which][node];

    sim_job_paces_left(j, rank, t->round, t->part, &j->inside[which], now_s);
    j->inside[which].leave_s[rank] = now_s;
    j->at_s[rank] = now_s + (j->wakes[rank] ? j->spec->wake_s : 0);
    if (++*left < placement_node_size(j->place, node))
        return;
    *left = 0;
    sim_job_account_inner(j, node, &j->inside[which]);
}

static void left_exchange(struct sim_job *j, uint32_t rank, double now_s)
{
    struct turn *t = &j->play->turn[rank];
    struct sim_job_exchange *x = &j->exchange[t->exchanges++ & 1];

    sim_job_paces_left(j, rank, t->round, t->part, x, now_s);
    sim_job_rank_leave(j, rank, t->round, t->part, x, now_s);
    if (x->left == j->n)
        sim_job_account(j, t->round, t->part, x);
}

/* Whether all ranks wait for each other at the end of the round before this one: at the end of the job, for a
 * checkpoint, or because a rank is about to die.  The first rank to arrive decides, as in a real job. */
static bool holds(struct sim_job *j, uint64_t next, double now_s)
{
    struct sim_job_play *p = j->play;

    if (!j->failure || p->decided == next)
        return j->failure && p->holds;
    p->decided = next;
    p->holds = next == j->rounds || noise_dead(j->noise, next * j->per_round, NULL) ||
               sim_job_is_due(j, next - 1, now_s);
    return p->holds;
}

/* The rank has left a collective. */
static void left_collective(struct sim_job *j, uint32_t rank, double now_s)
{
    struct turn *t = &j->play->turn[rank];

    if (j->parts[t->part].bucket < 0)
        left_inside(j, rank, now_s);
    else
        left_exchange(j, rank, now_s);
    t->phase = BEFORE;
    if (++t->part < j->n_parts)
        return;
    t->part = 0;
    t->round++;
    if (!holds(j, t->round, now_s))
        return;
    t->phase = HELD;
    j->play->held++;
}

/* The rank's work of the part is done; returns when it enters the collective after it. */
static double enter_next(struct sim_job *j, uint32_t rank)
{
    const struct turn *t = &j->play->turn[rank];
    int bucket = j->parts[t->part].bucket;

    return sim_job_rank_enter(j, rank, bucket,
                              bucket < 0 ? &j->inside[t->insides & 1] : &j->exchange[t->exchanges & 1]);
}

/* ---- cores that ranks share ---- */

/* The speed of all ranks on the node has changed. */
static void pace_changed(struct sim_job *j, uint32_t node)
{
    for (uint32_t i = 0; i < placement_node_size(j->place, node); i++) {
        double end_s = cores_end_s(j->play->cores[node], i);

        if (end_s < INFINITY)
            network_wake(j->network, j, placement_node_ranks(j->place, node)[i], end_s);
    }
}

/* The rank's work is done.  True if it may enter now; else it sleeps first. */
static bool worked_on_cores(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    struct turn *t = &j->play->turn[rank];
    uint32_t node = j->place->node[rank], n = placement_node_size(j->place, node);
    const uint32_t *ranks = placement_node_ranks(j->place, node);
    double enter_s;

    sim_job_rank_worked(j, rank, now_s);
    enter_s = enter_next(j, rank);
    cores_done(j->play->cores[node], local_of(j, rank), now_s, enter_s - now_s);
    /* Ranks that yielded their core take time to wake; the last one to arrive did not yield. */
    j->wakes[rank] =
        sim_job_waiting(j, node) == CORES_GATE && pace_gives_core(n, (uint32_t)j->spec->cores, 1);
    for (uint32_t i = 0; cores_all_done(j->play->cores[node]) && i < n; i++)
        j->wakes[ranks[i]] = j->wakes[ranks[i]] && j->at_s[ranks[i]] < now_s;
    pace_changed(j, node);
    t->phase = READY;
    if (enter_s <= now_s)
        return true;
    t->phase = SLEEPING;
    wait_until(op, now_s, enter_s);
    return false;
}

static void work_on_cores(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    struct turn *t = &j->play->turn[rank];
    uint32_t node = j->place->node[rank], local = local_of(j, rank);

    if (j->at_s[rank] > now_s) {
        wait_until(op, now_s, j->at_s[rank]);
        return;
    }
    cores_wait(j->play->cores[node], sim_job_waiting(j, node));
    cores_begin(j->play->cores[node], local, now_s, sim_job_part_work_s(j, rank, t->round, t->part));
    t->phase = WORKING;
    pace_changed(j, node);
    wait_until(op, now_s, cores_end_s(j->play->cores[node], local));
}

/* ---- a rank's turn ---- */

/* Start the rank's round.  True when the rank dies before it. */
static bool dies(struct sim_job *j, uint32_t rank)
{
    struct sim_job_play *p = j->play;
    uint64_t round = p->turn[rank].round;

    sim_job_sample(j, round);
    if (!p->dead && noise_dead(j->noise, round * j->per_round, NULL)) {
        p->dead = xcalloc(j->n, sizeof(*p->dead));
        p->dead_round = round;
        noise_dead(j->noise, round * j->per_round, p->dead);
    }
    return p->dead && p->dead[rank] && round >= p->dead_round;
}

/* Whether the rank can enter its next collective.  False: op is what it does before. */
static bool is_ready(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    struct turn *t = &j->play->turn[rank];
    double enter_s;

    if (t->phase == READY)
        return true;
    if (j->play->cores[j->place->node[rank]]) {
        work_on_cores(j, rank, now_s, op);
        return false;
    }
    if (t->part == 0)
        sim_job_rank_begin(j, rank, t->round);
    sim_job_rank_worked(j, rank, j->at_s[rank] + sim_job_part_work_s(j, rank, t->round, t->part));
    t->phase = READY;
    enter_s = enter_next(j, rank);
    if (enter_s > now_s)
        wait_until(op, now_s, enter_s);
    return enter_s <= now_s;
}

/* Continue all ranks with this round, each at its at_s.  `self` already has its turn; the others and the
 * watch get one. */
static void continue_ranks(struct sim_job *j, uint64_t round, uint32_t self)
{
    struct sim_job_play *p = j->play;

    for (uint32_t i = 0; i < j->n; i++)
        p->turn[i] = (struct turn){ .round = round };
    for (uint32_t i = 0; i < sim_job_actors(j); i++) {
        if (i != self)
            network_wake(j->network, j, i, 0);
    }
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        if (p->cores[node])
            cores_reset(p->cores[node]);
        p->inside_left[0][node] = p->inside_left[1][node] = 0;
    }
    p->decided = round;
    p->held = 0;
}

/* All ranks have reached the end of a round. */
static void release_ranks(struct sim_job *j, uint64_t next, uint32_t self)
{
    if (next == j->rounds) {
        j->play->over = true;
    } else if (noise_dead(j->noise, next * j->per_round, NULL)) {
        noise_repair(j->noise, next * j->per_round);
        next = sim_job_fall_back(j, j->round_end_s);
    } else {
        next = sim_job_checkpoint(j, next - 1);
    }
    continue_ranks(j, next, self);
}

static void rank_next(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    struct turn *t = &j->play->turn[rank];
    uint32_t node = j->place->node[rank];

    switch (t->phase) {
    case INSIDE:
        left_collective(j, rank, now_s);
        break;
    case WORKING:
        if (!worked_on_cores(j, rank, now_s, op))
            return;
        break;
    case SLEEPING:
        cores_slept(j->play->cores[node], local_of(j, rank), now_s);
        pace_changed(j, node);
        t->phase = READY;
        break;
    default:
        break;
    }
    if (t->phase == HELD && j->play->held < j->n && !j->broken) {
        wait_until(op, now_s, INFINITY);
        return;
    }
    if (t->phase == HELD && !j->broken)
        release_ranks(j, t->round, rank);
    while (!j->broken && t->round < j->rounds && !dies(j, rank)) {
        int bucket = j->parts[t->part].bucket;

        if (!is_ready(j, rank, now_s, op))
            return;
        op->collective = bucket < 0 ? j->inner[node] : j->bucket[bucket];
        if (op->collective) {
            op->kind = NETWORK_ENTER;
            op->member = bucket < 0 ? local_of(j, rank) : rank;
            t->phase = INSIDE;
            return;
        }
        left_collective(j, rank, now_s); /* a single rank does not wait */
        if (t->phase == HELD)
            release_ranks(j, t->round, rank);
    }
    op->kind = NETWORK_END;
}

/* ---- failures: a watch beside the ranks ---- */

static void abandon_collectives(struct sim_job *j)
{
    for (int b = 0; b < j->spec->buckets; b++) {
        if (j->bucket[b] && (b == 0 || j->bucket[b] != j->bucket[b - 1]))
            network_abandon(j->bucket[b]);
    }
    for (uint32_t i = 0; j->inner && i < j->place->nodes; i++) {
        if (j->inner[i])
            network_abandon(j->inner[i]);
    }
}

static void watch_next(struct sim_job *j, double now_s, struct network_op *op)
{
    while (!j->play->over && !j->broken && j->result.state != SIM_JOB_STUCK) {
        double fails_s = failure_next_s(j->failure);

        if (fails_s > now_s) {
            wait_until(op, now_s, fails_s);
            return;
        }
        abandon_collectives(j);
        continue_ranks(j, sim_job_fall_back(j, fails_s), j->n);
    }
    op->kind = NETWORK_END;
}

/* ---- the actor's interface ---- */

uint32_t sim_job_actors(const struct sim_job *j)
{
    return j->n + (j->failure != NULL);
}

static void begin_play(struct sim_job *j)
{
    struct sim_job_play *p = j->play = xcalloc(1, sizeof(*p));
    uint32_t nodes = j->place->nodes;

    p->turn = xcalloc(j->n, sizeof(*p->turn));
    p->inside_left[0] = xcalloc(nodes, sizeof(uint32_t));
    p->inside_left[1] = xcalloc(nodes, sizeof(uint32_t));
    p->cores = xcalloc(nodes, sizeof(struct cores *));
    for (uint32_t node = 0; node < nodes; node++) {
        if (sim_job_shares_cores(j, node))
            p->cores[node] = cores_new(placement_node_size(j->place, node), (uint32_t)j->spec->cores);
    }
    if (!j->failure || !noise_dead(j->noise, 0, NULL))
        return;
    noise_repair(j->noise, 0);
    sim_job_fall_back(j, j->round_end_s);
}

void sim_job_play_free(struct sim_job_play *p, const struct sim_job *j)
{
    if (!p)
        return;
    for (uint32_t node = 0; node < j->place->nodes; node++)
        cores_free(p->cores[node]);
    free(p->cores);
    free(p->inside_left[0]);
    free(p->inside_left[1]);
    free(p->dead);
    free(p->turn);
    free(p);
}

void sim_job_next(void *arg, uint32_t rank, double now_s, struct network_op *op)
{
    struct sim_job *j = arg;

    if (!j->play)
        begin_play(j);
    if (rank == j->n)
        watch_next(j, now_s, op);
    else
        rank_next(j, rank, now_s, op);
}

int sim_job_played(struct sim_job *j, struct err *err)
{
    enum sim_job_state state = j->result.steps == (uint64_t)j->spec->steps ? SIM_JOB_DONE : SIM_JOB_STALLED;

    return sim_job_over(j, j->result.state == SIM_JOB_STUCK ? SIM_JOB_STUCK : state, err);
}
