#include "rules/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/hash.h"
#include "common/text.h"
#include "common/units.h"

/* ---- budgets ---- */

void budget_spend(struct budget *b, double now_s, uint32_t nodes, uint32_t uid)
{
    b->entry[b->n++ % b->max] = (struct budget_entry){ now_s, nodes, uid };
}

void budget_refund(struct budget *b, uint32_t nodes, uint32_t uid)
{
    for (uint64_t i = 1; i <= b->n && i <= b->max; i++) {
        struct budget_entry *e = &b->entry[(b->n - i) % b->max];

        if (e->nodes == nodes && e->uid == uid && e->at_s > -INFINITY) {
            e->at_s = -INFINITY;
            return;
        }
    }
}

int budget_spent(const struct budget *b, uint32_t uid, double now_s, int *nodes)
{
    int actions = 0, sum = 0;

    for (uint64_t i = 1; i <= b->n && i <= b->max; i++) {
        const struct budget_entry *e = &b->entry[(b->n - i) % b->max];

        if (now_s - e->at_s >= ENGINE_HOUR_S || (uid != BUDGET_ALL && e->uid != uid))
            continue;
        actions++;
        sum += (int)e->nodes;
    }
    *nodes = sum;
    return actions;
}

/* ---- rules ---- */

const char *decision_state_name(enum decision_state s)
{
    static const char *const names[] = { "dryrun", "enforced", "withheld" };

    return names[s];
}

void engine_init(struct engine *e)
{
    memset(e, 0, sizeof(*e));
    e->budget = (struct budget){ .entry = e->spent, .max = ENGINE_SPENT_MAX };
    e->ending_s = NAN;
}

static int rule_index(const struct engine *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (!strcasecmp(e->rule[i]->name, name))
            return (int)i;
    return -1;
}

void engine_bind(struct engine *e, const struct ruleset *s, const char *policy)
{
    struct engine old = *e; /* only its rules and states are used */

    e->n = 0;
    for (size_t i = 0; i < s->n && e->n < RULES_PER_POLICY; i++) {
        const struct rule *r = &s->rule[i];
        struct rule_state *state = &e->state[e->n];
        int former;

        if (strcasecmp(r->policy, policy) != 0)
            continue;
        former = rule_index(&old, r->name);
        rule_forget(state);
        if (former >= 0 && !strcmp(old.rule[former]->when.text, r->when.text)) {
            *state = old.state[former];
        } else if (former >= 0) {
            state->acted = old.state[former].acted;
            state->acted_s = old.state[former].acted_s;
        }
        e->rule[e->n++] = r;
    }
}

/* ---- nodes that were acted on ---- */

static uint64_t done_key(const char *rule, const char *node)
{
    return hash_bytes(hash_bytes(HASH_START, rule, strlen(rule) + 1), node, strlen(node) + 1);
}

static bool was_done(const struct engine *e, uint64_t key)
{
    for (size_t i = 0; i < e->n_done && i < ENGINE_NODES_MAX; i++)
        if (e->done[i] == key)
            return true;
    return false;
}

/* ---- decisions ---- */

char *decision_nodes(const struct decision *d, char buf[DECISION_NODES_MAX])
{
    char *at = buf;

    *at = '\0';
    for (size_t i = 0; i < d->n_nodes; i++)
        at += sprintf(at, "%s%s", i ? "," : "", d->node[i]);
    return buf;
}

char *decision_action_text(const struct decision *d, bool done, char *buf, size_t size)
{
    char nodes[DECISION_NODES_MAX], signal[16] = "";

    if (d->action == ACTION_SIGNAL && *action_signal_name(d->signal))
        snprintf(signal, sizeof(signal), " %s", action_signal_name(d->signal));
    else if (d->action == ACTION_SIGNAL)
        snprintf(signal, sizeof(signal), " signal %d", d->signal);
    snprintf(buf, size, "%s%s%s%s", done ? action_table[d->action].done : action_table[d->action].now, signal,
             d->n_nodes ? " " : "", decision_nodes(d, nodes));
    return buf;
}

/* Find the nodes of the action.  false: they are not known, the rule acted on all of them already, or nobody
 * else blames them. */
static bool find_nodes(const struct engine *e, struct decision *d, const struct engine_input *in)
{
    const struct figures *f = in->figures;
    bool beyond = action_table[d->action].scope == ACTION_ON_NODES;

    if (!action_table[d->action].wants_nodes)
        return true;
    for (size_t i = 0; i < f->n_nodes && i < FIGURE_NODES_MAX; i++) {
        const char *why = beyond && in->doubt ? in->doubt(f->node[i], in->doubt_arg) : NULL;

        if (was_done(e, done_key(d->rule, f->node[i])))
            continue;
        if (why)
            snprintf(d->why_not, sizeof(d->why_not), "%s: %s", f->node[i], why);
        else
            snprintf(d->node[d->n_nodes++], sizeof(d->node[0]), "%s", f->node[i]);
    }
    if (d->n_nodes)
        *d->why_not = '\0';
    else if (!f->n_nodes)
        snprintf(d->why_not, sizeof(d->why_not), "the verdict names no node");
    else if (!*d->why_not)
        snprintf(d->why_not, sizeof(d->why_not), "the rule has acted on these nodes before");
    return !*d->why_not;
}

