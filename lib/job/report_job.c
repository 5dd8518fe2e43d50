#include "job/report_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/cadence.h"
#include "job/job.h"
#include "job/pacing.h"
#include "report/report_verdict.h"
#include "report/rule_figures.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/verdicts.h"
#include "wire/json.h"

#define SILENT_NAMED 8

/* ---- the row: keys down to `worst` ---- */

static void put_identity(json_t *o, const struct job *j, double now_s, const struct view_figures *f)
{
    put_int(o, "job", j->id.job);
    put_int(o, "step", j->id.step);
    put_text(o, "id", j->text_id);
    put_text(o, "name", j->name);
    put_text(o, "user", j->user);
    put_text(o, "partition", j->partition);
    put_text(o, "unconfirmed", job_unconfirmed(j));
    put_text(o, "no_requeue", j->no_requeue);
    put_json(o, "policy", json_pack("{s:o}", "name", text_json(j->policy)));
    put_text(o, "state", job_state_name(j->state));
    put_real(o, "start", j->start_wall_s);
    put_real(o, "elapsed_s", (job_over(j) ? j->end_s : now_s) - j->start_s);
    put_real(o, "age_s", now_s - j->heard_s);
    put_int(o, "ranks", f->ranks_known);
    put_int(o, "nodes",
            (int64_t)(!j->n_agents  ? j->nodes_total
                      : job_over(j) ? j->n_agents
                                    : job_agents_connected(j)));
    put_int(o, "nodes_total", j->nodes_total);
}

static json_t *verdicts_json(const struct job *j, double now_s)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_reported(j->view, &d);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        struct report_verdict r;

        report_verdict_get(&r, &d[i], now_s);
        r.acknowledged = job_acknowledged(j, d[i].finding.id);
        json_array_append_new(list, report_verdict_json(&r, VERDICT_OF_JOB));
        report_verdict_free(&r);
    }
    return list;
}

static json_t *row(const struct job *j, double now_s, const struct view_figures *f)
{
    json_t *o = json_object();

    put_identity(o, j, now_s, f);
    put_real(o, "samples_per_s", cadence_samples_per_s(j));
    report_put_row(o, j->view, job_newest_s(j, now_s), f);
    put_json(o, "verdicts", verdicts_json(j, job_newest_s(j, now_s)));
    return o;
}

json_t *report_row_json(const struct job *j, double now_s)
{
    struct view_figures f;

    view_figures_get(j->view, job_newest_s(j, now_s), &f);
    return row(j, now_s, &f);
}

/* ---- the rest of the job object ---- */

static json_t *probe_json(const struct job *j, double now_s, const struct view_figures *f)
{
    json_t *o = json_object();
    double time_s = f->ranks_known * (now_s - j->start_s);

    put_int(o, "events", (int64_t)f->events);
    put_int(o, "dropped", (int64_t)f->dropped);
    put_int(o, "missed", (int64_t)f->missed);
    put_int(o, "messages_missed", (int64_t)f->messages_missed);
    put_int(o, "streams_forgotten", (int64_t)f->streams_forgotten);
    put_int(o, "comms_missed", (int64_t)f->comms_missed);
    put_int(o, "ranks_guarded", f->ranks_known);
    put_count(o, "ranks_total", j->tasks ? (int64_t)j->tasks : -1); /* without Slurm nobody has said it */
    put_real(o, "overhead_ratio",
             now_s >= j->start_s + 1 && time_s > 0 ? (double)f->events * RULE_FIGURES_HOOK_S / time_s : NAN);
    return o;
}

static json_t *placement_json(const struct job_placement *p)
{
    json_t *o = *p->pattern ? json_object() : NULL;

    if (!o)
        return NULL;
    put_text(o, "pattern", p->pattern);
    put_bool(o, "applied", p->applied);
    put_bool(o, "compared", p->compared);
    put_real(o, "slurm_s", p->slurm_s);
    put_real(o, "chosen_s", p->chosen_s);
    return o;
}

static json_t *algorithm_json(const struct job_algorithm *a)
{
    json_t *o = a->looked ? json_object() : NULL;

    if (!o)
        return NULL;
    put_text(o, "name", a->name);
    put_bool(o, "applied", a->applied);
    put_bool(o, "compared", a->compared);
    put_real(o, "usual_s", *a->name ? a->usual_s : NAN);
    put_real(o, "most_s", *a->name ? a->most_s : NAN);
    return o;
}

static bool is_heard(const struct job_agent *a, double now_s)
{
    return a->link && !job_silent(a, now_s);
}

static json_t *agent_json(const struct job_agent *a, double now_s)
{
    json_t *o = json_object();

    put_text(o, "node", a->node);
    put_text(o, "switch", a->switch_name);
    put_text(o, "version", a->version);
    put_bool(o, "connected", is_heard(a, now_s));
    put_bool(o, "ended", a->bye);
    put_real(o, "cpu_ratio", a->cpu_ratio);
    put_real(o, "rss_bytes", a->rss_bytes);
    put_real(o, "backlog_bytes", a->backlog_bytes);
    put_real(o, "lost_batches", a->lost_batches);
    put_real(o, "age_s", now_s - a->heard_s);
    return o;
}

static void append_agent(json_t *list, const struct job *j, size_t i, double now_s)
{
    json_t *o = agent_json(j->agent[i], now_s),
           *health = report_node_health(j->view, job_newest_s(j, now_s), j->agent[i]->node);

    if (health)
        put_json(o, "health", health);
    json_array_append_new(list, o);
}

json_t *report_job_agents(const struct job *j, double now_s, size_t from, size_t end)
{
    json_t *list = json_array();

    for (size_t i = from; i < end && i < j->n_agents; i++)
        append_agent(list, j, i, now_s);
    return list;
}

