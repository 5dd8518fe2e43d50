#include "report/report_event.h"

#include <math.h>
#include <stdio.h>

#include "wire/json.h"

static const struct json_field fields[] = {
    { "age_s", FIELD_AMOUNT, FIELD(struct report_event, age_s) },
    { "text", FIELD_TEXT, FIELD(struct report_event, text) },
    { "count", FIELD_COUNT, FIELD(struct report_event, count) },
    { "over_s", FIELD_AMOUNT, FIELD(struct report_event, over_s) },
    { 0 },
};

void report_events_get(struct report_events *r, const struct event_list *l, double now_s)
{
    r->n = 0;
    for (size_t i = l->n; i-- > 0;) {
        const struct event *e = &l->event[i];
        struct report_event *to = &r->list[r->n++];

        *to = (struct report_event){ .age_s = fmax(0, now_s - e->at_s),
                                     .over_s = e->at_s - e->first_s,
                                     .count = e->count };
        snprintf(to->text, sizeof(to->text), "%s", e->text);
    }
}

json_t *report_events_json(const struct report_events *r)
{
    return json_of_rows(r->list, sizeof(r->list[0]), r->n, fields);
}

void report_events_read(struct report_events *r, const json_t *answer)
{
    r->n = json_get_rows(r->list, sizeof(r->list[0]), REPORT_EVENTS_MAX, answer, "events", fields);
}
