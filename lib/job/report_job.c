#include "job/report_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/cadence.h"
#include "job/job.h"
#include "job/pacing.h"
#include "report/report_agent.h"
#include "report/report_cadence.h"
#include "report/report_event.h"
#include "report/report_launch.h"
#include "report/report_overlap.h"
#include "report/report_pace.h"
#include "report/report_rank.h"
#include "report/report_scaling.h"
#include "report/report_seen.h"
#include "report/report_strategies.h"
#include "report/report_verdict.h"
#include "report/rule_figures.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/verdicts.h"
#include "wire/json.h"

#define SILENT_NAMED 8

/* ---- the row ---- */

static void copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static void row_get(struct report_row *r, const struct job *j, double now_s, const struct view_figures *f)
{
    const struct view_verdict *d;

    report_row_get(r, j->view, job_newest_s(j, now_s), f);
    r->job = j->id.job;
    r->step = j->id.step;
    copy(r->id, sizeof(r->id), j->text_id);
    copy(r->name, sizeof(r->name), j->name);
    copy(r->user, sizeof(r->user), j->user);
    copy(r->partition, sizeof(r->partition), j->partition);
    copy(r->unconfirmed, sizeof(r->unconfirmed), job_unconfirmed(j));
    copy(r->no_requeue, sizeof(r->no_requeue), j->no_requeue);
    copy(r->policy, sizeof(r->policy), j->policy);
    copy(r->state, sizeof(r->state), job_state_name(j->state));
    r->start = j->start_wall_s;
    r->elapsed_s = (job_over(j) ? j->end_s : now_s) - j->start_s;
    r->age_s = now_s - j->heard_s;
    r->ranks = f->ranks_known;
    r->nodes = (int64_t)(!j->n_agents ? j->nodes_total : job_over(j) ? j->n_agents : job_agents_connected(j));
    r->nodes_total = j->nodes_total;
    r->samples_per_s = cadence_samples_per_s(j);
    view_verdicts_reported(j->view, &d);
    for (size_t i = 0; i < r->verdicts.n; i++)
        r->verdicts.list[i].acknowledged = job_acknowledged(j, d[i].finding.id);
}

void report_job_row(struct report_row *r, const struct job *j, double now_s)
{
    struct view_figures f;

    view_figures_get(j->view, job_newest_s(j, now_s), &f);
    row_get(r, j, now_s, &f);
}

/* ---- the rest of the job object ---- */

static void get_probe(struct report_probe *p, const struct job *j, double now_s, const struct view_figures *f)
{
    double time_s = f->ranks_known * (now_s - j->start_s);

    *p = (struct report_probe){
        .known = true,
        .events = (int64_t)f->events,
        .dropped = (int64_t)f->dropped,
        .missed = (int64_t)f->missed,
        .messages_missed = (int64_t)f->messages_missed,
        .streams_forgotten = (int64_t)f->streams_forgotten,
        .comms_missed = (int64_t)f->comms_missed,
        .ranks_guarded = f->ranks_known,
        .ranks_total = j->tasks ? (int64_t)j->tasks : -1, /* without Slurm nobody has said it */
        .overhead_ratio =
            now_s >= j->start_s + 1 && time_s > 0 ? (double)f->events * RULE_FIGURES_HOOK_S / time_s : NAN,
    };
}

static void get_placement(struct report_placement *to, const struct job_placement *p)
{
    *to = (struct report_placement){ .known = *p->pattern,
                                     .applied = p->applied,
                                     .compared = p->compared,
                                     .slurm_s = p->slurm_s,
                                     .chosen_s = p->chosen_s };
    snprintf(to->pattern, sizeof(to->pattern), "%s", p->pattern);
}

static void get_algorithm(struct report_algorithm *to, const struct job_algorithm *a)
{
    *to = (struct report_algorithm){ .known = a->looked,
                                     .applied = a->applied,
                                     .compared = a->compared,
                                     .usual_s = *a->name ? a->usual_s : NAN,
                                     .most_s = *a->name ? a->most_s : NAN };
    snprintf(to->name, sizeof(to->name), "%s", a->name);
}

static bool is_heard(const struct job_agent *a, double now_s)
{
    return a->link && !job_silent(a, now_s);
}

