#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "wire/json.h"

#define AGENTS_MAX 16384 /* that are read of one answer */

/* Parts of a report that are one table each, in the order in which they are written; between them stand those
 * that have functions of their own. */
static const struct json_field efficiency_field[] = {
    { "efficiency", FIELD_OBJECT, PART(struct report, efficiency, report_efficiency_fields) },
    { 0 },
};

static const struct json_field outlook_fields[] = {
    { "projection", FIELD_PART, PART(struct report, projection, report_projection_fields) },
    { "cpu_lack", FIELD_PART, PART(struct report, cpu_lack, report_cpu_lack_fields) },
    { "values", FIELD_OBJECT, PART(struct report, values, report_values_fields) },
    { 0 },
};

static const struct json_field history_field[] = {
    { "history", FIELD_OBJECT, PART(struct report, history, report_history_fields) },
    { 0 },
};

static const struct json_field trace_field[] = {
    { "trace", FIELD_PART, PART(struct report, trace, report_trace_fields) },
    { 0 },
};

static const struct json_field probe_field[] = {
    { "probe", FIELD_PART, PART(struct report, probe, report_probe_fields) },
    { 0 },
};

static const struct json_field judged_by_fields[] = {
    { "MinSlowdown", FIELD_NUMBER, FIELD(struct report_judged_by, min_slowdown) },
    { "HangTimeout", FIELD_NUMBER, FIELD(struct report_judged_by, hang_timeout_s) },
    { "SampleRate", FIELD_NUMBER, FIELD(struct report_judged_by, sample_rate_hz) },
    { 0 },
};

static const struct json_field job_fields[] = {
    { "agents_total", FIELD_COUNT, FIELD(struct report, agents_total) },
    { "agents_silent", FIELD_OBJECT, PART(struct report, silent, report_silent_fields) },
    { "agents_missing", FIELD_OBJECT, PART(struct report, missing, report_silent_fields) },
    { "notes", FIELD_TEXTS, FIELD(struct report, notes) },
    { "unseen", FIELD_PART, PART(struct report, unseen, report_unseen_fields) },
    { "policy_params", FIELD_PART, PART(struct report, judged_by, judged_by_fields) },
    { "placement", FIELD_PART, PART(struct report, placement, report_placement_fields) },
    { "algorithm", FIELD_PART, PART(struct report, algorithm, report_algorithm_fields) },
    { 0 },
};

static const struct json_field past_field[] = {
    { "past", FIELD_PART, PART(struct report, past, report_past_fields) },
    { 0 },
};

/* ---- writing ---- */

/* What a trace's report has, too. */
static void put_view(json_t *o, const struct report *r)
{
    json_t *heat = report_heat_json(&r->heat), *levels = json_array(), *ranks = json_array();

    for (size_t i = 0; i < r->n_ranks; i++) {
        json_array_append_new(levels, report_rank_heat_json(&r->rank[i]));
        json_array_append_new(ranks,
                              report_rank_json(&r->rank[i], r->trace.known ? RANK_OF_TRACE : RANK_OF_JOB));
    }
    json_put_json(heat, "rows", levels);
    json_put_json(o, "timeline", report_verdicts_json(&r->timeline, VERDICT_OF_TIMELINE));
    json_put_fields(o, r, efficiency_field);
    json_put_json(o, "critical_path", report_path_json(&r->path));
    if (r->has_picture)
        json_put_json(o, "picture", report_step_json(r->picture));
    if (r->has_switches)
        json_put_json(o, "switches", report_switches_json(r->switches));
    json_put_fields(o, r, outlook_fields);
    json_put_json(o, "scaling", report_scaling_json(&r->scaling));
    json_put_json(o, "strategies", report_strategies_json(&r->strategies));
    json_put_json(o, "overlap", report_overlap_json(&r->overlap));
    if (r->updates.known)
        json_put_json(o, "updates", report_updates_json(&r->updates));
    json_put_json(o, "step_phases", report_step_phases_json(&r->step_phases));
    json_put_json(o, "communicators", report_comms_json(&r->comms));
    json_put_json(o, "shortfalls", report_shortfalls_json(&r->shortfalls));
    json_put_int(o, "rank_table_total", r->rank_total);
    json_put_json(o, "heat", heat);
    json_put_fields(o, r, history_field);
    json_put_json(o, "rank_table", ranks);
}

