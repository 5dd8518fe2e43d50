/* output.h - what a command writes: a file, a new one or standard output for "-"; an answer as JSON. */
#ifndef SYNCGUARD_CTL_OUTPUT_H
#define SYNCGUARD_CTL_OUTPUT_H

#include <jansson.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/err.h"

/* On standard output, in ASCII only: a name in it cannot drive a terminal. */
void output_json(const json_t *answer);

/* A descriptor of a new file, or -1 with the reason: what exists stays. */
int output_create(const char *path, mode_t mode, struct err *err);
/* The same as a stream.  NULL with the reason. */
FILE *output_open(const char *path, struct err *err);
/* rc: of writing it, below zero with the reason.  Returns rc, or -1 with the reason where not all reached the
 * file; then no file is left. */
int output_close(FILE *out, const char *path, int rc, struct err *err);

#endif
