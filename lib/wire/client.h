/* client.h - connections to the controller.
 * JSON in, JSON out, see doc/protocol.md. */
#ifndef SYNCGUARD_WIRE_CLIENT_H
#define SYNCGUARD_WIRE_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "wire/link.h"

struct client;

struct client_options {
    const char *hosts; /* as in link_connect(); all are tried in order */
    struct link_end end;
};

/* A random key of 32 hex digits for {"query":"action"}: an action that is requested twice with the same key
 * is taken once. */
#define CLIENT_KEY_BYTES 33
void client_key(char key[CLIENT_KEY_BYTES]);

/* ---- one query, blocking (sgctl) ---- */

/* Connects, sends the query and waits at most timeout_s.  Returns the answer, which the caller releases, or
 * NULL with the reason: no controller, rejected, or the answer's "error".  A list that comes in pages is
 * whole (wire/pages.h). */
json_t *client_ask(const struct client_options *o, const json_t *question, double timeout_s, struct err *err);

/* ---- several queries on one connection, blocking ---- */

struct client_call;

/* As client_ask(), and keep the connection for more: *call is the caller's.  NULL and no call on failure. */
json_t *client_call(struct client_call **call, const struct client_options *o, const json_t *question,
                    double timeout_s, struct err *err);
json_t *client_call_ask(struct client_call *call, const json_t *question, double timeout_s, struct err *err);
void client_call_end(struct client_call *call); /* NULL is fine */

/* ---- a persistent connection on the caller's event loop (sgtop, sgctl record, the agent) ---- */

struct client_events {
    void (*answer)(struct client *c, json_t *answer, void *arg); /* borrowed; may have an "error" */
    /* The connection is up, or is down and will be retried. */
    void (*state)(struct client *c, bool up, const char *why, void *arg);
};
struct client *client_new(struct event_base *base, const struct client_options *o,
                          const struct client_events *events, void *arg);
/* -1 when the connection is down; nothing is queued, so send again on the next answer or timer. */
int client_send(struct client *c, const json_t *question);
/* In the callback of an answer that makes no sense: close the connection and try again later. */
void client_reject(struct client *c, const char *why);
struct link *
client_link(struct client *c);      /* lent, for frames of telemetry; NULL while the connection is down */
void client_free(struct client *c); /* NULL is fine */

#endif
