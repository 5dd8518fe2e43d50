/* uplink.h - the agent's connection to the controller.  It reconnects by itself, and sends, in order, every
 * batch of the backlog that the controller lacks.
 *
 * The link gets little data at a time; the rest waits in the backlog, which is bounded. */
#ifndef SYNCGUARD_AGENT_UPLINK_H
#define SYNCGUARD_AGENT_UPLINK_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/backlog.h"

struct event_base;
struct link_end;
struct uplink;

struct uplink_events {
    json_t *(*hello)(void *arg); /* returns the first frame of a connection; the uplink frees it */
    /* The controller is connected and lacks the batches from number `lacks` on.  fresh: it has been restarted
     * and knows nothing.  Batches that this callback sends arrive before those of the backlog. */
    void (*ready)(bool fresh, uint64_t lacks, void *arg);
    void (*control)(const json_t *control, void *arg);
    void (*trouble)(const char *why, void *arg); /* the connection was lost or could not be made */
};

struct uplink *uplink_new(struct event_base *base, const char *hosts, const struct link_end *end,
                          struct backlog *backlog, const struct uplink_events *events, void *arg);
void uplink_free(struct uplink *u); /* NULL is fine */

bool uplink_ready(const struct uplink *u);
/* The newest kind of item that the controller can read; known once it has been connected. */
unsigned uplink_newest_item(const struct uplink *u);
/* Takes the message, which is dropped when the controller is not connected. */
void uplink_json(struct uplink *u, json_t *message);
/* Send a batch that is not in the backlog, under a number that the backlog has dropped. */
void uplink_batch(struct uplink *u, const void *data, size_t bytes);
/* Send from the backlog as much as the link takes. */
void uplink_pump(struct uplink *u);
bool uplink_sent(const struct uplink *u);    /* the whole backlog was passed to the link */
bool uplink_through(const struct uplink *u); /* ... and sent, and the controller has acknowledged it */

#endif
