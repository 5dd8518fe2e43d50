/* file.h - feeds a recorded trace's file to a reader.
 * Reports progress on standard error if that is a terminal and reading takes long. */
#ifndef SYNCGUARD_TRACE_FILE_H
#define SYNCGUARD_TRACE_FILE_H

#include "common/err.h"
#include "trace/reader.h"

/* A reader that has read a file ("-" is standard input) to its end; trace_reader_free().  NULL with the
 * reason. */
struct trace_reader *trace_file_open(const char *path, const struct view_params *p, struct err *err);

/* Read it into r, and call each whenever the trace's clock may have advanced.  0, or -1 with the reason. */
int trace_file_watch(const char *path, struct trace_reader *r,
                     void (*each)(struct trace_reader *r, void *arg), void *arg, struct err *err);

#endif
