/* guard.h - what stands around a program without Slurm: munged with a key of its own, a controller, and the
 * agent that reads the ranks' rings. Around one on several hosts the controller is on one host, an agent on
 * each of the others.
 *
 * The controller takes part in nothing else: it knows this one job, as JOB, keeps no history and cannot reach
 * Slurm, whose job of that number is somebody else's. */
#ifndef SYNCGUARD_RUN_GUARD_H
#define SYNCGUARD_RUN_GUARD_H

#include <stdbool.h>

#include <jansson.h>

#include "common/config.h"
#include "run/assignment.h"
#include "run/process.h"
#include "run/workspace.h"

#define GUARD_JOB "1"

struct guard {
    struct workspace workspace;
    struct process munged, controller, agent;
    char conf[WORKSPACE_SIZE]; /* of the controller, for sgctl and sgtop */
    struct config *config;     /* what that file says */
    unsigned char key[ASSIGNMENT_KEY_BYTES];
    bool has_controller, has_agent;
};

struct guard_plan {
    const struct config *config; /* the site's or the user's: policies, and where agent and probe are */
    const struct config_policy *policy; /* of that */
    bool policy_asked;                  /* by the user */
    const char *name;                   /* of the job */
    /* Of this host: where the controller listens, for agents of other hosts; there is none on this one. NULL:
     * the controller listens on 127.0.0.1, and the agent is here. */
    const char *address;
};

/* Everything runs and is connected when this returns.  0, or -1 with the reason, and nothing is left. */
int guard_start(struct guard *g, const struct guard_plan *plan, struct err *err);
/* The same on one of several hosts: munged and agent of a run whose controller is elsewhere. */
int guard_join(struct guard *g, const struct assignment *assignment, struct err *err);

/* What the controller says of the job, which the caller releases; NULL with the reason. */
json_t *guard_ask(const struct guard *g, struct err *err);
/* All ranks have ended: the agent reads what they left and ends, and the controller has it all, as far as
 * either is here. False where that was not seen. */
bool guard_settle(struct guard *g);
/* The last line that a service wrote, for messages; "" if there is none. */
void guard_last_words(const struct guard *g, const char *service, char *line, size_t size);
void guard_end(struct guard *g);

/* A program of ours, installed beside this one, or its name alone. Not freed. */
const char *guard_program(const char *name, char path[WORKSPACE_SIZE]);

#endif
