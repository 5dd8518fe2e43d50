/* report_event.h - a job's newest events as they are reported: filled from their list, written as JSON, and
 * read from it by pages and screens (sgctl(1), "events"). */
#ifndef SYNCGUARD_REPORT_REPORT_EVENT_H
#define SYNCGUARD_REPORT_REPORT_EVENT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "report/event_list.h"

#define REPORT_EVENTS_MAX EVENT_LIST_MAX

struct report_event {
    double age_s, over_s; /* since it happened the last time, and from the first time to the last */
    int64_t count;        /* how often it happened */
    char text[512];
};

struct report_events { /* the newest first */
    size_t n;
    struct report_event list[REPORT_EVENTS_MAX];
};
void report_events_get(struct report_events *r, const struct event_list *l, double now_s);
json_t *report_events_json(const struct report_events *r); /* the caller's */
void report_events_read(struct report_events *r, const json_t *answer);

#endif
