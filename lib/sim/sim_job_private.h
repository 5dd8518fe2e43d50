/* sim_job_private.h - shared by sim/sim_job*.c only. */
#ifndef SYNCGUARD_SIM_JOB_PRIVATE_H
#define SYNCGUARD_SIM_JOB_PRIVATE_H

#include <math.h>

#include "pacing/pace.h"
#include "pacing/pacer.h"
#include "sim/cores.h"
#include "sim/failure.h"
#include "sim/sim_job.h"
#include "sim/noise.h"

/* A part of a round: work, then a collective. */
struct sim_job_part {
    double share; /* of the round's work */
    int bucket;   /* -1: a collective inside each node */
};

/* A collective on all ranks.  One is complete before the one after the next begins, so two are kept. */
struct sim_job_exchange {
    double *enter_s, *slept_s, *leave_s; /* by rank; one block */
    double last_s;                       /* the last arrival so far */
    uint32_t left;                       /* ranks that have left it */
};

struct sim_job_paces; /* Pacing=auto (sim_job_pace.c) */
struct sim_job_play;  /* its ranks' turns (sim_job_play.c) */

/* The state to which a failure returns the job. */
struct sim_job_saved {
    uint64_t round, steps;
    uint32_t failed; /* failures since */
    double at_s, compute_s, sync_s, comm_s, paced_s;
};

struct sim_job {
    const struct scenario *scenario;
    const struct scenario_job *spec;
    size_t index;
    const struct placement *place;
    struct network *network;
    struct sim_job_hooks hooks;
    struct err err; /* a hook's reason */
    bool broken;
    struct noise *noise;
    struct failure *failure; /* NULL: no checkpoints */
    struct sim_job_saved saved;
    struct sim_job_result result;

    uint32_t n, n_parts;
    struct sim_job_part *parts;
    uint64_t rounds, per_round; /* steps a round */
    double *bucket_bytes;
    bool apart; /* collectives overlap the work: Overlap, or staleness */

    struct network_collective **bucket; /* on all ranks; NULL: of one rank */
    struct network_collective **inner;  /* of each node; NULL: none */
    struct sim_job_exchange exchange[2], inside[2];
    uint64_t exchanges;          /* complete */
    struct pace_state *pace;     /* Pacing=delay: by rank and bucket, else NULL */
    struct sim_job_paces *paces; /* Pacing=auto, else NULL */

    /* Rounds that some rank may be in: round r is in slot r % depth. */
    uint32_t depth;
    uint64_t sampled; /* rounds of which the work is known */
    struct sim_job_round {
        double *work_s, *delay_s; /* by rank; one block with leave_s */
        double *leave_s;          /* by rank, of the last bucket */
        double last_s;            /* the last arrival there */
    } * round;
    uint32_t *seq;             /* by node: collectives inside it that are over */
    struct sim_job_play *play; /* NULL in lockstep */
    double *factor, *delay;    /* scratch: of one step */
    uint64_t steps_sampled;    /* of which the noise is known */
    double round_end_s;        /* of the newest complete round */

    /* By rank. */
    double *at_s;   /* its work has come to */
    double *free_s; /* it left its last collective */
    bool *wakes;    /* it yielded its core */
};

/* ---- what is known before it runs (sim_job_plan.c) ---- */

/* Fill in n, rounds, per_round, apart, parts and bucket_bytes from the spec; before everything else. */
void sim_job_plan(struct sim_job *j);
uint64_t sim_job_steps_of(const struct sim_job *j, uint64_t round);
/* Whether ranks of this node share cores. */
bool sim_job_shares_cores(const struct sim_job *j, uint32_t node);

/* Nobody has entered it. */
static inline void sim_job_exchange_empty(struct sim_job_exchange *x)
{
    x->left = 0;
    x->last_s = -INFINITY;
}

/* ---- one rank (sim_job_rank.c) ---- */

/* Sample the work of this round, unless that was done; rounds must be sampled in order. */
void sim_job_sample(struct sim_job *j, uint64_t round);

