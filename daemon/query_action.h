/* query_action.h - queries on actions and users' requests for them; logs the outcomes of all actions. */
#ifndef SYNCGUARD_DAEMON_QUERY_ACTION_H
#define SYNCGUARD_DAEMON_QUERY_ACTION_H

#include <jansson.h>

#include "daemon/peer.h"

/* Create c->actions, which server_free() frees, and resume the actions that the audit log has as pending. */
void query_actions_start(struct controller *c);

/* Start an action, check whether it could be started, or list actions. The caller owns the answer. */
json_t *query_action(struct peer *p, const json_t *q);
json_t *query_actions(struct peer *p, const json_t *q);

#endif
