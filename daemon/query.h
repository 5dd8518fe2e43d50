/* query.h - queries and commands of terminals (doc/protocol.md). */
#ifndef SYNCGUARD_DAEMON_QUERY_H
#define SYNCGUARD_DAEMON_QUERY_H

#include <jansson.h>

#include "daemon/peer.h"

/* Send one answer: the result or an error. */
void query_answer(struct peer *p, const json_t *question);

#endif
