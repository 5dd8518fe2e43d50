/* auth.h - munge credentials: the identity of the peer.
 * A credential carries a small payload that only holders of the cluster's munge key can read.
 * A call waits for the local munged, about a millisecond; it is made once per connection. */
#ifndef SYNCGUARD_WIRE_AUTH_H
#define SYNCGUARD_WIRE_AUTH_H

#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

/* socket: munged's; NULL or "" for munge's default.  The caller frees the credential; NULL with the reason. */
char *auth_encode(const char *socket, const void *payload, size_t bytes, struct err *err);

/* Decode a credential whose payload must be exactly `bytes` long.  uid is its creator's.
 * A credential that was decoded on this host before is rejected as replayed. */
int auth_decode(const char *socket, const char *credential, void *payload, size_t bytes, uid_t *uid,
                struct err *err);

#endif
