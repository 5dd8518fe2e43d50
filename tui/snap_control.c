#include "tui/snap_control.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wire/json.h"

#define PACING_NODES_MAX 4096

/* "exclude n5, n6", "signal USR1" */
static void deed(const json_t *o, char *to, size_t size)
{
    char action[32], signal[16], nodes[64];

    get_text(o, "action", action, sizeof(action));
    get_text(o, "signal", signal, sizeof(signal));
    join_texts(json_object_get(o, "nodes"), nodes, sizeof(nodes));
    snprintf(to, size, "%s%s%s%s%s", action, signal[0] ? " " : "", signal, nodes[0] ? " " : "", nodes);
}

static void parse_param(struct snap_param *p, const json_t *o)
{
    get_text(o, "key", p->key, sizeof(p->key));
    get_text(o, "value", p->value, sizeof(p->value));
    get_text(o, "default", p->standard, sizeof(p->standard));
    get_text(o, "range", p->range, sizeof(p->range));
    p->set = get_true(o, "set");
}

static void parse_rule(struct snap_rule *r, const json_t *o)
{
    get_text(o, "name", r->name, sizeof(r->name));
    deed(o, r->deed, sizeof(r->deed));
    get_text(o, "phase", r->phase, sizeof(r->phase));
    r->held_s = get_amount(o, "held_s");
    r->hold_s = get_amount(o, "hold_s");
    r->cooling_s = get_amount(o, "cooling_s");
    r->acted = get_count(o, "acted");
}

static void parse_decision(struct snap_decision *d, const json_t *o)
{
    d->at = get_amount(o, "at");
    get_text(o, "state", d->state, sizeof(d->state));
    deed(o, d->deed, sizeof(d->deed));
    get_text(o, "sentence", d->sentence, sizeof(d->sentence));
    get_text(o, "why_not", d->why_not, sizeof(d->why_not));
    get_text(o, "outcome", d->outcome, sizeof(d->outcome));
    get_text(o, "outcome_text", d->outcome_text, sizeof(d->outcome_text));
    get_text(o, "effect", d->effect, sizeof(d->effect));
}

/* ---- pacing ---- */

static struct snap_lever *lever_of(struct snap_pacing *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->lever[i].name, name))
            return &p->lever[i];
    if (p->n == SNAP_LEVERS_MAX || !name[0])
        return NULL;
    snprintf(p->lever[p->n].name, sizeof(p->lever[0].name), "%s", name);
    p->lever[p->n].compared = -1;
    p->lever[p->n].ratio = p->lever[p->n].low = p->lever[p->n].high = NAN;
    return &p->lever[p->n++];
}

static void parse_pacing_node(struct snap_pacing *p, const json_t *node)
{
    size_t n;
    const json_t *levers = get_list(node, "levers", SNAP_LEVERS_MAX, &n);
    int64_t late = get_count(node, "late_holds");
    char mode[16], current[16], name[16];
    struct snap_lever *l;

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

static void parse_pacing(struct snap_pacing *p, const json_t *o)
{
    size_t n;
    const json_t *nodes = get_list(o, "nodes", PACING_NODES_MAX, &n);

    p->known = json_is_object(o);
    p->nodes = (int64_t)n;
    get_text(o, "levers", p->allowed, sizeof(p->allowed));
    for (size_t i = 0; i < n; i++)
        parse_pacing_node(p, json_array_get(nodes, i));
}

static void parse_cadence(struct snap_cadence *c, const json_t *o)
{
    const json_t *requests = json_object_get(o, "requests");

    c->known = json_is_object(o);
    get_text(o, "mode", c->mode, sizeof(c->mode));
    get_text(o, "reason", c->reason, sizeof(c->reason));
    get_text(o, "cost_source", c->cost_source, sizeof(c->cost_source));
    get_text(requests, "missing", c->missing, sizeof(c->missing));
    c->interval_s = get_amount(o, "interval_s");
    c->goodput_most = get_share(o, "goodput_most");
    c->next_due_s = get_amount(o, "next_due_s");
    c->last_s = get_amount(o, "last_s");
    c->lost_work_s = get_amount(o, "lost_work_s");
    c->cost_s = get_amount(json_object_get(o, "cost_s"), "value");
    c->asked = get_count(requests, "asked");
    c->heard = get_count(requests, "heard");
}

void snap_control_parse(struct snap_control *c, const json_t *answer)
{
    const json_t *o = json_object_get(answer, "policy"), *list;

    parse_pacing(&c->pacing, json_object_get(answer, "pace"));
    parse_cadence(&c->cadence, json_object_get(answer, "checkpoint"));
    c->known = json_is_object(o);
    get_text(o, "name", c->name, sizeof(c->name));
    get_text(o, "action", c->action, sizeof(c->action));
    get_text(o, "text", c->text, sizeof(c->text));
    c->paused = get_true(o, "paused");
    list = get_list(o, "params", SNAP_PARAMS_MAX, &c->n_params);
    for (size_t i = 0; i < c->n_params; i++)
        parse_param(&c->param[i], json_array_get(list, i));
    list = get_list(o, "rules", SNAP_RULES_MAX, &c->n_rules);
    for (size_t i = 0; i < c->n_rules; i++)
        parse_rule(&c->rule[i], json_array_get(list, i));
    list = get_list(o, "decisions", SNAP_DECISIONS_MAX, &c->n_decisions);
    for (size_t i = 0; i < c->n_decisions; i++)
        parse_decision(&c->decision[i], json_array_get(list, i));
}
