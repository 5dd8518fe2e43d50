#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "wire/json.h"

/* ---- a job's screen ---- */

static void add_missing(struct report_agents *s, const char *node)
{
    size_t at = strlen(s->missing);

    snprintf(s->missing + at, sizeof(s->missing) - at, "%s%s", at ? ", " : "", node);
}

/* Controllers of earlier releases do not count them: their list has all agents. */
static void parse_agents(struct report *v, const json_t *o)
{
    const json_t *silent = get_object(o, "agents_silent");
    int64_t total = get_count(o, "agents_total"), number = get_count(silent, "number");

    v->agent = report_agents_read(o, &v->n_agents);
    v->agents.total = get_array(o, "agents") ? (int64_t)v->n_agents : -1;
    for (size_t i = 0; i < v->n_agents; i++)
        if (v->agent[i].connected || v->agent[i].ended)
            v->agents.heard++;
        else
            add_missing(&v->agents, v->agent[i].node);
    if (total < 0 || number < 0)
        return;
    v->agents.total = total;
    v->agents.heard = total - number;
    join_texts(json_object_get(silent, "nodes"), v->agents.missing, sizeof(v->agents.missing));
}

static const struct json_field view_fields[] = {
    { "notes", FIELD_TEXTS, FIELD(struct report, notes) },
    { "rank_table_total", FIELD_COUNT, FIELD(struct report, rank_total) },
    { 0 },
};

struct report *report_read(const json_t *answer, struct err *err)
{
    struct report *v;

    if (check_answer(answer, get_object(answer, "trace") ? "verdicts" : "id",
                     get_object(answer, "trace") ? JSON_ARRAY : JSON_STRING, err) < 0)
        return NULL;
    v = xcalloc(1, sizeof(*v));
    report_row_read(&v->job, answer);
    report_trace_read(&v->trace, get_object(answer, "trace"));
    get_fields(v, answer, view_fields);
    parse_agents(v, answer);
    report_efficiency_read(&v->efficiency, get_object(answer, "efficiency"));
    report_path_read(&v->path, get_object(answer, "critical_path"));
    report_cpu_lack_read(&v->cpu_lack, get_object(answer, "cpu_lack"));
    report_projection_read(&v->projection, get_object(answer, "projection"));
    v->picture = report_step_read(get_object(answer, "picture"));
    v->switches = report_switches_read(get_object(answer, "switches"));
    report_scaling_read(&v->scaling, get_object(answer, "scaling"));
    report_strategies_read(&v->strategies, get_object(answer, "strategies"));
    report_overlap_read(&v->overlap, get_object(answer, "overlap"));
    report_step_phases_read(&v->step_phases, get_object(answer, "step_phases"));
    report_values_read(&v->values, get_object(answer, "values"));
    report_placement_read(&v->placement, get_object(answer, "placement"));
    report_algorithm_read(&v->algorithm, get_object(answer, "algorithm"));
    report_probe_read(&v->probe, get_object(answer, "probe"));
    report_silent_read(&v->silent, get_object(answer, "agents_silent"));
    report_past_read(&v->past, get_object(answer, "past"));
    report_guarded_read(&v->guarded, get_object(answer, "guarded"));
    report_cadence_read(&v->cadence, get_object(answer, "checkpoint"));
    report_pace_read(&v->pace, get_object(answer, "pace"));
    report_control_read(&v->control, get_object(answer, "policy"));
    report_timeline_read(&v->timeline, answer);
    v->rank = report_ranks_read(answer, &v->n_ranks);
    if (v->rank_total < (int64_t)v->n_ranks)
        v->rank_total = (int64_t)v->n_ranks;
    report_heat_read(&v->heat, get_object(answer, "heat"));
    report_history_read(&v->history, get_object(answer, "history"));
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
    json_texts_free(&v->silent.nodes);
    report_verdicts_free(&v->timeline);
    json_texts_free(&v->silent.nodes);
    json_texts_free(&v->notes);
    report_pace_free(&v->pace);
    report_control_free(&v->control);
    picture_free(v->picture);
    report_switches_free(v->switches);
    free(v->agent);
    free(v->rank);
    free(v);
}

enum severity report_severity(const struct report *r)
{
    enum severity s = report_row_severity(&r->job);

    return s == SEVERITY_GOOD && r->shortfalls.n ? SEVERITY_NONE : s;
}

/* ---- nodes ---- */

struct report_node_rows *report_node_rows_read(const json_t *answer, struct err *err)
{
    return check_answer(answer, "nodes", JSON_ARRAY, err) < 0 ? NULL : report_node_rows_new(answer);
}
