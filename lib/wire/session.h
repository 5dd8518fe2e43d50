/* session.h - the controller that sgctl, sgtop and sgplan connect to: --conf, --controller and
 * --munge-socket, which take precedence over the configuration. */
#ifndef SYNCGUARD_WIRE_SESSION_H
#define SYNCGUARD_WIRE_SESSION_H

#include <stdio.h>

#include "common/config.h"
#include "common/options.h"
#include "wire/client.h"

struct session {
    struct config config;
    char hosts[1024]; /* each with its port */
    struct client_options client;
};

struct session *session_open(const struct options *o, struct err *err);
void session_close(struct session *s); /* NULL is fine */

/* Is it the name of a job or step: 123, 123.0, 123_4 (of an array), 123+1 (of a het job)?  -1: no, with what
 * is accepted. */
int session_check_job(const char *job, struct err *err);

/* For completion (options_program.complete): the jobs, nodes and policies that the controller has now. Prints
 * nothing if the controller does not answer at once. */
void session_complete(const struct options *o, const char *name, FILE *out);

#endif
