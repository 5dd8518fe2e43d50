/* server.h - the controller: its listener, its peers, the jobs it knows, its store.  One loop, one thread.
 * A peer is whatever connected: its first frame says whether it is an agent or a terminal. */
#ifndef SYNCGUARD_DAEMON_SERVER_H
#define SYNCGUARD_DAEMON_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/config.h"
#include "common/err.h"
#include "job/job.h"
#include "wire/link.h"

#define PEERS_MAX 20000u

struct accounting;
struct actions;
struct controls;
struct event_base;
struct history;
struct jobtime;
struct store;
struct server;

struct peer {
    struct peer *next, **back;
    struct server *server;
    struct link *link;
    bool up;
    /* An agent: its job and its place there.  A terminal: the job it records, if any. */
    struct job *job;
    struct job_agent *agent;
    struct job *recording;
    uint64_t acked;
};

struct server {
    struct event_base *base;
    struct config config;
    uid_t slurm_uid; /* UINT32_MAX: there is no such user */
    uid_t operators[64];
    size_t n_operators;
    uint64_t life; /* this controller's */
    double start_s;
    struct jobs jobs;
    struct store *store; /* NULL: works without */
    struct history *history;
    struct jobtime *jobtime;
    struct accounting *accounting;
    struct actions *actions;
    struct controls *controls;
    struct peer *peers;
    size_t n_peers;
    uint64_t batches;
    double batches_per_s, cpu_ratio; /* over the last seconds */
    char host[64];
    /* private to server.c */
    struct evconnlistener *listener;
    struct event *tick;
    double rated_s, rated_cpu_s;
    uint64_t rated_batches;
    unsigned ticks;
};

/* Listen and serve once base runs.  NULL on failure. */
struct server *server_new(struct event_base *base, const struct config *c, struct err *err);
void server_free(struct server *s); /* NULL is fine; what is running is written to the store */
/* Take over another configuration: policies and rules, operators, log level; listener and store stay. All of
 * it, or nothing and -1. */
int server_configure(struct server *s, const struct config *c, struct err *err);

double server_now_s(void);                                        /* monotonic */
bool server_is_operator(const struct server *s, uid_t uid);       /* root, SlurmUser, listed */
void server_send(struct peer *p, json_t *o);                      /* takes o */
void server_json(struct peer *p, const void *data, size_t bytes); /* a frame that is to be JSON */
void server_drop(struct peer *p);                                 /* close its link and forget it */

/* agents.c: frames of an agent */
void agents_hello(struct peer *p, const json_t *hello);
void agents_json(struct peer *p, const json_t *o);
void agents_batch(struct peer *p, const void *data, size_t bytes);
void agents_gone(struct peer *p);                     /* its link went */
void agents_control(struct server *s, struct job *j); /* tell all agents of the job what they should send */
void agents_ack(struct peer *p);

/* query.c: a terminal's question */
void query_answer(struct peer *p, const json_t *question);

/* query_action.c: actions by hand, and what the controller says of all */
void server_open_actions(struct server *s, const struct config *c);
json_t *query_action(struct peer *p, const json_t *q);
json_t *query_actions(struct peer *p, const json_t *q);

#endif
