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

struct event_base *loop_new_priorities(void)
{
    struct event_config *config = event_config_new();
    struct timeval most = loop_timeval(LOOP_BULK_S);
    struct event_base *base = NULL;

    event_set_log_callback(on_message);
    if (config && !event_config_set_max_dispatch_interval(config, &most, LOOP_BULK_CALLS, LOOP_BULK))
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    if (!base ||
        !event_base_priority_init(base, LOOP_BULK + 1)) /* of three, events have the middle one by default */
        return base;
    event_base_free(base);
    return NULL;
}

struct timeval loop_timeval(double s)
{
    struct timeval tv = { .tv_sec = (time_t)s };

    tv.tv_usec = (suseconds_t)((s - (double)tv.tv_sec) * 1e6);
    return tv;
}
