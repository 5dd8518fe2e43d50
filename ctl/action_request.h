/* action_request.h - sgctl action, sgctl node: request an action from the controller, and report how it
 * ended. */
#ifndef SYNCGUARD_CTL_ACTION_REQUEST_H
#define SYNCGUARD_CTL_ACTION_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "wire/client.h"

enum {
    ACTION_REQUEST_DONE = 0,
    ACTION_REQUEST_FAILED = 1,
    ACTION_REQUEST_USAGE = 2,
    ACTION_REQUEST_PENDING = 3
}; /* exit codes */

struct action_request_options {
    struct client_options client;
    double timeout_s; /* of one question */
    bool dry_run, yes, json;
};

/* The question for the words behind `sgctl action` (JOB WHAT [MORE...]) or `sgctl node` (NODE WHAT
 * [TEXT...]); the caller's. NULL with what is accepted. */
json_t *action_request_on_job(char *const *words, int n, struct err *err);
json_t *action_request_on_node(char *const *words, int n, struct err *err);

/* Ask, have it confirmed, wait for the end.  Takes the question; returns an exit code, err is set unless it
 * is ACTION_REQUEST_DONE. */
int action_request_run(const struct action_request_options *o, json_t *question, struct err *err);

#endif
