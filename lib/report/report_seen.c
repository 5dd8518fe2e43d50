#include "report/report_seen.h"

const struct json_field report_probe_fields[] = {
    { "events", FIELD_COUNT, FIELD(struct report_probe, events) },
    { "dropped", FIELD_COUNT, FIELD(struct report_probe, dropped) },
    { "missed", FIELD_COUNT, FIELD(struct report_probe, missed) },
    { "messages_missed", FIELD_COUNT, FIELD(struct report_probe, messages_missed) },
    { "streams_forgotten", FIELD_COUNT, FIELD(struct report_probe, streams_forgotten) },
    { "comms_missed", FIELD_COUNT, FIELD(struct report_probe, comms_missed) },
    { "messages_unplaced", FIELD_COUNT, FIELD(struct report_probe, messages_unplaced) },
    { "comms_disputed", FIELD_COUNT, FIELD(struct report_probe, comms_disputed) },
    { "tasks", FIELD_COUNT, FIELD(struct report_probe, tasks) },
    { "ranks_guarded", FIELD_COUNT, FIELD(struct report_probe, ranks_guarded) },
    { "ranks_total", FIELD_COUNT, FIELD(struct report_probe, ranks_total) },
    { "overhead_ratio", FIELD_AMOUNT, FIELD(struct report_probe, overhead_ratio) },
    { 0 },
};

const struct json_field report_silent_fields[] = {
    { "number", FIELD_COUNT, FIELD(struct report_silent, number) },
    { "nodes", FIELD_TEXTS, FIELD(struct report_silent, nodes) },
    { 0 },
};

char *report_silent_names(const struct report_silent *s, size_t max, char *buf, size_t size)
{
    return json_texts_show_of(&s->nodes, max, s->number > 0 ? (size_t)s->number : 0, buf, size);
}

const struct json_field report_unseen_fields[] = {
    { "reason", FIELD_TEXT, FIELD(struct report_unseen, reason) },
    { "processes", FIELD_COUNT, FIELD(struct report_unseen, processes) },
    { "nodes", FIELD_COUNT, FIELD(struct report_unseen, nodes) },
    { "node", FIELD_TEXT, FIELD(struct report_unseen, node) },
    { "text", FIELD_TEXT, FIELD(struct report_unseen, text) },
    { 0 },
};
