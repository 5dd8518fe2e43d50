#include "agent/messages.h"

#include <math.h>
#include <unistd.h>

#include "nodefigures/adapter.h"
#include "agent/pacing.h"
#include "wire/json.h"

#define WINDOW_MAX_S 3600

/* name, before, after: the keys of its name and of its times. */
static json_t *choice_json(const struct agent_choice *c, const char *name, const char *before,
                           const char *after)
{
    return json_pack("{s:b, s:b, s:o, s:f, s:f}", "applied", c->applied, "compared", c->compared, name,
                     json_of_text(c->name), before, c->before_s, after, c->after_s);
}

json_t *message_unseen(const struct unseen_news *u)
{
    return u->reason == UNSEEN_REASONS
               ? NULL
               : json_pack("{s:s, s:b, s:I, s:o, s:f}", "reason", unseen_name(u->reason), "quiet",
                           unseen_is_quiet(u->reason), "processes", (json_int_t)u->found.processes, "text",
                           json_of_text(u->found.text), "after_s", u->after_s);
}

json_t *message_hello(const struct agent_arguments *o, const char *instance, uint64_t first_batch,
                      char *const *note, size_t n_notes, const struct unseen_news *u)
{
    struct adapter adapter = adapter_read("");
    json_t *hello = json_object();

    json_put_text(hello, "hello", "agent");
    json_put_text(hello, "version", PACKAGE_VERSION);
    json_put_text(hello, "agent", instance);
    json_put_count(hello, "job", o->job);
    json_put_count(hello, "step", o->step);
    json_put_count(hello, "het_job", o->het_job);
    json_put_count(hello, "het_offset", o->het_offset);
    json_put_count(hello, "restarts", o->restarts);
    json_put_count(hello, "end_time", o->end_time);
    json_put_count(hello, "uid", geteuid());
    json_put_text(hello, "user", o->user);
    json_put_text(hello, "name", o->name);
    json_put_text(hello, "partition", o->partition);
    json_put_text(hello, "account", o->account);
    json_put_text(hello, "qos", o->qos);
    json_put_text(hello, "node", o->node);
    json_put_count(hello, "node_index", o->node_index);
    json_put_count(hello, "nodes", o->nodes);
    json_put_text(hello, "nodelist", o->nodelist);
    json_put_text(hello, "switch", o->switch_name);
    json_put_text(hello, "switches", o->switches);
    if (adapter.number)
        json_put_json(
            hello, "adapter",
            json_pack("{s:f, s:i}", "bytes_per_s", adapter.bytes_per_s, "number", (int)adapter.number));
    json_put_count(hello, "tasks", o->tasks);
    json_put_count(hello, "local_tasks", o->local_tasks);
    json_put_text(hello, "policy", o->policy);
    json_put_bool(hello, "policy_asked", o->policy_asked);
    json_put_json(hello, "placement",
                  *o->placement.name ? choice_json(&o->placement, "pattern", "slurm_s", "chosen_s") : NULL);
    if (o->algorithm_looked)
        json_put_json(hello, "algorithm",
                      *o->algorithm.name ? choice_json(&o->algorithm, "name", "usual_s", "most_s")
                                         : json_object());
    json_put_count(hello, "first_batch", (int64_t)first_batch);
    json_put_json(hello, "notes", json_of_texts((const char *const *)note, n_notes));
    json_put_json(hello, "unseen", message_unseen(u));
    return hello;
}

json_t *message_stats(const struct agent_stats *s)
{
    return json_pack("{s:{s:f, s:f, s:I, s:I, s:I, s:o}}", "agent_stats", "cpu_s", s->cpu_s, "wall_s",
                     s->wall_s, "rss_bytes", (json_int_t)s->rss_bytes, "backlog_bytes",
                     (json_int_t)s->backlog_bytes, "lost_batches", (json_int_t)s->lost_batches, "energy_j",
                     json_of_real(s->energy_j));
}

void message_control(const json_t *control, struct control_request *c)
{
    const json_t *record = json_object_get(control, "record"), *calls = json_object_get(control, "calls");
    double rate_hz = json_get_real(control, "rate_hz", -INFINITY, INFINITY);

    if (json_is_boolean(record))
        c->record = json_is_true(record);
    if (calls)
        c->calls = (struct call_window){ json_get_real(calls, "open_s", 0, WINDOW_MAX_S),
                                         json_get_real(calls, "period_s", 0, WINDOW_MAX_S) };
    if (isnan(c->calls.open_s) || isnan(c->calls.period_s))
        c->calls = (struct call_window){ 0 };
    if (!isnan(rate_hz))
        c->rate_hz = fmin(fmax(rate_hz, 0.1), 10000);
    pacing_control(json_object_get(control, "pace"), &c->pace);
}
