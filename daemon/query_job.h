/* query_job.h - the jobs that a terminal may see, and the reasons why a job is not available. */
#ifndef SYNCGUARD_DAEMON_QUERY_JOB_H
#define SYNCGUARD_DAEMON_QUERY_JOB_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/peer.h"

/* {"error": text} */
json_t *query_error(const char *text);

/* The user whose jobs the terminal may see; UINT32_MAX: all users. */
uid_t query_sees(const struct peer *p);
bool query_may_see(const struct peer *p, const struct job *j);

/* The job or step, or that run of it, that the query names; running: only if it has not ended.  NULL with a
 * reason: it has ended, is another user's, or does not exist. */
struct job *query_job(const struct peer *p, const json_t *q, bool running, struct err *err);
/* The last report of a step, or of that run of it, that is only in the history; the caller owns it.  NULL:
 * there is none. */
json_t *query_job_stored(const struct peer *p, const json_t *q);
/* Let the ages in a stored report or row (age_s: of itself, its agents and events) count from now, not from
 * when it was saved. */
void query_job_age(json_t *report, double now_wall_s);
/* Whether the job is in memory or in the history.  false with a reason. */
bool query_job_known(const struct peer *p, const json_t *q, struct err *err);

#endif
