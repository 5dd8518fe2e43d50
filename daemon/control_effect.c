/* control_effect.c - the outcomes of decisions and their effects. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "actions/action.h"
#include "common/hostlist.h"
#include "common/log.h"
#include "common/utf8.h"
#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "rules/effect.h"
#include "view/timeline.h"

#define KEY         "decision/"
#define COLUMNS_MIN 4 /* of a window */
/* columns before an action; more could be from before the fault */
#define BEFORE_MIN  3
#define SETTLE_S    2.0  /* after an action, until the steps in progress have ended */
#define WINDOWS_MAX 10.0 /* windows to wait for a new run's step time */

/* ---- step times ---- */

/* Length of the policy's window, at least COLUMNS_MIN columns of the history plus the newest, which is
 * incomplete. */
static double window_s(const struct control *c)
{
    return fmax(c->job->params.effect_window_s, COLUMNS_MIN * view_column_s(c->job->view));
}

struct effect_level control_level(const struct control *c, double of_s)
{
    struct view_columns columns;
    size_t n = view_columns_get(c->job->view, &columns);
    double column_s = view_column_s(c->job->view);

    return effect_level(columns.step_s, n, column_s, fmax(fmin(window_s(c), of_s), BEFORE_MIN * column_s), 0);
}

/* ---- the decision of an action ---- */

char *control_key(const struct audit_entry *e, char *buf)
{
    snprintf(buf, ACTION_KEY_MAX, KEY "%lld/%u/%u.%u/%u/%.0f", (long long)e->id, (unsigned)e->job.uid,
             e->job.job, e->job.step, e->job.restarts, e->at * 1e3);
    return buf;
}

/* Whether the action belongs to this entry, a decision or a user's request. A key that is only a number is
 * from an earlier version of the controller. */
static bool belongs_to(const struct audit_entry *e, const struct action_record *r)
{
    char key[ACTION_KEY_MAX];
    bool like = !e->command && job_id_same(&e->job, &r->job) && e->d.action == r->kind;

    if (r->by != ACTION_BY_ITSELF)
        return like && e->by == r->by;
    return like && (!strchr(r->key + strlen(KEY), '/') || !strcmp(control_key(e, key), r->key));
}

/* The decision in memory whose action is under way. */
static struct control_decision *find_decision(const struct controls *cs, const struct action_record *r,
                                              struct control **whose)
{
    for (size_t i = 0; i < cs->n; i++)
        for (size_t k = 0; control_decision(cs->control[i], k); k++)
            if (control_decision(cs->control[i], k)->entry.outcome == AUDIT_PENDING &&
                belongs_to(&control_decision(cs->control[i], k)->entry, r)) {
                *whose = cs->control[i];
                return control_decision(cs->control[i], k);
            }
    return NULL;
}

/* The stored decision of a job that is no longer in memory, or from before a restart. -1: there is none. */
static int find_stored(const struct controls *cs, const struct action_record *r, struct audit_entry *e)
{
    long long id;

    if (r->by != ACTION_BY_ITSELF)
        return audit_asked(cs->controller->audit, &r->job, r->kind, r->by, e);
    if (sscanf(r->key, KEY "%lld", &id) != 1 || audit_get(cs->controller->audit, id, e) < 0)
        return -1;
    return belongs_to(e, r) ? 0 : -1;
}

/* ---- outcomes ---- */

static void note_outcome(struct controls *cs, struct audit_entry *e, bool done, const char *text)
{
    struct err err;

    e->outcome = done ? AUDIT_DONE : AUDIT_FAILED;
    snprintf(e->outcome_text, sizeof(e->outcome_text), "%s", text);
    if (audit_update(cs->controller->audit, e, &err) < 0)
        log_warn("job %s: %s", e->job_text, err.text);
}

void control_outcome(struct controls *cs, struct control *c, struct control_decision *kept, bool done,
                     const char *outcome, double now_s)
{
    note_outcome(cs, &kept->entry, done, outcome);
    if (*kept->entry.d.rule)
        job_event(c->job, now_s, "%s: %s: %.400s", kept->entry.d.rule, done ? "done" : "failed", outcome);
    if (!done && kept->entry.by == AUDIT_NOBODY) /* what a user asks for spends nothing */
        engine_failed(&c->engine, &kept->entry.d, &cs->cluster, c->job->id.uid);
    if (done && !action_table[kept->entry.d.action].ends_run)
        kept->due_s = now_s + window_s(c) + SETTLE_S;
}

bool controls_ended(struct controls *cs, const struct action_record *r, double now_s)
{
    bool by_rule = r->by == ACTION_BY_ITSELF && !strncmp(r->key, KEY, strlen(KEY));
    bool done = r->state == ACTION_DONE;
    struct control_decision *kept;
    struct control *c = NULL;
    struct audit_entry stored;

    if (!by_rule && (r->by == ACTION_BY_ITSELF || !action_table[r->kind].ends_run))
        return false;
    kept = find_decision(cs, r, &c);
    if (kept) {
        control_outcome(cs, c, kept, done, r->outcome, now_s);
    } else if (find_stored(cs, r, &stored) == 0) {
        note_outcome(cs, &stored, done, r->outcome);
        if (by_rule && !done)
            budget_refund(&cs->cluster, (uint32_t)stored.d.n_nodes, stored.job.uid);
    } else {
        return false;
    }
    return by_rule;
}

