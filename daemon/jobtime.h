/* jobtime.h - when Slurm will end the guarded jobs: their time limits, and whether they are being preempted.
 *
 * Asks squeue, one child at a time, for all jobs together: every 5 s while a policy asks for checkpoints,
 * else once a minute.  Without squeue nothing is known, and nothing is lost but that.  Tells daemon/cadence.
 */
#ifndef SYNCGUARD_DAEMON_JOBTIME_H
#define SYNCGUARD_DAEMON_JOBTIME_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct jobs;
struct jobtime;

struct jobtime *jobtime_new(struct event_base *base);
void jobtime_free(struct jobtime *t);                                  /* NULL is fine */
void jobtime_tick(struct jobtime *t, struct jobs *jobs, double now_s); /* about every quarter second */

/* A line of squeue: "JOB END PREEMPTED", local times as 2026-11-21T15:30:00; NaN: neither told.  false: no
 * such line. */
bool jobtime_line(const char *line, uint32_t *job, double *end_wall_s, double *preempted_wall_s);

#endif
