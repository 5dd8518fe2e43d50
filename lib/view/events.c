#include "view/events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"

#define EVENTS 64u

struct events {
    struct view_event event[EVENTS];
    uint64_t in, out;
};

struct events *events_new(void)
{
    return xcalloc(1, sizeof(struct events));
}

void events_free(struct events *s)
{
    free(s);
}

void events_add(struct events *s, double now_s, const char *key, const char *fmt, ...)
{
    struct view_event *e = &s->event[s->in++ % EVENTS];
    va_list ap;

    e->at_s = now_s;
    snprintf(e->key, sizeof(e->key), "%s", key);
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    if (s->in - s->out > EVENTS)
        s->out = s->in - EVENTS;
}

bool events_take(struct events *s, struct view_event *e)
{
    if (s->out == s->in)
        return false;
    *e = s->event[s->out++ % EVENTS];
    return true;
}
