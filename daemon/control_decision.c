/* control_decision.c - what a job's decisions are made of, and those that are kept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "history/history.h"
#include "history/past.h"
#include "job/job_figures.h"

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
