/* link.h - an authenticated, sealed connection between two of our programs, on libevent.
 *
 * Each end presents a credential by munge and proves that it holds its secret key (identity.h).  The
 * connecting end accepts a controller whose credential was made by root, by a user whom its owner trusts
 * (SlurmUser, above all) or by its own user; nobody else is taken for a controller.  The accepting end learns
 * the peer's user, and the step if a trusted user vouches for one.  Both refuse an end of another cluster.
 * Every frame after that is sealed (seal.h): a replayed, reordered or altered one closes the link.  The size
 * of a frame is checked (LINK_FRAME_MAX) before memory is allocated.  A peer that does not finish the
 * handshake within LINK_HANDSHAKE_S is dropped, and so is one that does not read, at LINK_PENDING_MAX or
 * after 30 s.
 *
 * The accepting end asks munged on a thread (verifier.h), where many peers at once wait for their turn; the
 * connecting end in place: about two milliseconds.
 *
 * It does not reconnect, retry or log; that is up to its owner. */
#ifndef SYNCGUARD_WIRE_LINK_H
#define SYNCGUARD_WIRE_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "common/err.h"
#include "wire/identity.h"

struct config;
struct event_base;
struct link;
struct verifier;

/* The newest version of the protocol that this end speaks, and the oldest: a release speaks that of the
 * release before it, so that agents of running jobs are heard while the controller is upgraded, and after it.
 * Both ends speak the older one's newest version.  What stands before the versions are known, the head of a
 * handshake's messages (link.c) and the greeting, stays the same.  It is not sealed: a version whose
 * handshake has a flaw must not be spoken any more. */
#ifndef LINK_VERSION /* the test of an upgrade builds a newer one */
#define LINK_VERSION 2u
#endif
#define LINK_VERSION_OLDEST 2u
#define LINK_FRAME_MAX      (1u << 20)
#define LINK_PENDING_MAX    (16u << 20)
#define LINK_TRUSTED_MAX    4
#define LINK_HANDSHAKE_S    5

enum link_frame {
    LINK_JSON = 1,      /* a JSON object, see doc/protocol.md */
    LINK_TELEMETRY = 2, /* see telemetry.h */
};

struct link_events {
    void (*up)(struct link *l, void *arg); /* handshake done */
    void (*frame)(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg);
    void (*down)(struct link *l, const char *why, void *arg); /* once; the link is freed when it returns */
    /* So many bytes of frames have arrived that are not complete, or not handled yet; called when they
     * change.  NULL: not wanted. */
    void (*arriving)(struct link *l, size_t bytes, void *arg);
};

/* How an end presents itself, and whom it trusts.  Lent to the link, with all that it points to. */
struct link_end {
    const char *munge_socket; /* NULL: munge's default */
    /* NULL: a connecting end makes one of role user; an accepting one refuses all */
    const struct identity *identity;
    const char *cluster;             /* refuse an end of another; NULL or "": not checked */
    uid_t trusted[LINK_TRUSTED_MAX]; /* besides root and our own user */
    size_t n_trusted;
    struct verifier *verifier; /* accepting end only */
    double handshake_s;        /* its time limit; 0: LINK_HANDSHAKE_S. Tests set others */
};

/* Munge's socket, the cluster's name and the trusted users as configured; c is lent. */
void link_end_configure(struct link_end *end, const struct config *c);

/* Trust a user by name in addition; without effect when there is none of that name. */
void link_end_trust(struct link_end *end, const char *user);

/* hosts: "host[:port][,host[:port]...]"; the one at index, modulo their number, is tried, so pass 0, 1, 2
 * and so on.  Name resolution and connecting do not block.  NULL on
 * failure. */
struct link *link_connect(struct event_base *base, const char *hosts, unsigned index,
                          const struct link_end *end, const struct link_events *events, void *arg,
                          struct err *err);
/* Take over an accepted socket (closed on failure). */
struct link *link_accept(struct event_base *base, int fd, const struct link_end *end,
                         const struct link_events *events, void *arg, struct err *err);

/* 0; -1 when the link is not up, the frame too large or the peer too slow; in the last case the link goes
 * down. */
int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes);
/* The same of an object, which stays the caller's; -1 also if it cannot be written. */
static inline int link_send_json(struct link *l, const json_t *o)
{
    char *text = json_dumps(o, JSON_COMPACT);
    int rc = text ? link_send(l, LINK_JSON, text, strlen(text)) : -1;

    free(text);
    return rc;
}
/* On a loop with priorities: whether what arrives is handled before what arrives on links that are not
 * urgent. A new link is.  Without effect while a frame waits to be handled. */
void link_urgent(struct link *l, bool urgent);
size_t link_pending_bytes(const struct link *l); /* not yet taken by the kernel */
/* Read nothing more; what has arrived is not handled either. */
void link_ignore(struct link *l);
/* Accepting end, once up: the peer's user, who made its credential, or whose the step is that a trusted user
 * vouches for. */
uid_t link_uid(const struct link *l);
/* Accepting end, once up: what a trusted user vouches for about the peer's step (identity.h); NULL: the peer
 * is not the agent of such a step. */
const json_t *link_step(const struct link *l);
const char *link_peer(const struct link *l); /* "10.77.0.12:39412" or "host:port" */
/* Close without calling down. NULL is fine. */
void link_close(struct link *l);

#endif
