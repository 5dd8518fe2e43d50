/* report_trace.h - what a recorded trace holds, and flaws of the recording, as it is reported (sgctl(1),
 * "trace").  A key of it is a member, a row of report_trace.c's table, and where it is filled.
 *
 * Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_TRACE_H
#define SYNCGUARD_REPORT_REPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/json.h"

struct report_trace { /* as in struct trace_figures */
    bool known;       /* the report is of a trace, not of a job */
    char job[64];
    int64_t ranks, nodes, switches, communicators;
    double seconds;
    int64_t bytes, records, collectives, messages;
    int64_t lost, duplicates, reordered, backward, unnamed, beyond, never_left;
    bool torn;    /* the last line is incomplete */
    int64_t size; /* ranks of the job, with those that have no records; -1: not given */
    bool untimed; /* only how long calls held their ranks is known, not what lies between them */
};

extern const struct json_field report_trace_fields[];

#endif
