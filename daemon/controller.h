/* controller.h - the controller's data, shared by its modules: configuration, jobs, peers, databases,
 * decisions and actions. Only data; server.c creates and frees it. One loop, one thread. */
#ifndef SYNCGUARD_DAEMON_CONTROLLER_H
#define SYNCGUARD_DAEMON_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config.h"
#include "common/now.h"
#include "daemon/operators.h"
#include "history/lease.h"
#include "job/jobs.h"
#include "wire/link.h"

struct accounting;
struct actions;
struct audit;
struct bounds;
struct controls;
struct event;
struct event_base;
struct evconnlistener;
struct history;
struct jobtime;
struct metrics;
struct peer;
struct store;

struct controller {
    struct event_base *base;
    struct config config;
    struct operators operators;
    uint64_t instance; /* random number of this process of the controller */
    double start_s;
    struct jobs jobs;
    struct store *store; /* NULL: the controller runs without a history */
    struct history *history;
    struct audit *audit;
    struct jobtime *jobtime;
    struct accounting *accounting;
    struct actions *actions;
    struct lease *lease; /* NULL: it is the only controller; borrowed */
    struct controls *controls;
    struct bounds *bounds;
    struct metrics *metrics; /* NULL: off */
    struct peer *peers;
    size_t n_peers;
    uint64_t batches;
    bool history_full;               /* nothing is added to it for want of space */
    int64_t unlisted;                /* steps of an earlier release that are not in its list yet */
    double history_per_day_bytes;    /* by which it grows; NaN: not known yet */
    double batches_per_s, cpu_ratio; /* averages over the last seconds */
    char host[64];
    void (*gone)(struct peer *p); /* called before a peer is freed */
    struct link_end end;          /* how it presents itself to peers, and whom it trusts to vouch for steps */
    /* private to server.c */
    struct identity *identity; /* NULL: munged has not answered yet */
    bool munge_failed;
    struct evconnlistener *listener;
    struct event *tick;
    double rated_s, rated_cpu_s;
    uint64_t rated_batches;
    unsigned ticks;
    double history_from_s, history_from_bytes; /* when its growth was first looked at */
    double answers_s;                          /* that terminals' questions took since the last tick */
};

/* Seconds of the monotonic clock. */
static inline double controller_now_s(void)
{
    return now_s();
}

/* Whether the controller is still the active one, by its own clock. */
static inline bool controller_is_active(const struct controller *c)
{
    return !c->lease || lease_held(c->lease, lease_now_s());
}

#endif
