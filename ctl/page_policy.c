/* page_policy.c - policies, what they decide about a job, and what was decided. */
#include "ctl/page.h"

#include <math.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define INDENT 2

static char *text_of(const json_t *o, const char *key, char *buf, size_t size)
{
    return show_text(o, key, buf, size);
}

/* "exclude n5", "send USR1": what a decision or a rule does. */
static char *action_text(const json_t *o, char *buf, size_t size)
{
    char action[64], nodes[256], signal[32];
    const json_t *list = get_array(o, "nodes");

    snprintf(buf, size, "%s%s%s%s%s", text_of(o, "action", action, sizeof(action)),
             json_is_string(json_object_get(o, "signal")) ? " " : "",
             json_is_string(json_object_get(o, "signal")) ? text_of(o, "signal", signal, sizeof(signal)) : "",
             json_array_size(list) ? " " : "",
             json_array_size(list) ? show_list(list, 8, nodes, sizeof(nodes)) : "");
    return buf;
}

/* What becomes of what a policy's rules decide. */
static const char *bearing(const json_t *policy)
{
    const char *action = get_string(policy, "action");

    if (action && !strcmp(action, "dryrun"))
        return "only written down (dryrun)";
    if (!action || strcmp(action, "enforce") != 0)
        return "done, or only written down: that is not known";
    return json_is_false(json_object_get(policy, "nodes_enforced"))
               ? "done (enforce), but nothing to nodes: its owner asked for it"
               : "done (enforce)";
}

/* ---- policies ---- */

static void policies_row(struct table *t, const json_t *policy)
{
    const json_t *rules = get_array(policy, "rules");
    char text[160];

    table_cell(t, "%s%s", text_of(policy, "name", text, sizeof(text)),
               get_true(policy, "default") ? " *" : "");
    table_cell(t, "%s", text_of(policy, "action", text, sizeof(text)));
    table_cell(t, "%s", text_count(rules ? (double)json_array_size(rules) : NAN).s);
    table_cell(t, "%s", text_count(get_number(policy, "jobs")).s);
    table_cell(t, "%s", text_of(policy, "text", text, sizeof(text)));
}

static void put_selections(FILE *out, const json_t *selections)
{
    const json_t *line, *value;
    const char *key;
    char text[300];
    size_t i;

    if (json_array_size(selections) == 0)
        return;
    fputs("\nWhom they are for, the first that fits:\n", out);
    json_array_foreach(selections, i, line) {
        fprintf(out, "  %s:", text_of(line, "policy", text, sizeof(text)));
        json_object_foreach((json_t *)line, key, value) {
            if (strcmp(key, "policy") != 0)
                fprintf(out, " %.32s=%s", key, show_value(value, text, sizeof(text)));
        }
        fputc('\n', out);
    }
}

int page_policies(FILE *out, const json_t *answer, int columns, struct err *err)
{
    static const struct table_column layout[] = {
        { "POLICY", false }, { "ACTION", false }, { "RULES", true }, { "JOBS", true }, { "MEANING", false }
    };
    const json_t *policies, *policy;
    struct table *t;
    size_t i;

    if (check_answer(answer, "policies", JSON_ARRAY, err) < 0)
        return -1;
    policies = get_array(answer, "policies");
    t = table_new(layout, ARRAY_SIZE(layout));
    json_array_foreach(policies, i, policy)
        policies_row(t, policy);
    table_print(t, out, 0);
    table_free(t);
    text_wrap(out, "* of a plain --sync-guard.", 0, columns);
    put_selections(out, get_array(answer, "selections"));
    return 0;
}

static void put_params(FILE *out, const json_t *params)
{
    static const struct table_column layout[] = { { "PARAMETER", false }, { "VALUE", true },
                                                  { "DEFAULT", true },    { "RANGE", false },
                                                  { "", false },          { "MEANING", false } };
    struct table *t = table_new(layout, ARRAY_SIZE(layout));
    const json_t *param;
    char text[300];
    size_t i;

    json_array_foreach(params, i, param) {
        table_cell(t, "%s", text_of(param, "key", text, sizeof(text)));
        table_cell(t, "%s", text_of(param, "value", text, sizeof(text)));
        table_cell(t, "%s", text_of(param, "default", text, sizeof(text)));
        table_cell(t, "%s", text_of(param, "range", text, sizeof(text)));
        table_cell(t, "%s", get_true(param, "set") ? "set" : "-");
        table_cell(t, "%s", text_of(param, "meaning", text, sizeof(text)));
    }
    table_print(t, out, 0);
    table_free(t);
}

