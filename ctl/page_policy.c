/* page_policy.c - policies, the state of their rules for a job, and past decisions. */
#include "ctl/page.h"
#include "ctl/page_parts.h"

#include <math.h>
#include <string.h>

#include "common/utf8.h"
#include "common/xalloc.h"
#include "wire/json.h"

/* Whether decisions of a policy's rules are carried out, in a sentence. */
static const char *bearing(const char *action, bool beyond_enforced)
{
    if (!strcmp(action, "dryrun"))
        return "Dry run: decisions of its rules are recorded, not carried out.";
    if (strcmp(action, "enforce") != 0)
        return "Whether decisions of its rules are carried out is unknown.";
    return beyond_enforced
               ? "Decisions of its rules are carried out (enforce)."
               : "Decisions of its rules are carried out (enforce), except those beyond the job (nodes, webhook, "
                 "command): its owner, not an operator, asked for it.";
}

/* ---- policies ---- */

static char *name_cell(const void *policy, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s", shown(policy, "name").s, json_get_true(policy, "default") ? " *" : "");
    return buf;
}

static char *rules_cell(const void *policy, char *buf, size_t size)
{
    const json_t *rules = json_get_array(policy, "rules");

    snprintf(buf, size, "%s", text_count(rules ? (double)json_array_size(rules) : NAN).s);
    return buf;
}

static void put_selections(FILE *out, const json_t *selections)
{
    const json_t *line, *value;
    const char *key;
    char name[33], text[300];
    size_t i;

    if (json_array_size(selections) == 0)
        return;
    fputs("\nSelections, the first that matches a job gives it the policy:\n", out);
    json_array_foreach(selections, i, line) {
        fprintf(out, "  %s:", shown(line, "policy").s);
        json_object_foreach((json_t *)line, key, value) {
            if (!strcmp(key, "policy"))
                continue;
            utf8_clean(name, sizeof(name), key);
            fprintf(out, " %s=%s", name, json_show_value(value, text, sizeof(text)));
        }
        fputc('\n', out);
    }
}

int page_policies(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "POLICY", .cell = name_cell },
        { "ACTION", .key = "action" },
        { "RULES", .cell = rules_cell, .right = true },
        { "JOBS", .key = "jobs", .words = text_count },
        { "MEANING", .key = "text" },
    };
    const struct page page = { out, answer, form, NULL };

    if (json_check_answer(answer, "policies", JSON_ARRAY, err) < 0)
        return -1;
    page_objects(&page, NULL, json_get_array(answer, "policies"), column, ARRAY_SIZE(column), 0);
    page_line(&page, 0, "* the default, for --sync-guard without a policy.");
    put_selections(out, json_get_array(answer, "selections"));
    return 0;
}

static char *set_cell(const void *param, char *buf, size_t size)
{
    snprintf(buf, size, "%s", ((const struct report_param *)param)->set ? "set" : "-");
    return buf;
}

static void put_rule(const struct page *p, const struct report_rule *rule)
{
    fprintf(p->out, "\nRule %s: %s%s%s\n", page_word(rule->name), page_word(rule->action),
            *rule->signal ? " " : "", rule->signal);
    if (*rule->text)
        page_line(p, PAGE_INDENT, "%s", rule->text);
    if (*rule->when)
        page_line(p, PAGE_INDENT, "when %s", rule->when);
    if (*rule->module)
        page_line(p, PAGE_INDENT, "when the site's module %s asks for it", rule->module);
    page_line(p, PAGE_INDENT, "hold %s, hysteresis %s, cool-down %s", text_s(rule->hold_s).s,
              text_percent(rule->hysteresis_ratio).s, text_s(rule->cool_down_s).s);
}

int page_policy(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "PARAMETER", .field = offsetof(struct report_param, key) },
        { "VALUE", .field = offsetof(struct report_param, value), .right = true },
        { "DEFAULT", .field = offsetof(struct report_param, standard), .right = true },
        { "RANGE", .field = offsetof(struct report_param, range) },
        { "", .cell = set_cell },
        { "MEANING", .field = offsetof(struct report_param, meaning) },
    };
    const struct page page = { out, answer, form, NULL };
    struct report_policy policy;

    if (json_check_answer(answer, "params", JSON_ARRAY, err) < 0)
        return -1;
    report_policy_read(&policy, answer);
    page_line(&page, 0, "Policy %s: %s", page_word(policy.name), page_word(policy.text));
    page_line(&page, 0, "%s", bearing(policy.action, true));
    fputc('\n', out);
    page_table(&page, NULL, policy.params.list, policy.params.n, sizeof(*policy.params.list), column,
               ARRAY_SIZE(column), 0);
    for (size_t i = 0; i < policy.rules.n; i++)
        put_rule(&page, &policy.rules.list[i]);
    report_policy_free(&policy);
    return 0;
}

