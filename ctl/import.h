/* import.h - sgctl import: other programs' records of a training into a trace file. */
#ifndef SYNCGUARD_CTL_IMPORT_H
#define SYNCGUARD_CTL_IMPORT_H

#include "common/err.h"

/* Import files ("-": standard input) into path ("-": standard output); format: a word of trace/import.h, or
 * NULL.  Says on standard error what was read and what was left out.  0, or -1 with the reason; then nothing
 * is left at path. */
int import_run(const char *format, char *const *file, int n, const char *path, struct err *err);

#endif
