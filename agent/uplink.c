#include "agent/uplink.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "common/config.h"
#include "common/hosts.h"
#include "common/now.h"
#include "common/xalloc.h"
#include "wire/json.h"
#include "wire/link.h"

#define PENDING_BYTES (512u << 10) /* limit of bytes queued in the link */

struct uplink {
    struct event_base *base;
    char *hosts, *munge_socket;
    struct backlog *backlog;
    struct uplink_events events;
    void *arg;
    struct event *retry;
    struct link *link;
    bool ready;
    char controller[64]; /* id of the last controller's process; "" at first */
    uint64_t send_next;
    int n_hosts;
    unsigned index, failures;
};

static void try_later(struct uplink *u, const char *why)
{
    double s;
    struct timeval tv;

    u->link = NULL;
    u->ready = false;
    u->failures++;
    u->index++;
    s = hosts_retry_s(u->failures, u->n_hosts);
    tv = (struct timeval){ .tv_sec = (time_t)s, .tv_usec = (suseconds_t)((s - (double)(time_t)s) * 1e6) };
    event_add(u->retry, &tv);
    u->events.trouble(why, u->arg);
}

/* Reconnect, because the controller sent something invalid. */
static void reject(struct uplink *u, const char *why)
{
    struct err err;

    err_set(&err, "%s: %s", link_peer(u->link), why);
    link_close(u->link);
    try_later(u, err.text);
}

static void handle_welcome(struct uplink *u, const json_t *message)
{
    const char *controller = get_string(message, "controller");
    int64_t have = get_int(message, "batch", INT64_MIN, INT64_MAX, 0);
    bool fresh;

    if (!controller || strlen(controller) >= sizeof(u->controller) || have < 0) {
        reject(u, "invalid welcome");
        return;
    }
    fresh = strcmp(controller, u->controller) != 0;
    strcpy(u->controller, controller);
    u->failures = 0;
    backlog_ack(u->backlog, (uint64_t)have, now_s());
    u->send_next = (uint64_t)have + 1;
    u->ready = true;
    u->events.ready(fresh, u->send_next, u->arg);
    uplink_pump(u);
}

static void handle_json(struct uplink *u, const json_t *message)
{
    const json_t *control = get_object(message, "control");
    int64_t ack = get_int(message, "ack", 0, INT64_MAX, 0);

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

static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct uplink *u = arg;
    json_t *message = type == LINK_JSON ? json_loadb(data, bytes, 0, NULL) : NULL;

    (void)l;
    if (json_is_object(message))
        handle_json(u, message);
    else
        reject(u, "a frame that is not a JSON object");
    json_decref(message);
}

static void on_up(struct link *l, void *arg)
{
    struct uplink *u = arg;
    json_t *hello = u->events.hello(u->arg);
    char *text = json_dumps(hello, JSON_COMPACT);

    json_decref(hello);
    link_send(l, LINK_JSON, text, strlen(text));
    free(text);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    struct uplink *u = arg;
    struct err err;

    err_set(&err, "%s: %s", link_peer(l), why);
    try_later(u, err.text);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };
    struct uplink *u = arg;
    struct err err;

    (void)fd;
    (void)what;
    u->link = link_connect(u->base, u->hosts, u->index, u->munge_socket, &events, u, &err);
    if (!u->link)
        try_later(u, err.text);
}

struct uplink *uplink_new(struct event_base *base, const char *hosts, const char *munge_socket,
                          struct backlog *backlog, const struct uplink_events *events, void *arg)
{
    struct uplink *u = xcalloc(1, sizeof(*u));

    u->base = base;
    u->hosts = xstrdup(hosts);
    u->munge_socket = xstrdup(munge_socket);
    u->backlog = backlog;
    u->events = *events;
    u->arg = arg;
    u->n_hosts = hosts_pick(hosts, 0, CONFIG_DEFAULT_PORT, NULL, NULL);
    u->retry = evtimer_new(base, on_retry, u);
    if (!u->retry) {
        uplink_free(u);
        return NULL;
    }
    event_active(u->retry, EV_TIMEOUT, 0);
    return u;
}

void uplink_free(struct uplink *u)
{
    if (!u)
        return;
    link_close(u->link);
    if (u->retry)
        event_free(u->retry);
    free(u->hosts);
    free(u->munge_socket);
    free(u);
}

bool uplink_ready(const struct uplink *u)
{
    return u->ready;
}

void uplink_json(struct uplink *u, json_t *message)
{
    char *text = u->ready ? json_dumps(message, JSON_COMPACT) : NULL;

    if (text)
        link_send(u->link, LINK_JSON, text, strlen(text));
    free(text);
    json_decref(message);
}

void uplink_batch(struct uplink *u, const void *data, size_t bytes)
{
    if (u->ready)
        link_send(u->link, LINK_TELEMETRY, data, bytes);
}

void uplink_pump(struct uplink *u)
{
    const void *data;
    size_t bytes;

    if (!u->ready)
        return;
    if (u->send_next < backlog_first(u->backlog))
        u->send_next = backlog_first(u->backlog);
    while (link_pending_bytes(u->link) < PENDING_BYTES &&
           (data = backlog_get(u->backlog, u->send_next, &bytes))) {
        if (link_send(u->link, LINK_TELEMETRY, data, bytes) < 0)
            return;
        u->send_next++;
    }
}

bool uplink_sent(const struct uplink *u)
{
    return u->ready && u->send_next == backlog_next(u->backlog);
}

bool uplink_through(const struct uplink *u)
{
    return uplink_sent(u) && !link_pending_bytes(u->link) &&
           backlog_acked(u->backlog) + 1 == backlog_next(u->backlog);
}