/* Whether it can be carried out; if not, fill in why_not. */
static bool is_possible(struct decision *d, const struct engine_input *in)
{
    struct err err;

    if (!in->can || in->can(d, in->can_arg, &err) == 0)
        return true;
    snprintf(d->why_not, sizeof(d->why_not), "%.*s", (int)sizeof(d->why_not) - 1, err.text);
    return false;
}

/* Whether the limits allow the action; if not, fill in why_not. */
static bool is_allowed(const struct engine *e, struct decision *d, const struct engine_input *in)
{
    const struct config_policy *job = in->policy;
    const struct config *cluster = in->config;
    int nodes, actions = budget_spent(&e->budget, BUDGET_ALL, in->now_s, &nodes);
    int all_nodes, all = budget_spent(in->cluster, BUDGET_ALL, in->now_s, &all_nodes);
    int users_nodes, users = budget_spent(in->cluster, in->uid, in->now_s, &users_nodes);
    /* a verdict on more than FIGURE_NODES_MAX nodes counts with all of them: NodesAtOnce withholds it */
    size_t aimed = in->figures->n_nodes > FIGURE_NODES_MAX && d->n_nodes ? in->figures->n_nodes : d->n_nodes;

    if (in->now_s - e->ending_s < ENGINE_ENDING_S)
        snprintf(d->why_not, sizeof(d->why_not), "the run is already being ended");
    else if (aimed > (size_t)job->nodes_at_once)
        snprintf(d->why_not, sizeof(d->why_not), "%zu node%s at once; NodesAtOnce=%d", aimed,
                 text_plural((int64_t)aimed), job->nodes_at_once);
    else if (actions >= job->actions_per_hour)
        snprintf(d->why_not, sizeof(d->why_not), "%d action%s in the last hour; ActionsPerHour=%d", actions,
                 text_plural(actions), job->actions_per_hour);
    else if (aimed && nodes + (int)aimed > job->nodes_per_hour)
        snprintf(d->why_not, sizeof(d->why_not), "%d node%s in the last hour; NodesPerHour=%d", nodes,
                 text_plural(nodes), job->nodes_per_hour);
    else if (users >= cluster->user_actions_per_hour)
        snprintf(d->why_not, sizeof(d->why_not),
                 "%d action%s on the user's jobs in the last hour; UserActionsPerHour=%d", users,
                 text_plural(users), cluster->user_actions_per_hour);
    else if (all >= cluster->cluster_actions_per_hour)
        snprintf(d->why_not, sizeof(d->why_not),
                 "%d action%s of all jobs in the last hour; ClusterActionsPerHour=%d", all, text_plural(all),
                 cluster->cluster_actions_per_hour);
    else if (aimed && all_nodes + (int)aimed > cluster->cluster_nodes_per_hour)
        snprintf(d->why_not, sizeof(d->why_not),
                 "%d node%s of all jobs in the last hour; ClusterNodesPerHour=%d", all_nodes,
                 text_plural(all_nodes), cluster->cluster_nodes_per_hour);
    return !*d->why_not;
}

/* Whether nothing holds the rule back; if something does, fill in why_not. */
static bool is_free(const struct rule *r, struct decision *d, const struct engine_input *in)
{
    if (in->paused) {
        snprintf(d->why_not, sizeof(d->why_not), "%s", in->paused);
        return false;
    }
    if (!in->hold || (r->conditional && condition_names(&r->when, FIGURE_NON_FINITE)))
        return true;
    snprintf(d->why_not, sizeof(d->why_not), "%s", in->hold);
    return false;
}

static const struct advice *advice_of(const struct engine_input *in, const struct rule *r)
{
    return *r->module ? in->advice : NULL;
}

static void write_sentence(struct decision *d, const struct rule *r, const struct advice *advice,
                           const struct engine_input *in)
{
    char action_text[256], why[360] = "", held[32], projected[64] = "";

    if (r->conditional)
        condition_explain(&r->when, in->figures, why, sizeof(why));
    if (advice && *advice->reason)
        snprintf(why + strlen(why), sizeof(why) - strlen(why), "%s%.160s", *why ? "; " : "", advice->reason);
    if (!isnan(d->projected_ratio))
        snprintf(projected, sizeof(projected), "; projected: %.2f of the step time", d->projected_ratio);
    snprintf(d->sentence, sizeof(d->sentence), "%s: %s has held for %s: %s%s%s%s", r->name, why,
             units_format_s(held, sizeof(held), d->held_s),
             decision_action_text(d, false, action_text, sizeof(action_text)), projected,
             *d->why_not ? "; withheld: " : "", d->why_not);
}

