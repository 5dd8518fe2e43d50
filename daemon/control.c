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
#include "job/report_job.h"
#include "view/marks.h"

/* ---- decisions ---- */

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

static int can_act(const struct decision *d, const void *arg, struct err *err)
{
    const struct control_witness *w = arg;
    char nodes[DECISION_NODES_MAX];
    struct action a = action_of(d, w->job, nodes);

    a.reason = d->rule; /* the sentence is written once the decision is made */
    return actions_check(w->cs->controller->actions, &a, err);
}

/* Record the decision, and start its action if it is enforced. */
static void carry_out(struct controls *cs, struct control *c, const struct decision *d,
                      const struct figures *f, double now_s)
{
    char key[ACTION_KEY_MAX], nodes[DECISION_NODES_MAX];
    struct control_decision *kept;
    const struct report_verdict *told;
    struct report_row row;
    struct audit_entry e;
    struct action a;
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
    kept = control_keep(c, &e);
    if (e.outcome != AUDIT_PENDING)
        return;
    a = action_of(&kept->entry.d, c->job, nodes);
    a.key = control_key(&kept->entry, key);
    a.figures = f;
    report_job_row(&row, c->job, now_s);
    told = report_row_told(&row);
    a.next = told ? told->next : "";
    if (!actions_start(cs->controller->actions, &a, &err))
        control_outcome(cs, c, kept, false, err.text, now_s);
    report_row_free(&row);
}

/* ---- time ---- */

/* Hold the job's levers, or release them, once a second at most.  Rules may be about what happened: they are
 * evaluated at once. */
static void update_hold(struct controls *cs, struct control *c, double now_s)
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
    bool is_operator = operators_has(&w->cs->controller->operators, j->id.uid);

    return (struct engine_input){ .policy = &j->params,
                                  .config = &w->cs->controller->config,
                                  .cluster = &w->cs->cluster,
                                  .uid = j->id.uid,
                                  .enforce = j->params.action == CONFIG_ENFORCE,
                                  .enforce_beyond = !j->control->owner_enforces,
                                  .doubt = is_operator ? NULL : control_doubt,
                                  .doubt_arg = w,
                                  .can = can_act,
                                  .can_arg = w,
                                  .hold = job_hold(j),
                                  .paused =
                                      j->control->paused ? "the policy is paused"
                                      : j->trust == JOB_VOUCHED
                                          ? job_unconfirmed(j) /* Slurm's answer will choose the policy */
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
    bool asks_site = false;
    size_t n;

    if (job_over(j))
        return;
    update_hold(cs, c, now_s);
    if (now_s < c->next_s)
        return;
    c->next_s = now_s + CONTROL_EVERY_S;
    control_figures(cs, c, now_s, &f);
    in.figures = &f;
    if (isnan(c->stepping_s) && f.value[FIGURE_STEPS] > 0)
        c->stepping_s = now_s;
    for (size_t i = 0; i < c->engine.n; i++)
        asks_site = asks_site || *c->engine.rule[i]->module;
    if (cs->site && asks_site) {
        struct site_question q = { j->text_id, j->policy, &f, now_s };

        site_ask(cs->site, &q, &advice, &ignored);
        if (*ignored.text)
            log_warn("%s: ignored", ignored.text);
        in.advice = &advice;
    }
    n = engine_tick(&c->engine, &in, decided, ARRAY_SIZE(decided));
    for (size_t i = 0; i < n; i++)
        carry_out(cs, c, &decided[i], &f, now_s);
    control_measure(cs, c, now_s);
}

/* ---- adding and removing jobs ---- */

struct restoring {
    struct controls *cs;
    struct control *c;
    double now_s, wall_s;
};

static void restore_entry(const struct audit_entry *e, void *arg)
{
    struct restoring *r = arg;

    if (e->command) {
        control_command_restore(r->c, e->d.sentence, operators_has(&r->cs->controller->operators, e->by),
                                r->now_s);
        return;
    }
    control_keep(r->c, e);
    engine_restore(&r->c->engine, &e->d, e->outcome == AUDIT_FAILED, r->now_s - (r->wall_s - e->at));
}

static void restore_former(const char *rule, double at, void *arg)
{
    struct restoring *r = arg;

    engine_restore_run(&r->c->engine, rule, r->now_s - (r->wall_s - at));
}

static void restore_spent(double at, uint32_t nodes, uid_t uid, void *arg)
{
    struct restoring *r = arg;

    budget_spend(r->c ? &r->c->engine.budget : &r->cs->cluster, r->now_s - (r->wall_s - at), nodes, uid);
}

/* What the audit log has of the run, for the rules of its policy. */
static void restore_run(struct controls *cs, struct control *c, double now_s)
{
    struct restoring r = { cs, c, now_s, wall_s() };
    /* actions that ended earlier runs, newest first; kept oldest first */
    struct audit_entry earlier[AUDIT_EARLIER];
    size_t n;

    audit_spent(cs->controller->audit, &c->job->id, r.wall_s - ENGINE_HOUR_S, restore_spent, &r);
    c->awaits = c->job->id.restarts > 0;
    n = c->awaits ? audit_earlier(cs->controller->audit, &c->job->id, earlier) : 0;
    while (n > 0)
        control_keep(c, &earlier[--n]);
    if (c->job->id.restarts)
        audit_acted(cs->controller->audit, &c->job->id, restore_former, &r);
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
        restore_run(cs, c, now_s);
    control_params_apply(c);
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
    control_params_apply(j->control);
}

void controls_confirm(struct controls *cs, struct job *j, const struct config_policy *config, double now_s)
{
    engine_bind(&j->control->engine, cs->rules, j->policy);
    restore_run(cs, j->control, now_s);
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

/* At start the controller runs without a site's policy that cannot be loaded; at a reload the loaded one
 * stays. */
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
