/* record.h - a running job's collectives and messages, sent as a trace (format syncguard-trace, JSON Lines).
 *
 * The records of a rank are in the order in which it left the calls.  The record of a collective, and those
 * behind it of the same rank, are held until all members have reported, at most RECORD_WAIT_S, and no longer
 * than until a newer collective of its communicator is complete.  The header is sent with the first record:
 * with the first complete collective, or RECORD_WAIT_S after the first record of a job that has none. Records
 * are left out when the reader is too slow, or when their rank connected after the header was written; the
 * last line has their number. */
#ifndef SYNCGUARD_JOB_RECORD_H
#define SYNCGUARD_JOB_RECORD_H

#include <jansson.h>
#include <stdbool.h>

#include "ring/call.h"

#define RECORD_WAIT_S 2.0

struct job;
struct link;

/* Start recording to a link, and send the answer with tag. The job owns the recorder. */
void recorder_start(struct job *j, struct link *to, json_t *tag);
/* End the recorders of this link; why NULL: the link is closed, so the last line is not sent. */
void recorder_stop(struct job *j, struct link *to, const char *why);
bool recording(const struct job *j); /* whether the job has a recorder */

void recorders_call(struct job *j, double now_s, const struct call *c); /* a call arrived */
void recorders_tick(struct job *j, double now_s);                       /* send what was held long enough */
/* Send what is held, the collectives that ranks are inside of, and the last line; free all recorders. */
void recorders_end(struct job *j, const char *why);

#endif
