/* server.h - runs the controller: its listener, its periodic work, its configuration. */
#ifndef SYNCGUARD_DAEMON_SERVER_H
#define SYNCGUARD_DAEMON_SERVER_H

#include "daemon/controller.h"
#include "daemon/peer.h"

/* Listen and serve once base runs.  lease: held by this controller, borrowed until server_free(); NULL: it is
 * the only one, and works without databases that it cannot open.  NULL on failure. */
struct controller *server_new(struct event_base *base, const struct config *c, struct lease *lease,
                              struct err *err);
void server_free(struct controller *s); /* NULL is fine; saves running steps */
/* Another controller may be active: end what is under way in Slurm's programs, and write nothing more. */
void server_abandon(struct controller *s);
/* Apply another configuration: policies and rules, operators, log level; listener and store stay. On failure
 * nothing changes, and -1 is returned with a reason. */
int server_configure(struct controller *s, const struct config *c, struct err *err);

/* The events of a link, for tests without links: a JSON frame, and the end of the peer. */
void server_frame(struct peer *p, const void *data, size_t bytes);
void server_gone(struct peer *p);

#endif
