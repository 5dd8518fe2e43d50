#include "report/event_list.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

/* The same event, or the oldest where there is no room; l->n: a new one. */
static size_t place_of(const struct event_list *l, const char *key, const char *text)
{
    for (size_t i = l->n; i-- > 0;)
        if (*key ? !strcmp(l->event[i].key, key) : !*l->event[i].key && !strcmp(l->event[i].text, text))
            return i;
    return l->n;
}

void event_list_put(struct event_list *l, double at_s, const char *key, const char *text)
{
    struct event e = { .at_s = at_s, .first_s = at_s, .count = 1 };
    size_t at;

    snprintf(e.key, sizeof(e.key), "%s", key);
    snprintf(e.text, sizeof(e.text), "%s", text);
    utf8_mend(e.text);
    at = place_of(l, e.key, e.text);
    if (at < l->n) {
        e.first_s = l->event[at].first_s;
        e.count = l->event[at].count + 1;
    } else if (l->n == EVENT_LIST_MAX) {
        at = 0;
    } else {
        l->event[l->n++] = e;
        return;
    }
    memmove(&l->event[at], &l->event[at + 1], (l->n - at - 1) * sizeof(l->event[0]));
    l->event[l->n - 1] = e;
}

void event_list_vadd(struct event_list *l, double at_s, const char *fmt, va_list ap)
{
    char text[sizeof(l->event[0].text)];

    vsnprintf(text, sizeof(text), fmt, ap);
    event_list_put(l, at_s, "", text);
}

void event_list_add(struct event_list *l, double at_s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    event_list_vadd(l, at_s, fmt, ap);
    va_end(ap);
}
