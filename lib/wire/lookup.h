/* lookup.h - resolves host names without blocking the event loop.
 *
 * Numeric addresses and names in /etc/hosts are resolved at once, all others by the name servers in
 * /etc/resolv.conf.  nsswitch.conf is not used, because getaddrinfo() would block the loop.  The only time
 * limits are those of resolv.conf; the owner may cancel earlier. */
#ifndef SYNCGUARD_WIRE_LOOKUP_H
#define SYNCGUARD_WIRE_LOOKUP_H

struct event_base;
struct addrinfo;
struct lookup;

/* Called once, from the loop, with the addresses (the callee frees them by evutil_freeaddrinfo), or NULL and
 * the reason.  The lookup no longer exists then. */
typedef void lookup_done(struct addrinfo *addresses, const char *why, void *arg);

/* Does not call done before it returns.  NULL when out of memory. */
struct lookup *lookup_start(struct event_base *base, const char *host, int port, lookup_done *done,
                            void *arg);
void lookup_cancel(struct lookup *lk); /* done will not be called; NULL is fine */

#endif
