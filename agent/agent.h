/* agent.h - one process a node and job step: drains the ranks' rings, makes them small, sends them on, and
 * applies what the controller asks for.  One loop, one thread. */
#ifndef SYNCGUARD_AGENT_AGENT_H
#define SYNCGUARD_AGENT_AGENT_H

#include "agent/arguments.h"
#include "common/err.h"

struct agent;

/* Takes the directory (only one agent can have it). NULL with the reason. */
struct agent *agent_new(const struct arguments *o, struct err *err);
/* Until SIGTERM or SIGINT (unblocked here) ends the step, or the directory is gone. */
void agent_run(struct agent *a);
void agent_free(struct agent *a); /* NULL is fine */

#endif
