/* query_action.h - actions by hand, and what is logged of all: those of rules, too. */
#ifndef SYNCGUARD_DAEMON_QUERY_ACTION_H
#define SYNCGUARD_DAEMON_QUERY_ACTION_H

#include <jansson.h>

#include "daemon/peer.h"

/* Open the book of actions; without it they are forgotten at a restart. */
void query_action_open(struct controller *c, const struct config *config);

/* Begin one, or look whether it could be begun; list them. The answer is the caller's. */
json_t *query_action(struct peer *p, const json_t *q);
json_t *query_actions(struct peer *p, const json_t *q);

#endif
