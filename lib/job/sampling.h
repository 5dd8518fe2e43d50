/* sampling.h - which of a job's calls its agents send one by one: all while somebody records; none where
 * samples say as much, because all ranks do is meet in one communicator; else those of some whole steps, as
 * many as the controller has time for.
 *
 * Agents send what ranks left in the first open_s of every period_s of the wall clock, so that all nodes send
 * the same steps. */
#ifndef SYNCGUARD_JOB_SAMPLING_H
#define SYNCGUARD_JOB_SAMPLING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* that a controller takes of all jobs: a quarter of a core */
#define SAMPLING_CALLS_PER_S 200000.0

struct sampling {
    double open_s, period_s; /* as agents know them; open_s 0: none */
    double since_s;          /* of these */
    double tried_s;          /* length of a stretch in which no steps were found; 0: none was tried */
    uint64_t calls;          /* that came since */
};

struct view;

/* A call came. */
static inline void sampling_take(struct sampling *s)
{
    s->calls++;
}
/* Call this about every second.  calls_per_s: the number of calls that this job may send; all: somebody
 * records the job.  True: the window has changed, and agents need a control message with sampling_json(). */
bool sampling_tick(struct sampling *s, const struct view *v, double now_s, double calls_per_s, bool all);
/* Key "calls" of a control message (doc/protocol.md). */
json_t *sampling_json(const struct sampling *s, bool all);

#endif
