/* page_policy.c - policies, the state of their rules for a job, and past decisions. */
#include "ctl/page.h"
#include "ctl/page_parts.h"

#include <math.h>
#include <string.h>

#include "common/utf8.h"
#include "common/xalloc.h"
#include "wire/json.h"

/* "exclude n5", "send USR1": what a decision or a rule does. */
static struct shown action_text(const json_t *o)
{
    const json_t *nodes = get_array(o, "nodes");
    struct shown t = shown(o, "action");
    char list[256];

    if (get_string(o, "signal"))
        text_append(t.s, sizeof(t.s), " %s", shown(o, "signal").s);
    if (json_array_size(nodes))
        text_append(t.s, sizeof(t.s), " %s", show_list(nodes, 8, list, sizeof(list)));
    return t;
}

/* Whether decisions of a policy's rules are carried out, in a sentence. */
static const char *bearing(const json_t *policy)
{
    const char *action = get_string(policy, "action");

    if (action && !strcmp(action, "dryrun"))
        return "Dry run: decisions of its rules are recorded, not carried out.";
    if (!action || strcmp(action, "enforce") != 0)
        return "Whether decisions of its rules are carried out is unknown.";
    return json_is_false(json_object_get(policy, "beyond_enforced"))
               ? "Decisions of its rules are carried out (enforce), except those beyond the job (nodes, webhook, "
                 "command): its owner, not an operator, asked for it."
               : "Decisions of its rules are carried out (enforce).";
}

/* ---- policies ---- */

static char *name_cell(const json_t *policy, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s", shown(policy, "name").s, get_true(policy, "default") ? " *" : "");
    return buf;
}

static char *rules_cell(const json_t *policy, char *buf, size_t size)
{
    const json_t *rules = get_array(policy, "rules");

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
            fprintf(out, " %s=%s", name, show_value(value, text, sizeof(text)));
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
        { "MEANING", .key = "text", .chars = 160 },
    };
    const struct page page = { out, answer, form, NULL };

    if (check_answer(answer, "policies", JSON_ARRAY, err) < 0)
        return -1;
    page_table(&page, NULL, get_array(answer, "policies"), SIZE_MAX, column, ARRAY_SIZE(column), 0);
    page_line(&page, 0, "* the default, for --sync-guard without a policy.");
    put_selections(out, get_array(answer, "selections"));
    return 0;
}

static char *set_cell(const json_t *param, char *buf, size_t size)
{
    snprintf(buf, size, "%s", get_true(param, "set") ? "set" : "-");
    return buf;
}

static void put_rule(const struct page *p, const json_t *rule)
{
    fprintf(p->out, "\nRule %s: %s\n", shown(rule, "name").s, action_text(rule).s);
    if (get_string(rule, "text"))
        page_line(p, PAGE_INDENT, "%s", shown(rule, "text").s);
    if (get_string(rule, "when"))
        page_line(p, PAGE_INDENT, "when %s", shown(rule, "when").s);
    if (get_string(rule, "module"))
        page_line(p, PAGE_INDENT, "when the site's module %s asks for it", shown(rule, "module").s);
    page_line(p, PAGE_INDENT, "hold %s, hysteresis %s, cool-down %s", text_s(get_number(rule, "hold_s")).s,
              text_percent(get_number(rule, "hysteresis_ratio")).s,
              text_s(get_number(rule, "cool_down_s")).s);
}

int page_policy(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "PARAMETER", .key = "key" },
        { "VALUE", .key = "value", .right = true },
        { "DEFAULT", .key = "default", .right = true },
        { "RANGE", .key = "range" },
        { "", .cell = set_cell },
        { "MEANING", .key = "meaning", .chars = 300 },
    };
    const struct page page = { out, answer, form, NULL };
    const json_t *rule;
    size_t i;

    if (check_answer(answer, "params", JSON_ARRAY, err) < 0)
        return -1;
    page_line(&page, 0, "Policy %s: %s", shown(answer, "name").s, shown(answer, "text").s);
    page_line(&page, 0, "%s", bearing(answer));
    fputc('\n', out);
    page_table(&page, NULL, get_array(answer, "params"), SIZE_MAX, column, ARRAY_SIZE(column), 0);
    json_array_foreach(get_array(answer, "rules"), i, rule)
        put_rule(&page, rule);
    return 0;
}

