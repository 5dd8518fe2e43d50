/* secret.h - reads a file that contains one secret: a token or a URL. */
#ifndef SYNCGUARD_ACTIONS_SECRET_H
#define SYNCGUARD_ACTIONS_SECRET_H

#include "common/err.h"

#define SECRET_MAX 8192

/* Read the secret, without its newline, into buf of SECRET_MAX bytes.  The file must be regular, belong to
 * this process's user or root, be unreadable for others, and have one line of printable characters; otherwise
 * -1 with a reason, which does not contain the secret.  Call it for every use, because tokens are renewed. */
int secret_read(const char *path, char *buf, struct err *err);

#endif
