#include "job/report_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/cadence.h"
#include "job/job.h"
#include "job/pacing.h"
#include "report/report.h"
#include "report/report_agent.h"
#include "report/report_event.h"
#include "report/report_launch.h"
#include "report/report_next.h"
#include "report/report_overlap.h"
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

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

static bool is_heard(const struct job_agent *a, double now_s)
{
    return a->link && !job_silent(a, now_s);
}

static int64_t agents_lost(const struct job *j, double now_s)
{
    int64_t n = 0;

    for (size_t i = 0; i < j->n_agents; i++)
        n += !j->agent[i]->bye && !is_heard(j->agent[i], now_s);
    return n;
}

static void row_get(struct report_row *r, const struct job *j, double now_s, const struct view_figures *f)
{
    const struct view_verdict *d;

    report_row_get(r, j->view, job_newest_s(j, now_s), f);
    r->job = j->id.job;
    r->step = j->id.step;
    r->restarts = j->id.restarts;
    copy_text(r->id, sizeof(r->id), j->text_id);
    copy_text(r->name, sizeof(r->name), j->name);
    copy_text(r->user, sizeof(r->user), j->user);
    copy_text(r->partition, sizeof(r->partition), j->partition);
    copy_text(r->unconfirmed, sizeof(r->unconfirmed), job_unconfirmed(j));
    copy_text(r->no_requeue, sizeof(r->no_requeue), j->no_requeue);
    copy_text(r->policy, sizeof(r->policy), j->policy);
    copy_text(r->state, sizeof(r->state), job_state_name(j->state));
    r->start = j->start_wall_s;
    r->elapsed_s = (job_over(j) ? j->end_s : now_s) - j->start_s;
    r->age_s = now_s - j->heard_s;
    r->left_s = job_over(j) ? NAN : job_left_s(j, now_s);
    r->ranks = f->ranks_known;
    r->nodes = (int64_t)(!j->n_agents ? j->nodes_total : job_over(j) ? j->n_agents : job_agents_connected(j));
    r->nodes_total = j->nodes_total;
    r->agents_lost = job_over(j) ? -1 : agents_lost(j, now_s);
    if (job_over(j)) /* it leads nowhere any more */
        r->trend[0] = '\0';
    r->records_dropped = (int64_t)(f->dropped + f->missed + f->messages_missed);
    r->samples_per_s = cadence_samples_per_s(j);
    view_verdicts_reported(j->view, &d);
    for (size_t i = 0; i < r->verdicts.n; i++)
        r->verdicts.list[i].acknowledged = job_acknowledged(j, d[i].finding.id);
    report_verdicts_look_ahead(&r->verdicts, r->left_s);
    report_next_fill(&r->verdicts,
                     &(struct report_next_job){ .id = r->id,
                                                .ended = job_over(j),
                                                .no_requeue = j->no_requeue || job_unconfirmed(j),
                                                .nodes_per_hour = j->params.nodes_per_hour,
                                                .nodes_at_once = j->params.nodes_at_once });
}

void report_job_row(struct report_row *r, const struct job *j, double now_s)
{
    struct view_figures f;

    view_figures_get(j->view, job_newest_s(j, now_s), &f);
    row_get(r, j, now_s, &f);
}

/* ---- the rest of the job object ---- */

/* A task may have started several ranks, as mpiexec's proxy does; each knows how many its world has.  Without
 * Slurm nobody knows of ranks of other worlds. */
static int64_t ranks_total(const struct job *j)
{
    uint32_t highest = view_rank_limit(j->view), world = j->world > highest ? j->world : highest;

    if (!j->tasks)
        return j->world && j->world == world ? (int64_t)world : -1;
    return j->tasks > world ? (int64_t)j->tasks : (int64_t)world;
}

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
        .messages_unplaced = (int64_t)f->messages_unplaced,
        .comms_disputed = (int64_t)f->comms_disputed,
        .ranks_guarded = f->ranks_known,
        .tasks = j->tasks ? (int64_t)j->tasks : -1, /* without Slurm nobody has said it */
        .ranks_total = ranks_total(j),
        .overhead_ratio =
            now_s >= j->start_s + 1 && time_s > 0 ? (double)f->events * RULE_FIGURES_HOOK_S / time_s : NAN,
    };
}

static void get_placement(struct report_placement *to, const struct job_choice *c)
{
    *to = (struct report_placement){ .known = *c->name,
                                     .applied = c->applied,
                                     .compared = c->compared,
                                     .slurm_s = c->before_s,
                                     .chosen_s = c->after_s };
    copy_text(to->pattern, sizeof(to->pattern), c->name);
}

