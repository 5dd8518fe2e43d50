/* control_doubt.c - whether others than a job's user blame a node, too. */
#include <string.h>

#include "daemon/control_private.h"
#include "daemon/controller.h"
#include "history/history.h"
#include "history/lemon.h"
#include "report/report_nodes.h"
#include "view/verdicts.h"

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