static void put_rule(FILE *out, const json_t *rule, int columns)
{
    char text[600], does[160], line[1200];

    fprintf(out, "\nRule %s: %s\n", text_of(rule, "name", text, sizeof(text)),
            action_text(rule, does, sizeof(does)));
    if (json_is_string(json_object_get(rule, "text")))
        text_wrap(out, text_of(rule, "text", text, sizeof(text)), INDENT, columns);
    snprintf(line, sizeof(line), "when %s", text_of(rule, "when", text, sizeof(text)));
    if (json_is_string(json_object_get(rule, "when")))
        text_wrap(out, line, INDENT, columns);
    snprintf(line, sizeof(line), "as the site's own policy %s says",
             text_of(rule, "module", text, sizeof(text)));
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
    fprintf(out, "Policy %s: %s\n", text_of(answer, "name", name, sizeof(name)),
            text_of(answer, "text", text, sizeof(text)));
    fprintf(out, "What its rules decide is %s.\n\n", bearing(answer));
    put_params(out, get_array(answer, "params"));
    rules = get_array(answer, "rules");
    json_array_foreach(rules, i, rule)
        put_rule(out, rule, columns);
    return 0;
}

/* ---- a job's ---- */

/* After `set`, `pause`, `resume`: what is in force now. */
int page_control(FILE *out, const json_t *answer, int columns, struct err *err)
{
    const json_t *policy = get_object(answer, "policy"), *params = get_array(policy, "params"), *param;
    char job[64], name[64], key[64], value[160], standard[160];
    size_t i, n = 0;

    if (check_answer(answer, "policy", JSON_OBJECT, err) < 0)
        return -1;
    fprintf(out, "Job %s: policy %s, %s%s", text_of(answer, "job", job, sizeof(job)),
            text_of(policy, "name", name, sizeof(name)), text_of(policy, "action", value, sizeof(value)),
            get_true(policy, "paused") ? ", paused" : "");
    json_array_foreach(params, i, param)
        if (get_true(param, "set"))
            fprintf(out, "%s%s=%s (default %s)",
                    n++ ? ", " : "; set: ", text_of(param, "key", key, sizeof(key)),
                    text_of(param, "value", value, sizeof(value)),
                    text_of(param, "default", standard, sizeof(standard)));
    fputc('\n', out);
    (void)columns;
    return 0;
}

/* Why a rule is where it is, in a sentence. */
static char *standing(const json_t *rule, char *buf, size_t size)
{
    double hold_s = get_number(rule, "hold_s"), held_s = get_number(rule, "held_s"),
           cooling_s = get_number(rule, "cooling_s"), most = get_number(rule, "max_per_job");
    char phase[32];

    text_of(rule, "phase", phase, sizeof(phase));
    if (!strcmp(phase, "idle"))
        snprintf(buf, size, "its condition is not true");
    else if (!strcmp(phase, "unknown"))
        snprintf(buf, size,
                 "its condition cannot be told: a figure is not known, and the unknown starts nothing");
    else if (!strcmp(phase, "holding"))
        snprintf(buf, size, "its condition is true for %s; it must hold for %s", text_s(held_s).s,
                 text_s(hold_s).s);
    else if (!strcmp(phase, "cooling"))
        snprintf(buf, size,
                 "its condition is true for %s; it acted a short time ago and cools down for %s more",
                 text_s(held_s).s, text_s(cooling_s).s);
    else if (!strcmp(phase, "spent"))
        snprintf(buf, size, "its condition is true for %s; it acted %s times, as often as it may",
                 text_s(held_s).s, text_count(most).s);
    else if (!strcmp(phase, "due"))
        snprintf(buf, size, "its condition is true for %s: it is due", text_s(held_s).s);
    else
        snprintf(buf, size, "how it stands is not known");
    return buf;
}

static void put_terms(FILE *out, const json_t *terms)
{
    static const struct table_column layout[] = { { "", false }, { "", false }, { "", false } };
    struct table *t = table_new(layout, ARRAY_SIZE(layout));
    const json_t *term;
    char text[160];
    size_t i;

    json_array_foreach(terms, i, term) {
        table_cell(t, "%s", text_of(term, "text", text, sizeof(text)));
        table_cell(t, "now %s:", text_of(term, "value", text, sizeof(text)));
        table_cell(t, "%s", text_of(term, "truth", text, sizeof(text)));
    }
    table_print(t, out, 2 * INDENT);
    table_free(t);
}