static void get_algorithm(struct report_algorithm *to, const struct job_choice *c, bool looked)
{
    *to = (struct report_algorithm){ .known = looked,
                                     .applied = c->applied,
                                     .compared = c->compared,
                                     .usual_s = *c->name ? c->before_s : NAN,
                                     .most_s = *c->name ? c->after_s : NAN };
    copy_text(to->name, sizeof(to->name), c->name);
}

static void agent_get(struct report_agent *r, const struct job *j, const struct job_agent *a, double now_s)
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
    report_health_get(&r->health, j->view, job_newest_s(j, now_s), r->node);
}

json_t *report_job_agents(const struct job *j, double now_s, size_t from, size_t end)
{
    json_t *list = json_array();

    for (size_t i = from; i < end && i < j->n_agents; i++) {
        struct report_agent r;

        agent_get(&r, j, j->agent[i], now_s);
        json_array_append_new(list, report_agent_json(&r));
    }
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
static void get_agents(struct report *r, const struct job *j, double now_s, const struct report_ranks *ranks,
                       size_t max)
{
    bool *taken = xcalloc(j->n_agents, sizeof(*taken));

    max = max < j->n_agents ? max : j->n_agents;
    r->agents_total = (int64_t)j->n_agents;
    r->agent = xcalloc(max, sizeof(*r->agent));
    for (size_t k = ranks->begin; k < ranks->end && r->n_agents < max && max < j->n_agents; k++) {
        bool same = k > ranks->begin && !strcmp(ranks->f[k].node, ranks->f[k - 1].node);
        size_t i = same ? j->n_agents : agent_of(j, ranks->f[k].node);

        if (i == j->n_agents || taken[i])
            continue;
        agent_get(&r->agent[r->n_agents++], j, j->agent[i], now_s);
        taken[i] = true;
    }
    for (size_t i = 0; i < j->n_agents && r->n_agents < max; i++)
        if (!taken[i])
            agent_get(&r->agent[r->n_agents++], j, j->agent[i], now_s);
    free(taken);
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

static void add_missing(void *arg, const char *node)
{
    struct report_silent *s = arg;

    if (s->number++ < SILENT_NAMED)
        json_texts_add(&s->nodes, node);
}

static void get_missing(struct report_silent *s, const struct job *j)
{
    *s = (struct report_silent){ 0 };
    job_each_missing(j, add_missing, s);
    if (!s->number && j->nodes_total > j->n_agents) /* how many is known, not which */
        s->number = (int64_t)(j->nodes_total - j->n_agents);
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

struct report *report_job_get(const struct job *j, double now_s, const struct report_selection *selection)
{
    struct report *r = xcalloc(1, sizeof(*r));
    double at_s = job_newest_s(j, now_s);
    struct view_figures f;
    struct report_ranks ranks;

    view_figures_get(j->view, at_s, &f);
    report_ranks_get(&ranks, j->view, at_s, selection);
    row_get(&r->job, j, now_s, &f);
    if (j->scaling[0]) {
        r->scaling = *j->scaling[0];
        r->strategies = *j->strategies;
        r->overlap = *j->overlap;
    } else {
        report_projections_get(r, j->view, at_s);
    }
    report_view_get(r, j->view, at_s, selection, &ranks);
    cadence_get(&r->cadence, j, at_s);
    get_probe(&r->probe, j, at_s, &f);
    get_agents(r, j, now_s, &ranks, selection->agents);
    get_silent(&r->silent, j, now_s);
    get_missing(&r->missing, j);
    get_unseen(&r->unseen, j);
    for (size_t i = 0; i < j->n_notes; i++)
        json_texts_add(&r->notes, j->note[i]);
    r->judged_by = (struct report_judged_by){ true, j->params.min_slowdown_ratio, j->params.hang_timeout_s,
                                              j->params.sample_rate_hz };
    get_placement(&r->placement, &j->placement);
    get_algorithm(&r->algorithm, &j->algorithm, j->algorithm_looked);
    pacing_get(&r->pace, j, selection->agents);
    report_events_get(&r->events, &j->events, now_s);
    report_ranks_free(&ranks);
    return r;
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
        struct report_node_sums *n = report_nodes_of(t, j->view, j->text_id, a->node, a->switch_name, now_s);

        n->agent = a;
        n->agent_job = j;
    }
    report_nodes_add(t, j->view, j->text_id, now_s);
}

void report_job_node_get(struct report_node *r, const struct report_node_sums *n, double now_s)
{
    report_node_get(r, n);
    r->has_agent = n->agent;
    if (n->agent)
        agent_get(&r->agent, n->agent_job, n->agent, now_s);
}
