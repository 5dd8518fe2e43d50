/* record.h - a job's collectives as they come, as a trace (format syncguard-trace, JSON Lines).
 *
 * The records of one collective stand together, in the order in which the collectives completed: a record
 * waits until all members told theirs, at most RECORD_WAIT_S, and not longer than until a newer one of its
 * communicator is whole. The header comes with the first record. A reader that is too slow loses records, as
 * do ranks that the header does not name because they came later: counted and told at the end. */
#ifndef SYNCGUARD_JOB_RECORD_H
#define SYNCGUARD_JOB_RECORD_H

#include <jansson.h>
#include <stdbool.h>

#include "wire/telemetry.h"

#define RECORD_WAIT_S 2.0

struct job;
struct link;
struct recorder;

/* Begin: sends the answer. The recorder belongs to the job. */
struct recorder *recorder_start(struct job *j, struct link *to, json_t *tag);
/* Those of this link; why NULL: the link is gone. */
void recorder_stop(struct job *j, struct link *to, const char *why);
bool recording(const struct job *j);

void recorders_sample(struct job *j, double now_s, const struct sample *s);
void recorders_tick(struct job *j, double now_s);
void recorders_end(struct job *j, const char *why); /* what is open, who is inside of what, the end */

#endif
