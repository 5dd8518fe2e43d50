/* report_trace.h - what a recorded trace holds, and flaws of the recording, as it is reported (sgctl(1),
 * "trace").  A key of it is a member, a row of report_trace.c's table, and where it is filled.
 *
 * Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_TRACE_H
#define SYNCGUARD_REPORT_REPORT_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct report_trace { /* as in struct trace_figures */
    bool known;       /* the report is of a trace, not of a job */
    char job[64];
    int64_t ranks, nodes, switches, communicators;
    double seconds;
    int64_t bytes, records, collectives, messages;
    int64_t lost, duplicates, reordered, unnamed, beyond, never_left;
    bool torn; /* the last line is incomplete */
};

json_t *report_trace_json(const struct report_trace *t);         /* the caller's */
void report_trace_read(struct report_trace *t, const json_t *o); /* NULL: it is not of a trace */

#endif
