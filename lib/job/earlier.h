/* earlier.h - what the controller knew of a running step before it was restarted: since when it runs, how far
 * it had come, what its ranks spent their time on, which batches of each agent are in it, and the verdicts of
 * the run with what they cost.  As JSON, which the history keeps and does not look at.
 *
 * The agents keep batches for a while after they were acknowledged, and send again what is newer than what is
 * known here: nothing is counted twice, and what is older than that is told as lost batches.  Times in JSON
 * are Unix seconds, those here the controller's monotonic clock. */
#ifndef SYNCGUARD_JOB_EARLIER_H
#define SYNCGUARD_JOB_EARLIER_H

#include <jansson.h>

struct job;

/* Of a step that goes on; the caller owns it. */
json_t *earlier_json(const struct job *j, double now_s);
/* Give it to a step that is new here, before its first agent's first batch.  What is out of bounds is left
 * out. */
void earlier_take(struct job *j, double now_s, const json_t *earlier);

#endif