/* ---- actions that users asked for ---- */

/* The projection of the verdict holds only if all culprits are excluded. */
static double projected_ratio(const struct figures *f, const struct action *a)
{
    if (a->kind != ACTION_EXCLUDE || !f->n_nodes || f->n_nodes > FIGURE_NODES_MAX ||
        !(f->value[FIGURE_SLOWDOWN] >= 1))
        return NAN;
    for (size_t i = 0; i < f->n_nodes; i++)
        if (!hostlist_has(a->nodes, f->node[i]))
            return NAN;
    return 1 / f->value[FIGURE_SLOWDOWN];
}

void controls_asked(struct controls *cs, struct job *j, const struct action *a, double now_s)
{
    struct audit_entry e;
    struct figures f;
    char action_text[256], ratio[64] = "";
    struct err err;

    if (!j || !action_table[a->kind].ends_run)
        return;
    control_figures(cs, j->control, now_s, &f);
    control_fill(&e, j->control);
    e.by = a->by;
    e.outcome = AUDIT_PENDING;
    e.before = control_level(j->control, f.value[FIGURE_PERSISTENCE_S]);
    e.d.state = DECISION_ENFORCED;
    e.d.action = a->kind;
    e.d.projected_ratio = projected_ratio(&f, a);
    for (size_t i = 0; a->nodes && i < j->n_agents && e.d.n_nodes < FIGURE_NODES_MAX; i++)
        if (hostlist_has(a->nodes, j->agent[i]->node))
            snprintf(e.d.node[e.d.n_nodes++], sizeof(e.d.node[0]), "%s", j->agent[i]->node);
    if (!isnan(e.d.projected_ratio))
        snprintf(ratio, sizeof(ratio), "; projected: %.2f of the step time", e.d.projected_ratio);
    snprintf(e.d.sentence, sizeof(e.d.sentence), "by hand: %s%s",
             decision_action_text(&e.d, false, action_text, sizeof(action_text)), ratio);
    utf8_mend(e.d.sentence);
    if (audit_add(cs->controller->audit, &e, &err) < 0)
        log_warn("job %s: %s: its effect cannot be measured", j->text_id, err.text);
    else
        control_keep(j->control, &e);
}

/* ---- effects ---- */

/* Copy the effect to the other runs that show it: the one that decided it, and later ones. */
static void copy_effect(struct controls *cs, const struct audit_entry *e)
{
    for (size_t i = 0; i < cs->n; i++)
        for (size_t k = 0; control_decision(cs->control[i], k); k++)
            if (control_decision(cs->control[i], k)->entry.id == e->id)
                control_decision(cs->control[i], k)->entry = *e;
}

static void note_effect(struct controls *cs, struct control *c, struct audit_entry *e, double now_s)
{
    struct effect_level after = control_level(c, NAN);
    struct err err;

    e->effect_ratio = effect_ratio(&e->before, &after);
    effect_text(&e->d, &e->effect_ratio, e->effect, sizeof(e->effect));
    job_event(c->job, now_s, "%s", e->effect);
    log_info("job %s: %s", c->job->text_id, e->effect);
    if (audit_update(cs->controller->audit, e, &err) < 0)
        log_warn("job %s: %s", c->job->text_id, err.text);
}

static bool is_kept(const struct control *c, int64_t id)
{
    for (size_t k = 0; control_decision(c, k); k++)
        if (control_decision(c, k)->entry.id == id)
            return true;
    return false;
}

void control_measure(struct controls *cs, struct control *c, double now_s)
{
    struct audit_entry e[AUDIT_EARLIER];
    double since_s = now_s - c->stepping_s - SETTLE_S;

    for (size_t i = 0; control_decision(c, i); i++) {
        struct control_decision *kept = control_decision(c, i);

        if (now_s >= kept->due_s) {
            kept->due_s = NAN;
            note_effect(cs, c, &kept->entry, now_s);
        }
    }
    /* The actions that ended earlier runs, once, when this run has lasted long enough. */
    if (!c->awaits || isnan(since_s) || since_s < window_s(c) ||
        (isnan(control_level(c, NAN).median_s) && since_s < WINDOWS_MAX * window_s(c)))
        return;
    c->awaits = false;
    for (size_t i = audit_earlier(cs->controller->audit, &c->job->id, e); i-- > 0;) {
        if (*e[i].effect)
            continue;
        note_effect(cs, c, &e[i], now_s);
        copy_effect(cs, &e[i]);
        if (!is_kept(c, e[i].id)) /* its outcome was known only after this run began */
            control_keep(c, &e[i]);
    }
}
