/* event_list.h - what happened to a job, the newest EVENT_LIST_MAX, with times of the caller's clock. */
#ifndef SYNCGUARD_REPORT_EVENT_LIST_H
#define SYNCGUARD_REPORT_EVENT_LIST_H

#include <jansson.h>
#include <stdarg.h>
#include <stdint.h>

#define EVENT_LIST_MAX 50u

struct event_list {
    uint64_t n; /* ever */
    struct {
        double at_s;
        char text[512];
    } event[EVENT_LIST_MAX];
};

__attribute__((format(printf, 3, 4))) void event_list_add(struct event_list *l, double at_s, const char *fmt,
                                                          ...);
__attribute__((format(printf, 3, 0))) void event_list_vadd(struct event_list *l, double at_s, const char *fmt,
                                                           va_list ap);
/* The newest first; the caller's. */
json_t *event_list_json(const struct event_list *l, double now_s);

#endif
