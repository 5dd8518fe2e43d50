#include "job/job_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job/report.h"

static const char *const trends[] = {
    [TREND_UNKNOWN] = "", [TREND_NONE] = "none", [TREND_RISING] = "rising", [TREND_FALLING] = "falling"
};

static const char *known(const char *text)
{
    return text && *text ? text : NULL;
}

static double count(uint64_t n)
{
    return n ? (double)n : NAN;
}

/* ---- whose fault it is ---- */

static void add_node(struct figures *f, const char *node)
{
    if (!known(node))
        return;
    for (size_t i = 0; i < f->n_nodes && i < FIGURE_NODES_MAX; i++)
        if (!strcmp(f->node[i], node))
            return;
    if (f->n_nodes < FIGURE_NODES_MAX)
        f->node[f->n_nodes] = node;
    f->n_nodes++;
}

/* A rank's node is to blame as far as a rank can be moved; a switch's nodes are not. */
static void put_nodes(struct figures *f, const struct job *j, double now_s, const struct view_verdict *d)
{
    struct view_rank_figures r;

    for (uint32_t i = 0; i < d->n_culprits; i++) {
        if (d->finding.scope == SCOPE_NODE)
            add_node(f, d->culprit[i]);
        else if (d->finding.scope == SCOPE_RANK &&
                 view_rank_get(j->view, now_s, (uint32_t)strtoul(d->culprit[i] + 1, NULL, 10), &r))
            add_node(f, r.node);
    }
}

static void put_verdict(struct figures *f, const struct job *j, double now_s)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_get(j->view, &d);

    f->value[FIGURE_VERDICTS] = (double)n;
    figures_word(f, FIGURE_CLASS, n ? finding_class_name(d->finding.class) : "none");
    figures_word(f, FIGURE_SCOPE, n ? finding_scope_name(d->finding.scope) : "none");
    f->value[FIGURE_CULPRITS] = n ? d->n_culprits : 0;
    if (!n)
        return;
    f->value[FIGURE_SLOWDOWN] = d->finding.slowdown;
    f->value[FIGURE_PERSISTENCE_S] = now_s - view_verdict_from_s(d);
    f->text[FIGURE_CULPRIT] = d->n_culprits ? d->culprit[0] : NULL;
    f->text[FIGURE_CAUSE] = known(d->cause);
    f->value[FIGURE_ACKNOWLEDGED] = job_acknowledged(j, d->finding.id);
    f->sentence = d->text;
    put_nodes(f, j, now_s, d);
}

/* ---- how it goes ---- */

static void put_steps(struct figures *f, const struct job *j, const struct view_figures *v)
{
    struct view_efficiency e;

    view_efficiency_get(j->view, &e);
    figures_word(f, FIGURE_STATE, job_state_name(j->state));
    figures_word(f, FIGURE_REGIME, view_regime_name(v->regime));
    f->value[FIGURE_LOST_RATIO] = v->synchronisation_ratio;
    f->value[FIGURE_COMPUTE_RATIO] = v->compute_ratio;
    f->value[FIGURE_COMMUNICATION_RATIO] = v->communication_ratio;
    f->value[FIGURE_STEP_S] = v->step_p50_s;
    f->value[FIGURE_STEP_P95_S] = v->step_p95_s;
    f->value[FIGURE_STEP_CV] = v->step_cv;
    f->value[FIGURE_STEPS_PER_S] = v->steps_per_s;
    f->value[FIGURE_SAMPLES_PER_S] = cadence_samples_per_s(j);
    f->value[FIGURE_STEPS] = v->period ? (double)v->steps : NAN;
    f->value[FIGURE_SKEW_S] = v->skew_p50_s;
    f->value[FIGURE_SKEW_P95_S] = v->skew_p95_s;
    f->value[FIGURE_PARALLEL_EFFICIENCY] = e.recent.parallel;
    f->value[FIGURE_LATENESS_S] = v->worst_lateness_s;
    f->value[FIGURE_LAST_RATIO] = isnan(v->worst_lateness_s) ? NAN : v->worst_last_ratio;
}

static void put_outlook(struct figures *f, const struct job *j, double now_s)
{
    struct view_projection p;

    view_projection_get(j->view, now_s, &p);
    figures_word(f, FIGURE_TREND, p.trend < sizeof(trends) / sizeof(trends[0]) ? trends[p.trend] : "");
    f->value[FIGURE_LOST_PER_HOUR] = p.per_hour;
    f->value[FIGURE_STEP_PER_HOUR] = p.step_per_hour;
    f->value[FIGURE_REACH_S] = p.reach.p50;
    f->value[FIGURE_WARNING] = p.warning;
}

static void put_past(struct figures *f, const json_t *past)
{
    const json_t *ratio = json_object_get(past, "step_ratio"), *unusual = json_object_get(past, "unusual");

    if (json_is_number(ratio))
        f->value[FIGURE_PAST_STEP_RATIO] = json_number_value(ratio);
    if (json_is_boolean(unusual))
        f->value[FIGURE_UNUSUAL] = json_is_true(unusual);
}

/* ---- what it is ---- */

static void put_identity(struct figures *f, const struct job *j, double now_s, const struct view_figures *v)
{
    double rank_s = v->ranks_known * (now_s - j->start_s);

    f->value[FIGURE_ELAPSED_S] = now_s - j->start_s;
    if (j->end_wall_s > 0)
        f->value[FIGURE_TIME_LEFT_S] = fmax(0, j->end_wall_s - j->start_wall_s - (now_s - j->start_s));
    f->value[FIGURE_QUIET_S] = now_s - j->heard_s;
    f->value[FIGURE_RANKS] = count(v->ranks_known);
    f->value[FIGURE_NODES] = count(j->nodes_total ? j->nodes_total : j->n_agents);
    if (rank_s > 0)
        f->value[FIGURE_OVERHEAD_RATIO] = (double)v->events * REPORT_HOOK_S / rank_s;
    f->value[FIGURE_RESTARTS] = j->id.restarts;
    f->text[FIGURE_PARTITION] = known(j->partition);
    f->text[FIGURE_ACCOUNT] = known(j->account);
    f->text[FIGURE_QOS] = known(j->qos);
    f->text[FIGURE_USER] = known(j->user);
    f->text[FIGURE_NAME] = known(j->name);
}

void job_figures(const struct job *j, double now_s, const json_t *past, struct figures *f)
{
    struct view_figures v;

    view_figures_get(j->view, now_s, &v);
    figures_clear(f);
    put_identity(f, j, now_s, &v);
    put_steps(f, j, &v);
    put_verdict(f, j, now_s);
    put_outlook(f, j, now_s);
    put_past(f, past);
}
