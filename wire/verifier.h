/* verifier.h - checks credentials on a thread of its own, so that a loop does not wait for munged.
 * The number of credentials under way is bounded; one at a time is checked, in the order of their arrival. */
#ifndef SYNCGUARD_WIRE_VERIFIER_H
#define SYNCGUARD_WIRE_VERIFIER_H

#include "common/err.h"
#include "wire/identity.h"

#define VERIFIER_PENDING_MAX 256u /* a quarter of a second for munged */

struct event_base;
struct verification;
struct verifier;

/* Called on the loop; why is NULL when the credential is genuine.  The claims may be taken: set them to NULL. */
typedef void verifier_done(struct identity_check *check, const char *why, void *arg);

/* munge_socket: NULL for munge's default.  NULL with the reason. */
struct verifier *verifier_new(struct event_base *base, const char *munge_socket, struct err *err);
/* Waits for the check under way; no callback is called.  NULL is fine. */
void verifier_free(struct verifier *v);

/* NULL: too many are under way. */
struct verification *verifier_begin(struct verifier *v, const char *credential, size_t bytes, verifier_done *done, void *arg);
void verification_cancel(struct verification *c); /* its callback is not called; NULL is fine */

#endif