/* ---- the policy of a job ---- */

/* After `set`, `pause`, `resume`: what is in force now. */
int page_control(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    struct report_control policy;
    int n = 0;

    (void)form;
    if (json_check_answer(answer, "policy", JSON_OBJECT, err) < 0)
        return -1;
    report_control_read(&policy, json_get_object(answer, "policy"));
    fprintf(out, "Job %s: policy %s, %s%s", shown(answer, "job").s, page_word(policy.name),
            page_word(policy.action), policy.paused ? ", paused" : "");
    for (size_t i = 0; i < policy.params.n; i++) {
        const struct report_param *param = &policy.params.list[i];

        if (param->set)
            fprintf(out, "%s%s=%s (default %s)", n++ ? ", " : "; set: ", page_word(param->key),
                    page_word(param->value), page_word(param->standard));
    }
    fputc('\n', out);
    report_control_free(&policy);
    return 0;
}

/* Why a rule acts or does not, in a sentence. */
static void put_standing(const struct page *p, const struct report_rule *rule)
{
    struct text held = text_s(rule->held_s);
    bool withheld = *rule->why_not;

    if (!strcmp(rule->phase, "idle"))
        page_line(p, PAGE_INDENT, "The condition is false.");
    else if (!strcmp(rule->phase, "unknown"))
        page_line(p, PAGE_INDENT,
                  "The condition is unknown, because a figure in it is: the rule does nothing.");
    else if (!strcmp(rule->phase, "holding"))
        page_line(p, PAGE_INDENT, "The condition has been true for %s; it must be so for %s.%s%s%s", held.s,
                  text_s(rule->hold_s).s, withheld ? " Now it would be withheld: " : "", rule->why_not,
                  withheld ? "." : "");
    else if (!strcmp(rule->phase, "cooling"))
        page_line(
            p, PAGE_INDENT,
            "The condition has been true for %s; the rule acted recently and cools down for another %s.",
            held.s, text_s(rule->cooling_s).s);
    else if (!strcmp(rule->phase, "spent"))
        page_line(p, PAGE_INDENT,
                  "The condition has been true for %s; the rule has acted %s time%s, the maximum for a job.",
                  held.s, page_count(rule->max_per_job).s, text_plural(rule->max_per_job));
    else if (!strcmp(rule->phase, "due"))
        page_line(p, PAGE_INDENT, "The condition has been true for %s: the rule acts now.", held.s);
    else if (!strcmp(rule->phase, "withheld"))
        page_line(p, PAGE_INDENT, "The condition has been true for %s, and the action is withheld: %s.",
                  held.s, page_word(rule->why_not));
    else
        page_line(p, PAGE_INDENT, "The state of the rule is unknown.");
}

/* The outcome of a decision, and its measured effect. */
static void put_result(const struct page *p, const struct report_decision *d)
{
    if (!strcmp(d->state, "dryrun"))
        page_line(p, 2 * PAGE_INDENT, "recorded, not carried out (dry run)");
    else if (*d->outcome)
        page_line(p, 2 * PAGE_INDENT, "%s%s%s", d->outcome, *d->outcome_text ? ": " : "", d->outcome_text);
    if (*d->effect)
        page_line(p, 2 * PAGE_INDENT, "%s", d->effect);
}

static void explain_rule(const struct page *p, const struct report_rule *rule)
{
    static const struct text_column column[] = { { "", false, 0 }, { "", false, 0 }, { "", false, 0 } };
    struct table *terms = table_new(column, ARRAY_SIZE(column));

    put_rule(p, rule);
    put_standing(p, rule);
    for (size_t i = 0; i < rule->terms.n; i++) {
        table_cell(terms, "%s", page_word(rule->terms.list[i].text));
        table_cell(terms, "now %s:", page_word(rule->terms.list[i].value));
        table_cell(terms, "%s", page_word(rule->terms.list[i].truth));
    }
    table_print(terms, p->out, 2 * PAGE_INDENT, p->form.columns);
    table_free(terms);
    if (!rule->last.known)
        return;
    page_line(p, PAGE_INDENT, "last decision%s: %s",
              rule->last.at < json_get_number(p->answer, "start") ? ", in an earlier run" : "",
              page_word(rule->last.sentence));
    put_result(p, &rule->last);
}

