/* control_report.c - policies, and a job's among them, as they are reported (sgctl(1), JSON). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/xalloc.h"
#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "report/report_control.h"
#include "wire/json.h"

/* ---- parameters ---- */

static struct report_params params_of(const struct config_policy *p, char *const *override)
{
    const struct key *key = config_keys(CONFIG_POLICY);
    struct report_params params = { .list = xcalloc(KEYS_MAX, sizeof(*params.list)) };

    for (size_t i = 0; key[i].name; i++) {
        struct report_param *to = &params.list[params.n];

        if (!strcmp(key[i].name, "Description"))
            continue;
        to->number = key_number(&key[i], p);
        to->min = isnan(to->number) ? NAN : key[i].type.min;
        to->max = isnan(to->number) ? NAN : key[i].type.max;
        to->set = override && override[i];
        snprintf(to->key, sizeof(to->key), "%s", key[i].name);
        key_write(&key[i], p, to->value, sizeof(to->value));
        snprintf(to->standard, sizeof(to->standard), "%s", key[i].standard);
        snprintf(to->unit, sizeof(to->unit), "%s", value_unit(&key[i].type));
        key_accepts(&key[i], to->range, sizeof(to->range));
        snprintf(to->meaning, sizeof(to->meaning), "%s", key[i].text);
        params.n++;
    }
    return params;
}

/* ---- rules ---- */

static void get_rule(struct report_rule *to, const struct rule *r)
{
    *to = (struct report_rule){ .hold_s = r->hold_s,
                                .hysteresis_ratio = r->hysteresis_ratio,
                                .cool_down_s = r->cool_down_s,
                                .max_per_job = r->max_per_job ? r->max_per_job : -1 };
    snprintf(to->name, sizeof(to->name), "%s", r->name);
    snprintf(to->text, sizeof(to->text), "%s", r->text);
    snprintf(to->when, sizeof(to->when), "%s", r->conditional ? r->when.text : "");
    snprintf(to->module, sizeof(to->module), "%s", r->module);
    snprintf(to->action, sizeof(to->action), "%s", action_name(r->action));
    snprintf(to->signal, sizeof(to->signal), "%s",
             r->action == ACTION_SIGNAL ? action_signal_name(r->signal) : "");
}

/* The state of a rule in the job, with the values of its condition. */
static void get_standing(struct report_rule *to, const struct control *c, size_t i,
                         const struct engine_input *in)
{
    const struct rule *r = c->engine.rule[i];
    const struct rule_state *s = &c->engine.state[i];
    enum rule_phase phase = rule_phase(r, s, in->now_s);
    double left_s = r->cool_down_s - (in->now_s - s->acted_s);
    struct decision would = { .why_not = "" };
    struct condition_term term[CONDITION_NODES_MAX];
    struct report_terms *terms = &to->terms;

    if (s->truth == TRUTH_YES && !job_over(c->job))
        engine_consider(&c->engine, i, in, &would);
    get_rule(to, r);
    snprintf(to->phase, sizeof(to->phase), "%s",
             phase == RULE_DUE && *would.why_not ? "withheld" : rule_phase_name(phase));
    snprintf(to->why_not, sizeof(to->why_not), "%s", would.why_not);
    snprintf(to->truth, sizeof(to->truth), "%s", truth_name(s->truth));
    terms->n = r->conditional ? condition_terms(&r->when, in->figures, term, CONDITION_NODES_MAX) : 0;
    terms->list = xcalloc(terms->n, sizeof(*terms->list));
    for (size_t k = 0; k < terms->n; k++) {
        snprintf(terms->list[k].text, sizeof(terms->list[k].text), "%.127s", term[k].text);
        snprintf(terms->list[k].value, sizeof(terms->list[k].value), "%.71s", term[k].value);
        snprintf(terms->list[k].truth, sizeof(terms->list[k].truth), "%s", truth_name(term[k].truth));
    }
    to->held_s = in->now_s - s->since_s;
    to->cooling_s = isnan(left_s) ? NAN : fmax(0, left_s);
    to->acted = s->acted;
    for (size_t k = 0; !to->last.known && control_decision(c, k); k++)
        if (!strcasecmp(control_decision(c, k)->entry.d.rule, r->name))
            audit_report(&to->last, &control_decision(c, k)->entry);
}

/* ---- the policy of a job ---- */

