/* agents.h - what agents send, and what comes of it: jobs and their nodes, batches, notes.
 * Whatever they send is bounded before it is believed. */
#ifndef SYNCGUARD_DAEMON_AGENTS_H
#define SYNCGUARD_DAEMON_AGENTS_H

#include <jansson.h>

#include "daemon/peer.h"

void agents_hello(struct peer *p, const json_t *hello);
void agents_message(struct peer *p, const json_t *o); /* a JSON frame after the hello */
void agents_batch(struct peer *p, const void *data, size_t bytes);
void agents_ack(struct peer *p);  /* the batches that came since the last time */
void agents_gone(struct peer *p); /* its link went */

#endif
