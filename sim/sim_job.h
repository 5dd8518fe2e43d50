/* sim_job.h - a data-parallel job in simulated time: ranks work, exchange, wait, pace, fail and begin again.
 *
 * A round is what lies between two exchanges: a step, or Every steps of a job with local steps.  In it each
 * rank works in parts; after each part it enters a collective inside its node or, for a bucket of the
 * gradient, one on all ranks.  What a rank does next depends on its own past alone, so the same program runs
 *
 *   in lockstep   one job on the network: a loop over the ranks for each part (sim_job_run)
 *   in play       several jobs on one network: each rank asked in turn (sim_job_next, for network_play())
 *
 * In play whoever ends a round first decides whether a checkpoint is due then, and all wait there; in
 * lockstep it is decided when all have ended it.  Memory: a few arrays over the ranks, whatever the number of
 * steps.  Asynchronous jobs: asynchronous.h.
 *
 * A failure ends the step it strikes in; in play its messages leave their links at once.  Restarting goes on
 * with the next draws of noise, not with those of the steps it repeats. */
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
    SIM_JOB_STALLED, /* a rank died, the others wait for it for ever */
    SIM_JOB_STUCK,   /* failures come faster than work is saved */
};

/* What Pacing=auto made of a lever. */
struct sim_job_lever {
    uint32_t in_force;  /* nodes, at the end */
    double paced;       /* collectives with it, mean of the nodes */
    enum pacer_why why; /* of the node that compared most, as is what follows */
    uint32_t compared;  /* pairs of epochs */
    double ratio;       /* time with it over the time without; NaN: not known */
    double low, high;   /* where that is at all times, with 95 %; NaN: not known */
};

/* Sums over ranks are rank-seconds. */
struct sim_job_result {
    enum sim_job_state state;
    uint64_t steps;     /* done for good */
    uint64_t simulated; /* steps, those that were lost too; asynchronous: of all ranks over ranks */
    double begin_s, end_s;
    /* Sums over ranks: own work; waiting for others; transfers not hidden. */
    double compute_s, sync_s, comm_s;
    double paced_s;              /* part of sync_s: slept on purpose */
    double checkpoint_s, lost_s; /* of the job: writing; work done in vain and restarting */
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

/* A collective that is over, as the ranks saw it; lent. */
struct sim_job_collective {
    size_t job;
    int64_t node; /* of a collective inside a node: the job's; -1: all ranks */
    uint32_t seq;
    double bytes;
    uint32_t n;                      /* members, and ... */
    const uint32_t *rank;            /* ... who they are; NULL: 0 ... n - 1 */
    const double *enter_s, *leave_s; /* by member; leave_s NULL: they never left */
    const bool *absent;              /* by member: it never entered; NULL: all did */
};

struct sim_job_hooks {
    /* A job is about to simulate this step: time to change the network. */
    void (*step)(void *arg, size_t job, uint64_t step);
    /* -1 ends the simulation. */
    int (*collective)(void *arg, const struct sim_job_collective *c, struct err *err);
    void *arg;
};

struct sim_job;

/* NULL with the reason.  The scenario, network and placement are borrowed. */
struct sim_job *sim_job_open(const struct scenario *s, size_t index, const struct placement *p,
                             struct network *n, enum network_mode mode, const struct sim_job_hooks *hooks,
                             struct err *err);
void sim_job_close(struct sim_job *j); /* NULL is fine */

/* All of the job in lockstep.  0, or -1 with a hook's reason. */
int sim_job_run(struct sim_job *j, struct err *err);

/* Ranks for network_play(): one more than the job's where it may fail, which watches for that. */
uint32_t sim_job_actors(const struct sim_job *j);
/* What a rank does next (arg: the job); sim_job_played then tells what became of it: 0, or -1 with a hook's
 * reason. */
void sim_job_next(void *arg, uint32_t rank, double now_s, struct network_op *op);
int sim_job_played(struct sim_job *j, struct err *err);

const struct sim_job_result *sim_job_result_get(const struct sim_job *j);

#endif
