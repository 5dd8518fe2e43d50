#include "report/report_control.h"

#include <stdlib.h>

static const struct json_field param_fields[] = {
    { "key", FIELD_TEXT, FIELD(struct report_param, key) },
    { "value", FIELD_STRING, FIELD(struct report_param, value) },
    { "number", FIELD_NUMBER, FIELD(struct report_param, number) },
    { "default", FIELD_STRING, FIELD(struct report_param, standard) },
    { "unit", FIELD_TEXT, FIELD(struct report_param, unit) },
    { "range", FIELD_TEXT, FIELD(struct report_param, range) },
    { "min", FIELD_NUMBER, FIELD(struct report_param, min) },
    { "max", FIELD_NUMBER, FIELD(struct report_param, max) },
    { "meaning", FIELD_TEXT, FIELD(struct report_param, meaning) },
    { "set", FIELD_TRUE, FIELD(struct report_param, set) },
    { 0 },
};

static const struct json_field decision_fields[] = {
    { "id", FIELD_COUNT, FIELD(struct report_decision, id) },
    { "at", FIELD_AMOUNT, FIELD(struct report_decision, at) },
    { "job", FIELD_STRING, FIELD(struct report_decision, job) },
    { "restarts", FIELD_COUNT, FIELD(struct report_decision, restarts) },
    { "policy", FIELD_STRING, FIELD(struct report_decision, policy) },
    { "state", FIELD_STRING, FIELD(struct report_decision, state) },
    { "by", FIELD_COUNT, FIELD(struct report_decision, by) },
    { "rule", FIELD_TEXT, FIELD(struct report_decision, rule) },
    { "action", FIELD_TEXT, FIELD(struct report_decision, action) },
    { "signal", FIELD_COUNT, FIELD(struct report_decision, signal) },
    { "nodes", FIELD_TEXTS, FIELD(struct report_decision, nodes) },
    { "sentence", FIELD_TEXT, FIELD(struct report_decision, sentence) },
    { "why_not", FIELD_TEXT, FIELD(struct report_decision, why_not) },
    { "projected_ratio", FIELD_NUMBER, FIELD(struct report_decision, projected_ratio) },
    { "outcome", FIELD_TEXT, FIELD(struct report_decision, outcome) },
    { "outcome_text", FIELD_TEXT, FIELD(struct report_decision, outcome_text) },
    { "step_before_s", FIELD_NUMBER, FIELD(struct report_decision, step_before_s) },
    { "effect_ratio", FIELD_NUMBER, FIELD(struct report_decision, effect_ratio) },
    { "effect_low", FIELD_NUMBER, FIELD(struct report_decision, effect_low) },
    { "effect_high", FIELD_NUMBER, FIELD(struct report_decision, effect_high) },
    { "effect", FIELD_TEXT, FIELD(struct report_decision, effect) },
    { 0 },
};

static const struct json_field term_fields[] = {
    { "text", FIELD_STRING, FIELD(struct report_term, text) },
    { "value", FIELD_STRING, FIELD(struct report_term, value) },
    { "truth", FIELD_STRING, FIELD(struct report_term, truth) },
    { 0 },
};

/* As configured, and of a job. */
#define RULE_FIELDS                                                                        \
    { "name", FIELD_TEXT, FIELD(struct report_rule, name) },                               \
        { "text", FIELD_TEXT, FIELD(struct report_rule, text) },                           \
        { "when", FIELD_TEXT, FIELD(struct report_rule, when) },                           \
        { "module", FIELD_TEXT, FIELD(struct report_rule, module) },                       \
        { "action", FIELD_TEXT, FIELD(struct report_rule, action) },                       \
        { "signal", FIELD_TEXT, FIELD(struct report_rule, signal) },                       \
        { "hold_s", FIELD_AMOUNT, FIELD(struct report_rule, hold_s) },                     \
        { "hysteresis_ratio", FIELD_NUMBER, FIELD(struct report_rule, hysteresis_ratio) }, \
        { "cool_down_s", FIELD_NUMBER, FIELD(struct report_rule, cool_down_s) },           \
    {                                                                                      \
        "max_per_job", FIELD_COUNT, FIELD(struct report_rule, max_per_job)                 \
    }

static const struct json_field rule_fields[] = { RULE_FIELDS, { 0 } };

static const struct json_field standing_fields[] = {
    RULE_FIELDS,
    { "phase", FIELD_TEXT, FIELD(struct report_rule, phase) },
    { "why_not", FIELD_TEXT, FIELD(struct report_rule, why_not) },
    { "truth", FIELD_TEXT, FIELD(struct report_rule, truth) },
    { "terms", FIELD_ROWS, ROWS(struct report_rule, terms, term_fields) },
    { "held_s", FIELD_AMOUNT, FIELD(struct report_rule, held_s) },
    { "cooling_s", FIELD_AMOUNT, FIELD(struct report_rule, cooling_s) },
    { "acted", FIELD_COUNT, FIELD(struct report_rule, acted) },
    { "last", FIELD_PART, PART(struct report_rule, last, decision_fields) },
    { 0 },
};

