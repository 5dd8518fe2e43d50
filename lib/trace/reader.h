/* reader.h - reads a syncguard-trace, in pieces of any size, and feeds a view with what a live job would have
 * sent.
 *
 * The format (JSON Lines, version 1) is described in sgctl(1).  A flow per rank and the view are the same as
 * those of agents and controller, and get the same items.  Pure: bytes come from the caller, the time is the
 * trace's, and the size of the pieces does not matter.  Causal: a collective is complete when the next one
 * begins in the trace, and nothing later is used.
 *
 * Errors, reported with their line: a missing header, another format or version, invalid JSON, a rank that is
 * not in the header, a value out of bounds.  Counted only: lost records; duplicates and records that come
 * after a newer one of their rank and communicator, which are dropped, and so are those whose times go back,
 * as where a clock was set inside a call; unknown operations; a torn last line.
 * Memory depends on ranks and communicators, not on the length of the trace.
 *
 * Units: nanoseconds of each node's own clock in the trace, seconds here. */
#ifndef SYNCGUARD_TRACE_READER_H
#define SYNCGUARD_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "view/view.h"

#define TRACE_COMMS_MAX  VIEW_COMMS_MAX
#define TRACE_SPAN_MAX_S (366 * 86400.0)
#define TRACE_TICK_S     0.25 /* how often the view judges, by the trace's clock */

struct trace_reader;

/* p: parameters of the view. */
struct trace_reader *trace_reader_new(const struct view_params *p);
void trace_reader_free(struct trace_reader *r); /* NULL is fine */

/* Feed the next bytes of the trace.  0, or -1 when the trace is malformed; err names the line, and every
 * further call fails with the same reason. */
int trace_reader_feed(struct trace_reader *r, const char *data, size_t bytes, struct err *err);

/* End of the trace: use incomplete collectives as they are, and finish the view.  -1 when there was no
 * complete header, or the last line is neither a record nor a torn one. */
int trace_reader_finish(struct trace_reader *r, struct err *err);

/* Time of the trace's clock in seconds: the longest time since its first record on any node.  It never goes
 * back.  To replay at a given speed, feed a line at a time and wait for this clock. */
double trace_reader_now_s(const struct trace_reader *r);

/* Lends the view until the reader is freed; it has no ranks before the header.  The caller queries it and
 * takes its events, with trace_reader_now_s() as the clock. */
struct view *trace_reader_view(struct trace_reader *r);

struct trace_figures {
    bool header;  /* read; job and the numbers of ranks, nodes and switches are valid */
    char job[64]; /* "": not given */
    uint32_t ranks, nodes, switches, comms;
    uint32_t size; /* of the job: ranks that are not in the header have no records; 0: not given */
    uint64_t bytes, lines, records; /* read */
    uint64_t collectives;           /* of which a record was read, however few of its ranks have one */
    uint64_t messages;              /* records of messages: a message has two */
    uint64_t lost;                  /* numbers that a rank skipped in a communicator */
    uint64_t duplicates;            /* dropped: seen before */
    uint64_t reordered;             /* dropped: came after a newer one */
    uint64_t backward;              /* dropped: ended before it began, by a clock that was set */
    uint64_t unnamed;               /* unknown operation: only its time counts */
    uint64_t beyond;                /* dropped: above TRACE_COMMS_MAX or NUMBERING_MAX (numbering.h) */
    uint64_t never_left;            /* entered, and t1 is null */
    bool torn;                      /* the last line was incomplete and was dropped */
    /* records say how long calls held their rank, and not when: what comes of the times between calls is not
     * known; the caller must not show it */
    bool untimed;
};
void trace_reader_figures_get(const struct trace_reader *r, struct trace_figures *f);
/* How many records had been read when that finding (detect/finding.h, id) was first a verdict: not a minor
 * one, and none that is still doubted. */
uint64_t trace_reader_records_at(const struct trace_reader *r, uint32_t finding);
/* Number of the rank's lost records; 0 for an unknown rank. */
uint64_t trace_reader_lost(const struct trace_reader *r, uint32_t rank);

#endif