static size_t agent_of(const struct job *j, const char *node)
{
    size_t i = 0;

    while (i < j->n_agents && strcmp(j->agent[i]->node, node) != 0)
        i++;
    return i;
}

/* At most max agents: those on the nodes of the selected ranks first. */
static json_t *some_agents(const struct job *j, double now_s, const struct report_ranks *ranks, size_t max)
{
    bool *taken = xcalloc(j->n_agents, sizeof(*taken));
    json_t *list = json_array();

    for (size_t r = ranks->begin; r < ranks->end && json_array_size(list) < max; r++) {
        bool same = r > ranks->begin && !strcmp(ranks->f[r].node, ranks->f[r - 1].node);
        size_t i = same ? j->n_agents : agent_of(j, ranks->f[r].node);

        if (i == j->n_agents || taken[i])
            continue;
        append_agent(list, j, i, now_s);
        taken[i] = true;
    }
    for (size_t i = 0; i < j->n_agents && json_array_size(list) < max; i++)
        if (!taken[i])
            append_agent(list, j, i, now_s);
    free(taken);
    return list;
}

/* The agents that are not heard and did not end in good order. */
static json_t *silent_agents(const struct job *j, double now_s)
{
    json_t *o = json_object(), *nodes = json_array();
    int64_t number = 0;

    for (size_t i = 0; i < j->n_agents; i++) {
        const struct job_agent *a = j->agent[i];

        if (is_heard(a, now_s) || a->bye)
            continue;
        if (number++ < SILENT_NAMED)
            json_array_append_new(nodes, text_json(a->node));
    }
    put_int(o, "number", number);
    put_json(o, "nodes", nodes);
    return o;
}

/* Processes of which nothing is recorded. */
static json_t *unseen_json(const struct job *j)
{
    int64_t processes;
    size_t nodes;
    const struct job_agent *a = job_unseen_get(j, &nodes, &processes);

    return a ? json_pack("{s:o, s:I, s:I, s:o, s:o}", "reason", text_json(a->unseen.reason), "processes",
                         (json_int_t)processes, "nodes", (json_int_t)nodes, "node", text_json(a->node),
                         "text", text_json(a->unseen.text))
             : NULL;
}

static json_t *params_json(const struct job *j)
{
    json_t *o = json_object();

    put_real(o, "MinSlowdown", j->params.min_slowdown_ratio);
    put_real(o, "HangTimeout", j->params.hang_timeout_s);
    put_real(o, "SampleRate", j->params.sample_rate_hz);
    return o;
}

json_t *report_job(const struct job *j, double now_s, const struct report_selection *selection)
{
    double at_s = job_newest_s(j, now_s);
    struct view_figures f;
    struct report_ranks ranks;
    json_t *o;

    view_figures_get(j->view, at_s, &f);
    report_ranks_get(&ranks, j->view, at_s, selection);
    o = row(j, now_s, &f);
    report_put_view(o, j->view, at_s, &ranks, selection, j->scaling[0], j->strategies, j->overlap);
    put_json(o, "rank_table", report_rank_table(j->view, at_s, &ranks));
    put_json(o, "checkpoint", cadence_json(j, at_s));
    put_json(o, "probe", probe_json(j, at_s, &f));
    put_json(o, "agents",
             selection->agents < j->n_agents ? some_agents(j, now_s, &ranks, selection->agents)
                                             : report_job_agents(j, now_s, 0, j->n_agents));
    put_int(o, "agents_total", (int64_t)j->n_agents);
    put_json(o, "agents_silent", silent_agents(j, now_s));
    put_json(o, "notes", texts_json((const char *const *)j->note, j->n_notes));
    put_json(o, "unseen", unseen_json(j));
    put_json(o, "policy_params", params_json(j));
    put_json(o, "placement", placement_json(&j->placement));
    put_json(o, "algorithm", algorithm_json(&j->algorithm));
    put_json(o, "pace", pacing_report(j, selection->agents));
    put_json(o, "events", event_list_json(&j->events, now_s));
    report_ranks_free(&ranks);
    return o;
}

void job_scaling_renew(struct job *j, double now_s, bool strong)
{
    double at_s = j->scaling_s[strong];

    if (j->scaling[strong] && now_s >= at_s &&
        (job_over(j) ? at_s >= j->end_s : now_s < at_s + JOB_SCALING_S))
        return;
    if (!j->scaling[strong])
        j->scaling[strong] = xcalloc(1, sizeof(*j->scaling[strong]));
    report_scaling_get(j->scaling[strong], j->view, strong);
    j->scaling_s[strong] = now_s;
    if (strong)
        return;
    if (!j->strategies)
        j->strategies = xcalloc(1, sizeof(*j->strategies));
    report_strategies_get(j->strategies, j->view, &VIEW_STRATEGY_OPTIONS);
    if (!j->overlap)
        j->overlap = xcalloc(1, sizeof(*j->overlap));
    report_overlap_get(j->overlap, j->view, job_over(j) ? j->end_s : now_s);
}

/* ---- nodes ---- */

void report_job_nodes(struct report_nodes *t, const struct job *j, double now_s)
{
    for (size_t i = 0; i < j->n_agents; i++) {
        const struct job_agent *a = j->agent[i];

        report_nodes_of(t, j->view, j->text_id, a->node, a->switch_name, now_s)->agent = a;
    }
    report_nodes_add(t, j->view, j->text_id, now_s);
}

json_t *report_job_node(const struct report_node *n, double now_s)
{
    json_t *o = report_node_json(n);

    put_json(o, "agent", n->agent ? agent_json(n->agent, now_s) : NULL);
    return o;
}
