/* events.h - what changed, for the event list: the newest ones, of which those that nobody takes are lost. */
#ifndef SYNCGUARD_VIEW_EVENTS_H
#define SYNCGUARD_VIEW_EVENTS_H

#include "view/verdicts.h"

struct events;
struct events *events_new(void);
void events_free(struct events *s);

/* now_s: the caller's clock; key as in struct view_event. */
__attribute__((format(printf, 4, 5))) void events_add(struct events *s, double now_s, const char *key,
                                                      const char *fmt, ...);

/* The oldest that was not taken.  false: there is none. */
bool events_take(struct events *s, struct view_event *e);

#endif
