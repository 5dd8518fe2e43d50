/* server.h - the controller at work: its listener, what time brings, its configuration. */
#ifndef SYNCGUARD_DAEMON_SERVER_H
#define SYNCGUARD_DAEMON_SERVER_H

#include "daemon/controller.h"
#include "daemon/peer.h"

/* Listen and serve once base runs.  NULL on failure. */
struct controller *server_new(struct event_base *base, const struct config *c, struct err *err);
void server_free(struct controller *s); /* NULL is fine; what is running is written to the store */
/* Take over another configuration: policies and rules, operators, log level; listener and store stay. All of
 * it, or nothing and -1. */
int server_configure(struct controller *s, const struct config *c, struct err *err);

/* What links report, for tests that have none: a frame that is to be JSON, and the peer's end. */
void server_frame(struct peer *p, const void *data, size_t bytes);
void server_gone(struct peer *p);

#endif
