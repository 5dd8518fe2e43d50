#include "report/rule_figures.h"

#include <math.h>
#include <string.h>

#include "report/report_nodes.h"
#include "view/figures.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/updates.h"
#include "view/verdicts.h"

/* ---- the most costly verdict ---- */

static void add_node(struct figures *f, const char *node)
{
    if (!*node)
        return;
    for (size_t i = 0; i < f->n_nodes && i < FIGURE_NODES_MAX; i++)
        if (!strcmp(f->node[i], node))
            return;
    if (f->n_nodes < FIGURE_NODES_MAX)
        f->node[f->n_nodes] = node;
    f->n_nodes++;
}

static void put_verdict(struct figures *f, const struct view *v, double now_s)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_get(v, &d);

    f->value[FIGURE_VERDICTS] = (double)n;
    figures_word(f, FIGURE_CLASS, n ? finding_class_name(d->finding.class) : "none");
    figures_word(f, FIGURE_SCOPE, n ? finding_scope_name(d->finding.scope) : "none");
    f->value[FIGURE_CULPRITS] = n ? d->n_culprits : 0;
    if (!n)
        return;
    f->value[FIGURE_SLOWDOWN] = d->finding.slowdown;
    f->value[FIGURE_PERSISTENCE_S] = now_s - view_verdict_from_s(d);
    f->text[FIGURE_CULPRIT] = d->n_culprits ? d->culprit[0] : NULL;
    figures_text(f, FIGURE_CAUSE, d->cause);
    f->sentence = d->text;
    for (uint32_t i = 0; i < d->n_culprits; i++)
        add_node(f, report_culprit_node(v, d, i, now_s));
}

/* ---- steps ---- */

static void put_steps(struct figures *f, const struct view *v, const struct view_figures *t)
{
    struct view_efficiency e;

    view_efficiency_get(v, &e);
    figures_word(f, FIGURE_REGIME, view_regime_name(t->regime));
    f->value[FIGURE_SYNCHRONISATION_RATIO] = t->synchronisation_ratio;
    f->value[FIGURE_COMPUTE_RATIO] = t->compute_ratio;
    f->value[FIGURE_COMMUNICATION_RATIO] = t->communication_ratio;
    f->value[FIGURE_STEP_S] = t->step_p50_s;
    f->value[FIGURE_STEP_P95_S] = t->step_p95_s;
    f->value[FIGURE_STEP_CV] = t->step_cv;
    f->value[FIGURE_STEPS_PER_S] = t->steps_per_s;
    f->value[FIGURE_STEPS] = t->period ? (double)t->steps : NAN;
    f->value[FIGURE_SKEW_S] = t->skew_p50_s;
    f->value[FIGURE_SKEW_P95_S] = t->skew_p95_s;
    f->value[FIGURE_PARALLEL_EFFICIENCY] = e.recent.parallel;
    f->value[FIGURE_LATENESS_S] = t->worst_lateness_s;
    f->value[FIGURE_LAST_RATIO] = isnan(t->worst_lateness_s) ? NAN : t->worst_last_ratio;
}

/* While workers do not wait for one another; what they did before is no reason to act. */
static void put_updates(struct figures *f, const struct view *v)
{
    struct view_updates u;

    if (!view_updates_get(v, &u) || u.past)
        return;
    f->value[FIGURE_STALENESS] = u.u.stale_mean;
    f->value[FIGURE_STALENESS_P95] = u.u.stale_p95;
}

static void put_values(struct figures *f, const struct view *v)
{
    static const enum figure_id figure[MARKS_VALUES] = {
        [MARKS_LOSS] = FIGURE_LOSS, [MARKS_GRAD_NORM] = FIGURE_GRAD_NORM
    };
    struct view_value value;

    if (!view_values_known(v))
        return;
    f->value[FIGURE_NON_FINITE] = view_non_finite(v);
    for (int i = 0; i < MARKS_VALUES; i++)
        if (view_value_get(v, (enum marks_value)i, &value))
            f->value[figure[i]] = value.median;
}

void rule_figures(const struct view *v, double now_s, double age_s, struct figures *f)
{
    struct view_figures t;
    struct view_projection p;
    double rank_s;

    view_figures_get(v, now_s, &t);
    rank_s = t.ranks_known * age_s;
    figures_clear(f);
    f->value[FIGURE_ELAPSED_S] = age_s;
    f->value[FIGURE_RANKS] = t.ranks_known ? t.ranks_known : NAN;
    if (rank_s > 0)
        f->value[FIGURE_OVERHEAD_RATIO] = (double)t.events * RULE_FIGURES_HOOK_S / rank_s;
    put_steps(f, v, &t);
    put_verdict(f, v, now_s);
    view_projection_get(v, now_s, &p);
    figures_word(f, FIGURE_TREND, trend_name(p.trend));
    f->value[FIGURE_SYNCHRONISATION_PER_HOUR] = p.per_hour;
    f->value[FIGURE_STEP_PER_HOUR] = p.step_per_hour;
    f->value[FIGURE_REACH_S] = p.reach.p50;
    f->value[FIGURE_WARNING] = p.warning;
    put_values(f, v);
    put_updates(f, v);
}
