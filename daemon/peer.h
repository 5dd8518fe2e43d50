/* peer.h - a connection to the controller; its first frame shows whether it is an agent or a terminal. */
#ifndef SYNCGUARD_DAEMON_PEER_H
#define SYNCGUARD_DAEMON_PEER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/controller.h"

struct bounds_address;
struct bounds_user;

#define PEERS_MAX 20000u

struct peer {
    struct peer *next, **back;
    struct controller *controller;
    struct link *link;
    bool up;
    bool refused;                   /* the peer knows why; its connection is closed soon */
    struct bounds_user *user;       /* once it is up */
    struct bounds_address *address; /* until it is up */
    /* An agent: its job and its place there.  A terminal: the job it records, if any. */
    struct job *job;
    struct job_agent *agent;
    struct job *recording;
    struct query_order *order; /* query_rows.h; one piece of memory, freed with the peer */
    uint64_t acked;
    double arriving; /* bytes of frames that are not complete */
};

void peer_add(struct controller *c, struct peer *p); /* the controller owns it from now on */
void peer_forget(struct peer *p);                    /* free it after its link closed */
void peer_drop(struct peer *p);                      /* close its link and free it */
void peer_send(struct peer *p, json_t *o);           /* takes the reference of o */
/* Send the reason and close the connection soon; what it sends until then is ignored. */
void peer_refuse(struct peer *p, const char *why);
/* The handshake is finished: the connection is its user's from now on. */
void peer_up(struct peer *p);

/* Send an agent its current instructions: rate of samples, complete recordings, pacing. */
void peer_instruct(struct peer *p);
void peers_instruct(struct controller *c, struct job *j); /* all agents of the job */

#endif
