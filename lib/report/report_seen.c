#include "report/report_seen.h"

static const struct json_field probe_fields[] = {
    { "events", FIELD_COUNT, FIELD(struct report_probe, events) },
    { "dropped", FIELD_COUNT, FIELD(struct report_probe, dropped) },
    { "missed", FIELD_COUNT, FIELD(struct report_probe, missed) },
    { "messages_missed", FIELD_COUNT, FIELD(struct report_probe, messages_missed) },
    { "streams_forgotten", FIELD_COUNT, FIELD(struct report_probe, streams_forgotten) },
    { "comms_missed", FIELD_COUNT, FIELD(struct report_probe, comms_missed) },
    { "ranks_guarded", FIELD_COUNT, FIELD(struct report_probe, ranks_guarded) },
    { "ranks_total", FIELD_COUNT, FIELD(struct report_probe, ranks_total) },
    { "overhead_ratio", FIELD_AMOUNT, FIELD(struct report_probe, overhead_ratio) },
    { 0 },
};

static const struct json_field silent_fields[] = {
    { "number", FIELD_COUNT, FIELD(struct report_silent, number) },
    { "nodes", FIELD_TEXTS, FIELD(struct report_silent, nodes) },
    { 0 },
};

static const struct json_field unseen_fields[] = {
    { "reason", FIELD_TEXT, FIELD(struct report_unseen, reason) },
    { "processes", FIELD_COUNT, FIELD(struct report_unseen, processes) },
    { "nodes", FIELD_COUNT, FIELD(struct report_unseen, nodes) },
    { "node", FIELD_TEXT, FIELD(struct report_unseen, node) },
    { "text", FIELD_TEXT, FIELD(struct report_unseen, text) },
    { 0 },
};

json_t *report_probe_json(const struct report_probe *p)
{
    return fields_json(p, probe_fields);
}

json_t *report_silent_json(const struct report_silent *s)
{
    return fields_json(s, silent_fields);
}

json_t *report_unseen_json(const struct report_unseen *u)
{
    return u->known ? fields_json(u, unseen_fields) : NULL;
}

void report_probe_read(struct report_probe *p, const json_t *o)
{
    p->known = json_is_object(o);
    get_fields(p, o, probe_fields);
}

void report_silent_read(struct report_silent *s, const json_t *o)
{
    get_fields(s, o, silent_fields);
}
