/* auth.h - munge credentials: who made a small payload.  Only holders of the cluster's munge key make or read
 * one. A call waits for the local munged, about a millisecond. */
#ifndef SYNCGUARD_WIRE_AUTH_H
#define SYNCGUARD_WIRE_AUTH_H

#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

/* socket: munged's; NULL or "" for munge's default.  The caller frees the result; NULL with the reason. */
char *auth_encode(const char *socket, const void *payload, size_t bytes, struct err *err);

/* Decode a credential.  Returns the bytes of its payload, at most max, and its creator's uid; -1 with the
 * reason. A credential that has expired, or was decoded before, is as authentic as a fresh one and is
 * accepted: the caller must make sure that the bearer is its owner. */
ssize_t auth_decode(const char *socket, const char *credential, void *payload, size_t max, uid_t *uid,
                    struct err *err);

#endif
