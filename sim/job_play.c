/* A job in play: each rank is asked in turn what it does next. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/job_private.h"

enum phase { BEFORE, READY, INSIDE };

struct job_play {
    uint64_t round;
    uint32_t part, exchanges, insides; /* collectives it has left */
    enum phase phase;
};

static void left_inside(struct job *j, uint32_t rank, double now_s)
{
    struct job_play *p = &j->play[rank];
    uint32_t node = j->place->node[rank], which = p->insides++ & 1;

    j->inside[which].leave_s[rank] = j->at_s[rank] = now_s;
    if (++j->inside_left[which][node] < j->place->first[node + 1] - j->place->first[node])
        return;
    j->inside_left[which][node] = 0;
    job_account_inner(j, node, &j->inside[which]);
}

static void left_exchange(struct job *j, uint32_t rank, double now_s)
{
    struct job_play *p = &j->play[rank];
    struct job_exchange *x = &j->exchange[p->exchanges++ & 1];

    job_rank_leave(j, rank, p->round, p->part, x, now_s);
    if (x->left == j->n)
        job_account(j, p->round, p->part, x);
}

/* It left a collective. */
static void left(struct job *j, uint32_t rank, double now_s)
{
    struct job_play *p = &j->play[rank];

    if (j->parts[p->part].bucket < 0)
        left_inside(j, rank, now_s);
    else
        left_exchange(j, rank, now_s);
    if (++p->part == j->n_parts) {
        p->part = 0;
        p->round++;
    }
    p->phase = BEFORE;
}

static struct network_collective *collective_of(const struct job *j, uint32_t rank)
{
    int bucket = j->parts[j->play[rank].part].bucket;

    return bucket < 0 ? j->inner[j->place->node[rank]] : j->bucket[bucket];
}

/* It works until it can enter the next collective: returns when. */
static double prepare(struct job *j, uint32_t rank)
{
    struct job_play *p = &j->play[rank];
    int bucket = j->parts[p->part].bucket;

    if (p->part == 0)
        job_rank_begin(j, rank, p->round);
    job_rank_worked(j, rank, j->at_s[rank] + job_part_work_s(j, rank, p->round, p->part));
    p->phase = READY;
    if (bucket >= 0)
        return job_rank_enter(j, rank, (uint32_t)bucket, &j->exchange[p->exchanges & 1]);
    j->inside[p->insides & 1].enter_s[rank] = j->at_s[rank];
    return j->at_s[rank];
}

static uint32_t member_of(const struct job *j, uint32_t rank)
{
    uint32_t first;

    if (j->parts[j->play[rank].part].bucket >= 0)
        return rank;
    first = j->place->first[j->place->node[rank]];
    for (uint32_t k = first;; k++) {
        if (j->place->by_node[k] == rank)
            return k - first;
    }
}

/* The rank's round is known from now on.  true: it does not live to see it. */
static bool dies(struct job *j, uint32_t rank)
{
    uint64_t round = j->play[rank].round;

    job_draw(j, round);
    if (!j->dead && noise_dead(j->noise, round * j->per_round, NULL)) {
        j->dead = xcalloc(j->n, sizeof(*j->dead));
        j->dead_round = round;
        noise_dead(j->noise, round * j->per_round, j->dead);
    }
    return j->dead && j->dead[rank] && round >= j->dead_round;
}

void job_next(void *arg, uint32_t rank, double now_s, struct network_op *op)
{
    struct job *j = arg;
    struct job_play *p;

    if (!j->play)
        j->play = xcalloc(j->n, sizeof(*j->play));
    p = &j->play[rank];
    if (p->phase == INSIDE)
        left(j, rank, now_s);
    while (!j->broken && p->round < j->rounds && !dies(j, rank)) {
        if (p->phase == BEFORE) {
            double enter_s = prepare(j, rank);

            if (enter_s > now_s) {
                *op = (struct network_op){ .kind = NETWORK_COMPUTE, .seconds = enter_s - now_s };
                return;
            }
        }
        op->collective = collective_of(j, rank);
        if (op->collective) {
            op->kind = NETWORK_ENTER;
            op->member = member_of(j, rank);
            p->phase = INSIDE;
            return;
        }
        left(j, rank, now_s); /* one alone waits for nobody */
    }
    op->kind = NETWORK_END;
}

int job_played(struct job *j, struct err *err)
{
    if (j->broken) {
        if (err)
            *err = j->err;
        return -1;
    }
    j->result.state = j->result.steps == (uint64_t)j->j->steps ? JOB_DONE : JOB_STALLED;
    return 0;
}