json_t *report_json(const struct report *r)
{
    json_t *o, *agents;

    if (r->trace.known) {
        o = json_object();
        json_put_count(o, "ranks", r->job.ranks);
        json_put_fields(o, &r->job, report_figure_fields);
        put_view(o, r);
        json_put_fields(o, r, trace_field);
        json_put_count(o, "collectives_per_step", r->job.period);
        json_put_json(o, "verdicts", report_verdicts_json(&r->job.verdicts, VERDICT_OF_TRACE));
        return o;
    }
    o = report_row_json(&r->job);
    put_view(o, r);
    json_put_json(o, "checkpoint", r->cadence.known ? report_cadence_json(&r->cadence) : NULL);
    json_put_fields(o, r, probe_field);
    agents = json_array();
    for (size_t i = 0; i < r->n_agents; i++)
        json_array_append_new(agents, report_agent_json(&r->agent[i]));
    json_put_json(o, "agents", agents);
    json_put_fields(o, r, job_fields);
    json_put_json(o, "pace", r->pace.known ? report_pace_json(&r->pace) : NULL);
    json_put_json(o, "events", report_events_json(&r->events));
    if (r->control.known)
        json_put_json(o, "policy",
                      report_control_json(&r->control)); /* in the place of its name in the row */
    json_put_fields(o, r, past_field);
    json_put_json(o, "guarded", report_guarded_json(&r->guarded));
    return o;
}

/* ---- reading ---- */

static void read_agents(struct report *v, const json_t *answer)
{
    const json_t *list = json_get_list(answer, "agents", AGENTS_MAX, &v->n_agents);

    v->agent = xcalloc(v->n_agents, sizeof(*v->agent));
    for (size_t i = 0; i < v->n_agents; i++)
        report_agent_read(&v->agent[i], json_array_get(list, i));
    if (!list || (v->agents_total >= 0 && v->silent.number >= 0))
        return;
    /* Controllers of earlier releases did not count them: their list has all agents. */
    v->agents_total = (int64_t)v->n_agents;
    v->silent.number = 0;
    json_texts_free(&v->silent.nodes);
    for (size_t i = 0; i < v->n_agents; i++)
        if (!v->agent[i].connected && !v->agent[i].ended) {
            v->silent.number++;
            json_texts_add(&v->silent.nodes, v->agent[i].node);
        }
}

struct report *report_read(const json_t *answer, struct err *err)
{
    struct report *v;

    if (json_check_answer(answer, json_get_object(answer, "trace") ? "verdicts" : "id",
                          json_get_object(answer, "trace") ? JSON_ARRAY : JSON_STRING, err) < 0)
        return NULL;
    v = xcalloc(1, sizeof(*v));
    report_row_read(&v->job, answer);
    json_get_fields(v, answer, efficiency_field);
    json_get_fields(v, answer, outlook_fields);
    json_get_fields(v, answer, history_field);
    json_get_fields(v, answer, trace_field);
    json_get_fields(v, answer, probe_field);
    json_get_fields(v, answer, job_fields);
    json_get_fields(v, answer, past_field);
    v->rank_total = json_get_count(answer, "rank_table_total");
    read_agents(v, answer);
    report_path_read(&v->path, json_get_object(answer, "critical_path"));
    v->picture = v->own_picture = report_step_read(json_get_object(answer, "picture"));
    v->switches = report_switches_read(json_get_object(answer, "switches"));
    report_scaling_read(&v->scaling, json_get_object(answer, "scaling"));
    report_strategies_read(&v->strategies, json_get_object(answer, "strategies"));
    report_overlap_read(&v->overlap, json_get_object(answer, "overlap"));
    report_updates_read(&v->updates, json_get_object(answer, "updates"));
    report_step_phases_read(&v->step_phases, json_get_object(answer, "step_phases"));
    report_guarded_read(&v->guarded, json_get_object(answer, "guarded"));
    report_cadence_read(&v->cadence, json_get_object(answer, "checkpoint"));
    report_pace_read(&v->pace, json_get_object(answer, "pace"));
    report_control_read(&v->control, json_get_object(answer, "policy"));
    report_timeline_read(&v->timeline, answer);
    v->rank = report_ranks_read(answer, &v->n_ranks, &v->heat_row, &v->n_heat);
    if (v->rank_total < (int64_t)v->n_ranks)
        v->rank_total = (int64_t)v->n_ranks;
    report_heat_read(&v->heat, json_get_object(answer, "heat"));
    report_comms_read(&v->comms, answer);
    report_shortfalls_read(&v->shortfalls, answer);
    report_events_read(&v->events, answer);
    return v;
}

void report_free(struct report *v)
{
    if (!v)
        return;
    report_row_free(&v->job);
    report_verdicts_free(&v->timeline);
    json_texts_free(&v->silent.nodes);
    json_texts_free(&v->missing.nodes);
    json_texts_free(&v->notes);
    report_pace_free(&v->pace);
    report_control_free(&v->control);
    picture_free(v->own_picture);
    report_switches_free(v->switches);
    free(v->agent);
    free(v->rank);
    free(v->heat_row);
    free(v);
}

enum severity report_severity(const struct report *r)
{
    enum severity s = report_row_severity(&r->job);

    return s == SEVERITY_GOOD && r->shortfalls.n ? SEVERITY_NONE : s;
}
