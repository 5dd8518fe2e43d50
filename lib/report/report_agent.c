#include "report/report_agent.h"

#include "wire/json.h"

static const struct json_field fields[] = {
    { "node", FIELD_TEXT, FIELD(struct report_agent, node) },
    { "switch", FIELD_TEXT, FIELD(struct report_agent, switch_name) },
    { "version", FIELD_TEXT, FIELD(struct report_agent, version) },
    { "connected", FIELD_TRUE, FIELD(struct report_agent, connected) },
    { "ended", FIELD_TRUE, FIELD(struct report_agent, ended) },
    { "cpu_ratio", FIELD_AMOUNT, FIELD(struct report_agent, cpu_ratio) },
    { "rss_bytes", FIELD_AMOUNT, FIELD(struct report_agent, rss_bytes) },
    { "backlog_bytes", FIELD_AMOUNT, FIELD(struct report_agent, backlog_bytes) },
    { "lost_batches", FIELD_AMOUNT, FIELD(struct report_agent, lost_batches) },
    { "age_s", FIELD_AMOUNT, FIELD(struct report_agent, age_s) },
    { 0 },
};

json_t *report_agent_json(const struct report_agent *a)
{
    json_t *o = json_of_fields(a, fields);

    if (a->health.known)
        json_put_json(o, "health", report_health_json(&a->health));
    return o;
}

void report_agent_read(struct report_agent *a, const json_t *o)
{
    json_get_fields(a, o, fields);
    report_health_read(&a->health, json_get_object(o, "health"));
}
