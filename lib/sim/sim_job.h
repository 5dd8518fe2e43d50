/* sim_job.h - a data-parallel job in simulated time: ranks work, exchange, wait, pace, fail and restart.
 *
 * A round is the time between two exchanges: a step, or Every steps of a job with local steps.  In it each
 * rank works in parts; after each part it enters a collective inside its node or, for a bucket of the
 * gradient, one on all ranks.  The next operation of a rank depends only on its own past, so the same program
 * runs
 *
 *   in lockstep   one job on the network: a loop over the ranks for each part (sim_job_run)
 *   in play       several jobs on one network: each rank asked in turn (sim_job_next, for network_play())
 *
 * In play, the first rank to end a round decides whether a checkpoint is due, and all wait there; in lockstep
 * it is decided when all have ended it.  Memory: a few arrays over the ranks, whatever the number of steps.
 * Asynchronous jobs: asynchronous.h.
 *
 * A failure ends the step it strikes in; in play its messages leave their links at once.  A restarted job
 * continues with new samples of noise, it does not reuse those of the repeated steps. */
#ifndef SYNCGUARD_SIM_JOB_H
#define SYNCGUARD_SIM_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "network/network.h"
#include "pacing/pacer.h"
#include "sim/placement.h"
#include "sim/scenario.h"
#include "sim/spread.h"

enum sim_job_state {
    SIM_JOB_RUNNING,
    SIM_JOB_DONE,
    SIM_JOB_STALLED, /* a rank died, the others wait for it forever */
    SIM_JOB_STUCK,   /* failures occur faster than work is saved */
};

/* The result of Pacing=auto for one lever. */
struct sim_job_lever {
    uint32_t in_force;  /* nodes, at the end */
    double paced;       /* collectives with it, mean of the nodes */
    enum pacer_why why; /* of the node with most comparisons, as are the fields below */
    uint32_t compared;  /* pairs of epochs */
    double ratio;       /* time with it over the time without; NaN: not known */
    double low, high;   /* its 95 % confidence sequence; NaN: not known */
};

/* Sums over ranks are rank-seconds. */
struct sim_job_result {
    enum sim_job_state state;
    uint64_t steps;     /* completed, without lost ones */
    uint64_t simulated; /* steps, including lost ones; asynchronous: sum over ranks divided by ranks */
    double begin_s, end_s;
    /* Sums over ranks: own work; waiting for others; transfers not hidden. */
    double compute_s, sync_s, comm_s;
    double paced_s;              /* part of sync_s: sleeping by pacing */
    double checkpoint_s, lost_s; /* of the job: writing; lost work and restarting */
    uint64_t checkpoints, failures;
    double interval_s;  /* between checkpoints; NaN: none are written */
    struct spread step; /* seconds a step */
    uint64_t collectives;
    /* By rank: sum over collectives of the time after the first arrival; how often it came last; own work. */
    double *late_s, *work_s;
    uint64_t *last;
    struct network_count network;
    /* Pacing=auto: nodes whose ranks may be paced, their collectives, and by lever. */
    uint32_t pace_nodes;
    double pace_collectives; /* mean of the nodes */
    struct sim_job_lever lever[PACER_LEVERS];
    uint64_t queue_events; /* asynchronous: arrivals at the servers */
};

void sim_job_result_init(struct sim_job_result *r, uint32_t ranks);
void sim_job_result_clear(struct sim_job_result *r);

/* A completed collective, as the ranks saw it; borrowed. */
struct sim_job_collective {
    size_t job;
    int64_t node; /* of a collective inside a node: the job's; -1: all ranks */
    uint32_t seq;
    double bytes;
    uint32_t n;                      /* members */
    const uint32_t *rank;            /* their ranks; NULL: 0 ... n - 1 */
    const double *enter_s, *leave_s; /* by member; leave_s NULL: they never left */
    const bool *absent;              /* by member: it never entered; NULL: all did */
};

struct sim_job_hooks {
    /* Called before a job simulates this step; it may change the network. */
    void (*step)(void *arg, size_t job, uint64_t step);
    /* -1 ends the simulation. */
    int (*collective)(void *arg, const struct sim_job_collective *c, struct err *err);
    void *arg;
};

struct sim_job;

/* The scenario, network and placement are borrowed. */
struct sim_job *sim_job_open(const struct scenario *s, size_t index, const struct placement *p,
                             struct network *n, const struct sim_job_hooks *hooks);
void sim_job_close(struct sim_job *j); /* NULL is fine */

/* All of the job in lockstep.  0, or -1 with a hook's reason. */
int sim_job_run(struct sim_job *j, struct err *err);

/* Ranks for network_play(): those of the job, and one that simulates failures if nodes can fail. */
uint32_t sim_job_actors(const struct sim_job *j);
/* The next operation of a rank (arg: the job).  After the play, sim_job_played() returns 0, or -1 with a
 * hook's reason. */
void sim_job_next(void *arg, uint32_t rank, double now_s, struct network_op *op);
int sim_job_played(struct sim_job *j, struct err *err);

const struct sim_job_result *sim_job_result_get(const struct sim_job *j);

#endif
