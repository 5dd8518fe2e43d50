/* A job with contention: the network asks each rank in turn what it does next. */
#include <math.h>

#include "common/xalloc.h"
#include "sim/sim_job_private.h"

/* HELD: at the end of a round, until all ranks have arrived. */
enum phase { BEFORE, WORKING, SLEEPING, READY, INSIDE, HELD };

struct sim_job_play {
    uint64_t round;
    uint32_t part, exchanges, insides; /* collectives that the rank has left */
    enum phase phase;
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
    struct sim_job_play *p = &j->play[rank];
    uint32_t node = j->place->node[rank], which = p->insides++ & 1;

    sim_job_paces_left(j, rank, p->round, p->part, &j->inside[which], now_s);
    j->inside[which].leave_s[rank] = now_s;
    j->at_s[rank] = now_s + (j->wakes[rank] ? j->j->wake_s : 0);
    if (++j->inside_left[which][node] < placement_node_size(j->place, node))
        return;
    j->inside_left[which][node] = 0;
    sim_job_account_inner(j, node, &j->inside[which]);
}

static void left_exchange(struct sim_job *j, uint32_t rank, double now_s)
{
    struct sim_job_play *p = &j->play[rank];
    struct sim_job_exchange *x = &j->exchange[p->exchanges++ & 1];

    sim_job_paces_left(j, rank, p->round, p->part, x, now_s);
    sim_job_rank_leave(j, rank, p->round, p->part, x, now_s);
    if (x->left == j->n)
        sim_job_account(j, p->round, p->part, x);
}

/* Whether all ranks wait for each other at the end of the round before this one: at the end of the job, for a
 * checkpoint, or because a rank is about to die.  The first rank to arrive decides, as in a real job. */
static bool holds(struct sim_job *j, uint64_t next, double now_s)
{
    if (!j->failure || j->decided == next)
        return j->failure && j->holds;
    j->decided = next;
    j->holds = next == j->rounds || noise_dead(j->noise, next * j->per_round, NULL) ||
               sim_job_is_due(j, next - 1, now_s);
    return j->holds;
}

/* The rank has left a collective. */
static void left(struct sim_job *j, uint32_t rank, double now_s)
{
    struct sim_job_play *p = &j->play[rank];

    if (j->parts[p->part].bucket < 0)
        left_inside(j, rank, now_s);
    else
        left_exchange(j, rank, now_s);
    p->phase = BEFORE;
    if (++p->part < j->n_parts)
        return;
    p->part = 0;
    p->round++;
    if (!holds(j, p->round, now_s))
        return;
    p->phase = HELD;
    j->held++;
}

/* ---- cores that ranks share ---- */

/* The speed of all ranks on the node has changed. */
static void pace_changed(struct sim_job *j, uint32_t node)
{
    for (uint32_t i = 0; i < placement_node_size(j->place, node); i++) {
        double end_s = cores_end_s(j->cores[node], i);

        if (end_s < INFINITY)
            network_wake(j->network, j, placement_node_ranks(j->place, node)[i], end_s);
    }
}

/* Ranks that yielded their core take time to wake; the last one to arrive did not yield. */
static void note_waking(struct sim_job *j, uint32_t rank, double now_s)
{
    uint32_t node = j->place->node[rank], n = placement_node_size(j->place, node);
    const uint32_t *ranks = placement_node_ranks(j->place, node);

    j->wakes[rank] = sim_job_waiting(j, node) == CORES_GATE && pace_gives_core(n, (uint32_t)j->j->cores, 1);
    for (uint32_t i = 0; cores_all_done(j->cores[node]) && i < n; i++)
        j->wakes[ranks[i]] = j->wakes[ranks[i]] && j->at_s[ranks[i]] < now_s;
}

