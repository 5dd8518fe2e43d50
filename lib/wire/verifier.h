/* verifier.h - checks credentials on a thread of its own, so that a loop does not wait for munged.
 * One at a time is checked: the addresses that they came from take turns, so that whoever sends many delays
 * nobody else by more than one check; those of one address are checked in the order of their arrival. None is
 * refused.  The caller bounds how many there are, and cancels those whose peer is gone. */
#ifndef SYNCGUARD_WIRE_VERIFIER_H
#define SYNCGUARD_WIRE_VERIFIER_H

#include <netinet/in.h>
#include <stddef.h>

#include "common/err.h"
#include "wire/identity.h"

struct event_base;
struct verification;
struct verifier;

/* Called on the loop; why is NULL when the credential is genuine.  A callback that takes the claims sets them
 * to NULL. */
typedef void verifier_done(struct identity_check *check, const char *why, void *arg);

/* munge_socket: NULL for munge's default.  NULL with the reason. */
struct verifier *verifier_new(struct event_base *base, const char *munge_socket, struct err *err);
/* Waits for the check under way; no callback is called.  NULL is fine. */
void verifier_free(struct verifier *v);

/* from: where it comes from; IPv4 as IPv6 has it, and any address of its own for local sockets.  Lent until
 * it is done. */
struct verification *verifier_begin(struct verifier *v, const struct in6_addr *from, const char *credential,
                                    size_t bytes, verifier_done *done, void *arg);
/* before it is done; its callback is not called; NULL is fine */
void verification_cancel(struct verification *c);

#endif
