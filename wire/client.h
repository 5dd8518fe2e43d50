/* client.h - ask the controller a question (sgctl, sgtop).
 * JSON in, JSON out, see doc/protocol.md. */
#ifndef SYNCGUARD_WIRE_CLIENT_H
#define SYNCGUARD_WIRE_CLIENT_H

#include <jansson.h>

#include "common/err.h"
#include "wire/link.h"

struct client;

struct client_options {
    const char *hosts;        /* as link_connect; all are tried in turn */
    const char *munge_socket; /* NULL: munge's own */
};

/* For {"query":"action"}: 32 hex digits of its own, so that what is asked twice is done once. */
#define CLIENT_KEY_BYTES 33
void client_key(char key[CLIENT_KEY_BYTES]);

/* ---- one question, waiting for the answer (sgctl) ---- */

/* Connects, asks, waits at most timeout_s.  Returns the answer (the caller's), or NULL with the reason: no
 * controller, refused, or the answer's own "error". */
json_t *client_ask(const struct client_options *o, const json_t *question, double timeout_s, struct err *err);

/* ---- a standing connection on the caller's loop (sgtop, sgctl record) ---- */

struct client_events {
    void (*answer)(struct client *c, json_t *answer, void *arg); /* lent; also those with an "error" */
    /* It went up, or went down and will be tried again. */
    void (*state)(struct client *c, bool up, const char *why, void *arg);
};
struct client *client_new(struct event_base *base, const struct client_options *o,
                          const struct client_events *events, void *arg);
/* -1 when it is not up now (nothing is queued: ask again from the next answer or timer). */
int client_send(struct client *c, const json_t *question);
void client_free(struct client *c); /* NULL is fine */

#endif