/* " (by anna)": the user who asked for it. */
static struct text asked_by(const struct report_decision *d)
{
    struct text t;

    snprintf(t.s, sizeof(t.s), " (by %.40s)", d->by < 0 ? "an unknown user" : page_user((double)d->by).s);
    return t;
}

int page_explain(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const struct page page = { out, answer, form, NULL };
    struct report_control c;
    const struct report_budget *b = &c.budget;

    if (json_check_answer(answer, "policy", JSON_OBJECT, err) < 0)
        return err_set(err,
                       "the job has no active policy: it has ended; `sgctl audit JOB` lists past decisions");
    report_control_read(&c, json_get_object(answer, "policy"));
    page_line(&page, 0, "Job %s, policy %s. %s%s", shown(answer, "id").s, page_word(c.name),
              bearing(c.action, c.beyond_enforced),
              c.paused ? " The policy is paused: its rules decide nothing." : "");
    page_line(
        &page, 0,
        "Used in the last hour: %s of %s action%s and %s of %s node%s; by all jobs together %s of %s action%s "
        "and %s of %s node%s.",
        page_count(b->actions).s, page_count(b->actions_per_hour).s, text_plural(b->actions_per_hour),
        page_count(b->nodes).s, page_count(b->nodes_per_hour).s, text_plural(b->nodes_per_hour),
        page_count(b->cluster_actions).s, page_count(b->cluster_actions_per_hour).s,
        text_plural(b->cluster_actions_per_hour), page_count(b->cluster_nodes).s,
        page_count(b->cluster_nodes_per_hour).s, text_plural(b->cluster_nodes_per_hour));
    if (!c.rules.n)
        page_line(&page, 0,
                  c.rules.list ? "The policy has no rules." : "The rules of the policy are unknown.");
    for (size_t i = 0; i < c.rules.n; i++)
        explain_rule(&page, &c.rules.list[i]);
    for (size_t i = 0; i < c.decisions.n; i++) {
        const struct report_decision *d = &c.decisions.list[i];

        if (*d->rule || !*d->action)
            continue;
        fputc('\n', out); /* what people did by hand, which no rule lists */
        page_line(&page, 0, "%s%s", page_word(d->sentence), asked_by(d).s);
        put_result(&page, d);
    }
    report_control_free(&c);
    return 0;
}

/* ---- past decisions ---- */

int page_audit(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const struct page page = { out, answer, form, NULL };
    const json_t *list = json_get_array(answer, "audit"), *e;
    size_t i;

    if (json_check_answer(answer, "audit", JSON_ARRAY, err) < 0)
        return -1;
    if (json_array_size(list) == 0)
        page_line(&page, 0, "No policy has decided anything yet.");
    json_array_foreach(list, i, e) {
        struct report_decision d;

        report_decision_read(&d, e);
        page_line(&page, 0, "%s (%s ago)  job %s, %s, %s: %s%s", page_at(d.at).s,
                  text_s(json_get_number(answer, "now") - d.at).s, page_word(d.job), page_word(d.policy),
                  page_word(d.state), page_word(d.sentence),
                  !strcmp(d.state, "command") || d.by >= 0 ? asked_by(&d).s : "");
        if (strcmp(d.state, "dryrun") != 0)
            put_result(&page, &d);
        report_decision_free(&d);
    }
    return 0;
}

/* ---- sgctl policy try ---- */

int page_try(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const struct page page = { out, answer, form, NULL };
    const json_t *list = json_get_array(answer, "decisions"), *e;
    size_t i;

    if (json_check_answer(answer, "decisions", JSON_ARRAY, err) < 0)
        return -1;
    fprintf(out, "Policy %s on a trace of %s: %zu decision%s\n", shown(answer, "policy").s,
            text_s(json_get_number(answer, "seconds")).s, json_array_size(list),
            text_plural((int64_t)json_array_size(list)));
    json_array_foreach(list, i, e)
        page_line(&page, PAGE_INDENT, "at %s, %s: %s", text_s(json_get_number(e, "at_s")).s,
                  shown(e, "state").s, shown(e, "sentence").s);
    json_array_foreach(json_get_array(answer, "reasons"), i, e) {
        char text[1024];

        page_line(&page, PAGE_INDENT, "%s", json_show_value(e, text, sizeof(text)));
    }
    return 0;
}
