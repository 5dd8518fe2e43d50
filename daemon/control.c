#include "daemon/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "actions/action.h"
#include "common/log.h"
#include "common/now.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "daemon/control_private.h"
#include "daemon/peer.h"
#include "history/audit.h"
#include "history/history.h"
#include "history/past.h"
#include "job/job_figures.h"

#define WORDS_MAX   32u
#define COMMAND_MAX 700

/* ---- parameters ---- */

/* Limits that protect other users, which only an operator may change. */
static bool operators_only(const struct key *key)
{
    static const char *const names[] = { "ActionsPerHour", "NodesPerHour", "NodesAtOnce" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (!strcmp(key->name, names[i]))
            return true;
    return false;
}

/* Apply the configured policy, then the parameters that users set. */
static void params_apply(struct control *c)
{
    const struct key *keys = config_keys(CONFIG_POLICY);
    struct config_policy p = c->config;

    for (size_t i = 0; keys[i].name; i++)
        if (c->override[i])
            key_store(&keys[i], &p, c->override[i], NULL);
    if (job_unconfirmed(c->job))
        p.action = CONFIG_DRYRUN;
    job_policy_set(c->job, &p);
}

struct change {
    size_t key;
    const char *value; /* NULL: the policy's value */
};

/* Parse "Key=Value", and check that the user may change this key. */
static int change_parse(const struct control *c, const char *word, bool trusted, struct change *change,
                        struct err *err)
{
    const char *equal = strchr(word, '=');
    struct config_policy scratch = { 0 };
    const struct key *keys = config_keys(CONFIG_POLICY), *key;
    char name[64], names[400];

    if (!equal || equal == word || (size_t)(equal - word) >= sizeof(name) || strpbrk(word, " \t\n"))
        return err_set(err, "'%.80s': expected Key=Value without blanks", word);
    snprintf(name, sizeof(name), "%.*s", (int)(equal - word), word);
    key = key_find(keys, name);
    if (!key || !strcmp(key->name, "Description"))
        return err_set(err, "unknown parameter '%s': expected one of %s", name,
                       key_names(keys + 1, names, sizeof(names)));
    if (operators_only(key) && !trusted)
        return err_set(err, "%s: only operators may set it", key->name);
    *change = (struct change){ (size_t)(key - keys), strcasecmp(equal + 1, "default") ? equal + 1 : NULL };
    if (change->value && key_store(key, &scratch, change->value, err) < 0)
        return err_prefix(err, "%s=%.80s", key->name, change->value);
    return c->fixed[change->key] && !trusted ? err_set(err, "%s: an operator has set it for this run", key->name) : 0;
}

/* Parse all words. -1 with a reason if one is invalid or not allowed. */
static int changes_parse(const struct control *c, const char *const *word, size_t n, bool trusted,
                         struct change change[WORDS_MAX], struct err *err)
{
    if (n == 0 || n > WORDS_MAX)
        return err_set(err, "expected Key=Value, 1 to %u times", WORDS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (change_parse(c, word[i], trusted, &change[i], err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (change[k].key == change[i].key)
                return err_set(err, "'%.80s': set twice", word[i]);
    }
    return 0;
}

static void changes_make(struct control *c, const struct change *change, size_t n, bool trusted)
{
    const struct key *keys = config_keys(CONFIG_POLICY);

    for (size_t i = 0; i < n; i++) {
        free(c->override[change[i].key]);
        c->override[change[i].key] = xstrdup(change[i].value);
        c->fixed[change[i].key] = change[i].value && trusted;
        if (!strcmp(keys[change[i].key].name, "Action"))
            c->owner_enforces = change[i].value && !trusted;
    }
    params_apply(c);
}

/* ---- decisions ---- */

struct control_decision *control_decision(const struct control *c, size_t i)
{
    return i < c->n_decisions && i < JOB_DECISIONS ? c->decision[(c->n_decisions - 1 - i) % JOB_DECISIONS]
                                                   : NULL;
}

struct control_decision *control_keep(struct control *c, const struct audit_entry *e)
{
    struct control_decision **slot = &c->decision[c->n_decisions++ % JOB_DECISIONS];

    if (!*slot)
        *slot = xcalloc(1, sizeof(**slot));
    **slot = (struct control_decision){ .entry = *e, .due_s = NAN };
    return *slot;
}

void control_fill(struct audit_entry *e, const struct control *c)
{
    memset(e, 0, sizeof(*e));
    e->at = wall_s();
    e->job = c->job->id;
    snprintf(e->job_text, sizeof(e->job_text), "%s", c->job->text_id);
    snprintf(e->policy, sizeof(e->policy), "%s", c->job->policy);
    e->by = AUDIT_NOBODY;
    e->d.projected_ratio = NAN;
    e->before = (struct effect_level){ NAN, NAN, 0 };
    e->brought = (struct effect_ratio){ NAN, NAN, NAN };
}

static int command(struct controls *cs, struct control *c, uid_t by, double now_s, const char *text,
                   struct err *err)
{
    struct audit_entry e;

    control_fill(&e, c);
    e.command = true;
    e.by = by;
    snprintf(e.d.sentence, sizeof(e.d.sentence), "%s", text);
    if (audit_add(cs->controller->audit, &e, err) < 0)
        return -1;
    job_event(c->job, now_s, "policy: %s, by uid %u", text, (unsigned)by);
    log_info("job %s: policy: %s, by uid %u", c->job->text_id, text, (unsigned)by);
    return 0;
}

/* What a rule decided, as an action on the job; d, j and nodes are lent. */
static struct action action_of(const struct decision *d, const struct job *j, char nodes[DECISION_NODES_MAX])
{
    return (struct action){ .kind = d->action,
                            .job = j->id,
                            .job_text = j->text_id,
                            .nodes = decision_nodes(d, nodes),
                            .signal = d->action == ACTION_SIGNAL ? d->signal : 0,
                            .rule = d->rule,
                            .policy = j->policy,
                            .reason = d->sentence,
                            .by = ACTION_BY_ITSELF };
}

static int can(const struct decision *d, const void *arg, struct err *err)
{
    const struct control_witness *w = arg;
    char nodes[DECISION_NODES_MAX];
    struct action a = action_of(d, w->job, nodes);

    a.reason = d->rule; /* the sentence is written once the decision is made */
    return actions_check(w->cs->controller->actions, &a, err);
}

static void hand_on(struct controls *cs, struct control *c, struct control_decision *k,
                    const struct figures *f, double now_s)
{
    char key[ACTION_KEY_MAX], nodes[DECISION_NODES_MAX];
    struct action a = action_of(&k->entry.d, c->job, nodes);
    struct err err;

    a.key = control_key(&k->entry, key);
    a.figures = f;
    if (!actions_start(cs->controller->actions, &a, &err))
        control_outcome(cs, c, k, false, err.text, now_s);
}

static void record(struct controls *cs, struct control *c, const struct decision *d, const struct figures *f,
                   double now_s)
{
    struct control_decision *k;
    struct audit_entry e;
    struct err err;

    control_fill(&e, c);
    e.d = *d;
    utf8_mend(e.d.sentence); /* webhooks and JSON need valid UTF-8 */
    e.before = control_level(c, d->held_s);
    e.outcome = d->state == DECISION_ENFORCED ? AUDIT_PENDING : AUDIT_NONE;
    job_event(c->job, now_s, "%s%.480s", d->state == DECISION_DRYRUN ? "dry run: " : "", d->sentence);
    log_info("job %s: %s: %s", c->job->text_id, decision_state_name(d->state), d->sentence);
    if (audit_add(cs->controller->audit, &e, &err) < 0) {
        /* A decision that cannot be recorded is not carried out. */
        log_error("job %s: %s: %s", c->job->text_id, d->sentence, err.text);
        e.outcome = d->state == DECISION_ENFORCED ? AUDIT_FAILED : AUDIT_NONE;
        snprintf(e.outcome_text, sizeof(e.outcome_text), "%.255s", err.text);
        engine_failed(&c->engine, d, &cs->cluster, c->job->id.uid);
    }
    k = control_keep(c, &e);
    if (e.outcome == AUDIT_PENDING)
        hand_on(cs, c, k, f, now_s);
}

/* ---- time ---- */

static bool asks_site(const struct control *c)
{
    for (size_t i = 0; i < c->engine.n; i++)
        if (*c->engine.rule[i]->module)
            return true;
    return false;
}

void control_figures(const struct controls *cs, const struct control *c, double now_s, struct figures *f)
{
    const struct past *past = history_past(cs->controller->history, c->job);

    job_figures(c->job, now_s, f);
    if (past) {
        f->value[FIGURE_PAST_STEP_RATIO] = past->step.ratio;
        f->value[FIGURE_UNUSUAL] = past_unusual(past);
    }
}

/* Hold the job's levers, or release them, once a second at most; and rules may be about what happened. */
static void look_at_values(struct controls *cs, struct control *c, double now_s)
{
    const char *why = job_hold(c->job);

    if (view_non_finite(c->job->view) != c->non_finite)
        c->next_s = now_s;
    c->non_finite = view_non_finite(c->job->view);
    if (c->held == (why != NULL) || now_s < c->turned_s + CONTROL_EVERY_S)
        return;
    c->held = why != NULL;
    c->turned_s = now_s;
    if (why)
        job_event(c->job, now_s, "pacing, requests of checkpoints and actions are held: %s", why);
    else
        job_event(c->job, now_s, "pacing, requests of checkpoints and actions are no longer held");
    peers_instruct(cs->controller, c->job);
}

struct engine_input control_input(const struct control_witness *w)
{
    const struct job *j = w->job;
    bool is_operator = controller_is_operator(w->cs->controller, j->id.uid);

    return (struct engine_input){ .policy = &j->params,
                                  .config = &w->cs->controller->config,
                                  .cluster = &w->cs->cluster,
                                  .uid = j->id.uid,
                                  .enforce = j->params.action == CONFIG_ENFORCE,
                                  .enforce_beyond = !j->control->owner_enforces,
                                  .doubt = is_operator ? NULL : control_doubt,
                                  .doubt_arg = w,
                                  .can = can,
                                  .can_arg = w,
                                  .hold = job_hold(j),
                                  .paused = j->control->paused         ? "the policy is paused"
                                            : j->trust == JOB_VOUCHED ? job_unconfirmed(j) /* Slurm's answer will choose the policy */
                                                                      : NULL,
                                  .now_s = w->now_s };
}

void controls_tick(struct controls *cs, struct job *j, double now_s)
{
    struct control *c = j->control;
    struct decision decided[JOB_DECISIONS];
    const struct control_witness witness = { cs, j, now_s };
    struct figures f;
    struct advice advice;
    struct err ignored;
    struct engine_input in = control_input(&witness);
    size_t n;

    if (job_over(j))
        return;
    look_at_values(cs, c, now_s);
    if (now_s < c->next_s)
        return;
    c->next_s = now_s + CONTROL_EVERY_S;
    control_figures(cs, c, now_s, &f);
    in.figures = &f;
    if (isnan(c->stepping_s) && f.value[FIGURE_STEPS] > 0)
        c->stepping_s = now_s;
    if (cs->site && asks_site(c)) {
        struct site_question q = { j->text_id, j->policy, &f, now_s };

        site_ask(cs->site, &q, &advice, &ignored);
        if (*ignored.text)
            log_warn("%s: ignored", ignored.text);
        in.advice = &advice;
    }
    n = engine_tick(&c->engine, &in, decided, ARRAY_SIZE(decided));
    for (size_t i = 0; i < n; i++)
        record(cs, c, &decided[i], &f, now_s);
    control_measure(cs, c, now_s);
}

/* ---- commands ---- */

int controls_set(struct controls *cs, struct job *j, const json_t *words, uid_t by, double now_s,
                 struct err *err)
{
    bool trusted = controller_is_operator(cs->controller, by);
    struct change change[WORDS_MAX];
    char text[COMMAND_MAX] = "set";
    size_t at = strlen(text), n = json_array_size(words);
    const char *word[WORDS_MAX];

    for (size_t i = 0; i < n && i < WORDS_MAX; i++)
        word[i] = json_is_string(json_array_get(words, i)) ? json_string_value(json_array_get(words, i)) : "";
    if (changes_parse(j->control, word, n, trusted, change, err) < 0)
        return -1;
    if (job_unconfirmed(j))
        return err_set(err, "job %s is unconfirmed: %s", j->text_id, job_unconfirmed(j));
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, " %s", word[i]);
        if (at >= sizeof(text))
            return err_set(err, "too long: at most %d characters at once", COMMAND_MAX - 1);
    }
    if (command(cs, j->control, by, now_s, text, err) < 0)
        return -1;
    changes_make(j->control, change, n, trusted);
    peers_instruct(cs->controller, j);
    return 0;
}

int controls_pause(struct controls *cs, struct job *j, bool pause, uid_t by, double now_s, struct err *err)
{
    struct control *c = j->control;

    bool trusted = controller_is_operator(cs->controller, by);

    if (c->paused == pause && (!trusted || c->paused_by_operator == pause))
        return 0;
    if (c->paused_by_operator && !trusted)
        return err_set(err, "an operator has paused the policy of job %s", j->text_id);
    if (command(cs, c, by, now_s, pause ? "pause" : "resume", err) < 0)
        return -1;
    c->paused = pause;
    c->paused_by_operator = pause && trusted;
    return 0;
}

int controls_acknowledge(struct controls *cs, struct job *j, uid_t by, double now_s, struct err *err)
{
    char text[COMMAND_MAX] = "acknowledge ";
    size_t at = strlen(text);

    if (!job_unacknowledged(j, text + at, sizeof(text) - at))
        return 0;
    if (command(cs, j->control, by, now_s, text, err) < 0)
        return -1;
    job_acknowledge(j);
    return 0;
}

/* ---- adding and removing jobs ---- */

struct restoring {
    struct controls *cs;
    struct control *c;
    double now_s, wall_s;
};

/* The newest of each kind counts: a pause is over when it was resumed, whatever else was said since. */
static void restore_command(struct control *c, const char *text, bool trusted, double now_s)
{
    char copy[COMMAND_MAX], *rest = copy, *word;
    const char *key[WORDS_MAX + 1]; /* one more than allowed, to detect too many */
    struct change change[WORDS_MAX];
    size_t n = 0;

    snprintf(copy, sizeof(copy), "%s", text);
    word = strsep(&rest, " ");
    while (rest && n < ARRAY_SIZE(key))
        key[n++] = strsep(&rest, " ");
    if (!strcmp(word, "set")) {
        if (changes_parse(c, key, n, trusted, change, NULL) == 0) /* ignore a key that no longer exists */
            changes_make(c, change, n, trusted);
    } else if (!strcmp(word, "pause") || !strcmp(word, "resume")) {
        c->paused = !strcmp(word, "pause");
        c->paused_by_operator = c->paused && trusted;
    } else if (!strcmp(word, "acknowledge")) {
        text += strlen(word);
        job_acknowledge_again(c->job, text + strspn(text, " "), now_s);
    }
}

static void restore_entry(const struct audit_entry *e, void *arg)
{
    struct restoring *r = arg;

    if (e->command) {
        restore_command(r->c, e->d.sentence, controller_is_operator(r->cs->controller, e->by), r->now_s);
        return;
    }
    control_keep(r->c, e);
    engine_restore(&r->c->engine, &e->d, r->now_s - (r->wall_s - e->at));
}

/* Restore the actions that ended earlier runs: they come newest first, and are kept oldest first. */
static void restore_earlier(struct controls *cs, struct control *c)
{
    struct audit_entry e[AUDIT_EARLIER];

    for (size_t n = audit_earlier(cs->controller->audit, &c->job->id, e); n > 0; n--)
        control_keep(c, &e[n - 1]);
}

static void restore_spent(double at, uint32_t nodes, uid_t uid, void *arg)
{
    struct restoring *r = arg;

    budget_spend(r->c ? &r->c->engine.budget : &r->cs->cluster, r->now_s - (r->wall_s - at), nodes, uid);
}

/* What the audit log has of the run, for the rules of its policy. */
static void restore(struct controls *cs, struct control *c, double now_s)
{
    struct restoring r = { cs, c, now_s, wall_s() };

    audit_spent(cs->controller->audit, &c->job->id, r.wall_s - ENGINE_HOUR_S, restore_spent, &r);
    c->awaits = c->job->id.restarts > 0;
    if (c->awaits)
        restore_earlier(cs, c);
    audit_run(cs->controller->audit, &c->job->id, restore_entry, &r);
}

void controls_add(struct controls *cs, struct job *j, const struct config_policy *config, double now_s)
{
    struct control *c = xcalloc(1, sizeof(*c));

    c->job = j;
    j->control = c;
    c->config = *config;
    c->stepping_s = NAN;
    engine_init(&c->engine);
    engine_bind(&c->engine, cs->rules, j->policy);
    cs->control = xgrow(cs->control, &cs->cap, cs->n + 1, sizeof(*cs->control));
    cs->control[cs->n++] = c;
    if (j->trust != JOB_VOUCHED) /* else its policy is not known yet: controls_confirm() */
        restore(cs, c, now_s);
    params_apply(c);
}

static void control_free(struct control *c)
{
    for (size_t i = 0; i < JOB_DECISIONS; i++)
        free(c->decision[i]);
    for (size_t i = 0; i < ARRAY_SIZE(c->override); i++)
        free(c->override[i]);
    free(c);
}

void controls_remove(struct controls *cs, struct job *j)
{
    size_t i = 0;

    while (cs->control[i] != j->control)
        i++;
    cs->control[i] = cs->control[--cs->n];
    control_free(j->control);
    j->control = NULL;
}

void controls_renew(struct job *j, const struct config_policy *config)
{
    j->control->config = *config;
    params_apply(j->control);
}

void controls_confirm(struct controls *cs, struct job *j, const struct config_policy *config, double now_s)
{
    engine_bind(&j->control->engine, cs->rules, j->policy);
    restore(cs, j->control, now_s);
    controls_renew(j, config);
}

/* ---- configuration ---- */

/* Check that rules which ask a site's policy name the one that is loaded. */
static int check_modules(const struct ruleset *rules, const struct site *site, const struct config *c,
                         struct err *err)
{
    for (size_t i = 0; i < rules->n; i++)
        if (*rules->rule[i].module && strcasecmp(rules->rule[i].module, site_name(site)) != 0)
            return err_set(err, "%s:%u: Rule=%s Module=%s: %s has %s", c->rules[i].file, c->rules[i].line,
                           c->rules[i].name, c->rules[i].module, c->policy_module, site_name(site));
    return 0;
}

/* At start the controller runs without a site's policy that cannot be loaded; at a reload the loaded one stays. */
int controls_configure(struct controls *cs, const struct config *c, struct err *err)
{
    struct ruleset *rules = ruleset_new(c, err), *old = cs->rules;
    struct site *site = NULL, *old_site = cs->site;
    bool wanted = *c->policy_module != '\0', start = !old;

    if (!rules)
        return -1;
    if (wanted)
        site = site_open(c->policy_module, err);
    if (wanted && !site && start)
        log_error("%s: continuing without it; rules that ask it make no decisions", err->text);
    else if ((wanted && !site) || check_modules(rules, site, c, err) < 0)
        goto fail;
    cs->rules = rules;
    cs->site = site;
    for (size_t i = 0; i < cs->n; i++)
        engine_bind(&cs->control[i]->engine, rules, cs->control[i]->job->policy);
    ruleset_free(old);
    site_close(old_site);
    audit_log_to(cs->controller->audit, c->audit_log);
    return 0;
fail:
    ruleset_free(rules);
    site_close(site);
    return -1;
}

struct controls *controls_new(struct controller *s, const struct config *c, struct err *err)
{
    struct controls *cs = xcalloc(1, sizeof(*cs));
    struct restoring r = { .cs = cs, .now_s = controller_now_s(), .wall_s = wall_s() };

    cs->controller = s;
    cs->cluster = (struct budget){ .entry = cs->spent, .max = ARRAY_SIZE(cs->spent) };
    if (controls_configure(cs, c, err) < 0) {
        controls_free(cs);
        return NULL;
    }
    audit_spent(cs->controller->audit, NULL, r.wall_s - ENGINE_HOUR_S, restore_spent, &r);
    return cs;
}

void controls_free(struct controls *cs)
{
    if (!cs)
        return;
    for (size_t i = 0; i < cs->n; i++)
        control_free(cs->control[i]);
    free(cs->control);
    ruleset_free(cs->rules);
    site_close(cs->site);
    free(cs);
}
