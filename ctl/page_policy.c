/* page_policy.c - policies, the state of their rules for a job, and past decisions. */
#include "ctl/page.h"
#include "ctl/page_parts.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define INDENT 2

__attribute__((format(printf, 4, 5))) static void wrapf(FILE *out, int indent, int columns, const char *fmt,
                                                        ...)
{
    char paragraph[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(paragraph, sizeof(paragraph), fmt, ap);
    va_end(ap);
    text_wrap(out, paragraph, indent, columns);
}

/* "exclude n5", "send USR1": what a decision or a rule does. */
static char *action_text(const json_t *o, char *buf, size_t size)
{
    char action[64], nodes[256], signal[32];
    const json_t *list = get_array(o, "nodes");

    snprintf(buf, size, "%s%s%s%s%s", show_text(o, "action", action, sizeof(action)),
             json_is_string(json_object_get(o, "signal")) ? " " : "",
             json_is_string(json_object_get(o, "signal")) ? show_text(o, "signal", signal, sizeof(signal))
                                                          : "",
             json_array_size(list) ? " " : "",
             json_array_size(list) ? show_list(list, 8, nodes, sizeof(nodes)) : "");
    return buf;
}

/* Whether decisions of a policy's rules are carried out, in a sentence. */
static const char *bearing(const json_t *policy)
{
    const char *action = get_string(policy, "action");

    if (action && !strcmp(action, "dryrun"))
        return "Dry run: decisions of its rules are recorded, not carried out.";
    if (!action || strcmp(action, "enforce") != 0)
        return "Whether decisions of its rules are carried out is unknown.";
    return json_is_false(json_object_get(policy, "nodes_enforced"))
               ? "Decisions of its rules are carried out (enforce), except those on nodes: the job's owner, not "
                 "an operator, asked for it."
               : "Decisions of its rules are carried out (enforce).";
}

/* ---- policies ---- */

static char *name_cell(const json_t *policy, char *buf, size_t size)
{
    char name[160];

    snprintf(buf, size, "%s%s", show_text(policy, "name", name, sizeof(name)),
             get_true(policy, "default") ? " *" : "");
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
    char text[300];
    size_t i;

    if (json_array_size(selections) == 0)
        return;
    fputs("\nSelections, the first that matches a job gives it the policy:\n", out);
    json_array_foreach(selections, i, line) {
        fprintf(out, "  %s:", show_text(line, "policy", text, sizeof(text)));
        json_object_foreach((json_t *)line, key, value) {
            if (strcmp(key, "policy") != 0)
                fprintf(out, " %.32s=%s", key, show_value(value, text, sizeof(text)));
        }
        fputc('\n', out);
    }
}

int page_policies(FILE *out, const json_t *answer, int columns, struct err *err)
{
    static const struct page_column column[] = {
        { "POLICY", .cell = name_cell },
        { "ACTION", .key = "action" },
        { "RULES", .cell = rules_cell, .right = true },
        { "JOBS", .key = "jobs", .words = text_count },
        { "MEANING", .key = "text", .chars = 160 },
    };
    const struct page page = { out, answer, columns };

    if (check_answer(answer, "policies", JSON_ARRAY, err) < 0)
        return -1;
    page_table(&page, "policies", SIZE_MAX, column, ARRAY_SIZE(column), 0);
    text_wrap(out, "* the default, for --sync-guard without a policy.", 0, columns);
    put_selections(out, get_array(answer, "selections"));
    return 0;
}

static char *set_cell(const json_t *param, char *buf, size_t size)
{
    snprintf(buf, size, "%s", get_true(param, "set") ? "set" : "-");
    return buf;
}

static void put_params(FILE *out, const json_t *policy, int columns)
{
    static const struct page_column column[] = {
        { "PARAMETER", .key = "key" },
        { "VALUE", .key = "value", .right = true },
        { "DEFAULT", .key = "default", .right = true },
        { "RANGE", .key = "range" },
        { "", .cell = set_cell },
        { "MEANING", .key = "meaning", .chars = 300 },
    };

    page_table(&(struct page){ out, policy, columns }, "params", SIZE_MAX, column, ARRAY_SIZE(column), 0);
}

static void put_rule(FILE *out, const json_t *rule, int columns)
{
    char text[600], does[160], line[1200];

    fprintf(out, "\nRule %s: %s\n", show_text(rule, "name", text, sizeof(text)),
            action_text(rule, does, sizeof(does)));
    if (json_is_string(json_object_get(rule, "text")))
        text_wrap(out, show_text(rule, "text", text, sizeof(text)), INDENT, columns);
    snprintf(line, sizeof(line), "when %s", show_text(rule, "when", text, sizeof(text)));
    if (json_is_string(json_object_get(rule, "when")))
        text_wrap(out, line, INDENT, columns);
    snprintf(line, sizeof(line), "when the site's module %s asks for it",
             show_text(rule, "module", text, sizeof(text)));
    if (json_is_string(json_object_get(rule, "module")))
        text_wrap(out, line, INDENT, columns);
    snprintf(line, sizeof(line), "hold %s, hysteresis %s, cool-down %s", text_s(get_number(rule, "hold_s")).s,
             text_percent(get_number(rule, "hysteresis_ratio")).s, text_s(get_number(rule, "cool_down_s")).s);
    text_wrap(out, line, INDENT, columns);
}

int page_policy(FILE *out, const json_t *answer, int columns, struct err *err)
{
    const json_t *rules, *rule;
    char text[160], name[64];
    size_t i;

    if (check_answer(answer, "params", JSON_ARRAY, err) < 0)
        return -1;
    wrapf(out, 0, columns, "Policy %s: %s", show_text(answer, "name", name, sizeof(name)),
          show_text(answer, "text", text, sizeof(text)));
    wrapf(out, 0, columns, "%s", bearing(answer));
    fputc('\n', out);
    put_params(out, answer, columns);
    rules = get_array(answer, "rules");
    json_array_foreach(rules, i, rule)
        put_rule(out, rule, columns);
    return 0;
}

/* ---- the policy of a job ---- */

/* After `set`, `pause`, `resume`: what is in force now. */
int page_control(FILE *out, const json_t *answer, int columns, struct err *err)
{
    const json_t *policy = get_object(answer, "policy"), *params = get_array(policy, "params"), *param;
    char job[64], name[64], key[64], value[160], standard[160];
    size_t i, n = 0;

    if (check_answer(answer, "policy", JSON_OBJECT, err) < 0)
        return -1;
    fprintf(out, "Job %s: policy %s, %s%s", show_text(answer, "job", job, sizeof(job)),
            show_text(policy, "name", name, sizeof(name)), show_text(policy, "action", value, sizeof(value)),
            get_true(policy, "paused") ? ", paused" : "");
    json_array_foreach(params, i, param)
        if (get_true(param, "set"))
            fprintf(out, "%s%s=%s (default %s)",
                    n++ ? ", " : "; set: ", show_text(param, "key", key, sizeof(key)),
                    show_text(param, "value", value, sizeof(value)),
                    show_text(param, "default", standard, sizeof(standard)));
    fputc('\n', out);
    (void)columns;
    return 0;
}

/* Why a rule acts or does not, in a sentence. */
static char *standing(const json_t *rule, char *buf, size_t size)
{
    double hold_s = get_number(rule, "hold_s"), held_s = get_number(rule, "held_s"),
           cooling_s = get_number(rule, "cooling_s"), most = get_number(rule, "max_per_job");
    char phase[32];

    show_text(rule, "phase", phase, sizeof(phase));
    if (!strcmp(phase, "idle"))
        snprintf(buf, size, "The condition is false.");
    else if (!strcmp(phase, "unknown"))
        snprintf(buf, size, "The condition is unknown, because a figure in it is: the rule does nothing.");
    else if (!strcmp(phase, "holding"))
        snprintf(buf, size, "The condition has been true for %s; it must be so for %s.", text_s(held_s).s,
                 text_s(hold_s).s);
    else if (!strcmp(phase, "cooling"))
        snprintf(buf, size,
                 "The condition has been true for %s; the rule acted recently and cools down for another %s.",
                 text_s(held_s).s, text_s(cooling_s).s);
    else if (!strcmp(phase, "spent"))
        snprintf(buf, size,
                 "The condition has been true for %s; the rule has acted %s times, the maximum for a job.",
                 text_s(held_s).s, text_count(most).s);
    else if (!strcmp(phase, "due"))
        snprintf(buf, size, "The condition has been true for %s: the rule acts now.", text_s(held_s).s);
    else
        snprintf(buf, size, "The state of the rule is unknown.");
    return buf;
}

static char *now_cell(const json_t *term, char *buf, size_t size)
{
    char value[160];

    snprintf(buf, size, "now %s:", show_text(term, "value", value, sizeof(value)));
    return buf;
}

static void put_terms(FILE *out, const json_t *rule, int columns)
{
    static const struct page_column column[] = { { "", .key = "text", .chars = 160 },
                                                 { "", .cell = now_cell },
                                                 { "", .key = "truth" } };

    page_table(&(struct page){ out, rule, columns }, "terms", SIZE_MAX, column, ARRAY_SIZE(column),
               2 * INDENT);
}

/* The outcome of a decision, and its measured effect. */
static void put_result(FILE *out, const json_t *decision, int columns)
{
    char state[32], outcome[32], why[400], effect[400];

    show_text(decision, "state", state, sizeof(state));
    if (!strcmp(state, "dryrun"))
        text_wrap(out, "recorded, not carried out (dry run)", 2 * INDENT, columns);
    else if (json_is_string(json_object_get(decision, "outcome")))
        wrapf(out, 2 * INDENT, columns, "%s%s%s", show_text(decision, "outcome", outcome, sizeof(outcome)),
              json_is_string(json_object_get(decision, "outcome_text")) ? ": " : "",
              json_is_string(json_object_get(decision, "outcome_text"))
                  ? show_text(decision, "outcome_text", why, sizeof(why))
                  : "");
    if (json_is_string(json_object_get(decision, "effect")))
        text_wrap(out, show_text(decision, "effect", effect, sizeof(effect)), 2 * INDENT, columns);
}

static void put_standing(FILE *out, const json_t *rule, double start, int columns)
{
    const json_t *last = get_object(rule, "last");
    char line[900], text[800];

    put_rule(out, rule, columns);
    text_wrap(out, standing(rule, line, sizeof(line)), INDENT, columns);
    put_terms(out, rule, columns);
    if (!last)
        return;
    snprintf(line, sizeof(line), "last decision%s: %s",
             get_number(last, "at") < start ? ", in an earlier run" : "",
             show_text(last, "sentence", text, sizeof(text)));
    text_wrap(out, line, INDENT, columns);
    put_result(out, last, columns);
}

/* Appends the user who asked for it. */
static void put_uid(const json_t *e, char *line, size_t size)
{
    double by = get_number(e, "by");
    size_t at = strlen(line);

    if (by >= 0)
        snprintf(line + at, size - at, " (uid %.0f)", by);
    else
        snprintf(line + at, size - at, " (uid unknown)");
}

/* What people did by hand, which no rule lists. */
static void put_by_hand(FILE *out, const json_t *decisions, int columns)
{
    char line[900];
    const json_t *e;
    size_t i;

    json_array_foreach(decisions, i, e) {
        if (json_is_string(json_object_get(e, "rule")) || !json_is_string(json_object_get(e, "action")))
            continue;
        show_text(e, "sentence", line, sizeof(line));
        put_uid(e, line, sizeof(line));
        fputc('\n', out);
        text_wrap(out, line, 0, columns);
        put_result(out, e, columns);
    }
}

static void put_budget(FILE *out, const json_t *b, int columns)
{
    wrapf(out, 0, columns,
          "Used in the last hour: %s of %s actions and %s of %s nodes; by all jobs together %s of %s actions "
          "and %s of %s nodes.",
          text_count(get_number(b, "actions")).s, text_count(get_number(b, "actions_per_hour")).s,
          text_count(get_number(b, "nodes")).s, text_count(get_number(b, "nodes_per_hour")).s,
          text_count(get_number(b, "cluster_actions")).s,
          text_count(get_number(b, "cluster_actions_per_hour")).s,
          text_count(get_number(b, "cluster_nodes")).s,
          text_count(get_number(b, "cluster_nodes_per_hour")).s);
}

int page_explain(FILE *out, const json_t *answer, int columns, struct err *err)
{
    const json_t *policy = get_object(answer, "policy"), *rules = get_array(policy, "rules"), *rule;
    char name[64], job[64];
    size_t i;

    if (check_answer(answer, "policy", JSON_OBJECT, err) < 0)
        return err_set(err,
                       "the job has no active policy: it has ended; `sgctl audit JOB` lists past decisions");
    wrapf(out, 0, columns, "Job %s, policy %s. %s%s", show_text(answer, "id", job, sizeof(job)),
          show_text(policy, "name", name, sizeof(name)), bearing(policy),
          get_true(policy, "paused") ? " The policy is paused: its rules decide nothing." : "");
    put_budget(out, get_object(policy, "budget"), columns);
    if (json_array_size(rules) == 0)
        text_wrap(out, rules ? "The policy has no rules." : "The rules of the policy are unknown.", 0,
                  columns);
    json_array_foreach(rules, i, rule)
        put_standing(out, rule, get_number(answer, "start"), columns);
    put_by_hand(out, get_array(policy, "decisions"), columns);
    return 0;
}

/* ---- past decisions ---- */

int page_audit(FILE *out, const json_t *answer, int columns, struct err *err)
{
    const json_t *list, *e;
    double now;
    char job[64], state[32], policy[64], text[800], line[1200];
    size_t i;

    if (check_answer(answer, "audit", JSON_ARRAY, err) < 0)
        return -1;
    list = get_array(answer, "audit");
    now = get_number(answer, "now");
    if (json_array_size(list) == 0)
        text_wrap(out, "No policy has decided anything yet.", 0, columns);
    json_array_foreach(list, i, e) {
        show_text(e, "state", state, sizeof(state));
        snprintf(line, sizeof(line), "%s ago  job %s, %s, %s: %s", text_s(now - get_number(e, "at")).s,
                 show_text(e, "job", job, sizeof(job)), show_text(e, "policy", policy, sizeof(policy)), state,
                 show_text(e, "sentence", text, sizeof(text)));
        if (!strcmp(state, "command") || get_number(e, "by") >= 0)
            put_uid(e, line, sizeof(line));
        text_wrap(out, line, 0, columns);
        if (strcmp(state, "dryrun") != 0)
            put_result(out, e, columns);
    }
    return 0;
}

/* ---- sgctl policy try ---- */

int page_try(FILE *out, const json_t *answer, int columns, struct err *err)
{
    const json_t *list, *e;
    char policy[64], state[32], text[800], line[1000];
    size_t i;

    if (check_answer(answer, "decisions", JSON_ARRAY, err) < 0)
        return -1;
    list = get_array(answer, "decisions");
    fprintf(out, "Policy %s on a trace of %s: %zu decision%s\n",
            show_text(answer, "policy", policy, sizeof(policy)), text_s(get_number(answer, "seconds")).s,
            json_array_size(list), json_array_size(list) == 1 ? "" : "s");
    json_array_foreach(list, i, e) {
        snprintf(line, sizeof(line), "at %s, %s: %s", text_s(get_number(e, "at_s")).s,
                 show_text(e, "state", state, sizeof(state)), show_text(e, "sentence", text, sizeof(text)));
        text_wrap(out, line, INDENT, columns);
    }
    return 0;
}