/* The rank's work is done.  True if it may enter now; else it sleeps first. */
static bool worked_on_cores(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    struct sim_job_play *p = &j->play[rank];
    uint32_t node = j->place->node[rank];
    int bucket = j->parts[p->part].bucket;
    double enter_s;

    sim_job_rank_worked(j, rank, now_s);
    if (bucket >= 0)
        enter_s = sim_job_rank_enter(j, rank, (uint32_t)bucket, &j->exchange[p->exchanges & 1]);
    else
        enter_s = sim_job_rank_enter_inner(j, rank, &j->inside[p->insides & 1]);
    cores_done(j->cores[node], local_of(j, rank), now_s, enter_s - now_s);
    note_waking(j, rank, now_s);
    pace_changed(j, node);
    p->phase = READY;
    if (enter_s <= now_s)
        return true;
    p->phase = SLEEPING;
    wait_until(op, now_s, enter_s);
    return false;
}

static void slept_on_cores(struct sim_job *j, uint32_t rank, double now_s)
{
    cores_slept(j->cores[j->place->node[rank]], local_of(j, rank), now_s);
    pace_changed(j, j->place->node[rank]);
    j->play[rank].phase = READY;
}

static void work_on_cores(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    struct sim_job_play *p = &j->play[rank];
    uint32_t node = j->place->node[rank], local = local_of(j, rank);

    if (j->at_s[rank] > now_s) {
        wait_until(op, now_s, j->at_s[rank]);
        return;
    }
    cores_wait(j->cores[node], sim_job_waiting(j, node));
    cores_begin(j->cores[node], local, now_s, sim_job_part_work_s(j, rank, p->round, p->part));
    p->phase = WORKING;
    pace_changed(j, node);
    wait_until(op, now_s, cores_end_s(j->cores[node], local));
}

/* ---- a rank's turn ---- */

static struct network_collective *collective_of(const struct sim_job *j, uint32_t rank)
{
    int bucket = j->parts[j->play[rank].part].bucket;

    return bucket < 0 ? j->inner[j->place->node[rank]] : j->bucket[bucket];
}

/* Let the rank work; returns when it can enter the next collective. */
static double prepare(struct sim_job *j, uint32_t rank)
{
    struct sim_job_play *p = &j->play[rank];
    int bucket = j->parts[p->part].bucket;

    if (p->part == 0)
        sim_job_rank_begin(j, rank, p->round);
    sim_job_rank_worked(j, rank, j->at_s[rank] + sim_job_part_work_s(j, rank, p->round, p->part));
    p->phase = READY;
    if (bucket >= 0)
        return sim_job_rank_enter(j, rank, (uint32_t)bucket, &j->exchange[p->exchanges & 1]);
    return sim_job_rank_enter_inner(j, rank, &j->inside[p->insides & 1]);
}

static uint32_t member_of(const struct sim_job *j, uint32_t rank)
{
    return j->parts[j->play[rank].part].bucket >= 0 ? rank : local_of(j, rank);
}

/* Start the rank's round.  True when the rank dies before it. */
static bool dies(struct sim_job *j, uint32_t rank)
{
    uint64_t round = j->play[rank].round;

    sim_job_sample(j, round);
    if (!j->dead && noise_dead(j->noise, round * j->per_round, NULL)) {
        j->dead = xcalloc(j->n, sizeof(*j->dead));
        j->dead_round = round;
        noise_dead(j->noise, round * j->per_round, j->dead);
    }
    return j->dead && j->dead[rank] && round >= j->dead_round;
}

/* Whether the rank can enter its next collective.  False: op is what it does before. */
static bool is_ready(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    double enter_s;

    if (j->play[rank].phase == READY)
        return true;
    if (j->cores[j->place->node[rank]]) {
        work_on_cores(j, rank, now_s, op);
        return false;
    }
    enter_s = prepare(j, rank);
    if (enter_s > now_s)
        wait_until(op, now_s, enter_s);
    return enter_s <= now_s;
}

/* Continue all ranks with this round, each at its at_s.  `self` already has its turn; the others and the watch get
 * one. */