static void agent_get(struct report_agent *r, const struct job_agent *a, double now_s)
{
    *r = (struct report_agent){ .connected = is_heard(a, now_s),
                                .ended = a->bye,
                                .cpu_ratio = a->cpu_ratio,
                                .rss_bytes = a->rss_bytes,
                                .backlog_bytes = a->backlog_bytes,
                                .lost_batches = a->lost_batches,
                                .age_s = now_s - a->heard_s };
    snprintf(r->node, sizeof(r->node), "%s", a->node);
    snprintf(r->switch_name, sizeof(r->switch_name), "%s", a->switch_name);
    snprintf(r->version, sizeof(r->version), "%s", a->version);
}

static void append_agent(json_t *list, const struct job *j, size_t i, double now_s)
{
    struct report_agent r;

    agent_get(&r, j->agent[i], now_s);
    report_health_get(&r.health, j->view, job_newest_s(j, now_s), r.node);
    json_array_append_new(list, report_agent_json(&r));
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

static void get_silent(struct report_silent *s, const struct job *j, double now_s)
{
    *s = (struct report_silent){ 0 };
    for (size_t i = 0; i < j->n_agents; i++) {
        const struct job_agent *a = j->agent[i];

        if (is_heard(a, now_s) || a->bye)
            continue;
        if (s->number++ < SILENT_NAMED)
            json_texts_add(&s->nodes, a->node);
    }
}

static void get_unseen(struct report_unseen *u, const struct job *j)
{
    size_t nodes;
    int64_t processes;
    const struct job_agent *a = job_unseen_get(j, &nodes, &processes);

    *u = (struct report_unseen){ .known = a, .processes = processes, .nodes = (int64_t)nodes };
    if (!a)
        return;
    snprintf(u->reason, sizeof(u->reason), "%s", a->unseen.reason);
    snprintf(u->node, sizeof(u->node), "%s", a->node);
    snprintf(u->text, sizeof(u->text), "%s", a->unseen.text);
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
    struct report_row row;
    struct report_events events;
    struct report_probe probe;
    struct report_silent silent;
    struct report_unseen unseen;
    struct report_placement placement;
    struct report_algorithm algorithm;
    struct report_cadence cadence;
    struct report_pace pace;
    json_t *o;

    view_figures_get(j->view, at_s, &f);
    get_probe(&probe, j, at_s, &f);
    get_silent(&silent, j, now_s);
    get_unseen(&unseen, j);
    get_placement(&placement, &j->placement);
    get_algorithm(&algorithm, &j->algorithm);
    cadence_get(&cadence, j, at_s);
    pacing_get(&pace, j, selection->agents);
    report_ranks_get(&ranks, j->view, at_s, selection);
    row_get(&row, j, now_s, &f);
    o = report_row_json(&row);
    report_row_free(&row);
    report_put_view(o, j->view, at_s, &ranks, selection, j->scaling[0], j->strategies, j->overlap);
    put_json(o, "rank_table", report_rank_table(j->view, at_s, &ranks));
    put_json(o, "checkpoint", report_cadence_json(&cadence));
    put_json(o, "probe", report_probe_json(&probe));
    put_json(o, "agents",
             selection->agents < j->n_agents ? some_agents(j, now_s, &ranks, selection->agents)
                                             : report_job_agents(j, now_s, 0, j->n_agents));
    put_int(o, "agents_total", (int64_t)j->n_agents);
    put_json(o, "agents_silent", report_silent_json(&silent));
    put_json(o, "notes", texts_json((const char *const *)j->note, j->n_notes));
    put_json(o, "unseen", report_unseen_json(&unseen));
    put_json(o, "policy_params", params_json(j));
    put_json(o, "placement", report_placement_json(&placement));
    put_json(o, "algorithm", report_algorithm_json(&algorithm));
    put_json(o, "pace", report_pace_json(&pace));
    report_events_get(&events, &j->events, now_s);
    put_json(o, "events", report_events_json(&events));
    json_texts_free(&silent.nodes);
    report_pace_free(&pace);
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

void report_job_node_get(struct report_node *r, const struct report_node_sums *n, double now_s)
{
    report_node_get(r, n);
    r->has_agent = n->agent;
    if (n->agent)
        agent_get(&r->agent, n->agent, now_s);
}
