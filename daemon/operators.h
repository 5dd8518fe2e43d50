/* operators.h - the users who see all jobs, may act on all of them and on nodes, and are not bound: root, the
 * controller's own user, SlurmUser and Operators of syncguard.conf. */
#ifndef SYNCGUARD_DAEMON_OPERATORS_H
#define SYNCGUARD_DAEMON_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/config.h"

#define OPERATORS_MAX 64

/* Zeroed: root and the controller's own user only. */
struct operators {
    uid_t uid[OPERATORS_MAX];
    size_t n;
    bool incomplete; /* a user of that name was not found: there is none, or nobody could say */
};

/* Look up the users that c names, and forget those of before.  Who is not found, or one too many, is said in
 * the log.  Blocks as long as the name service takes. */
void operators_configure(struct operators *o, const struct config *c);

/* Look up once more those of the same c, as the service that knows them may have been away; nobody is
 * forgotten. */
void operators_complete(struct operators *o, const struct config *c);

bool operators_has(const struct operators *o, uid_t uid);

#endif