/* Record an action; one of a dry run does not end the run. */
static void record_action(struct engine *e, size_t i, const struct decision *d, double now_s)
{
    rule_acted(&e->state[i], now_s);
    for (size_t k = 0; k < d->n_nodes; k++)
        e->done[e->n_done++ % ENGINE_NODES_MAX] = done_key(d->rule, d->node[k]);
    if (action_table[d->action].ends_run && d->state == DECISION_ENFORCED)
        e->ending_s = now_s;
}

void engine_restore(struct engine *e, const struct decision *d, bool failed, double at_s)
{
    int i = rule_index(e, d->rule);

    if (i < 0 || d->state == DECISION_WITHHELD)
        return;
    if (failed)
        e->state[i].acted_s = at_s;
    else
        record_action(e, (size_t)i, d, at_s);
}

void engine_restore_run(struct engine *e, const char *rule, double at_s)
{
    int i = rule_index(e, rule);

    if (i >= 0)
        rule_acted(&e->state[i], at_s);
}

void engine_consider(const struct engine *e, size_t i, const struct engine_input *in, struct decision *d)
{
    const struct rule *r = e->rule[i];
    const struct advice *advice = advice_of(in, r);
    bool enforced, good;

    memset(d, 0, sizeof(*d));
    snprintf(d->rule, sizeof(d->rule), "%s", r->name);
    d->action = advice && advice->action >= 0 ? (enum action_kind)advice->action : r->action;
    d->signal = r->signal;
    d->projected_ratio = advice ? advice->projected_ratio : NAN;
    /* The step time without the verdict's cause, which only excluding the culprit removes. */
    if (isnan(d->projected_ratio) && d->action == ACTION_EXCLUDE && in->figures->value[FIGURE_SLOWDOWN] >= 1)
        d->projected_ratio = 1 / in->figures->value[FIGURE_SLOWDOWN];
    d->held_s = in->now_s - e->state[i].since_s;
    good = is_free(r, d, in) && find_nodes(e, d, in) && is_possible(d, in) && is_allowed(e, d, in);
    enforced = in->enforce && (in->enforce_beyond || action_table[d->action].scope == ACTION_ON_JOB);
    d->state = !good ? DECISION_WITHHELD : enforced ? DECISION_ENFORCED : DECISION_DRYRUN;
}

/* Decide on a rule that is due.  false: it is withheld, and that decision was returned before. */
static bool decide_due(struct engine *e, size_t i, const struct engine_input *in, struct decision *d)
{
    engine_consider(e, i, in, d);
    if (d->state == DECISION_WITHHELD && e->state[i].withheld)
        return false;
    write_sentence(d, e->rule[i], advice_of(in, e->rule[i]), in);
    if (d->state == DECISION_WITHHELD) {
        e->state[i].withheld = true;
        return true;
    }
    record_action(e, i, d, in->now_s);
    budget_spend(&e->budget, in->now_s, (uint32_t)d->n_nodes, in->uid);
    if (d->state == DECISION_ENFORCED)
        budget_spend(in->cluster, in->now_s, (uint32_t)d->n_nodes, in->uid);
    return true;
}

size_t engine_tick(struct engine *e, const struct engine_input *in, struct decision *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++) {
        enum rule_phase phase =
            rule_look(e->rule[i], &e->state[i], in->figures, advice_of(in, e->rule[i]), in->now_s);

        if (phase == RULE_DUE && !in->paused && n < max)
            n += decide_due(e, i, in, &out[n]);
    }
    return n;
}

void engine_failed(struct engine *e, const struct decision *d, struct budget *cluster, uint32_t uid)
{
    int rule = rule_index(e, d->rule);

    if (d->state == DECISION_WITHHELD) /* it spent nothing */
        return;
    budget_refund(&e->budget, (uint32_t)d->n_nodes, uid);
    if (d->state == DECISION_ENFORCED)
        budget_refund(cluster, (uint32_t)d->n_nodes, uid);
    if (rule >= 0 && e->state[rule].acted)
        e->state[rule].acted--;
    for (size_t k = 0; k < d->n_nodes; k++)
        for (size_t i = 0; i < ENGINE_NODES_MAX; i++)
            if (e->done[i] == done_key(d->rule, d->node[k]))
                e->done[i] = 0;
    if (action_table[d->action].ends_run && d->state == DECISION_ENFORCED)
        e->ending_s = NAN;
}
