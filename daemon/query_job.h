/* query_job.h - which jobs a terminal may see, and why it does not get one that it asks for. */
#ifndef SYNCGUARD_DAEMON_QUERY_JOB_H
#define SYNCGUARD_DAEMON_QUERY_JOB_H

#include <jansson.h>
#include <stdbool.h>

#include "daemon/peer.h"

/* The user whose jobs the terminal sees; UINT32_MAX: everybody's. */
uid_t query_sees(const struct peer *p);

/* The job or step of that name; running: only if it has not ended.  NULL with the reason: it has ended, is
 * somebody else's, or is not known. */
struct job *query_job(const struct peer *p, const char *text, bool running, struct err *err);
/* The last report of a step that is only in the history; the caller's.  NULL: there is none. */
json_t *query_job_stored(const struct peer *p, const char *text);
/* Is there either of them?  false with the reason. */
bool query_job_known(const struct peer *p, const char *text, struct err *err);

#endif
