/* output.h - the file that a command writes: a new one, or standard output for "-". */
#ifndef SYNCGUARD_CTL_OUTPUT_H
#define SYNCGUARD_CTL_OUTPUT_H

#include <stdio.h>

#include "common/err.h"

/* What exists stays.  NULL with the reason. */
FILE *output_open(const char *path, struct err *err);
/* rc: of writing it, below zero with the reason.  Returns rc, or -1 with the reason where not all reached the
 * file; then no file is left. */
int output_close(FILE *out, const char *path, int rc, struct err *err);

#endif