/* "done: ...", "only said: a dry run", and what it brought. */
static void put_result(FILE *out, const json_t *decision, int columns)
{
    char state[32], outcome[32], why[400], effect[400];

    text_of(decision, "state", state, sizeof(state));
    if (!strcmp(state, "dryrun"))
        text_wrap(out, "only said, not done: dry run", 2 * INDENT, columns);
    else if (json_is_string(json_object_get(decision, "outcome")))
        fprintf(out, "%*s%s%s%s\n", 2 * INDENT, "", text_of(decision, "outcome", outcome, sizeof(outcome)),
                json_is_string(json_object_get(decision, "outcome_text")) ? ": " : "",
                json_is_string(json_object_get(decision, "outcome_text"))
                    ? text_of(decision, "outcome_text", why, sizeof(why))
                    : "");
    if (json_is_string(json_object_get(decision, "effect")))
        text_wrap(out, text_of(decision, "effect", effect, sizeof(effect)), 2 * INDENT, columns);
}

static void put_standing(FILE *out, const json_t *rule, double start, int columns)
{
    const json_t *last = get_object(rule, "last");
    char line[900], text[800];

    put_rule(out, rule, columns);
    text_wrap(out, standing(rule, line, sizeof(line)), INDENT, columns);
    put_terms(out, get_array(rule, "terms"));
    if (!last)
        return;
    snprintf(line, sizeof(line), "last%s: %s", get_number(last, "at") < start ? ", in an earlier run" : "",
             text_of(last, "sentence", text, sizeof(text)));
    text_wrap(out, line, INDENT, columns);
    put_result(out, last, columns);
}

/* Whose doing it was, behind the sentence. */
static void put_uid(const json_t *e, char *line, size_t size)
{
    double by = get_number(e, "by");
    size_t at = strlen(line);

    if (by >= 0)
        snprintf(line + at, size - at, " (uid %.0f)", by);
    else
        snprintf(line + at, size - at, " (uid -)");
}

/* What people did that ended a run. */
static void put_by_hand(FILE *out, const json_t *decisions, int columns)
{
    char line[900];
    const json_t *e;
    size_t i;

    json_array_foreach(decisions, i, e) {
        if (json_is_string(json_object_get(e, "rule")) || !json_is_string(json_object_get(e, "action")))
            continue;
        text_of(e, "sentence", line, sizeof(line));
        put_uid(e, line, sizeof(line));
        fputc('\n', out);
        text_wrap(out, line, 0, columns);
        put_result(out, e, columns);
    }
}

static void put_budget(FILE *out, const json_t *b)
{
    fprintf(out,
            "Budget of the last hour: %s of %s actions, against %s of %s nodes; all jobs together %s of %s "
            "actions, %s of %s nodes.\n",
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
        return err_set(err, "nothing is decided about this job any more; sgctl audit has what was");
    fprintf(out, "Job %s, policy %s: what its rules decide is %s%s.\n",
            text_of(answer, "id", job, sizeof(job)), text_of(policy, "name", name, sizeof(name)),
            bearing(policy), get_true(policy, "paused") ? "; it is paused: nothing is decided" : "");
    put_budget(out, get_object(policy, "budget"));
    if (json_array_size(rules) == 0)
        text_wrap(out, rules ? "The policy has no rules." : "Its rules are not known.", 0, columns);
    json_array_foreach(rules, i, rule)
        put_standing(out, rule, get_number(answer, "start"), columns);
    put_by_hand(out, get_array(policy, "decisions"), columns);
    return 0;
}

/* ---- what was decided ---- */

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
        text_wrap(out, "Nothing was decided yet.", 0, columns);
    json_array_foreach(list, i, e) {
        text_of(e, "state", state, sizeof(state));
        snprintf(line, sizeof(line), "%s ago  job %s, %s, %s: %s", text_s(now - get_number(e, "at")).s,
                 text_of(e, "job", job, sizeof(job)), text_of(e, "policy", policy, sizeof(policy)), state,
                 text_of(e, "sentence", text, sizeof(text)));
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
    fprintf(out, "Policy %s over %s of the trace: %zu decisions\n",
            text_of(answer, "policy", policy, sizeof(policy)), text_s(get_number(answer, "seconds")).s,
            json_array_size(list));
    json_array_foreach(list, i, e) {
        snprintf(line, sizeof(line), "at %s, %s: %s", text_s(get_number(e, "at_s")).s,
                 text_of(e, "state", state, sizeof(state)), text_of(e, "sentence", text, sizeof(text)));
        text_wrap(out, line, INDENT, columns);
    }
    return 0;
}