static void go_on(struct sim_job *j, uint64_t round, uint32_t self)
{
    for (uint32_t i = 0; i < j->n; i++)
        j->play[i] = (struct sim_job_play){ .round = round };
    for (uint32_t i = 0; i < sim_job_actors(j); i++) {
        if (i != self)
            network_wake(j->network, j, i, 0);
    }
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        if (j->cores[node])
            cores_reset(j->cores[node]);
        j->inside_left[0][node] = j->inside_left[1][node] = 0;
    }
    j->decided = round;
    j->held = 0;
}

/* All ranks have reached the end of a round. */
static void release(struct sim_job *j, uint64_t next, uint32_t self)
{
    if (next == j->rounds) {
        j->over = true;
    } else if (noise_dead(j->noise, next * j->per_round, NULL)) {
        noise_repair(j->noise, next * j->per_round);
        next = sim_job_fall_back(j, j->round_end_s);
    } else {
        next = sim_job_checkpoint(j, next - 1);
    }
    go_on(j, next, self);
}

static void rank_next(struct sim_job *j, uint32_t rank, double now_s, struct network_op *op)
{
    struct sim_job_play *p = &j->play[rank];

    switch (p->phase) {
    case INSIDE:
        left(j, rank, now_s);
        break;
    case WORKING:
        if (!worked_on_cores(j, rank, now_s, op))
            return;
        break;
    case SLEEPING:
        slept_on_cores(j, rank, now_s);
        break;
    default:
        break;
    }
    if (p->phase == HELD && j->held < j->n && !j->broken) {
        wait_until(op, now_s, INFINITY);
        return;
    }
    if (p->phase == HELD && !j->broken)
        release(j, p->round, rank);
    while (!j->broken && p->round < j->rounds && !dies(j, rank)) {
        if (!is_ready(j, rank, now_s, op))
            return;
        op->collective = collective_of(j, rank);
        if (op->collective) {
            op->kind = NETWORK_ENTER;
            op->member = member_of(j, rank);
            p->phase = INSIDE;
            return;
        }
        left(j, rank, now_s); /* a single rank does not wait */
        if (p->phase == HELD)
            release(j, p->round, rank);
    }
    op->kind = NETWORK_END;
}

/* ---- failures: a watch beside the ranks ---- */

static void abandon(struct sim_job *j)
{
    for (int b = 0; b < j->j->buckets; b++) {
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
    while (!j->over && !j->broken && j->result.state != SIM_JOB_STUCK) {
        double fails_s = failure_next_s(j->failure);

        if (fails_s > now_s) {
            wait_until(op, now_s, fails_s);
            return;
        }
        abandon(j);
        go_on(j, sim_job_fall_back(j, fails_s), j->n);
    }
    op->kind = NETWORK_END;
}

/* ---- the actor's interface ---- */

uint32_t sim_job_actors(const struct sim_job *j)
{
    return j->n + (j->failure != NULL);
}

static void begin(struct sim_job *j)
{
    j->play = xcalloc(j->n, sizeof(*j->play));
    j->cores = xcalloc(j->place->nodes, sizeof(struct cores *));
    for (uint32_t node = 0; node < j->place->nodes; node++) {
        if (sim_job_shares_cores(j, node))
            j->cores[node] = cores_new(placement_node_size(j->place, node), (uint32_t)j->j->cores);
    }
    if (!j->failure || !noise_dead(j->noise, 0, NULL))
        return;
    noise_repair(j->noise, 0);
    sim_job_fall_back(j, j->round_end_s);
}

void sim_job_next(void *arg, uint32_t rank, double now_s, struct network_op *op)
{
    struct sim_job *j = arg;

    if (!j->play)
        begin(j);
    if (rank == j->n)
        watch_next(j, now_s, op);
    else
        rank_next(j, rank, now_s, op);
}

int sim_job_played(struct sim_job *j, struct err *err)
{
    if (j->broken) {
        if (err)
            *err = j->err;
        return -1;
    }
    if (j->result.state != SIM_JOB_STUCK)
        j->result.state = j->result.steps == (uint64_t)j->j->steps ? SIM_JOB_DONE : SIM_JOB_STALLED;
    sim_job_paces_result(j);
    return 0;
}
