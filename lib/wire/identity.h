/* identity.h - who one of our programs is: a key pair, and a credential by munge in which somebody vouches
 * for it.
 *
 * The credential's payload has the public key, the role and claims, a JSON object; munge adds the uid of its
 * creator. It may travel in the open and be presented again and again: what counts is who made it, and that
 * its bearer holds the secret key, which the handshake of a link proves (link.h).
 *
 *     role        made by                               claims
 *     step        root, in the step's slurmstepd,       cluster, uid, job, step, node, ranks, tasks, nodes
 *                 for the agent (syncguard-credential)
 *     controller  syncguardd                            cluster
 *     user        a terminal, or an agent of a host     cluster
 *                 without the plugin, for itself
 */
#ifndef SYNCGUARD_WIRE_IDENTITY_H
#define SYNCGUARD_WIRE_IDENTITY_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "wire/seal.h"

#define IDENTITY_CLAIMS_MAX     8192u  /* bytes of JSON */
#define IDENTITY_CREDENTIAL_MAX 15000u /* bytes */

enum identity_role { IDENTITY_STEP = 1, IDENTITY_CONTROLLER, IDENTITY_USER };

struct identity {
    struct seal_pair pair;
    char *credential;
};

/* A new key pair, for which this process vouches.  claims: borrowed, or NULL for none.  munge_socket: NULL or
 * "" for munge's default.  NULL with the reason. */
struct identity *identity_new(const char *munge_socket, enum identity_role role, const json_t *claims,
                              struct err *err);
void identity_free(struct identity *i); /* wipes the secret; NULL is fine */

/* Between the process that made the identity and the one that bears it: the secret key and the credential.
 * Save writes them to fd, load reads them from its beginning; a line of text that is there instead is the
 * reason why there is none.  -1 or NULL with the reason. */
int identity_save(const struct identity *i, int fd, struct err *err);
struct identity *identity_load(int fd, struct err *err);

/* What a credential says, once it was found to be genuine. */
struct identity_check {
    enum identity_role role;
    uid_t maker;
    uint8_t public_key[SEAL_KEY_BYTES];
    json_t *claims; /* an object; identity_check_clear() releases it */
};
/* Ask munge whether a credential, which need not end with 0, is genuine; blocks for about a millisecond.  -1
 * with the reason: it is not, or its payload is not one of ours. */
int identity_check(const char *munge_socket, const char *credential, size_t bytes,
                   struct identity_check *check, struct err *err);
void identity_check_clear(struct identity_check *check);

#endif
