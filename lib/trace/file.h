/* file.h - feeds a recorded trace's file to a reader.
 * Reports progress on standard error if that is a terminal and reading takes long. */
#ifndef SYNCGUARD_TRACE_FILE_H
#define SYNCGUARD_TRACE_FILE_H

#include "common/err.h"
#include "trace/reader.h"

/* Read a file ("-" is standard input) to its end into r. 0, or -1 with the reason. */
int trace_file_read(const char *path, struct trace_reader *r, struct err *err);

/* The same, and call each whenever the trace's clock may have advanced. */
int trace_file_watch(const char *path, struct trace_reader *r,
                     void (*each)(struct trace_reader *r, void *arg), void *arg, struct err *err);

#endif
