/* trust.h - whether root may run a file or believe what it contains.
 *
 * A file is trusted when it, every directory on its path and every link there belong to root or to the
 * process's real user, and nobody else can write to them.  Other users cannot exchange such a file between
 * the check and its use.  In a sticky directory, which /tmp is, nobody can rename what is not his. */
#ifndef SYNCGUARD_COMMON_TRUST_H
#define SYNCGUARD_COMMON_TRUST_H

#include "common/err.h"

/* 0, or -1 with the reason, which names the part of the path that is not trusted. */
int trust_check(const char *path, struct err *err);

#endif
