#include "ctl/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/rule_figures.h"
#include "rules/engine.h"
#include "trace/file.h"
#include "view/view.h"
#include "wire/json.h"

#define EVERY_S     1.0 /* as the controller looks */
#define CLUSTER_MAX 10001

struct trial {
    struct engine engine;
    const struct config *config;
    const struct config_policy *policy;
    struct budget cluster;
    struct budget_entry spent[CLUSTER_MAX];
    double next_s;
    json_t *decisions;
    struct seen { /* of each rule's condition, over the whole trace */
        bool known, held;
        double longest_s;
    } seen[RULES_PER_POLICY];
};

static json_t *decision_json(const struct decision *d, double now_s)
{
    json_t *nodes = json_array();

    for (size_t i = 0; i < d->n_nodes; i++)
        json_array_append_new(nodes, json_string(d->node[i]));
    return json_pack("{s:f,s:s,s:s,s:s,s:o,s:o,s:s,s:s*,s:o}", "at_s", now_s, "state",
                     decision_state_name(d->state), "rule", d->rule, "action", action_name(d->action),
                     "signal",
                     d->action == ACTION_SIGNAL ? json_string(action_signal_name(d->signal)) : json_null(),
                     "nodes", nodes, "sentence", d->sentence, "why_not", *d->why_not ? d->why_not : NULL,
                     "projected_ratio", json_of_real(d->projected_ratio));
}

/* The figures are those of a running job whose agents have reported until now. */
static void get_figures(struct trace_reader *r, struct figures *f)
{
    double now_s = trace_reader_now_s(r);
    struct trace_figures trace;

    trace_reader_figures_get(r, &trace);
    rule_figures(trace_reader_view(r), now_s, now_s, f);
    figures_word(f, FIGURE_STATE, "running");
    f->value[FIGURE_NODES] = trace.nodes ? trace.nodes : NAN;
    f->value[FIGURE_QUIET_S] = f->value[FIGURE_RESTARTS] = f->value[FIGURE_ACKNOWLEDGED] = 0;
}

static void note_truth(struct seen *seen, const struct rule_state *s, double now_s)
{
    seen->known |= s->truth != TRUTH_UNKNOWN;
    if (s->truth != TRUTH_YES)
        return;
    seen->held = true;
    seen->longest_s = fmax(seen->longest_s, now_s - s->since_s);
}

static void on_piece(struct trace_reader *r, void *arg)
{
    struct trial *t = arg;
    double now_s = trace_reader_now_s(r);
    struct decision decided[RULES_PER_POLICY];
    struct figures f;
    struct engine_input in = {
        .figures = &f, .policy = t->policy, .config = t->config, .cluster = &t->cluster, .now_s = now_s
    };
    size_t n;

    if (!(now_s >= t->next_s))
        return;
    t->next_s = now_s + EVERY_S;
    get_figures(r, &f);
    n = engine_tick(&t->engine, &in, decided, RULES_PER_POLICY);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(t->decisions, decision_json(&decided[i], now_s));
    for (size_t i = 0; i < t->engine.n; i++)
        note_truth(&t->seen[i], &t->engine.state[i], now_s);
}

/* Why the rule decided nothing, in a sentence; its condition is shown with the figures that the trace ended
 * with. */
static void write_reason(const struct rule *r, const struct seen *seen, const struct figures *f, char *buf,
                         size_t size)
{
    char why[512] = "";

    if (r->conditional)
        condition_explain(&r->when, f, why, sizeof(why));
    if (*r->module && !seen->held)
        snprintf(buf, size, "%s: the site's module %s decides, which is not asked about a trace", r->name,
                 r->module);
    else if (seen->held)
        snprintf(buf, size, "%s: the condition was true for at most %s at a time, and Hold is %s: %s",
                 r->name, text_s(seen->longest_s).s, text_s(r->hold_s).s, r->when.text);
    else
        snprintf(buf, size, "%s: the condition was never %s; at the end of the trace: %s", r->name,
                 seen->known ? "true" : "known", why);
}

/* Why nothing was decided: a sentence for each rule, or one; none where something was. */
static json_t *reasons(const struct trial *t, struct trace_reader *r)
{
    json_t *list = json_array();
    struct figures f;
    char text[768];

    if (json_array_size(t->decisions))
        return list;
    get_figures(r, &f);
    for (size_t i = 0; i < t->engine.n; i++) {
        write_reason(t->engine.rule[i], &t->seen[i], &f, text, sizeof(text));
        json_array_append_new(list, json_string(text));
    }
    if (!t->engine.n)
        json_array_append_new(list, json_string("the policy has no rules"));
    return list;
}

/* A shipped policy's, whatever file is tried: unless it is that policy's. */
static bool is_shipped(const struct config_rule *rule, const char *conf)
{
    size_t bytes = strlen(config_shipped_policies);

    return !strncmp(rule->file, config_shipped_policies, bytes) && rule->file[bytes] == '/' &&
           (!conf || strcmp(rule->file, conf) != 0);
}

/* The only policy with rules of the file's own, else the default one. */
static const struct config_policy *choose_policy(const struct config *c, const char *conf, const char *name)
{
    const char *only = NULL;

    if (name)
        return config_policy_find(c, name);
    for (size_t i = 0; i < c->n_rules; i++) {
        if (is_shipped(&c->rules[i], conf))
            continue;
        if (only && strcasecmp(only, c->rules[i].policy) != 0)
            return config_policy_find(c, c->default_policy);
        only = c->rules[i].policy;
    }
    return config_policy_find(c, only ? only : c->default_policy);
}

json_t *try_policy(const char *conf, const char *trace, const char *name, struct err *err)
{
    struct config *c = xcalloc(1, sizeof(*c));
    struct trial *t = xcalloc(1, sizeof(*t));
    struct ruleset *rules = NULL;
    struct trace_reader *r = NULL;
    const struct config_policy *p;
    struct trace_figures figures;
    struct view_params params;
    json_t *answer = NULL;
    char names[300];

    t->decisions = json_array();
    if (config_load(c, conf, err) < 0 || !(rules = ruleset_new(c, err)))
        goto done;
    p = choose_policy(c, conf, name);
    if (!p) {
        err_set(err, "%s: unknown policy '%.40s': expected one of %s", conf, name,
                config_policy_names(c, names, sizeof(names)));
        goto done;
    }
    engine_init(&t->engine);
    engine_bind(&t->engine, rules, p->name);
    t->config = c;
    t->policy = p;
    t->cluster = (struct budget){ .entry = t->spent, .max = CLUSTER_MAX };
    params = view_params_of(p);
    r = trace_reader_new(&params);
    if (trace_file_watch(trace, r, on_piece, t, err) < 0)
        goto done;
    trace_reader_figures_get(r, &figures);
    if (figures.untimed)
        err_set(err, "%s: its calls have no times, without which a policy has nothing to decide on", trace);
    else
        answer = json_pack("{s:s,s:f,s:O,s:o}", "policy", p->name, "seconds", trace_reader_now_s(r),
                           "decisions", t->decisions, "reasons", reasons(t, r));
done:
    trace_reader_free(r);
    ruleset_free(rules);
    json_decref(t->decisions);
    free(t);
    free(c);
    return answer;
}
