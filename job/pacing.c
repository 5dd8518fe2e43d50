#include "job/pacing.h"

#include <math.h>
#include <string.h>

#include "pacing/pacer.h"

static void levers_write(uint32_t levers, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < PACER_LEVERS && at < size; i++)
        if (levers & 1u << i)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? "," : "", pacer_lever_name(1u << i));
}

json_t *pacing_control_json(const struct config_policy *p)
{
    char levers[64];

    levers_write(p->pace ? (uint32_t)p->pace_levers : 0, levers, sizeof(levers));
    return json_pack("{s:s, s:f, s:f, s:i, s:i}", "levers", levers, "max_delay_s", p->pace_max_delay_s,
                     "share", p->pace_share_ratio, "epoch", p->pace_epoch, "holdout", p->pace_holdout);
}

/* ---- what comes from a node ---- */

static void copy_text(json_t *to, const json_t *from, const char *key, size_t max)
{
    const json_t *v = json_object_get(from, key);
    const char *text = json_string_value(v);
    bool good = text && strlen(text) <= max;

    for (const char *c = text; good && *c; c++)
        good = (unsigned char)*c >= 32 && *c != 127;
    json_object_set_new(to, key, good ? json_string(text) : json_null());
}

static void copy_number(json_t *to, const json_t *from, const char *key)
{
    const json_t *v = json_object_get(from, key);
    double x = json_number_value(v);

    if (json_is_integer(v))
        json_object_set_new(to, key, json_integer(json_integer_value(v)));
    else
        json_object_set_new(to, key, json_is_real(v) && isfinite(x) ? json_real(x) : json_null());
}

static json_t *copy_lever(const json_t *from)
{
    static const char *const numbers[] = { "compared", "ratio", "low", "high" };
    json_t *to = json_object();

    copy_text(to, from, "lever", 16);
    copy_text(to, from, "why", 128);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        copy_number(to, from, numbers[i]);
    return to;
}

void pacing_take(struct job_agent *a, const json_t *pace)
{
    static const char *const numbers[] = { "ranks",   "cores",      "collectives", "with",
                                           "without", "late_holds", "switches_hz", "wait_ratio" };
    const json_t *from = json_object_get(pace, "levers");
    json_t *to = json_object(), *levers = json_array();

    copy_text(to, pace, "mode", 16);
    copy_text(to, pace, "lever", 16);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        copy_number(to, pace, numbers[i]);
    for (size_t i = 0; i < json_array_size(from) && i < PACER_LEVERS; i++)
        json_array_append_new(levers, copy_lever(json_array_get(from, i)));
    json_object_set_new(to, "levers", levers);
    json_decref(a->pace);
    a->pace = to;
}

json_t *pacing_report(const struct job *j)
{
    json_t *o = pacing_control_json(&j->params), *nodes = json_array();

    for (size_t i = 0; i < j->n_agents; i++) {
        json_t *node = j->agent[i]->pace ? json_copy(j->agent[i]->pace) : NULL;

        if (!node)
            continue;
        json_object_set_new(node, "node", json_string(j->agent[i]->node));
        json_array_append_new(nodes, node);
    }
    json_object_set_new(o, "nodes", nodes);
    return o;
}
