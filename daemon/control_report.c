/* control_report.c - policies, and a job's among them, as JSON objects (sgctl(1), JSON). */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/xalloc.h"
#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "wire/json.h"

/* ---- parameters ---- */

static json_t *param_json(const struct key *key, const struct config_policy *p, const char *override)
{
    char value[256], accepts[240];
    json_t *o = json_object();
    double number = key_number(key, p);

    put_text(o, "key", key->name);
    put_string(o, "value", key_write(key, p, value, sizeof(value)));
    put_real(o, "number", number);
    put_string(o, "default", key->standard);
    put_text(o, "unit", value_unit(&key->type));
    put_text(o, "range", key_accepts(key, accepts, sizeof(accepts)));
    put_real(o, "min", isnan(number) ? NAN : key->type.min);
    put_real(o, "max", isnan(number) ? NAN : key->type.max);
    put_text(o, "meaning", key->text);
    put_bool(o, "set", override != NULL);
    return o;
}

static json_t *params_json(const struct config_policy *p, char *const *override)
{
    json_t *list = json_array();
    const struct key *key = config_keys(CONFIG_POLICY);

    for (size_t i = 0; key[i].name; i++)
        if (strcmp(key[i].name, "Description") != 0)
            json_array_append_new(list, param_json(&key[i], p, override ? override[i] : NULL));
    return list;
}

/* ---- rules ---- */

static json_t *rule_json(const struct rule *r)
{
    json_t *o = json_object();

    put_text(o, "name", r->name);
    put_text(o, "text", r->text);
    put_text(o, "when", r->conditional ? r->when.text : "");
    put_text(o, "module", r->module);
    put_text(o, "action", action_name(r->action));
    put_text(o, "signal", r->action == ACTION_SIGNAL ? action_signal_name(r->signal) : "");
    put_real(o, "hold_s", r->hold_s);
    put_real(o, "hysteresis_ratio", r->hysteresis_ratio);
    put_real(o, "cool_down_s", r->cool_down_s);
    put_count(o, "max_per_job", r->max_per_job ? r->max_per_job : -1);
    return o;
}

static json_t *terms_json(const struct rule *r, const struct figures *f)
{
    struct condition_term term[CONDITION_NODES_MAX];
    size_t n = r->conditional ? condition_terms(&r->when, f, term, CONDITION_NODES_MAX) : 0;
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "text", term[i].text, "value", term[i].value,
                                              "truth", truth_name(term[i].truth)));
    return list;
}

static json_t *last_decision(const struct control *c, const char *rule)
{
    for (size_t i = 0; control_decision(c, i); i++)
        if (!strcasecmp(control_decision(c, i)->entry.d.rule, rule))
            return audit_object(&control_decision(c, i)->entry);
    return NULL;
}

/* The state of a rule in the job, with the values of its condition. */
static json_t *standing_json(const struct control *c, size_t i, const struct engine_input *in)
{
    const struct rule *r = c->engine.rule[i];
    const struct rule_state *s = &c->engine.state[i];
    enum rule_phase phase = rule_phase(r, s, in->now_s);
    double left_s = r->cool_down_s - (in->now_s - s->acted_s);
    json_t *o = rule_json(r);
    struct decision would = { .why_not = "" };

    if (s->truth == TRUTH_YES && !job_over(c->job))
        engine_consider(&c->engine, i, in, &would);
    put_text(o, "phase", phase == RULE_DUE && *would.why_not ? "withheld" : rule_phase_name(phase));
    put_text(o, "why_not", would.why_not);
    put_text(o, "truth", truth_name(s->truth));
    put_json(o, "terms", terms_json(r, in->figures));
    put_real(o, "held_s", in->now_s - s->since_s);
    put_real(o, "cooling_s", isnan(left_s) ? NAN : fmax(0, left_s));
    put_int(o, "acted", s->acted);
    put_json(o, "last", last_decision(c, r->name));
    return o;
}

static json_t *standings_json(struct controls *cs, const struct control *c, double now_s)
{
    const struct control_witness witness = { cs, c->job, now_s };
    json_t *list = json_array();
    struct figures f;
    struct engine_input in = control_input(&witness);

    control_figures(cs, c, now_s, &f);
    in.figures = &f;
    for (size_t i = 0; i < c->engine.n; i++)
        json_array_append_new(list, standing_json(c, i, &in));
    return list;
}

/* ---- the policy of a job ---- */

