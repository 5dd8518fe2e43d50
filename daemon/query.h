/* query.h - queries and commands of terminals (doc/protocol.md). */
#ifndef SYNCGUARD_DAEMON_QUERY_H
#define SYNCGUARD_DAEMON_QUERY_H

#include <jansson.h>

#include "daemon/peer.h"
#include "report/report_status.h"

/* Send one answer: the result or an error. */
void query_answer(struct peer *p, const json_t *question);

/* What the controller as a whole does, without what depends on who asks; report_status_free(). */
void query_status(struct report_status *status, const struct controller *s);

#endif
