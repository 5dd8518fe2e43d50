/* query.h - the questions and commands of terminals (doc/protocol.md). */
#ifndef SYNCGUARD_DAEMON_QUERY_H
#define SYNCGUARD_DAEMON_QUERY_H

#include <jansson.h>

#include "daemon/peer.h"

/* Sends one answer: what was asked for, or why not. */
void query_answer(struct peer *p, const json_t *question);

#endif
