/* event_list.h - the newest EVENT_LIST_MAX events of a job, with times of the caller's clock. */
#ifndef SYNCGUARD_REPORT_EVENT_LIST_H
#define SYNCGUARD_REPORT_EVENT_LIST_H

#include <jansson.h>
#include <stdarg.h>
#include <stdint.h>

#define EVENT_LIST_MAX 50u

struct event_list {
    uint64_t n; /* number of events ever added */
    struct {
        double at_s;
        char text[512];
    } event[EVENT_LIST_MAX];
};

__attribute__((format(printf, 3, 4))) void event_list_add(struct event_list *l, double at_s, const char *fmt,
                                                          ...);
__attribute__((format(printf, 3, 0))) void event_list_vadd(struct event_list *l, double at_s, const char *fmt,
                                                           va_list ap);
/* The newest first; the caller owns the array. */
json_t *event_list_json(const struct event_list *l, double now_s);

#endif
