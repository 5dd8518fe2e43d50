#include "report/report_status.h"

static const struct json_field fields[] = {
    { "version", FIELD_TEXT, FIELD(struct report_status, version) },
    { "controller", FIELD_TEXT, FIELD(struct report_status, controller) },
    { "host", FIELD_TEXT, FIELD(struct report_status, host) },
    { "uptime_s", FIELD_AMOUNT, FIELD(struct report_status, uptime_s) },
    { "jobs", FIELD_COUNT, FIELD(struct report_status, jobs) },
    { "agents", FIELD_COUNT, FIELD(struct report_status, agents) },
    { "ranks", FIELD_COUNT, FIELD(struct report_status, ranks) },
    { "clients", FIELD_COUNT, FIELD(struct report_status, clients) },
    { "batches_per_s", FIELD_AMOUNT, FIELD(struct report_status, batches_per_s) },
    { "cpu_ratio", FIELD_AMOUNT, FIELD(struct report_status, cpu_ratio) },
    { "rss_bytes", FIELD_AMOUNT, FIELD(struct report_status, rss_bytes) },
    { "store", FIELD_TRUE, FIELD(struct report_status, store) },
    { "store_bytes", FIELD_AMOUNT, FIELD(struct report_status, store_bytes) },
    { "policies", FIELD_TEXTS, FIELD(struct report_status, policies) },
    { "store_max_bytes", FIELD_AMOUNT, FIELD(struct report_status, store_max_bytes) },
    { "store_bytes_per_day", FIELD_NUMBER | FIELD_OPTIONAL,
      FIELD(struct report_status, store_bytes_per_day) },
    { "store_full", FIELD_TERNARY, FIELD(struct report_status, store_full) },
    { "bounds", FIELD_KNOWN, FIELD(struct report_status, bounds.known) },
    { "bounds.users", FIELD_COUNT, FIELD(struct report_status, bounds.users) },
    { "bounds.unfinished", FIELD_COUNT, FIELD(struct report_status, bounds.unfinished) },
    { "bounds.steps_bytes", FIELD_AMOUNT, FIELD(struct report_status, bounds.steps_bytes) },
    { "bounds.memory_bytes", FIELD_AMOUNT, FIELD(struct report_status, bounds.memory_bytes) },
    { "bounds.refused", FIELD_COUNT, FIELD(struct report_status, bounds.refused) },
    { "bounds.left_out", FIELD_COUNT, FIELD(struct report_status, bounds.left_out) },
    { "now", FIELD_AMOUNT, FIELD(struct report_status, now) },
    { "operator", FIELD_TRUE, FIELD(struct report_status, sees_all) },
    { 0 },
};

json_t *report_status_json(const struct report_status *s)
{
    return json_of_fields(s, fields);
}

int report_status_read(struct report_status *s, const json_t *answer, struct err *err)
{
    json_get_fields(s, answer, fields);
    return json_check_answer(answer, "version", JSON_STRING, err);
}

void report_status_free(struct report_status *s)
{
    json_texts_free(&s->policies);
}
