#include "job/pacing.h"

#include <stdio.h>

#include "common/config.h"
#include "job/job.h"
#include "wire/json.h"

static void levers_write(uint32_t levers, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < PACER_LEVERS && at < size; i++)
        if (levers & 1u << i)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? "," : "", pacer_lever_name(1u << i));
}

json_t *pacing_control_json(const struct config_policy *p, bool held)
{
    char levers[64];

    levers_write(p->pacing && !held ? (uint32_t)p->pace.levers : 0, levers, sizeof(levers));
    return json_pack("{s:s, s:f, s:f, s:i, s:i}", "levers", levers, "max_delay_s", p->pace.max_delay_s,
                     "share", p->pace.share_ratio, "epoch", p->pace.epoch, "holdout", p->pace.holdout);
}

/* ---- reports of nodes ---- */

static const struct json_field node_fields[] = {
    { "mode", FIELD_TEXT, FIELD(struct paced_node, mode) },
    { "lever", FIELD_TEXT, FIELD(struct paced_node, lever) },
    { "ranks", FIELD_COUNT, FIELD(struct paced_node, ranks) },
    { "cores", FIELD_COUNT, FIELD(struct paced_node, cores) },
    { "collectives", FIELD_COUNT, FIELD(struct paced_node, collectives) },
    { "with", FIELD_COUNT, FIELD(struct paced_node, with) },
    { "without", FIELD_COUNT, FIELD(struct paced_node, without) },
    { "late_holds", FIELD_COUNT, FIELD(struct paced_node, late_holds) },
    { "switches_hz", FIELD_NUMBER, FIELD(struct paced_node, switches_hz) },
    { "wait_ratio", FIELD_NUMBER, FIELD(struct paced_node, wait_ratio) },
    { 0 },
};

static const struct json_field lever_fields[] = {
    { "lever", FIELD_TEXT, FIELD(struct paced_lever, lever) },
    { "why", FIELD_TEXT, FIELD(struct paced_lever, why) },
    { "compared", FIELD_COUNT, FIELD(struct paced_lever, compared) },
    { "ratio", FIELD_NUMBER, FIELD(struct paced_lever, ratio) },
    { "low", FIELD_NUMBER, FIELD(struct paced_lever, low) },
    { "high", FIELD_NUMBER, FIELD(struct paced_lever, high) },
    { 0 },
};

void pacing_take(struct job_agent *a, const json_t *pace)
{
    struct paced_node *n = &a->paced;

    n->known = true;
    get_fields(n, pace, node_fields);
    n->n_levers = get_rows(n->levers, sizeof(n->levers[0]), PACER_LEVERS, pace, "levers", lever_fields);
}

/* ---- the job's report ---- */

json_t *pacing_nodes(const struct job *j, size_t from, size_t end)
{
    json_t *nodes = json_array();

    for (size_t i = from; i < end && i < j->n_agents; i++) {
        const struct job_agent *a = j->agent[i];
        json_t *o = a->paced.known ? json_object() : NULL;

        if (!o)
            continue;
        put_fields(o, &a->paced, node_fields);
        put_rows(o, "levers", a->paced.levers, sizeof(a->paced.levers[0]), a->paced.n_levers, lever_fields);
        put_text(o, "node", a->node);
        json_array_append_new(nodes, o);
    }
    return nodes;
}

json_t *pacing_report(const struct job *j, size_t max)
{
    json_t *o = pacing_control_json(&j->params, job_hold(j) != NULL);

    put_text(o, "held", job_hold(j));
    put_json(o, "nodes", pacing_nodes(j, 0, max));
    return o;
}
