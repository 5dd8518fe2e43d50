/* event_list.h - the newest events of a job, with times of the caller's clock.
 * What happens again is one event with a count, in the place of the newest. */
#ifndef SYNCGUARD_REPORT_EVENT_LIST_H
#define SYNCGUARD_REPORT_EVENT_LIST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_LIST_MAX 50u

struct event_list {
    size_t n;
    struct event {
        double at_s, first_s; /* the newest time and the first */
        uint32_t count;
        char key[96]; /* what makes it the same; "": its text */
        char text[512];
    } event[EVENT_LIST_MAX]; /* the oldest first */
};

__attribute__((format(printf, 3, 4))) void event_list_add(struct event_list *l, double at_s, const char *fmt,
                                                          ...);
__attribute__((format(printf, 3, 0))) void event_list_vadd(struct event_list *l, double at_s, const char *fmt,
                                                           va_list ap);
/* key: events that have it in common are the same, whatever figures their texts have; "": those of one text.
 */
void event_list_put(struct event_list *l, double at_s, const char *key, const char *text);

#endif
