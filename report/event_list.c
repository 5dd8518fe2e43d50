#include "report/event_list.h"

#include <math.h>
#include <stdio.h>

#include "common/utf8.h"
#include "wire/json.h"

void event_list_vadd(struct event_list *l, double at_s, const char *fmt, va_list ap)
{
    uint64_t at = l->n++ % EVENT_LIST_MAX;

    l->event[at].at_s = at_s;
    vsnprintf(l->event[at].text, sizeof(l->event[at].text), fmt, ap);
    utf8_mend(l->event[at].text);
}

void event_list_add(struct event_list *l, double at_s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    event_list_vadd(l, at_s, fmt, ap);
    va_end(ap);
}

json_t *event_list_json(const struct event_list *l, double now_s)
{
    json_t *list = json_array();

    for (uint64_t i = 1; i <= l->n && i <= EVENT_LIST_MAX; i++) {
        uint64_t at = (l->n - i) % EVENT_LIST_MAX;
        json_t *o = json_object();

        put_real(o, "age_s", fmax(0, now_s - l->event[at].at_s));
        put_text(o, "text", l->event[at].text);
        json_array_append_new(list, o);
    }
    return list;
}
