/* sink.h - a syncguard-trace on its way into a file: whole lines in, whole lines out, counted.
 *
 * Of the text it checks that it consists of whole lines, nothing else: a trace is judged where it is read.
 * For the account it looks at each record's rank, communicator and sequence number: a number that is missing
 * between the first and the last of a rank in a communicator was lost on the way (a full ring, a slow link).
 * A second header (the controller sends one after a reconnect) is left out. */
#ifndef SYNCGUARD_TRACE_SINK_H
#define SYNCGUARD_TRACE_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct trace;

struct trace_counts {
    uint64_t records, bytes;
    uint64_t lost; /* records that must have been there */
    size_t ranks;  /* that have records */
};

/* Writes to fd, which stays the caller's. */
struct trace *trace_new(int fd);
/* 0, or -1 with the reason: text that does not end with a line, or a failed write.  A regular file then
 * ends with the last whole line. */
int trace_put(struct trace *t, const char *text, size_t bytes, struct err *err);
struct trace_counts trace_counts_get(const struct trace *t);
void trace_free(struct trace *t); /* NULL is fine */

#endif
