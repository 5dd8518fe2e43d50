#include "report/report_cadence.h"

#include <string.h>

#include "wire/json.h"

static const struct json_field perhaps_fields[] = {
    { "pause_s", FIELD_NUMBER, FIELD(struct report_perhaps, pause_s) },
    { "age_s", FIELD_NUMBER, FIELD(struct report_perhaps, age_s) },
    { 0 },
};

static const struct json_field request_fields[] = {
    { "reason", FIELD_STRING, FIELD(struct report_request, reason) },
    { "state", FIELD_STRING, FIELD(struct report_request, state) },
    { "call", FIELD_COUNT, FIELD(struct report_request, call) },
    { "age_s", FIELD_NUMBER, FIELD(struct report_request, age_s) },
    { 0 },
};

static const struct json_field mode_fields[] = {
    { "mode", FIELD_STRING, FIELD(struct report_cadence, mode) },
    { 0 },
};

static const struct json_field cadence_fields[] = {
    { "interval_s", FIELD_NUMBER, FIELD(struct report_cadence, interval_s) },
    { "optimal_s", FIELD_NUMBER, FIELD(struct report_cadence, optimal_s) },
    { "reason", FIELD_STRING, FIELD(struct report_cadence, reason) },
    { "cost_s", FIELD_ESTIMATE, FIELD(struct report_cadence, cost_s) },
    { "cost_source", FIELD_STRING, FIELD(struct report_cadence, cost_source) },
    { "failure_rate.value", FIELD_NUMBER, FIELD(struct report_cadence, rate.value) },
    { "failure_rate.low", FIELD_NUMBER, FIELD(struct report_cadence, rate.low) },
    { "failure_rate.high", FIELD_NUMBER, FIELD(struct report_cadence, rate.high) },
    { "failure_rate.failures", FIELD_NUMBER, FIELD(struct report_cadence, rate.failures) },
    { "failure_rate.node_days", FIELD_NUMBER, FIELD(struct report_cadence, rate.node_days) },
    { "failure_rate.source", FIELD_STRING, FIELD(struct report_cadence, rate.source) },
    { "failure_rate.source_text", FIELD_TEXT, FIELD(struct report_cadence, rate.source_text) },
    { "failure_rate.own_failures", FIELD_NUMBER, FIELD(struct report_cadence, rate.own_failures) },
    { "mtbf_s", FIELD_NUMBER, FIELD(struct report_cadence, mtbf_s) },
    { "goodput_most", FIELD_SHARE, FIELD(struct report_cadence, goodput_most) },
    { "written", FIELD_COUNT, FIELD(struct report_cadence, written) },
    { "last_s", FIELD_NUMBER, FIELD(struct report_cadence, last_s) },
    { "next_due_s", FIELD_NUMBER, FIELD(struct report_cadence, next_due_s) },
    { "lost_work_s", FIELD_NUMBER, FIELD(struct report_cadence, lost_work_s) },
    { "perhaps", FIELD_PART, PART(struct report_cadence, perhaps, perhaps_fields) },
    { "too_late", FIELD_TRUE, FIELD(struct report_cadence, too_late) },
    { "limit_s", FIELD_NUMBER, FIELD(struct report_cadence, limit_s) },
    { "notice_s", FIELD_NUMBER, FIELD(struct report_cadence, notice_s) },
    { "callers", FIELD_COUNT, FIELD(struct report_cadence, callers) },
    { "requests.asked", FIELD_COUNT, FIELD(struct report_cadence, asked) },
    { "requests.heard", FIELD_COUNT, FIELD(struct report_cadence, heard) },
    { "requests.delivered", FIELD_COUNT, FIELD(struct report_cadence, delivered) },
    { "requests.failed", FIELD_COUNT, FIELD(struct report_cadence, failed) },
    { "requests.split", FIELD_COUNT, FIELD(struct report_cadence, split) },
    { "requests.newest", FIELD_PART, PART(struct report_cadence, newest, request_fields) },
    { "requests.missing", FIELD_TEXT, FIELD(struct report_cadence, missing) },
    { 0 },
};

json_t *report_cadence_json(const struct report_cadence *c)
{
    json_t *o = json_of_fields(c, mode_fields);

    if (strcmp(c->mode, "off") != 0)
        json_put_fields(o, c, cadence_fields);
    return o;
}

void report_cadence_read(struct report_cadence *c, const json_t *o)
{
    c->known = json_is_object(o);
    json_get_fields(c, o, mode_fields);
    json_get_fields(c, o, cadence_fields);
}
