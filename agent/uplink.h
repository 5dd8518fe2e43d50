/* uplink.h - the agent's connection to the controller: comes back by itself, and sends every batch of the
 * backlog that the controller does not have yet, in order.
 *
 * Little is given to the link at a time: what waits, waits in the backlog, which is bounded. */
#ifndef SYNCGUARD_AGENT_UPLINK_H
#define SYNCGUARD_AGENT_UPLINK_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/backlog.h"

struct event_base;
struct uplink;

struct uplink_events {
    json_t *(*hello)(void *arg); /* the first frame of a connection, the uplink's */
    /* The controller is there and lacks the batches from `lacks` on. fresh: it is not the one from before,
     * and knows nothing.  What is sent from here arrives before any batch of the backlog. */
    void (*ready)(bool fresh, uint64_t lacks, void *arg);
    void (*control)(const json_t *control, void *arg);
    void (*trouble)(const char *why, void *arg); /* the connection is lost or does not come about */
};

struct uplink *uplink_new(struct event_base *base, const char *hosts, const char *munge_socket,
                          struct backlog *backlog, const struct uplink_events *events, void *arg);
void uplink_free(struct uplink *u); /* NULL is fine */

bool uplink_ready(const struct uplink *u);
/* Takes the message; it is lost when the controller is not there. */
void uplink_json(struct uplink *u, json_t *message);
/* Send a batch that is not in the backlog, numbered like those that it has given up. */
void uplink_batch(struct uplink *u, const void *data, size_t bytes);
/* Send on from the backlog, as much as the link takes. */
void uplink_pump(struct uplink *u);
bool uplink_sent(const struct uplink *u);    /* all of the backlog is in the link */
bool uplink_through(const struct uplink *u); /* the kernel has taken it, and the controller acknowledged it */

#endif
