#include "job/pacing.h"

#include <stdio.h>

#include "common/config.h"
#include "common/xalloc.h"
#include "job/job.h"
#include "pacing/pacer.h"

_Static_assert(REPORT_LEVERS_MAX == PACER_LEVERS, "a report has room for all levers");

/* held: without levers. */
static void get_control(struct report_pace *to, const struct config_policy *p, bool held)
{
    static const struct value_type type = VALUE_SOME_OF(config_levers);

    *to = (struct report_pace){ .known = true,
                                .max_delay_s = p->pace.max_delay_s,
                                .share = p->pace.share_ratio,
                                .epoch = p->pace.epoch,
                                .holdout = p->pace.holdout };
    if (p->pacing && !held && p->pace.levers)
        value_write(&type, p->pace.levers, to->levers, sizeof(to->levers));
}

json_t *pacing_control_json(const struct config_policy *p, bool held)
{
    struct report_pace control;

    get_control(&control, p, held);
    return report_pace_control_json(&control);
}

void pacing_take(struct job_agent *a, const json_t *pace)
{
    report_paced_node_read(&a->paced, pace);
}

/* ---- the job's report ---- */

static void get_nodes(struct report_pace *to, const struct job *j, size_t from, size_t end)
{
    end = end < j->n_agents ? end : j->n_agents;
    to->n = 0;
    to->node = from < end ? xcalloc(end - from, sizeof(*to->node)) : NULL;
    for (size_t i = from; i < end; i++) {
        struct report_paced_node *n = &to->node[to->n];

        if (!j->agent[i]->paced.known)
            continue;
        *n = j->agent[i]->paced;
        snprintf(n->node, sizeof(n->node), "%s", j->agent[i]->node);
        to->n++;
    }
}

void pacing_get(struct report_pace *to, const struct job *j, size_t max)
{
    const char *held = job_hold(j);

    get_control(to, &j->params, held != NULL);
    snprintf(to->held, sizeof(to->held), "%s", held ? held : "");
    get_nodes(to, j, 0, max);
}

json_t *pacing_nodes(const struct job *j, size_t from, size_t end)
{
    json_t *nodes = json_array();
    struct report_pace p;

    get_nodes(&p, j, from, end);
    for (size_t i = 0; i < p.n; i++)
        json_array_append_new(nodes, report_paced_node_json(&p.node[i]));
    report_pace_free(&p);
    return nodes;
}
