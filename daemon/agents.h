/* agents.h - processes the messages of agents: jobs and their nodes, batches, notes.
 * All values are bounded before they are used. */
#ifndef SYNCGUARD_DAEMON_AGENTS_H
#define SYNCGUARD_DAEMON_AGENTS_H

#include <jansson.h>

#include "daemon/peer.h"

/* Slurm has confirmed the step: choose its policy by what Slurm says of it. */
void agents_confirmed(struct controller *s, struct job *j);

void agents_hello(struct peer *p, const json_t *hello);
void agents_message(struct peer *p, const json_t *o); /* a JSON frame after the hello */
void agents_batch(struct peer *p, const void *data, size_t bytes);
void agents_ack(struct peer *p);  /* acknowledge the batches that arrived since the last call */
void agents_gone(struct peer *p); /* the agent's link is closed */

/* Forget a step, which has no agent connected. */
void agents_forget(struct controller *s, struct job *j);
/* Forget an ended step where those in memory take much.  False: none is to be forgotten now. */
bool agents_let_go(struct controller *s, double now_s);

#endif