static json_t *budget_json(const struct controls *cs, const struct control *c, double now_s)
{
    const struct config_policy *p = &c->job->params;
    const struct config *all = &cs->controller->config;
    int nodes, all_nodes, actions = budget_spent(&c->engine.budget, BUDGET_ALL, now_s, &nodes),
                          all_actions = budget_spent(&cs->cluster, BUDGET_ALL, now_s, &all_nodes);

    return json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "actions", actions, "actions_per_hour",
                     p->actions_per_hour, "nodes", nodes, "nodes_per_hour", p->nodes_per_hour,
                     "nodes_at_once", p->nodes_at_once, "cluster_actions", all_actions,
                     "cluster_actions_per_hour", all->cluster_actions_per_hour, "cluster_nodes", all_nodes,
                     "cluster_nodes_per_hour", all->cluster_nodes_per_hour);
}

void controls_put(struct controls *cs, const struct job *j, double now_s, json_t *report)
{
    const struct control *c = j->control;
    json_t *o = json_object(), *decisions = json_array();

    for (size_t i = 0; control_decision(c, i); i++)
        json_array_append_new(decisions, audit_object(&control_decision(c, i)->entry));
    put_text(o, "name", j->policy);
    put_text(o, "text", c->config.text);
    put_text(o, "action", j->params.action == CONFIG_ENFORCE ? "enforce" : "dryrun");
    put_bool(o, "beyond_enforced", j->params.action == CONFIG_ENFORCE && !c->owner_enforces);
    put_bool(o, "paused", c->paused);
    put_json(o, "params", params_json(&j->params, c->override));
    put_json(o, "rules", standings_json(cs, c, job_over(j) ? j->end_s : now_s));
    put_json(o, "budget", budget_json(cs, c, now_s));
    put_json(o, "decisions", decisions);
    put_json(report, "policy", o);
}

/* Whether the decision changed this run: dry runs and actions on earlier runs did not. */
static bool changed_run(const struct control_decision *kept, const struct job *j)
{
    const struct audit_entry *e = &kept->entry;

    return !e->command && e->d.state == DECISION_ENFORCED && e->outcome == AUDIT_DONE &&
           e->d.action != ACTION_NODE_COMMENT && e->d.action != ACTION_JOB_COMMENT &&
           e->d.action != ACTION_WEBHOOK && !(e->at < j->start_wall_s);
}

double controls_first_action(const struct job *j)
{
    const struct control *c = j->control;
    double first_s = NAN;
    size_t i;

    for (i = 0; control_decision(c, i); i++)
        if (changed_run(control_decision(c, i), j))
            first_s = fmin(first_s, control_decision(c, i)->entry.at);
    return i < JOB_DECISIONS ? first_s : NAN;
}

/* ---- all policies ---- */

static json_t *rules_json(const struct controls *cs, const char *policy)
{
    json_t *list = json_array();

    for (size_t i = 0; i < cs->rules->n; i++)
        if (!strcasecmp(cs->rules->rule[i].policy, policy))
            json_array_append_new(list, rule_json(&cs->rules->rule[i]));
    return list;
}

static int count_jobs(const struct controls *cs, const char *policy)
{
    int n = 0;

    for (size_t i = 0; i < cs->n; i++)
        n += !job_over(cs->control[i]->job) && !strcasecmp(cs->control[i]->job->policy, policy);
    return n;
}

static json_t *policy_json(const struct controls *cs, const struct config_policy *p)
{
    json_t *o = json_object();

    put_text(o, "name", p->name);
    put_text(o, "text", p->text);
    put_text(o, "action", p->action == CONFIG_ENFORCE ? "enforce" : "dryrun");
    put_bool(o, "default", !strcasecmp(p->name, cs->controller->config.default_policy));
    put_int(o, "jobs", count_jobs(cs, p->name));
    put_json(o, "rules", rules_json(cs, p->name));
    return o;
}

static json_t *selection_json(const struct config_selection *s)
{
    json_t *o = json_object();
    char value[256];
    const struct key *key = config_keys(CONFIG_SELECTION);

    put_text(o, "policy", s->policy);
    for (size_t i = 0; key[i].name; i++) {
        key_write(&key[i], s, value, sizeof(value));
        if (strcmp(value, key[i].standard) != 0)
            put_string(o, key[i].name, value);
    }
    return o;
}

json_t *controls_policies(const struct controls *cs)
{
    const struct config *c = &cs->controller->config;
    json_t *list = json_array(), *selections = json_array();

    for (size_t i = 0; i < c->n_policies; i++)
        json_array_append_new(list, policy_json(cs, &c->policies[i]));
    for (size_t i = 0; i < c->n_selections; i++)
        json_array_append_new(selections, selection_json(&c->selections[i]));
    return json_pack("{s:o,s:o}", "policies", list, "selections", selections);
}

json_t *controls_policy(const struct controls *cs, const char *name)
{
    const struct config_policy *p = config_policy_find(&cs->controller->config, name);
    json_t *o;

    if (!p)
        return NULL;
    o = policy_json(cs, p);
    put_json(o, "params", params_json(p, NULL));
    return o;
}
