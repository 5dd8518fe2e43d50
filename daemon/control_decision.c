/* control_decision.c - what a job's decisions are made of, those that are kept, and whether others than the
 * job's user blame a node, too. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "history/history.h"
#include "history/lemon.h"
#include "history/past.h"
#include "job/job_figures.h"
#include "report/report_nodes.h"
#include "view/verdicts.h"

void control_figures(const struct controls *cs, const struct control *c, double now_s, struct figures *f)
{
    const struct past *past = history_past(cs->controller->history, c->job);

    job_figures(c->job, now_s, f);
    if (past) {
        f->value[FIGURE_PAST_STEP_RATIO] = past->step.ratio;
        f->value[FIGURE_UNUSUAL] = past_unusual(past);
    }
}

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
    e->effect_ratio = (struct effect_ratio){ NAN, NAN, NAN };
}

/* ---- whether others blame a node, too ---- */

/* Whether a verdict on the running job names the node. */
static bool blames(const struct job *j, const char *node, double now_s)
{
    const struct view_verdict *v;
    size_t n = view_verdicts_get(j->view, &v);

    for (size_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < v[i].n_culprits && !v[i].minor; c++)
            if (!strcmp(report_culprit_node(j->view, &v[i], c, now_s), node))
                return true;
    return false;
}

const char *control_doubt(const char *node, const void *arg)
{
    const struct control_witness *w = arg;
    const struct controller *s = w->cs->controller;
    const struct lemon *l = history_lemon(s->history, node);

    if (l && l->score >= LEMON_SURE && l->culprit_users > 1)
        return NULL;
    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct job *j = s->jobs.job[i];

        if (j->id.uid != w->job->id.uid && !job_unconfirmed(j) && job_agents_connected(j) &&
            blames(j, node, w->now_s))
            return NULL;
    }
    return "only this user's jobs blame it; an operator can act (sgctl node)";
}
