#include "job/job_figures.h"

#include <math.h>

#include "job/cadence.h"
#include "report/rule_figures.h"
#include "view/verdicts.h"

void job_figures(const struct job *j, double now_s, struct figures *f)
{
    uint32_t nodes = j->nodes_total ? j->nodes_total : (uint32_t)j->n_agents;
    const struct view_verdict *d;

    rule_figures(j->view, now_s, now_s - j->start_s, f);
    f->value[FIGURE_TIME_LEFT_S] = job_left_s(j, now_s);
    f->value[FIGURE_QUIET_S] = now_s - j->heard_s;
    f->value[FIGURE_NODES] = nodes ? nodes : NAN;
    f->value[FIGURE_RESTARTS] = j->id.restarts;
    figures_text(f, FIGURE_PARTITION, j->partition);
    figures_text(f, FIGURE_ACCOUNT, j->account);
    figures_text(f, FIGURE_QOS, j->qos);
    figures_text(f, FIGURE_USER, j->user);
    figures_text(f, FIGURE_NAME, j->name);
    figures_word(f, FIGURE_STATE, job_state_name(j->state));
    f->value[FIGURE_SAMPLES_PER_S] = cadence_samples_per_s(j);
    if (view_verdicts_get(j->view, &d))
        f->value[FIGURE_ACKNOWLEDGED] = job_acknowledged(j, d->finding.id);
}