/* ---- the policy of a job ---- */

/* After `set`, `pause`, `resume`: what is in force now. */
int page_control(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const json_t *policy = get_object(answer, "policy"), *param;
    size_t i, n = 0;

    (void)form;
    if (check_answer(answer, "policy", JSON_OBJECT, err) < 0)
        return -1;
    fprintf(out, "Job %s: policy %s, %s%s", shown(answer, "job").s, shown(policy, "name").s,
            shown(policy, "action").s, get_true(policy, "paused") ? ", paused" : "");
    json_array_foreach(get_array(policy, "params"), i, param)
        if (get_true(param, "set"))
            fprintf(out, "%s%s=%s (default %s)", n++ ? ", " : "; set: ", shown(param, "key").s,
                    shown(param, "value").s, shown(param, "default").s);
    fputc('\n', out);
    return 0;
}

/* Why a rule acts or does not, in a sentence. */
static void put_standing(const struct page *p, const json_t *rule)
{
    struct text held = text_s(get_number(rule, "held_s"));
    const char *phase = get_word(rule, "phase"), *why_not = get_string(rule, "why_not");

    if (!strcmp(phase, "idle"))
        page_line(p, PAGE_INDENT, "The condition is false.");
    else if (!strcmp(phase, "unknown"))
        page_line(p, PAGE_INDENT,
                  "The condition is unknown, because a figure in it is: the rule does nothing.");
    else if (!strcmp(phase, "holding"))
        page_line(p, PAGE_INDENT, "The condition has been true for %s; it must be so for %s.%s%s%s", held.s,
                  text_s(get_number(rule, "hold_s")).s, why_not ? " Now it would be withheld: " : "",
                  why_not ? shown(rule, "why_not").s : "", why_not ? "." : "");
    else if (!strcmp(phase, "cooling"))
        page_line(
            p, PAGE_INDENT,
            "The condition has been true for %s; the rule acted recently and cools down for another %s.",
            held.s, text_s(get_number(rule, "cooling_s")).s);
    else if (!strcmp(phase, "spent"))
        page_line(p, PAGE_INDENT,
                  "The condition has been true for %s; the rule has acted %s times, the maximum for a job.",
                  held.s, text_count(get_number(rule, "max_per_job")).s);
    else if (!strcmp(phase, "due"))
        page_line(p, PAGE_INDENT, "The condition has been true for %s: the rule acts now.", held.s);
    else if (!strcmp(phase, "withheld"))
        page_line(p, PAGE_INDENT, "The condition has been true for %s, and the action is withheld: %s.",
                  held.s, shown(rule, "why_not").s);
    else
        page_line(p, PAGE_INDENT, "The state of the rule is unknown.");
}

static char *now_cell(const json_t *term, char *buf, size_t size)
{
    snprintf(buf, size, "now %s:", shown(term, "value").s);
    return buf;
}

/* The outcome of a decision, and its measured effect. */
static void put_result(const struct page *p, const json_t *decision)
{
    const char *why = get_string(decision, "outcome_text");

    if (!strcmp(get_word(decision, "state"), "dryrun"))
        page_line(p, 2 * PAGE_INDENT, "recorded, not carried out (dry run)");
    else if (get_string(decision, "outcome"))
        page_line(p, 2 * PAGE_INDENT, "%s%s%s", shown(decision, "outcome").s, why ? ": " : "",
                  why ? shown(decision, "outcome_text").s : "");
    if (get_string(decision, "effect"))
        page_line(p, 2 * PAGE_INDENT, "%s", shown(decision, "effect").s);
}

static void explain_rule(const struct page *p, const json_t *rule)
{
    static const struct page_column column[] = { { "", .key = "text", .chars = 160 },
                                                 { "", .cell = now_cell },
                                                 { "", .key = "truth" } };
    const json_t *last = get_object(rule, "last");

    put_rule(p, rule);
    put_standing(p, rule);
    page_table(p, NULL, get_array(rule, "terms"), SIZE_MAX, column, ARRAY_SIZE(column), 2 * PAGE_INDENT);
    if (!last)
        return;
    page_line(p, PAGE_INDENT, "last decision%s: %s",
              get_number(last, "at") < get_number(p->answer, "start") ? ", in an earlier run" : "",
              shown(last, "sentence").s);
    put_result(p, last);
}

