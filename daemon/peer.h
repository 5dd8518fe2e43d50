/* peer.h - whatever is connected to the controller: its first frame says whether it is an agent or a terminal. */
#ifndef SYNCGUARD_DAEMON_PEER_H
#define SYNCGUARD_DAEMON_PEER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/controller.h"
#include "wire/link.h"

#define PEERS_MAX 20000u

struct peer {
    struct peer *next, **back;
    struct controller *controller;
    struct link *link;
    bool up;
    /* An agent: its job and its place there.  A terminal: the job it records, if any. */
    struct job *job;
    struct job_agent *agent;
    struct job *recording;
    uint64_t acked;
};

void peer_add(struct controller *c, struct peer *p); /* its controller's from now on */
void peer_forget(struct peer *p);                    /* and free it; its link is gone */
void peer_drop(struct peer *p);                      /* close its link, and forget it */
void peer_send(struct peer *p, json_t *o);           /* takes o */

/* The frame that has an agent do what it should now: rate of samples, whole recordings, pacing. */
void peer_instruct(struct peer *p);
void peers_instruct(struct controller *c, struct job *j); /* all agents of the job */

#endif
