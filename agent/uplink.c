#include "agent/uplink.h"

#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "wire/client.h"
#include "wire/json.h"
#include "wire/telemetry.h"

#define PENDING_BYTES (512u << 10) /* limit of bytes queued in the link */

struct uplink {
    struct client *client;
    struct backlog *backlog;
    struct uplink_events events;
    void *arg;
    bool ready;          /* connected and welcome */
    char controller[64]; /* id of the last controller's process; "" at first */
    unsigned newest_item;
    uint64_t send_next;
};

static void handle_welcome(struct uplink *u, const json_t *message)
{
    const char *controller = json_get_string(message, "controller");
    int64_t have = json_get_int(message, "batch", INT64_MIN, INT64_MAX, 0);
    bool fresh;

    if (!controller || strlen(controller) >= sizeof(u->controller) || have < 0) {
        client_reject(u->client, "invalid welcome");
        return;
    }
    fresh = strcmp(controller, u->controller) != 0;
    strcpy(u->controller, controller);
    u->newest_item = (unsigned)json_get_int(message, "items", 1, UINT8_MAX, TELEMETRY_UNNAMED);
    backlog_ack(u->backlog, (uint64_t)have, now_s());
    u->send_next = (uint64_t)have + 1;
    u->ready = true;
    u->events.ready(fresh, u->send_next, u->arg);
    uplink_pump(u);
}

static void on_message(struct client *c, json_t *message, void *arg)
{
    struct uplink *u = arg;
    const json_t *control = json_get_object(message, "control");
    int64_t ack = json_get_int(message, "ack", 0, INT64_MAX, 0);

    (void)c;
    if (json_object_get(message, "welcome")) {
        handle_welcome(u, message);
    } else if (json_is_integer(json_object_get(message, "ack"))) {
        if (ack > 0)
            backlog_ack(u->backlog, (uint64_t)ack, now_s());
        if (u->ready)
            uplink_pump(u);
    } else if (control) {
        u->events.control(control, u->arg);
    }
}

static void on_state(struct client *c, bool up, const char *why, void *arg)
{
    struct uplink *u = arg;
    json_t *hello;

    u->ready = false;
    if (!up) {
        u->events.trouble(why, u->arg);
        return;
    }
    hello = u->events.hello(u->arg);
    client_send(c, hello);
    json_decref(hello);
}

struct uplink *uplink_new(struct event_base *base, const char *hosts, const struct link_end *end,
                          struct backlog *backlog, const struct uplink_events *events, void *arg)
{
    static const struct client_events client_events = { on_message, on_state };
    const struct client_options options = { .hosts = hosts, .end = *end };
    struct uplink *u = xcalloc(1, sizeof(*u));

    u->backlog = backlog;
    u->events = *events;
    u->arg = arg;
    u->client = client_new(base, &options, &client_events, u);
    if (!u->client) {
        uplink_free(u);
        return NULL;
    }
    return u;
}

void uplink_free(struct uplink *u)
{
    if (!u)
        return;
    client_free(u->client);
    free(u);
}

bool uplink_ready(const struct uplink *u)
{
    return u->ready;
}

unsigned uplink_newest_item(const struct uplink *u)
{
    return u->newest_item;
}

void uplink_json(struct uplink *u, json_t *message)
{
    if (u->ready)
        client_send(u->client, message);
    json_decref(message);
}

void uplink_batch(struct uplink *u, const void *data, size_t bytes)
{
    if (u->ready)
        link_send(client_link(u->client), LINK_TELEMETRY, data, bytes);
}

void uplink_pump(struct uplink *u)
{
    struct link *link = client_link(u->client);
    const void *data;
    size_t bytes;

    if (!u->ready)
        return;
    if (u->send_next < backlog_state_get(u->backlog)->first)
        u->send_next = backlog_state_get(u->backlog)->first;
    while (link_pending_bytes(link) < PENDING_BYTES &&
           (data = backlog_get(u->backlog, u->send_next, &bytes))) {
        if (link_send(link, LINK_TELEMETRY, data, bytes) < 0)
            return;
        u->send_next++;
    }
}

bool uplink_sent(const struct uplink *u)
{
    return u->ready && u->send_next == backlog_state_get(u->backlog)->next;
}

bool uplink_through(const struct uplink *u)
{
    return uplink_sent(u) && !link_pending_bytes(client_link(u->client)) &&
           backlog_state_get(u->backlog)->acked + 1 == backlog_state_get(u->backlog)->next;
}
