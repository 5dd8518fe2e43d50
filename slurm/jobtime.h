/* jobtime.h - when Slurm will end the guarded jobs: their time limits, and whether they are being preempted;
 * and how those ended whose step broke.
 *
 * Asks squeue, one child at a time, for all jobs together: every 5 s while a policy asks for checkpoints or a
 * step broke lately, else once a minute.  Without squeue nothing is known, and nothing is lost but that.
 * Tells job/cadence, and the job its outcome. */
#ifndef SYNCGUARD_SLURM_JOBTIME_H
#define SYNCGUARD_SLURM_JOBTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "job/jobs.h"

struct event_base;
struct jobtime;

struct jobtime *jobtime_new(struct event_base *base);
void jobtime_free(struct jobtime *t);                                  /* NULL is fine */
void jobtime_tick(struct jobtime *t, struct jobs *jobs, double now_s); /* about every quarter second */

/* A line of squeue: "JOB END PREEMPTED STATE RESTARTS", local times as 2026-11-21T15:30:00. */
struct jobtime_line {
    uint32_t job, restarts;
    double end_wall_s, preempted_wall_s; /* NaN: not told */
    char state[32];                      /* as "RUNNING" */
};
/* false: no such line, out is undefined. */
bool jobtime_line(const char *text, struct jobtime_line *out);

/* What that means for a step of the job in its run `restarts`, which broke; preempted: the job was told that
 * it would be ended. */
enum job_outcome jobtime_outcome(const struct jobtime_line *l, uint32_t restarts, bool preempted);

#endif
