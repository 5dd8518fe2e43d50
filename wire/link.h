/* link.h - an authenticated, sealed connection between two of our programs, on libevent.
 *
 * The connecting end sends a munge credential whose encrypted payload contains a public key made for this
 * connection.  The accepting end learns the uid from munge and answers with its own public key; each end then proves
 * by a first sealed frame that it holds the session's keys.  Every later frame is sealed (seal.h): a replayed,
 * reordered or altered one closes the link.  The size of a frame is checked (LINK_FRAME_MAX) before memory is
 * allocated.  A peer that does not finish the handshake within 5 s is dropped, and so is one that does not read, at
 * LINK_PENDING_MAX or after 30 s.
 *
 * The connecting end knows that the accepting end holds the cluster's munge key, but not its uid.  Calls to munged
 * block for about a millisecond per connection; nothing else blocks.
 *
 * It does not reconnect, retry or log; that is up to its owner. */
#ifndef SYNCGUARD_WIRE_LINK_H
#define SYNCGUARD_WIRE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

struct event_base;
struct link;

#define LINK_VERSION     1u
#define LINK_FRAME_MAX   (1u << 20)
#define LINK_PENDING_MAX (16u << 20)

enum link_frame {
    LINK_JSON = 1,      /* a JSON object, see doc/protocol.md */
    LINK_TELEMETRY = 2, /* see telemetry.h */
};

struct link_events {
    void (*up)(struct link *l, void *arg); /* handshake done */
    void (*frame)(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg);
    void (*down)(struct link *l, const char *why, void *arg); /* once; the link is freed when it returns */
};

/* hosts: "host[:port][,host[:port]...]"; the one at index, modulo their number, is tried, so pass 0, 1, 2
 * and so on. munge_socket: NULL for munge's default.  Name resolution and connecting do not block.  NULL on
 * failure. */
struct link *link_connect(struct event_base *base, const char *hosts, unsigned index,
                          const char *munge_socket, const struct link_events *events, void *arg,
                          struct err *err);
/* Take over an accepted socket (closed on failure). */
struct link *link_accept(struct event_base *base, int fd, const char *munge_socket,
                         const struct link_events *events, void *arg, struct err *err);

/* 0; -1 when the link is not up, the frame too large or the peer too slow; in the last case the link goes
 * down. */
int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes);
/* On a loop with priorities: whether what arrives is handled before what arrives on links that are not urgent. A new link
 * is.  Without effect while a frame waits to be handled. */
void link_urgent(struct link *l, bool urgent);
size_t link_pending_bytes(const struct link *l); /* not yet taken by the kernel */
uid_t link_uid(const struct link *l);            /* accepting end, once up: the peer's uid by munge */
const char *link_peer(const struct link *l);     /* "10.77.0.12:39412" or "host:port" */
/* Close without calling down. NULL is fine. */
void link_close(struct link *l);

#endif
