#include "report/report_trace.h"

const struct json_field report_trace_fields[] = {
    { "job", FIELD_TEXT, FIELD(struct report_trace, job) },
    { "ranks", FIELD_COUNT, FIELD(struct report_trace, ranks) },
    { "nodes", FIELD_COUNT, FIELD(struct report_trace, nodes) },
    { "switches", FIELD_COUNT, FIELD(struct report_trace, switches) },
    { "communicators", FIELD_COUNT, FIELD(struct report_trace, communicators) },
    { "seconds", FIELD_AMOUNT, FIELD(struct report_trace, seconds) },
    { "bytes", FIELD_COUNT, FIELD(struct report_trace, bytes) },
    { "records", FIELD_COUNT, FIELD(struct report_trace, records) },
    { "collectives", FIELD_COUNT, FIELD(struct report_trace, collectives) },
    { "messages", FIELD_COUNT, FIELD(struct report_trace, messages) },
    { "lost", FIELD_COUNT, FIELD(struct report_trace, lost) },
    { "duplicates", FIELD_COUNT, FIELD(struct report_trace, duplicates) },
    { "reordered", FIELD_COUNT, FIELD(struct report_trace, reordered) },
    { "backward", FIELD_COUNT, FIELD(struct report_trace, backward) },
    { "unnamed", FIELD_COUNT, FIELD(struct report_trace, unnamed) },
    { "beyond", FIELD_COUNT, FIELD(struct report_trace, beyond) },
    { "never_left", FIELD_COUNT, FIELD(struct report_trace, never_left) },
    { "torn", FIELD_TRUE, FIELD(struct report_trace, torn) },
    { 0 },
};
