/* jobtime.h - asks Slurm about the guarded jobs: whether it knows them, and of which user, partition, account
 * and QOS they are; whether it has suspended or ends them; when it will end them (time limit, preemption),
 * whether it can requeue them, and how jobs ended whose step broke.
 *
 * It runs squeue for all jobs at once, one child at a time: at once for a step that is to be confirmed or in
 * doubt (job_doubt()), every 5 s for the first minutes of that, while a policy asks for checkpoints or after
 * a step broke, otherwise once a minute. Without squeue no step is confirmed, and times, outcomes and whether
 * a job can be requeued stay unknown. Reports times to job/cadence, and everything else to the job. */
#ifndef SYNCGUARD_SLURM_JOBTIME_H
#define SYNCGUARD_SLURM_JOBTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "job/jobs.h"

struct event_base;
struct jobtime;

/* confirmed: called when Slurm has confirmed a step for which root vouches; its user, partition, account and
 * QOS are set. */
struct jobtime *jobtime_new(struct event_base *base, void (*confirmed)(struct job *j, void *arg), void *arg);
void jobtime_free(struct jobtime *t); /* NULL is fine */
/* Call it about every quarter of a second.  0; or -1 with the reason why Slurm cannot be asked now, once for
 * each reason. */
int jobtime_tick(struct jobtime *t, struct jobs *jobs, double now_s, struct err *err);

/* A line of squeue, in columns: job, end, preempted, state, restarts, uid, array's job, array's task; user,
 * partition, account, QOS; whether it is a batch job, whether it may be requeued (1 or 0).  Local times as
 * 2026-11-21T15:30:00. */
struct jobtime_line {
    uint32_t job, restarts;
    double end_wall_s, preempted_wall_s; /* NaN: not given */
    char state[32];                      /* as "RUNNING" */
    uint32_t uid;
    int64_t array_job, array_task;                      /* -1: not of an array */
    char user[64], partition[64], account[64], qos[64]; /* "": not given */
    int batch, requeue;                                 /* -1: not given */
};
/* Parse a line.  false: malformed, out is undefined. */
bool jobtime_line(const char *text, struct jobtime_line *out);

/* The outcome of a broken step in the job's run `restarts`; preempted: the job had received notice of its
 * end. */
enum job_outcome jobtime_outcome(const struct jobtime_line *l, uint32_t restarts, bool preempted);

#endif
