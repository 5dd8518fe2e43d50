/* agent.h - one process per node and job step: drains the ranks' rings, summarises their events, sends them
 * to the controller, and applies what the controller asks for.  One loop, one thread. */
#ifndef SYNCGUARD_AGENT_AGENT_H
#define SYNCGUARD_AGENT_AGENT_H

#include "agent/arguments.h"
#include "common/err.h"

struct agent;

/* Lock the step's directory, which only one agent may serve, and prepare.  o must outlive the agent.  NULL
 * with the reason. */
struct agent *agent_new(const struct agent_arguments *o, struct err *err);
/* Run until SIGTERM or SIGINT, which are unblocked here, or until the directory is removed. */
void agent_run(struct agent *a);
void agent_free(struct agent *a); /* NULL is fine */

#endif
