/* act.h - sgctl action, sgctl node: ask the controller to do something, and say how it ended. */
#ifndef SYNCGUARD_CTL_ACT_H
#define SYNCGUARD_CTL_ACT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "wire/client.h"

enum { ACT_DONE = 0, ACT_FAILED = 1, ACT_USAGE = 2, ACT_PENDING = 3 }; /* exit codes */

struct act_options {
    struct client_options client;
    double timeout_s; /* of one question */
    bool dry_run, yes, json;
};

/* The question for the words behind `sgctl action` (JOB WHAT [MORE...]) or `sgctl node` (NODE WHAT
 * [TEXT...]); the caller's. NULL with what is accepted. */
json_t *act_on_job(char *const *words, int n, struct err *err);
json_t *act_on_node(char *const *words, int n, struct err *err);

/* Ask, have it confirmed, wait for the end.  Takes the question; returns an exit code, err is set unless it
 * is ACT_DONE. */
int act_run(const struct act_options *o, json_t *question, struct err *err);

#endif
