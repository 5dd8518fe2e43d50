/* connections.h - what this user's TCP connections send to other addresses, and how long they have something
 * under way.
 *
 * The kernel counts for each connection the bytes that the other side has acknowledged, and the time in which
 * some were not (tcp_info: bytes acked, busy time).  A slow adapter or link makes that time longer for the
 * same bytes, whatever the library does with its connections.  Time that a connection waits for the program
 * at the other end to read is left out.  Asked by a netlink socket (sock_diag(7)), without privileges;
 * nothing is changed, and it never waits.
 *
 * To find connections the kernel walks through a table of all that the node could have, which takes
 * milliseconds of a CPU.  It is done seldom; those that have sent most are then asked for one by one. */
#ifndef SYNCGUARD_NODEFIGURES_CONNECTIONS_H
#define SYNCGUARD_NODEFIGURES_CONNECTIONS_H

#include <stddef.h>

#include "wire/telemetry.h"

#define CONNECTIONS_PAIRS_MAX 8u  /* of addresses that are reported: those that sent most */
#define CONNECTIONS_MAX       32u /* that are followed */

struct connections;

/* Never NULL; where the kernel does not answer there are none. */
struct connections *connections_new(void);
void connections_free(struct connections *c); /* NULL is fine */

/* Find the connections to follow, if it is time to; call it before each look.  now_s: the caller's clock. */
void connections_find(struct connections *c, double now_s);
/* Sums by pairs of addresses since the last look into item[CONNECTIONS_PAIRS_MAX], the most bytes first,
 * without rank and app.  A connection counts from when it was found.  Returns how many there are. */
size_t connections_look(struct connections *c, struct traffic_item *item);

#endif