/* The rank begins the round: moves its at_s to when its work may start, given what it must wait for. */
void sim_job_rank_begin(struct sim_job *j, uint32_t rank, uint64_t round);
double sim_job_part_work_s(const struct sim_job *j, uint32_t rank, uint64_t round, uint32_t part);
/* The rank worked from its at_s until done_s. */
void sim_job_rank_worked(struct sim_job *j, uint32_t rank, double done_s);
/* The rank's work of the part is done (at_s): records in the exchange of this bucket, -1: inside its node,
 * when it enters, and returns that. */
double sim_job_rank_enter(struct sim_job *j, uint32_t rank, int bucket, struct sim_job_exchange *x);
void sim_job_rank_leave(struct sim_job *j, uint32_t rank, uint64_t round, uint32_t part,
                        struct sim_job_exchange *x, double leave_s);
/* How long the rank sleeps before it enters the next collective, of this bucket; -1: inside its node. */
double sim_job_pace_delay_s(const struct sim_job *j, uint32_t rank, int bucket);

/* What a rank of this node does while it waits for the node's next collective. */
enum cores_waiting sim_job_waiting(const struct sim_job *j, uint32_t node);

/* ---- Pacing=auto (sim_job_pace.c) ----
 *
 * As in a live job (probe/pace.c): each node has a pacer that takes in each of its collectives, and the plan
 * and the hold-out decide on the lever for the next one.  The first rank to leave a collective leads.  All
 * functions do nothing where paces is NULL. */

struct sim_job_paces *sim_job_paces_new(const struct sim_job *j);
void sim_job_paces_free(struct sim_job_paces *p, const struct sim_job *j); /* NULL is fine */
/* The job's programs have restarted. */
void sim_job_paces_restart(struct sim_job *j);
enum cores_waiting sim_job_paces_waiting(const struct sim_job *j, uint32_t node);
double sim_job_paces_delay_s(const struct sim_job *j, uint32_t rank, int bucket);
/* In play: a rank left its collective of that part; x has its enter_s and slept_s. */
void sim_job_paces_left(struct sim_job *j, uint32_t rank, uint64_t round, uint32_t part,
                        const struct sim_job_exchange *x, double leave_s);
/* In lockstep: all ranks of the node left; x has their leave_s, too. */
void sim_job_paces_node_left(struct sim_job *j, uint32_t node, uint64_t round, uint32_t part,
                             const struct sim_job_exchange *x);
/* Fill in the result's levers. */
void sim_job_paces_result(struct sim_job *j);

/* ---- checkpoints and failures (sim_job_saved.c) ---- */

void sim_job_save(struct sim_job *j, uint64_t round, double at_s);
/* A failure at at_s: what was done since the checkpoint is lost.  Returns the round to continue with, or
 * rounds: the job is stuck. */
uint64_t sim_job_fall_back(struct sim_job *j, double at_s);
/* Whether a checkpoint is due after this round, which ended at at_s. */
bool sim_job_is_due(const struct sim_job *j, uint64_t round, double at_s);
/* Write a checkpoint, or fall back if a node fails meanwhile.  Returns the round to continue with. */
uint64_t sim_job_checkpoint(struct sim_job *j, uint64_t round);

/* ---- accounts (sim_job_account.c) ---- */

/* All ranks have left the exchange of this part: account for it, and empty it. */
void sim_job_account(struct sim_job *j, uint64_t round, uint32_t part, struct sim_job_exchange *x);
/* A rank waited at the beginning of a round for an exchange that overlaps its work; transfer_s: duration of
 * the exchange after the last arrival. */
void sim_job_account_wait(struct sim_job *j, double waited_s, double transfer_s);
/* All of a node have left a collective inside it. */
void sim_job_account_inner(struct sim_job *j, uint32_t node, struct sim_job_exchange *x);
/* The job ended in this state.  0, or -1 with a hook's reason. */
int sim_job_over(struct sim_job *j, enum sim_job_state state, struct err *err);
/* Dead ranks never enter the exchange, the others never leave it. */
void sim_job_account_stall(struct sim_job *j, uint32_t bucket, const struct sim_job_exchange *x,
                           const bool *dead);

/* ---- in play (sim_job_play.c) ---- */

void sim_job_play_free(struct sim_job_play *p, const struct sim_job *j); /* NULL is fine */

#endif
