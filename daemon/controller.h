/* controller.h - what the controller has, for all of its parts: configuration, jobs, peers, databases, and those
 * who decide and act. Data alone; server.c fills it in and lets go of it. One loop, one thread. */
#ifndef SYNCGUARD_DAEMON_CONTROLLER_H
#define SYNCGUARD_DAEMON_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "common/config.h"
#include "common/now.h"
#include "job/jobs.h"

struct accounting;
struct actions;
struct controls;
struct event;
struct event_base;
struct evconnlistener;
struct history;
struct jobtime;
struct peer;
struct store;

struct controller {
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
    void (*gone)(struct peer *p); /* a peer is about to be forgotten */
    /* private to server.c */
    struct evconnlistener *listener;
    struct event *tick;
    double rated_s, rated_cpu_s;
    uint64_t rated_batches;
    unsigned ticks;
};

/* By the clock that only goes forwards. */
static inline double controller_now_s(void)
{
    return now_s();
}

/* root, SlurmUser, or listed. */
static inline bool controller_is_operator(const struct controller *c, uid_t uid)
{
    if (uid == 0 || uid == c->slurm_uid || uid == geteuid())
        return true;
    for (size_t i = 0; i < c->n_operators; i++)
        if (c->operators[i] == uid)
            return true;
    return false;
}

#endif
