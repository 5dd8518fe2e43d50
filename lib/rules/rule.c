#include "rules/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* ---- configuration ---- */

static int wrong(const struct config_rule *c, unsigned line, const char *key, const char *value,
                 struct err *err)
{
    return err_prefix(err, "%s:%u: Rule=%s %s=%.160s", c->file, line, c->name, key, value);
}

static int compile_rule(struct rule *r, const struct config_rule *c, struct err *err)
{
    int kind = action_parse(c->action);
    char names[160];

    snprintf(r->name, sizeof(r->name), "%s", c->name);
    snprintf(r->policy, sizeof(r->policy), "%s", c->policy);
    snprintf(r->text, sizeof(r->text), "%s", c->text);
    snprintf(r->module, sizeof(r->module), "%s", c->module);
    r->hold_s = c->hold_s;
    r->hysteresis_ratio = c->hysteresis_ratio;
    r->cool_down_s = c->cool_down_s;
    r->max_per_job = c->max_per_job;
    r->conditional = *c->when || !*c->module;
    if (r->conditional && condition_parse(&r->when, c->when, err) < 0)
        return wrong(c, c->when_line, "When", c->when, err);
    if (kind < 0 || action_table[kind].by_hand_only) {
        err_set(err, "%s; expected one of %s",
                kind >= 0    ? "not possible in a rule"
                : *c->action ? "unknown action"
                             : "missing action",
                action_names(false, names, sizeof(names)));
        return wrong(c, c->action_line, "Action", c->action, err);
    }
    r->action = (enum action_kind)kind;
    if (!*c->signal && r->action != ACTION_SIGNAL)
        return 0;
    r->signal = action_signal_parse(c->signal);
    if (r->signal >= 0)
        return 0;
    err_set(err, "%s; expected a name such as USR1, or a number",
            *c->signal ? "unknown signal"
                       : "missing: a program that does not handle the signal is ended by it");
    return wrong(c, c->line, "Signal", c->signal, err);
}

/* What an action goes through, where the whole configuration sets it; NULL: this one needs nothing, or it is
 * set. */
static const char *missing_way(enum action_kind kind, const struct config *c)
{
    return kind == ACTION_WEBHOOK && !*c->webhook
               ? "no URL is configured: expected a line Webhook=URL or Webhook=FILE"
           : kind == ACTION_COMMAND && !*c->command_hook
               ? "no program is configured: expected a line CommandHook=FILE"
               : NULL;
}

struct ruleset *ruleset_new(const struct config *c, struct err *err)
{
    struct ruleset *s = xcalloc(1, sizeof(*s));

    s->rule = xcalloc(c->n_rules + 1, sizeof(*s->rule));
    for (; s->n < c->n_rules; s->n++) {
        const struct config_rule *r = &c->rules[s->n];
        const char *missing;
        int same_policy = 0;

        for (size_t i = 0; i < s->n; i++)
            same_policy += !strcasecmp(s->rule[i].policy, r->policy);
        if (same_policy == RULES_PER_POLICY) {
            err_set(err, "%s:%u: Rule=%s Policy=%s: a policy has at most %d rules", r->file, r->line, r->name,
                    r->policy, RULES_PER_POLICY);
            goto fail;
        }
        if (compile_rule(&s->rule[s->n], r, err) < 0)
            goto fail;
        missing = missing_way(s->rule[s->n].action, c);
        if (missing) {
            err_set(err, "%s:%u: Rule=%s Action=%s: %s", r->file, r->action_line, r->name, r->action,
                    missing);
            goto fail;
        }
        if (*r->module && !*c->policy_module) {
            err_set(err, "%s:%u: Rule=%s Module=%s: no PolicyModule= is configured", r->file, r->line,
                    r->name, r->module);
            goto fail;
        }
    }
    return s;
fail:
    ruleset_free(s);
    return NULL;
}

void ruleset_free(struct ruleset *s)
{
    if (s)
        free(s->rule);
    free(s);
}

/* ---- evaluation ---- */

const char *rule_phase_name(enum rule_phase p)
{
    static const char *const names[] = { "idle", "unknown", "holding", "cooling", "spent", "due" };

    return names[p];
}

void rule_forget(struct rule_state *s)
{
    *s = (struct rule_state){ .truth = TRUTH_UNKNOWN, .since_s = NAN, .acted_s = NAN };
    condition_forget(&s->memory);
}

static enum truth truth_now(const struct rule *r, struct rule_state *s, const struct figures *f,
                            const struct advice *advice, double now_s)
{
    enum truth t = TRUTH_YES;

    if (r->conditional)
        t = condition_eval(&r->when, f, now_s, !isnan(s->since_s), r->hysteresis_ratio, &s->memory);
    if (!*r->module || t == TRUTH_NO)
        return t;
    if (!advice)
        return TRUTH_UNKNOWN;
    return advice->act ? t : TRUTH_NO;
}

enum rule_phase rule_phase(const struct rule *r, const struct rule_state *s, double now_s)
{
    if (s->truth != TRUTH_YES)
        return s->truth == TRUTH_NO ? RULE_IDLE : RULE_UNKNOWN;
    if (now_s - s->since_s < r->hold_s)
        return RULE_HOLDING;
    if (r->max_per_job && s->acted >= r->max_per_job)
        return RULE_SPENT;
    if (now_s - s->acted_s < r->cool_down_s)
        return RULE_COOLING;
    return RULE_DUE;
}

enum rule_phase rule_look(const struct rule *r, struct rule_state *s, const struct figures *f,
                          const struct advice *advice, double now_s)
{
    s->truth = truth_now(r, s, f, advice, now_s);
    if (s->truth != TRUTH_YES) {
        s->since_s = NAN;
        s->withheld = false;
    } else if (isnan(s->since_s)) {
        s->since_s = now_s;
    }
    return rule_phase(r, s, now_s);
}

void rule_acted(struct rule_state *s, double now_s)
{
    s->acted_s = now_s;
    s->acted++;
    s->withheld = false;
}
