/* reader.h - a syncguard-trace, read from its bytes as they come: what a live job would have told, told to a
 * view.
 *
 * The format (JSON Lines, version 1) is described in sgctl(1). A flow per rank and the view are the very ones
 * that agents and the controller use, fed with the same items. Pure: the bytes come from the caller, the time
 * is the trace's own, and how the bytes are cut into pieces changes nothing. Causal: a collective is taken
 * when the next one begins in the trace, nothing later is known then.
 *
 * Fatal (named with its line): no header, another format or version, not JSON, a rank that is not in the
 * header, values out of bounds. Counted, not fatal: lost records, records told twice, records that come after
 * a newer one of their rank and communicator (both dropped), operations that have no name here, a torn last
 * line. Memory depends on ranks and communicators, not on the length of the trace.
 *
 * Units: nanoseconds of each node's own clock in the trace, seconds here. */
#ifndef SYNCGUARD_TRACE_READER_H
#define SYNCGUARD_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/view.h"
#include "common/err.h"
#include "trace/line.h"

#define TRACE_COMMS_MAX  VIEW_COMMS_MAX
#define TRACE_PAIRS_MAX  (1u << 21) /* of a rank and a communicator */
#define TRACE_SPAN_MAX_S (366 * 86400.0)
#define TRACE_TICK_S     0.25 /* the view is asked to judge so often, by the trace's clock */

struct trace_reader;

/* The view's parameters. */
struct trace_reader *trace_reader_new(const struct view_params *p);
void trace_reader_free(struct trace_reader *r); /* NULL is fine */

/* The next bytes of the trace, cut anywhere.  -1: the trace is malformed, err names the line; then nothing
 * more is taken and every further call says the same. */
int trace_reader_feed(struct trace_reader *r, const char *data, size_t bytes, struct err *err);

/* That was all: what is half put together counts as it is, the view is finished.  -1: there was no whole
 * header, or the last line without its end is no record and not a torn one either. */
int trace_reader_finish(struct trace_reader *r, struct err *err);

/* How far the trace's own clock has come, in seconds: the longest that any rank's node has lived since its
 * first record.  It never goes back. To read at a pace, feed a line at a time and wait for this. */
double trace_reader_now_s(const struct trace_reader *r);

/* Lent until the reader is freed; before the header has come it knows of no rank.  It is the caller's to ask,
 * and to take events from; the clock of all its functions is trace_reader_now_s. */
struct view *trace_reader_view(struct trace_reader *r);

struct trace_figures {
    bool header;  /* it has come; job and the counts of ranks, nodes and switches are valid */
    char job[64]; /* "" not told */
    uint32_t ranks, nodes, switches, comms;
    uint64_t bytes, lines, records; /* taken */
    uint64_t collectives;           /* whose records are over */
    uint64_t lost;                  /* numbers that a rank skipped in a communicator */
    uint64_t duplicates;            /* dropped: told before */
    uint64_t reordered;             /* dropped: came after a newer one */
    uint64_t unnamed;               /* operation not known: its time counts, nothing else */
    uint64_t beyond;                /* dropped: above TRACE_COMMS_MAX or TRACE_PAIRS_MAX */
    uint64_t never_left;            /* entered, and t1 is null */
    bool torn;                      /* the last line has no end and was dropped */
};
void trace_reader_figures_get(const struct trace_reader *r, struct trace_figures *f);
/* Of that rank; 0 for an unknown one. */
uint64_t trace_reader_lost(const struct trace_reader *r, uint32_t rank);

#endif
