/* secret.h - a file with one secret in it: a token, a URL. */
#ifndef SYNCGUARD_ACTIONS_SECRET_H
#define SYNCGUARD_ACTIONS_SECRET_H

#include "common/err.h"

#define SECRET_MAX 8192

/* Read it, without the line's end, into buf of SECRET_MAX bytes. -1 with a reason (that does not tell it):
 * it must be a regular file that belongs to us or root and is nobody else's to read, with one line of
 * printable characters.  Read it anew each time: tokens are renewed. */
int secret_read(const char *path, char *buf, struct err *err);

#endif