/* " (uid 1000)": the user who asked for it. */
static struct text asked_by(const json_t *e)
{
    double by = get_number(e, "by");
    struct text t = { " (uid unknown)" };

    if (by >= 0)
        snprintf(t.s, sizeof(t.s), " (uid %.0f)", by);
    return t;
}

/* What people did by hand, which no rule lists. */
static void put_by_hand(const struct page *p, const json_t *decisions)
{
    const json_t *e;
    size_t i;

    json_array_foreach(decisions, i, e) {
        if (get_string(e, "rule") || !get_string(e, "action"))
            continue;
        fputc('\n', p->out);
        page_line(p, 0, "%s%s", shown(e, "sentence").s, asked_by(e).s);
        put_result(p, e);
    }
}

static void put_budget(const struct page *p, const json_t *b)
{
    page_line(
        p, 0,
        "Used in the last hour: %s of %s actions and %s of %s nodes; by all jobs together %s of %s actions "
        "and %s of %s nodes.",
        text_count(get_number(b, "actions")).s, text_count(get_number(b, "actions_per_hour")).s,
        text_count(get_number(b, "nodes")).s, text_count(get_number(b, "nodes_per_hour")).s,
        text_count(get_number(b, "cluster_actions")).s,
        text_count(get_number(b, "cluster_actions_per_hour")).s, text_count(get_number(b, "cluster_nodes")).s,
        text_count(get_number(b, "cluster_nodes_per_hour")).s);
}

int page_explain(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const json_t *policy = get_object(answer, "policy"), *rules = get_array(policy, "rules"), *rule;
    const struct page page = { out, answer, form, NULL };
    size_t i;

    if (check_answer(answer, "policy", JSON_OBJECT, err) < 0)
        return err_set(err,
                       "the job has no active policy: it has ended; `sgctl audit JOB` lists past decisions");
    page_line(&page, 0, "Job %s, policy %s. %s%s", shown(answer, "id").s, shown(policy, "name").s,
              bearing(policy),
              get_true(policy, "paused") ? " The policy is paused: its rules decide nothing." : "");
    put_budget(&page, get_object(policy, "budget"));
    if (json_array_size(rules) == 0)
        page_line(&page, 0, rules ? "The policy has no rules." : "The rules of the policy are unknown.");
    json_array_foreach(rules, i, rule)
        explain_rule(&page, rule);
    put_by_hand(&page, get_array(policy, "decisions"));
    return 0;
}

/* ---- past decisions ---- */

int page_audit(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const struct page page = { out, answer, form, NULL };
    const json_t *list = get_array(answer, "audit"), *e;
    size_t i;

    if (check_answer(answer, "audit", JSON_ARRAY, err) < 0)
        return -1;
    if (json_array_size(list) == 0)
        page_line(&page, 0, "No policy has decided anything yet.");
    json_array_foreach(list, i, e) {
        const char *state = get_word(e, "state");

        page_line(&page, 0, "%s ago  job %s, %s, %s: %s%s",
                  text_s(get_number(answer, "now") - get_number(e, "at")).s, shown(e, "job").s,
                  shown(e, "policy").s, shown(e, "state").s, shown(e, "sentence").s,
                  !strcmp(state, "command") || get_number(e, "by") >= 0 ? asked_by(e).s : "");
        if (strcmp(state, "dryrun") != 0)
            put_result(&page, e);
    }
    return 0;
}

/* ---- sgctl policy try ---- */

int page_try(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const struct page page = { out, answer, form, NULL };
    const json_t *list = get_array(answer, "decisions"), *e;
    size_t i;

    if (check_answer(answer, "decisions", JSON_ARRAY, err) < 0)
        return -1;
    fprintf(out, "Policy %s on a trace of %s: %zu decision%s\n", shown(answer, "policy").s,
            text_s(get_number(answer, "seconds")).s, json_array_size(list),
            json_array_size(list) == 1 ? "" : "s");
    json_array_foreach(list, i, e)
        page_line(&page, PAGE_INDENT, "at %s, %s: %s", text_s(get_number(e, "at_s")).s, shown(e, "state").s,
                  shown(e, "sentence").s);
    return 0;
}
