/* timeline.h - a syncguard-trace as a timeline for Perfetto and Chrome's tracing page.
 *
 * Format: Trace Event Format (trace_events.h). A node is a process, a rank a thread; a rank without a node is
 * a process of its own.  A call is a slice, from entering to leaving it; what was begun before, by a
 * nonblocking call, is an asynchronous slice as well; a message is an arrow from its sender's slice to its
 * receiver's. Slices of a rank are apart or nested: one that overlaps an earlier one begins where that ends,
 * and says as an argument when the rank entered it.
 *
 * The critical path is a process of its own, whose one thread has a slice for each step and within it,
 * without a gap, one for each thing that the step waited for: the work of a rank, a transfer
 * (calls/step_paths.h).
 *
 * Times are those of one clock: the nodes' clocks are aligned from the calls (graph/clock.h), from the whole
 * trace, and how well is written into the file.  The file is read twice; memory depends on ranks and
 * communicators, not on its length. */
#ifndef SYNCGUARD_TRACE_TIMELINE_H
#define SYNCGUARD_TRACE_TIMELINE_H

#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

#define TIMELINE_PATH   "critical path" /* the category of its slices, and its process's name */
#define TIMELINE_ACCESS "access"        /* the category of one-sided accesses */

struct timeline_figures {
    uint64_t records;
    uint64_t steps; /* with a critical path */
    uint32_t ranks, nodes;
    /* nodes whose clock cannot be compared with the first one's: their calls stand where their own clock has
     * them */
    uint32_t apart;
    /* standard deviation of the worst of the other clocks against the first node's; 0 for one node; NAN:
     * unknown */
    double error_s;
};

/* in: a trace from its beginning, which can be read again; name: what errors call it.  0, or -1 with the
 * reason. */
int timeline_write(FILE *in, const char *name, FILE *out, struct timeline_figures *f, struct err *err);

#endif
