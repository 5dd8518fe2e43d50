#include "report/report_control.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wire/json.h"

#define PACING_NODES_MAX 4096

/* "exclude n5, n6", "signal USR1" */
static void action_text(const json_t *o, char *to, size_t size)
{
    char action[32], signal[16], nodes[64];

    get_text(o, "action", action, sizeof(action));
    get_text(o, "signal", signal, sizeof(signal));
    join_texts(json_object_get(o, "nodes"), nodes, sizeof(nodes));
    snprintf(to, size, "%s%s%s%s%s", action, signal[0] ? " " : "", signal, nodes[0] ? " " : "", nodes);
}

static const struct json_field param_fields[] = {
    { "key", FIELD_TEXT, FIELD(struct report_param, key) },
    { "value", FIELD_TEXT, FIELD(struct report_param, value) },
    { "default", FIELD_TEXT, FIELD(struct report_param, standard) },
    { "range", FIELD_TEXT, FIELD(struct report_param, range) },
    { "set", FIELD_TRUE, FIELD(struct report_param, set) },
    { 0 },
};

static const struct json_field rule_fields[] = {
    { "name", FIELD_TEXT, FIELD(struct report_rule, name) },
    { "phase", FIELD_TEXT, FIELD(struct report_rule, phase) },
    { "held_s", FIELD_AMOUNT, FIELD(struct report_rule, held_s) },
    { "hold_s", FIELD_AMOUNT, FIELD(struct report_rule, hold_s) },
    { "cooling_s", FIELD_AMOUNT, FIELD(struct report_rule, cooling_s) },
    { "acted", FIELD_COUNT, FIELD(struct report_rule, acted) },
    { 0 },
};

static const struct json_field decision_fields[] = {
    { "at", FIELD_AMOUNT, FIELD(struct report_decision, at) },
    { "state", FIELD_TEXT, FIELD(struct report_decision, state) },
    { "sentence", FIELD_TEXT, FIELD(struct report_decision, sentence) },
    { "outcome", FIELD_TEXT, FIELD(struct report_decision, outcome) },
    { "outcome_text", FIELD_TEXT, FIELD(struct report_decision, outcome_text) },
    { "effect", FIELD_TEXT, FIELD(struct report_decision, effect) },
    { 0 },
};

/* ---- pacing ---- */

static struct report_lever *lever_of(struct report_pacing *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->lever[i].name, name))
            return &p->lever[i];
    if (p->n == REPORT_LEVERS_MAX || !name[0])
        return NULL;
    snprintf(p->lever[p->n].name, sizeof(p->lever[0].name), "%s", name);
    p->lever[p->n].compared = -1;
    p->lever[p->n].ratio = p->lever[p->n].low = p->lever[p->n].high = NAN;
    return &p->lever[p->n++];
}

static void parse_pacing_node(struct report_pacing *p, const json_t *node)
{
    size_t n;
    const json_t *levers = get_list(node, "levers", REPORT_LEVERS_MAX, &n);
    int64_t late = get_count(node, "late_holds");
    char mode[16], current[16], name[16];
    struct report_lever *l;

    get_text(node, "mode", mode, sizeof(mode));
    get_text(node, "lever", current, sizeof(current));
    p->late += late > 0 ? late : 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(levers, i);
        int64_t compared = get_count(o, "compared");

        get_text(o, "lever", name, sizeof(name));
        if (!(l = lever_of(p, name)))
            continue;
        if (!strcmp(name, current)) {
            l->in_force += !strcmp(mode, "in force");
            l->trial += !strcmp(mode, "trial");
        }
        if (compared <= l->compared)
            continue;
        l->compared = compared;
        l->ratio = get_amount(o, "ratio");
        l->low = get_amount(o, "low");
        l->high = get_amount(o, "high");
        get_text(o, "why", l->why, sizeof(l->why));
    }
}

static void parse_pacing(struct report_pacing *p, const json_t *o)
{
    size_t n;
    const json_t *nodes = get_list(o, "nodes", PACING_NODES_MAX, &n);

    p->nodes = (int64_t)n;
    for (size_t i = 0; i < n; i++)
        parse_pacing_node(p, json_array_get(nodes, i));
}

static const struct json_field control_fields[] = {
    { "policy", FIELD_KNOWN, FIELD(struct report_control, known) },
    { "policy.name", FIELD_TEXT, FIELD(struct report_control, name) },
    { "policy.action", FIELD_TEXT, FIELD(struct report_control, action) },
    { "policy.paused", FIELD_TRUE, FIELD(struct report_control, paused) },
    { "pace", FIELD_KNOWN, FIELD(struct report_control, pacing.known) },
    { "pace.levers", FIELD_TEXT, FIELD(struct report_control, pacing.allowed) },
    { "checkpoint", FIELD_KNOWN, FIELD(struct report_control, cadence.known) },
    { "checkpoint.mode", FIELD_TEXT, FIELD(struct report_control, cadence.mode) },
    { "checkpoint.reason", FIELD_TEXT, FIELD(struct report_control, cadence.reason) },
    { "checkpoint.interval_s", FIELD_AMOUNT, FIELD(struct report_control, cadence.interval_s) },
    { "checkpoint.goodput_most", FIELD_SHARE, FIELD(struct report_control, cadence.goodput_most) },
    { "checkpoint.next_due_s", FIELD_AMOUNT, FIELD(struct report_control, cadence.next_due_s) },
    { "checkpoint.cost_s.value", FIELD_AMOUNT, FIELD(struct report_control, cadence.cost_s) },
    { "checkpoint.requests.asked", FIELD_COUNT, FIELD(struct report_control, cadence.asked) },
    { "checkpoint.requests.heard", FIELD_COUNT, FIELD(struct report_control, cadence.heard) },
    { "checkpoint.requests.missing", FIELD_TEXT, FIELD(struct report_control, cadence.missing) },
    { 0 },
};

void report_control_read(struct report_control *c, const json_t *answer)
{
    const json_t *o = json_object_get(answer, "policy"), *list;

    get_fields(c, answer, control_fields);
    parse_pacing(&c->pacing, json_object_get(answer, "pace"));
    c->n_params = get_rows(c->param, sizeof(c->param[0]), REPORT_PARAMS_MAX, o, "params", param_fields);
    list = get_list(o, "rules", REPORT_RULES_MAX, &c->n_rules);
    for (size_t i = 0; i < c->n_rules; i++) {
        get_fields(&c->rule[i], json_array_get(list, i), rule_fields);
        action_text(json_array_get(list, i), c->rule[i].action_text, sizeof(c->rule[i].action_text));
    }
    list = get_list(o, "decisions", REPORT_DECISIONS_MAX, &c->n_decisions);
    for (size_t i = 0; i < c->n_decisions; i++) {
        get_fields(&c->decision[i], json_array_get(list, i), decision_fields);
        action_text(json_array_get(list, i), c->decision[i].action_text, sizeof(c->decision[i].action_text));
    }
}
