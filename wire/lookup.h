/* lookup.h - addresses of a host name, without blocking the loop.
 *
 * Numeric addresses and /etc/hosts are answered at once, everything else by the name servers of
 * /etc/resolv.conf.  It does not use nsswitch.conf: getaddrinfo() would block the loop.  No time limit of its
 * own beyond resolv.conf's: the owner cancels. */
#ifndef SYNCGUARD_WIRE_LOOKUP_H
#define SYNCGUARD_WIRE_LOOKUP_H

struct event_base;
struct addrinfo;
struct lookup;

/* Once, from the loop: the addresses (the callee's, evutil_freeaddrinfo), or NULL and why.  The lookup is
 * gone then. */
typedef void lookup_done(struct addrinfo *addresses, const char *why, void *arg);

/* Never calls done itself. NULL when memory is short. */
struct lookup *lookup_start(struct event_base *base, const char *host, int port, lookup_done *done,
                            void *arg);
void lookup_cancel(struct lookup *lk); /* done is not called any more; NULL is fine */

#endif
