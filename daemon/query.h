/* query.h - queries and commands of terminals (doc/protocol.md). */
#ifndef SYNCGUARD_DAEMON_QUERY_H
#define SYNCGUARD_DAEMON_QUERY_H

#include <jansson.h>

#include "daemon/peer.h"

/* Send one answer: the result or an error. */
void query_answer(struct peer *p, const json_t *question);

/* What the controller as a whole does, as in the answer to "status" without what depends on who asks. */
json_t *query_status(const struct controller *s);

#endif
