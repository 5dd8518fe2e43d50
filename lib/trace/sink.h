/* sink.h - writes a syncguard-trace to a file in whole lines, and counts its records.
 *
 * It only checks that the text consists of whole lines; the reader checks the rest.  To count lost records it
 * takes each record's rank, communicator and sequence number, of a message also its direction, partner and
 * tag: a number that is missing between the first and the last of a rank in a communicator was lost, in a
 * full ring or on a slow link. A second header, which the controller sends after a reconnect, is left out. */
#ifndef SYNCGUARD_TRACE_SINK_H
#define SYNCGUARD_TRACE_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct trace;

struct trace_counts {
    uint64_t records, bytes;
    uint64_t lost; /* records missing between others */
    size_t ranks;  /* ranks that have records */
};

/* Write to fd, which the caller closes. */
struct trace *trace_new(int fd);
/* Write text.  0, or -1 with the reason: text that does not end with a newline, or a failed write.  A regular
 * file then ends with the last whole line. */
int trace_put(struct trace *t, const char *text, size_t bytes, struct err *err);
struct trace_counts trace_counts_get(const struct trace *t);
void trace_free(struct trace *t); /* NULL is fine */

#endif
