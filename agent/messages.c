#include "agent/messages.h"

#include "agent/pacing.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/adapter.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "wire/json.h"

json_t *message_text(const char *text)
{
    json_t *s = text ? json_string(text) : json_null();
    char *copy;

    if (s)
        return s;
    copy = xstrdup(text);
    s = json_string(utf8_mend(copy));
    free(copy);
    return s;
}

static json_t *number(int64_t n)
{
    return n < 0 ? json_null() : json_integer(n);
}

static json_t *adapter_json(void)
{
    struct adapter a = adapter_read("");

    return a.number ? json_pack("{s:f, s:i}", "bytes_per_s", a.bytes_per_s, "number", (int)a.number)
                    : json_null();
}

json_t *message_hello(const struct agent_arguments *o, const char *life, uint64_t first_batch, json_t *notes)
{
    const struct {
        const char *key;
        json_t *value;
    } entries[] = {
        { "hello", json_string("agent") },
        { "version", json_string(PACKAGE_VERSION) },
        { "agent", json_string(life) },
        { "job", number(o->job) },
        { "step", number(o->step) },
        { "het_job", number(o->het_job) },
        { "het_offset", number(o->het_offset) },
        { "array_job", number(o->array_job) },
        { "array_task", number(o->array_task) },
        { "restarts", number(o->restarts) },
        { "end_time", number(o->end_time) },
        { "uid", number(geteuid()) },
        { "user", message_text(o->user) },
        { "name", message_text(o->name) },
        { "partition", message_text(o->partition) },
        { "account", message_text(o->account) },
        { "qos", message_text(o->qos) },
        { "node", message_text(o->node) },
        { "node_index", number(o->node_index) },
        { "nodes", number(o->nodes) },
        { "switch", message_text(*o->switch_name ? o->switch_name : NULL) },
        { "adapter", adapter_json() },
        { "tasks", number(o->tasks) },
        { "local_tasks", number(o->local_tasks) },
        { "policy", message_text(o->policy) },
        { "policy_asked", json_boolean(o->policy_asked) },
        { "first_batch", number((int64_t)first_batch) },
        { "notes", json_deep_copy(notes) },
    };
    json_t *hello = json_object();

    for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
        json_object_set_new(hello, entries[i].key, entries[i].value);
    return hello;
}

json_t *message_stats(const struct agent_stats *s)
{
    return json_pack("{s:{s:f, s:f, s:I, s:I, s:I, s:o}}", "agent_stats", "cpu_s", s->cpu_s, "wall_s",
                     s->wall_s, "rss_bytes", (json_int_t)s->rss_bytes, "backlog_bytes",
                     (json_int_t)s->backlog_bytes, "lost_batches", (json_int_t)s->lost_batches, "energy_j",
                     isnan(s->energy_j) ? json_null() : json_real(s->energy_j));
}

void message_control(const json_t *control, struct control_request *c)
{
    const json_t *record = json_object_get(control, "record"), *whole = json_object_get(control, "whole");
    double rate_hz = get_real(control, "rate_hz", -INFINITY, INFINITY);

    if (json_is_boolean(record))
        c->record = json_is_true(record);
    if (json_is_boolean(whole))
        c->whole = json_is_true(whole);
    if (!isnan(rate_hz))
        c->rate_hz = fmin(fmax(rate_hz, 0.1), 10000);
    pacing_control(json_object_get(control, "pace"), &c->pace);
}
