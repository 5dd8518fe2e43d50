#include "agent/messages.h"

#include <math.h>
#include <unistd.h>

#include "nodefigures/adapter.h"
#include "agent/pacing.h"
#include "wire/json.h"

#define WINDOW_MAX_S 3600

static json_t *adapter_json(void)
{
    struct adapter a = adapter_read("");

    return a.number ? json_pack("{s:f, s:i}", "bytes_per_s", a.bytes_per_s, "number", (int)a.number) : NULL;
}

static json_t *placement_json(const struct agent_arguments *o)
{
    return *o->placement.pattern
               ? json_pack("{s:b, s:b, s:o, s:f, s:f}", "applied", o->placement.applied, "compared",
                           o->placement.compared, "pattern", text_json(o->placement.pattern), "slurm_s",
                           o->placement.slurm_s, "chosen_s", o->placement.chosen_s)
               : NULL;
}

static json_t *algorithm_json(const struct agent_arguments *o)
{
    if (!o->algorithm.looked)
        return NULL;
    return *o->algorithm.name ? json_pack("{s:o, s:b, s:b, s:f, s:f}", "name", text_json(o->algorithm.name),
                                          "applied", o->algorithm.applied, "compared", o->algorithm.compared,
                                          "usual_s", o->algorithm.usual_s, "most_s", o->algorithm.most_s)
                              : json_object();
}

json_t *message_unseen(const struct unseen_news *u)
{
    return u->reason == UNSEEN_REASONS
               ? NULL
               : json_pack("{s:s, s:b, s:I, s:o, s:f}", "reason", unseen_name(u->reason), "quiet",
                           unseen_is_quiet(u->reason), "processes", (json_int_t)u->found.processes, "text",
                           text_json(u->found.text), "after_s", u->after_s);
}

json_t *message_hello(const struct agent_arguments *o, const char *instance, uint64_t first_batch,
                      char *const *note, size_t n_notes, const struct unseen_news *u)
{
    json_t *hello = json_object();

    put_text(hello, "hello", "agent");
    put_text(hello, "version", PACKAGE_VERSION);
    put_text(hello, "agent", instance);
    put_count(hello, "job", o->job);
    put_count(hello, "step", o->step);
    put_count(hello, "het_job", o->het_job);
    put_count(hello, "het_offset", o->het_offset);
    put_count(hello, "restarts", o->restarts);
    put_count(hello, "end_time", o->end_time);
    put_count(hello, "uid", geteuid());
    put_text(hello, "user", o->user);
    put_text(hello, "name", o->name);
    put_text(hello, "partition", o->partition);
    put_text(hello, "account", o->account);
    put_text(hello, "qos", o->qos);
    put_text(hello, "node", o->node);
    put_count(hello, "node_index", o->node_index);
    put_count(hello, "nodes", o->nodes);
    put_text(hello, "switch", o->switch_name);
    put_text(hello, "switches", o->switches);
    put_json(hello, "adapter", adapter_json());
    put_count(hello, "tasks", o->tasks);
    put_count(hello, "local_tasks", o->local_tasks);
    put_text(hello, "policy", o->policy);
    put_bool(hello, "policy_asked", o->policy_asked);
    put_json(hello, "placement", placement_json(o));
    put_json(hello, "algorithm", algorithm_json(o));
    put_count(hello, "first_batch", (int64_t)first_batch);
    put_json(hello, "notes", texts_json((const char *const *)note, n_notes));
    put_json(hello, "unseen", message_unseen(u));
    return hello;
}

json_t *message_stats(const struct agent_stats *s)
{
    return json_pack("{s:{s:f, s:f, s:I, s:I, s:I, s:o}}", "agent_stats", "cpu_s", s->cpu_s, "wall_s",
                     s->wall_s, "rss_bytes", (json_int_t)s->rss_bytes, "backlog_bytes",
                     (json_int_t)s->backlog_bytes, "lost_batches", (json_int_t)s->lost_batches, "energy_j",
                     real_json(s->energy_j));
}

void message_control(const json_t *control, struct control_request *c)
{
    const json_t *record = json_object_get(control, "record"), *calls = json_object_get(control, "calls");
    double rate_hz = get_real(control, "rate_hz", -INFINITY, INFINITY);

    if (json_is_boolean(record))
        c->record = json_is_true(record);
    if (calls)
        c->calls = (struct call_window){ get_real(calls, "open_s", 0, WINDOW_MAX_S),
                                         get_real(calls, "period_s", 0, WINDOW_MAX_S) };
    if (isnan(c->calls.open_s) || isnan(c->calls.period_s))
        c->calls = (struct call_window){ 0 };
    if (!isnan(rate_hz))
        c->rate_hz = fmin(fmax(rate_hz, 0.1), 10000);
    pacing_control(json_object_get(control, "pace"), &c->pace);
}