void controls_get(struct controls *cs, const struct job *j, double now_s, struct report_control *to)
{
    const struct control *c = j->control;
    double at_s = job_over(j) ? j->end_s : now_s;
    const struct control_witness witness = { cs, c->job, at_s };
    struct engine_input in = control_input(&witness);
    int nodes, all_nodes, actions = budget_spent(&c->engine.budget, BUDGET_ALL, now_s, &nodes),
                          all_actions = budget_spent(&cs->cluster, BUDGET_ALL, now_s, &all_nodes);
    struct figures f;

    *to = (struct report_control){
        .known = true,
        .beyond_enforced = j->params.action == CONFIG_ENFORCE && !c->owner_enforces,
        .paused = c->paused,
        .params = params_of(&j->params, c->override),
        .budget = { .known = true,
                    .actions = actions,
                    .actions_per_hour = j->params.actions_per_hour,
                    .nodes = nodes,
                    .nodes_per_hour = j->params.nodes_per_hour,
                    .nodes_at_once = j->params.nodes_at_once,
                    .cluster_actions = all_actions,
                    .cluster_actions_per_hour = cs->controller->config.cluster_actions_per_hour,
                    .cluster_nodes = all_nodes,
                    .cluster_nodes_per_hour = cs->controller->config.cluster_nodes_per_hour },
    };
    snprintf(to->name, sizeof(to->name), "%s", j->policy);
    snprintf(to->text, sizeof(to->text), "%s", c->config.text);
    snprintf(to->action, sizeof(to->action), "%s", j->params.action == CONFIG_ENFORCE ? "enforce" : "dryrun");
    control_figures(cs, c, at_s, &f);
    in.figures = &f;
    to->rules = (struct report_rules){ c->engine.n, xcalloc(c->engine.n, sizeof(*to->rules.list)) };
    for (size_t i = 0; i < c->engine.n; i++)
        get_standing(&to->rules.list[i], c, i, &in);
    to->decisions.list = xcalloc(JOB_DECISIONS, sizeof(*to->decisions.list));
    for (size_t i = 0; control_decision(c, i); i++)
        audit_report(&to->decisions.list[to->decisions.n++], &control_decision(c, i)->entry);
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

static json_t *policy_json(const struct controls *cs, const struct config_policy *p, bool params)
{
    struct report_policy policy = { .is_default =
                                        !strcasecmp(p->name, cs->controller->config.default_policy) };
    json_t *o;

    snprintf(policy.name, sizeof(policy.name), "%s", p->name);
    snprintf(policy.text, sizeof(policy.text), "%s", p->text);
    snprintf(policy.action, sizeof(policy.action), "%s", p->action == CONFIG_ENFORCE ? "enforce" : "dryrun");
    for (size_t i = 0; i < cs->n; i++)
        policy.jobs += !job_over(cs->control[i]->job) && !strcasecmp(cs->control[i]->job->policy, p->name);
    policy.rules.list = xcalloc(cs->rules->n, sizeof(*policy.rules.list));
    for (size_t i = 0; i < cs->rules->n; i++)
        if (!strcasecmp(cs->rules->rule[i].policy, p->name))
            get_rule(&policy.rules.list[policy.rules.n++], &cs->rules->rule[i]);
    if (params)
        policy.params = params_of(p, NULL);
    o = report_policy_json(&policy);
    report_policy_free(&policy);
    return o;
}

json_t *controls_policies(const struct controls *cs)
{
    const struct config *c = &cs->controller->config;
    const struct key *key = config_keys(CONFIG_SELECTION);
    json_t *list = json_array(), *selections = json_array();
    char value[256];

    for (size_t i = 0; i < c->n_policies; i++)
        json_array_append_new(list, policy_json(cs, &c->policies[i], false));
    for (size_t i = 0; i < c->n_selections; i++) {
        json_t *o = json_object();

        json_put_text(o, "policy", c->selections[i].policy);
        for (size_t k = 0; key[k].name; k++) {
            key_write(&key[k], &c->selections[i], value, sizeof(value));
            if (strcmp(value, key[k].standard) != 0)
                json_put_string(o, key[k].name, value);
        }
        json_array_append_new(selections, o);
    }
    return json_pack("{s:o,s:o}", "policies", list, "selections", selections);
}

json_t *controls_policy(const struct controls *cs, const char *name)
{
    const struct config_policy *p = config_policy_find(&cs->controller->config, name);

    return p ? policy_json(cs, p, true) : NULL;
}
