#include "wire/loop.h"

#include <event2/event.h>

#include "common/log.h"

static void on_message(int severity, const char *text)
{
    switch (severity) {
    case EVENT_LOG_ERR:
        log_error("libevent: %s", text);
        break;
    case EVENT_LOG_WARN:
        log_warn("libevent: %s", text);
        break;
    default:
        log_debug("libevent: %s", text);
    }
}

struct event_base *loop_new(void)
{
    event_set_log_callback(on_message);
    return event_base_new();
}

struct timeval loop_timeval(double s)
{
    struct timeval tv = { .tv_sec = (time_t)s };

    tv.tv_usec = (suseconds_t)((s - (double)tv.tv_sec) * 1e6);
    return tv;
}