static const struct json_field budget_fields[] = {
    { "actions", FIELD_COUNT, FIELD(struct report_budget, actions) },
    { "actions_per_hour", FIELD_COUNT, FIELD(struct report_budget, actions_per_hour) },
    { "nodes", FIELD_COUNT, FIELD(struct report_budget, nodes) },
    { "nodes_per_hour", FIELD_COUNT, FIELD(struct report_budget, nodes_per_hour) },
    { "nodes_at_once", FIELD_COUNT, FIELD(struct report_budget, nodes_at_once) },
    { "cluster_actions", FIELD_COUNT, FIELD(struct report_budget, cluster_actions) },
    { "cluster_actions_per_hour", FIELD_COUNT, FIELD(struct report_budget, cluster_actions_per_hour) },
    { "cluster_nodes", FIELD_COUNT, FIELD(struct report_budget, cluster_nodes) },
    { "cluster_nodes_per_hour", FIELD_COUNT, FIELD(struct report_budget, cluster_nodes_per_hour) },
    { 0 },
};

static const struct json_field control_fields[] = {
    { "name", FIELD_TEXT, FIELD(struct report_control, name) },
    { "text", FIELD_TEXT, FIELD(struct report_control, text) },
    { "action", FIELD_TEXT, FIELD(struct report_control, action) },
    { "beyond_enforced", FIELD_NOT_FALSE, FIELD(struct report_control, beyond_enforced) },
    { "paused", FIELD_TRUE, FIELD(struct report_control, paused) },
    { "params", FIELD_ROWS, ROWS(struct report_control, params, param_fields) },
    { "rules", FIELD_ROWS, ROWS(struct report_control, rules, standing_fields) },
    { "budget", FIELD_PART, PART(struct report_control, budget, budget_fields) },
    { "decisions", FIELD_ROWS, ROWS(struct report_control, decisions, decision_fields) },
    { 0 },
};

static const struct json_field policy_fields[] = {
    { "name", FIELD_TEXT, FIELD(struct report_policy, name) },
    { "text", FIELD_TEXT, FIELD(struct report_policy, text) },
    { "action", FIELD_TEXT, FIELD(struct report_policy, action) },
    { "default", FIELD_TRUE, FIELD(struct report_policy, is_default) },
    { "jobs", FIELD_COUNT, FIELD(struct report_policy, jobs) },
    { "rules", FIELD_ROWS, ROWS(struct report_policy, rules, rule_fields) },
    { 0 },
};

static const struct json_field params_fields[] = {
    { "params", FIELD_ROWS, ROWS(struct report_policy, params, param_fields) },
    { 0 },
};

/* ---- writing ---- */

json_t *report_control_json(const struct report_control *c)
{
    return json_of_fields(c, control_fields);
}

json_t *report_policy_json(const struct report_policy *p)
{
    json_t *o = json_of_fields(p, policy_fields);

    if (p->params.n)
        json_put_fields(o, p, params_fields);
    return o;
}

json_t *report_decision_json(const struct report_decision *d)
{
    return json_of_fields(d, decision_fields);
}

/* ---- reading ---- */

void report_control_read(struct report_control *c, const json_t *o)
{
    c->known = json_is_object(o);
    json_get_fields(c, o, control_fields);
}

void report_policy_read(struct report_policy *p, const json_t *o)
{
    json_get_fields(p, o, policy_fields);
    json_get_fields(p, o, params_fields);
}

void report_decision_read(struct report_decision *d, const json_t *o)
{
    d->known = json_is_object(o);
    json_get_fields(d, o, decision_fields);
}

/* ---- freeing ---- */

void report_decision_free(struct report_decision *d)
{
    json_texts_free(&d->nodes);
}

static void free_rules(struct report_rules *r)
{
    for (size_t i = 0; i < r->n; i++) {
        report_decision_free(&r->list[i].last);
        free(r->list[i].terms.list);
    }
    free(r->list);
    *r = (struct report_rules){ 0 };
}

void report_control_free(struct report_control *c)
{
    for (size_t i = 0; i < c->decisions.n; i++)
        report_decision_free(&c->decisions.list[i]);
    free(c->decisions.list);
    c->decisions = (struct report_decisions){ 0 };
    free_rules(&c->rules);
    free(c->params.list);
    c->params = (struct report_params){ 0 };
}

void report_policy_free(struct report_policy *p)
{
    free_rules(&p->rules);
    free(p->params.list);
    p->params = (struct report_params){ 0 };
}
