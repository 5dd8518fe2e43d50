#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "wire/json.h"

/* The answer's own "error", or that it lacks what was asked for. */
static int check(const json_t *answer, const char *key, json_type type, struct err *err)
{
    char reason[256];

    if (!get_string(answer, "error"))
        return check_answer(answer, key, type, err);
    get_text(answer, "error", reason, sizeof(reason));
    return err_set(err, "%s", reason);
}

/* ---- a job ---- */

static const struct json_field job_fields[] = {
    { "id", FIELD_TEXT, FIELD(struct report_row, id) },
    { "name", FIELD_TEXT, FIELD(struct report_row, name) },
    { "user", FIELD_TEXT, FIELD(struct report_row, user) },
    { "partition", FIELD_TEXT, FIELD(struct report_row, partition) },
    { "policy", FIELD_TEXT, FIELD(struct report_row, policy) },
    { "unconfirmed", FIELD_TEXT, FIELD(struct report_row, unconfirmed) },
    { "state", FIELD_TEXT, FIELD(struct report_row, state) },
    { "regime", FIELD_TEXT, FIELD(struct report_row, regime) },
    { "non_finite", FIELD_TRUE, FIELD(struct report_row, non_finite) },
    { "sentence", FIELD_TEXT, FIELD(struct report_row, sentence) },
    { "elapsed_s", FIELD_AMOUNT, FIELD(struct report_row, elapsed_s) },
    { "age_s", FIELD_AMOUNT, FIELD(struct report_row, age_s) },
    { "ranks", FIELD_COUNT, FIELD(struct report_row, ranks) },
    { "nodes", FIELD_COUNT, FIELD(struct report_row, nodes) },
    { "nodes_total", FIELD_COUNT, FIELD(struct report_row, nodes_total) },
    { "steps", FIELD_COUNT, FIELD(struct report_row, steps) },
    { "period", FIELD_COUNT, FIELD(struct report_row, period) },
    { "step_s.p50", FIELD_AMOUNT, FIELD(struct report_row, step_p50_s) },
    { "step_s.p99", FIELD_AMOUNT, FIELD(struct report_row, step_p99_s) },
    { "skew_s.p50", FIELD_AMOUNT, FIELD(struct report_row, skew_p50_s) },
    { "steps_per_s", FIELD_AMOUNT, FIELD(struct report_row, steps_per_s) },
    { "samples_per_s", FIELD_AMOUNT, FIELD(struct report_row, samples_per_s) },
    { "synchronisation_ratio", FIELD_AMOUNT, FIELD(struct report_row, synchronisation_ratio) },
    { "judged", FIELD_TEXT, FIELD(struct report_row, judged) },
    { "mds_ratio", FIELD_AMOUNT, FIELD(struct report_row, mds_ratio) },
    { "limits.transfers", FIELD_AMOUNT, FIELD(struct report_row, transfer_mds_ratio) },
    { "shares.compute", FIELD_AMOUNT, FIELD(struct report_row, share[SHARE_COMPUTE]) },
    { "shares.communication", FIELD_AMOUNT, FIELD(struct report_row, share[SHARE_COMMUNICATION]) },
    { "shares.synchronisation", FIELD_AMOUNT, FIELD(struct report_row, share[SHARE_SYNCHRONISATION]) },
    { "shares.point_to_point", FIELD_AMOUNT, FIELD(struct report_row, share[SHARE_P2P]) },
    { 0 },
};

void report_row_count_from_now(struct report_row *j)
{
    if (report_row_alive(j) || isnan(j->age_s))
        return;
    for (size_t i = 0; i < j->verdicts.n; i++) {
        j->verdicts.list[i].found_s += j->age_s;
        j->verdicts.list[i].over_s += j->age_s;
    }
}

static void parse_job(struct report_row *j, const json_t *o)
{
    get_fields(j, o, job_fields);
    if (json_is_object(json_object_get(o, "policy"))) /* a text in reports of earlier releases */
        get_text(json_object_get(o, "policy"), "name", j->policy, sizeof(j->policy));
    report_verdicts_read(&j->verdicts, o);
}

struct report_rows *report_rows_read(const json_t *answer, struct err *err)
{
    struct report_rows *s;
    const json_t *jobs;
    size_t n;

    if (check(answer, "jobs", JSON_ARRAY, err) < 0)
        return NULL;
    jobs = get_list(answer, "jobs", REPORT_JOBS_MAX, &n);
    s = xcalloc(1, sizeof(*s));
    s->job = xcalloc(n, sizeof(*s->job));
    s->n = n;
    for (size_t i = 0; i < n; i++)
        parse_job(&s->job[i], json_array_get(jobs, i));
    return s;
}

void report_rows_free(struct report_rows *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        report_verdicts_free(&s->job[i].verdicts);
    free(s->job);
    free(s);
}

/* ---- a node's health ---- */

static const struct json_field gpu_fields[] = {
    { "index", FIELD_COUNT, FIELD(struct report_gpu, index) },
    { "clock_ratio", FIELD_AMOUNT, FIELD(struct report_gpu, clock_ratio) },
    { "temperature_c", FIELD_AMOUNT, FIELD(struct report_gpu, temperature_c) },
    { "power_w", FIELD_AMOUNT, FIELD(struct report_gpu, power_w) },
    { "busy_ratio", FIELD_SHARE, FIELD(struct report_gpu, busy_ratio) },
    { "throttle", FIELD_TEXT, FIELD(struct report_gpu, throttle) },
    { 0 },
};

static const struct json_field health_fields[] = {
    { "run_queue", FIELD_AMOUNT, FIELD(struct report_health, run_queue) },
    { "involuntary_per_s", FIELD_AMOUNT, FIELD(struct report_health, involuntary_per_s) },
    { "busy_ratio", FIELD_AMOUNT, FIELD(struct report_health, busy_ratio) },
    { "steal_ratio", FIELD_AMOUNT, FIELD(struct report_health, steal_ratio) },
    { "frequency_ratio", FIELD_AMOUNT, FIELD(struct report_health, frequency_ratio) },
    { "throttled_per_s", FIELD_AMOUNT, FIELD(struct report_health, throttled_per_s) },
    { "quota_ratio", FIELD_AMOUNT, FIELD(struct report_health, quota_ratio) },
    { "cpu_pressure_ratio", FIELD_AMOUNT, FIELD(struct report_health, cpu_pressure_ratio) },
    { "swap_per_s", FIELD_AMOUNT, FIELD(struct report_health, swap_per_s) },
    { "memory_pressure_ratio", FIELD_AMOUNT, FIELD(struct report_health, memory_pressure_ratio) },
    { "io_pressure_ratio", FIELD_AMOUNT, FIELD(struct report_health, io_pressure_ratio) },
    { "retransmits_per_s", FIELD_AMOUNT, FIELD(struct report_health, retransmits_per_s) },
    { "nic_errors_per_s", FIELD_AMOUNT, FIELD(struct report_health, nic_errors_per_s) },
    { 0 },
};

static void parse_health(struct report_health *h, const json_t *o)
{
    get_fields(h, o, health_fields);
    h->known = json_is_object(o);
    h->n_gpus = get_rows(h->gpu, sizeof(h->gpu[0]), REPORT_GPUS_MAX, o, "gpus", gpu_fields);
}

/* ---- a job's screen ---- */

static const struct json_field rank_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct report_rank, rank) },
    { "node", FIELD_TEXT, FIELD(struct report_rank, node) },
    { "switch", FIELD_TEXT, FIELD(struct report_rank, switch_name) },
    { "state", FIELD_TEXT, FIELD(struct report_rank, state) },
    { "state_s", FIELD_AMOUNT, FIELD(struct report_rank, state_s) },
    { "lateness_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_s) },
    { "lateness_p95_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_p95_s) },
    { "last_ratio", FIELD_AMOUNT, FIELD(struct report_rank, last_ratio) },
    { "compute_s", FIELD_AMOUNT, FIELD(struct report_rank, compute_s) },
    { "stay_s", FIELD_AMOUNT, FIELD(struct report_rank, stay_s) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_rank, slowdown) },
    { "lateness_p50_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_p50_s) },
    { "lateness_p99_s", FIELD_AMOUNT, FIELD(struct report_rank, lateness_p99_s) },
    { "wait_s", FIELD_AMOUNT, FIELD(struct report_rank, wait_s) },
    { "delay_s", FIELD_AMOUNT, FIELD(struct report_rank, delay_s) },
    { "inside.op", FIELD_TEXT, FIELD(struct report_rank, op) },
    { "inside.comm", FIELD_TEXT, FIELD(struct report_rank, comm) },
    { "inside.seq", FIELD_COUNT, FIELD(struct report_rank, seq) },
    { "inside.age_s", FIELD_AMOUNT, FIELD(struct report_rank, inside_age_s) },
    { "inside", FIELD_KNOWN, FIELD(struct report_rank, inside) },
    { "phase", FIELD_TEXT, FIELD(struct report_rank, phase) },
    { "phase_s", FIELD_AMOUNT, FIELD(struct report_rank, phase_s) },
    { "health", FIELD_KNOWN, FIELD(struct report_rank, has_health) },
    { "health.shared_cpu", FIELD_TRUE, FIELD(struct report_rank, shared_cpu) },
    { "health.run_delay_ratio", FIELD_AMOUNT, FIELD(struct report_rank, run_delay_ratio) },
    { "health.involuntary_per_s", FIELD_AMOUNT, FIELD(struct report_rank, involuntary_per_s) },
    { "health.cpus", FIELD_TEXT, FIELD(struct report_rank, cpus) },
    { "health.cause", FIELD_TEXT, FIELD(struct report_rank, cause) },
    { 0 },
};

/* Only what a heat row may hold; of a long one the newest. */
static void parse_levels(struct report_rank *r, const char *levels)
{
    size_t n = strlen(levels), i;

    if (n > REPORT_COLUMNS_MAX) {
        levels += n - REPORT_COLUMNS_MAX;
        n = REPORT_COLUMNS_MAX;
    }
    for (i = 0; i < n; i++)
        r->heat[i] = levels[i] >= '0' && levels[i] <= '9' ? levels[i] : '.';
    r->heat[i] = '\0';
}

static void parse_heat(struct report *v, const json_t *heat)
{
    size_t n;
    const json_t *rows = get_list(heat, "rows", REPORT_RANKS_MAX, &n);

    v->heat_column_s = get_amount(heat, "column_s");
    get_list(heat, "scale", REPORT_SCALE_MAX, &v->n_scale);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *levels = get_string(row, "levels");
        int64_t rank = get_count(row, "rank");
        size_t k = i < v->n_ranks && v->rank[i].rank == rank ? i : 0; /* they come in the table's order */

        while (k < v->n_ranks && v->rank[k].rank != rank)
            k++;
        if (levels && k < v->n_ranks)
            parse_levels(&v->rank[k], levels);
    }
}

static void parse_series(struct report_series *s, const json_t *history, const char *key)
{
    const json_t *a = json_object_get(history, key);
    size_t n = json_is_array(a) ? json_array_size(a) : 0,
           skip = n > REPORT_COLUMNS_MAX ? n - REPORT_COLUMNS_MAX : 0;

    s->n = n - skip;
    for (size_t i = 0; i < s->n; i++) {
        double x = number_of(json_array_get(a, skip + i));

        s->value[i] = x >= 0 ? x : NAN;
    }
}

static const struct json_field path_rank_fields[] = {
    { "rank", FIELD_COUNT, FIELD(struct report_path_rank, rank) },
    { "node", FIELD_TEXT, FIELD(struct report_path_rank, node) },
    { "path_ratio", FIELD_SHARE, FIELD(struct report_path_rank, path_ratio) },
    { "last_ratio", FIELD_SHARE, FIELD(struct report_path_rank, last_ratio) },
    { "delay_s", FIELD_AMOUNT, FIELD(struct report_path_rank, delay_s) },
    { 0 },
};

static const struct json_field move_fields[] = {
    { "from", FIELD_TEXT, FIELD(struct report_move, from) },
    { "to", FIELD_TEXT, FIELD(struct report_move, to) },
    { "age_s", FIELD_AMOUNT, FIELD(struct report_move, age_s) },
    { "step", FIELD_COUNT, FIELD(struct report_move, step) },
    { 0 },
};

static void parse_guarded(struct report_guarded *g, const json_t *o)
{
    static const struct {
        const char *key, *name;
    } figures[REPORT_GUARDED_MAX] = { { "step", "step time" },   { "throughput", "throughput" },
                                      { "cv", "its variation" }, { "synchronisation", "synchronisation" },
                                      { "skew", "skew" },        { "energy", "energy a step" } };
    const json_t *ratios = json_object_get(o, "ratios");

    get_text(o, "text", g->text, sizeof(g->text));
    g->known = json_is_object(json_object_get(ratios, "step"));
    for (size_t i = 0; i < REPORT_GUARDED_MAX; i++) {
        const json_t *r = json_object_get(ratios, figures[i].key);

        snprintf(g->ratio[i].name, sizeof(g->ratio[i].name), "%s", figures[i].name);
        get_text(r, "reference", g->ratio[i].reference, sizeof(g->ratio[i].reference));
        g->ratio[i].selected = get_true(r, "selected");
        g->ratio[i].value = get_amount(r, "value");
        g->ratio[i].low = get_amount(r, "low");
        g->ratio[i].high = get_amount(r, "high");
    }
}

static const struct json_field comm_fields[] = {
    { "label", FIELD_TEXT, FIELD(struct report_comm, label) },
    { "size", FIELD_COUNT, FIELD(struct report_comm, size) },
    { "instances", FIELD_COUNT, FIELD(struct report_comm, instances) },
    { "collectives_per_s", FIELD_AMOUNT, FIELD(struct report_comm, collectives_per_s) },
    { "bytes_per_s", FIELD_AMOUNT, FIELD(struct report_comm, bytes_per_s) },
    { "skew_s", FIELD_AMOUNT, FIELD(struct report_comm, skew_s) },
    { "transfer_s", FIELD_AMOUNT, FIELD(struct report_comm, transfer_s) },
    { "efficiency.parallel", FIELD_SHARE, FIELD(struct report_comm, efficiency.parallel) },
    { "efficiency.load_balance", FIELD_SHARE, FIELD(struct report_comm, efficiency.load_balance) },
    { "efficiency.serialisation", FIELD_SHARE, FIELD(struct report_comm, efficiency.serialisation) },
    { "efficiency.transfer", FIELD_SHARE, FIELD(struct report_comm, efficiency.transfer) },
    { 0 },
};

static const struct json_field event_fields[] = {
    { "age_s", FIELD_AMOUNT, FIELD(struct report_event, age_s) },
    { "text", FIELD_TEXT, FIELD(struct report_event, text) },
    { "count", FIELD_COUNT, FIELD(struct report_event, count) },
    { "over_s", FIELD_AMOUNT, FIELD(struct report_event, over_s) },
    { 0 },
};

static void add_missing(struct report_agents *s, const char *node)
{
    size_t at = strlen(s->missing);

    snprintf(s->missing + at, sizeof(s->missing) - at, "%s%s", at ? ", " : "", node);
}

/* Controllers of earlier releases do not count them: their list has all agents. */
static void parse_agents(struct report *v, const json_t *o)
{
    size_t n;
    const json_t *silent = get_object(o, "agents_silent");
    int64_t total = get_count(o, "agents_total"), number = get_count(silent, "number");
    const json_t *a = get_list(o, "agents", REPORT_NODES_MAX, &n);

    v->agents.total = a ? (int64_t)n : -1;
    v->health = xcalloc(n, sizeof(*v->health));
    for (size_t i = 0; i < n; i++) {
        const json_t *agent = json_array_get(a, i);
        struct report_node_health *node = &v->health[v->n_health];

        get_text(agent, "node", node->node, sizeof(node->node));
        parse_health(&node->health, json_object_get(agent, "health"));
        v->n_health += node->health.known; /* the next node takes the place of one that did not report */
        if (get_true(agent, "connected") || get_true(agent, "ended"))
            v->agents.heard++;
        else
            add_missing(&v->agents, node->node);
    }
    if (total < 0 || number < 0)
        return;
    v->agents.total = total;
    v->agents.heard = total - number;
    join_texts(json_object_get(silent, "nodes"), v->agents.missing, sizeof(v->agents.missing));
}

static const struct json_field view_fields[] = {
    { "probe.dropped", FIELD_COUNT, FIELD(struct report, probe.dropped) },
    { "probe.ranks_total", FIELD_COUNT, FIELD(struct report, probe.ranks_total) },
    { "probe.overhead_ratio", FIELD_AMOUNT, FIELD(struct report, probe.overhead_ratio) },
    { "critical_path.concentration", FIELD_SHARE, FIELD(struct report, path.concentration) },
    { "efficiency.parallel", FIELD_SHARE, FIELD(struct report, efficiency.parallel) },
    { "efficiency.load_balance", FIELD_SHARE, FIELD(struct report, efficiency.load_balance) },
    { "efficiency.serialisation", FIELD_SHARE, FIELD(struct report, efficiency.serialisation) },
    { "efficiency.transfer", FIELD_SHARE, FIELD(struct report, efficiency.transfer) },
    { "past.unusual", FIELD_TRUE, FIELD(struct report, past.unusual) },
    { "past.text", FIELD_TEXT, FIELD(struct report, past.text) },
    { "step_phases.ranks", FIELD_COUNT, FIELD(struct report, phases.ranks) },
    { "step_phases.text", FIELD_TEXT, FIELD(struct report, phases.text) },
    { "rank_table_total", FIELD_COUNT, FIELD(struct report, rank_total) },
    { 0 },
};

struct report *report_read(const json_t *answer, struct err *err)
{
    const json_t *history;
    struct report *v;

    if (check(answer, get_object(answer, "trace") ? "verdicts" : "id",
              get_object(answer, "trace") ? JSON_ARRAY : JSON_STRING, err) < 0)
        return NULL;
    v = xcalloc(1, sizeof(*v));
    parse_job(&v->job, answer);
    get_fields(v, answer, view_fields);
    parse_agents(v, answer);
    v->path.n = get_rows(v->path.rank, sizeof(v->path.rank[0]), REPORT_PATH_MAX,
                         json_object_get(answer, "critical_path"), "ranks", path_rank_fields);
    v->path.moves = get_rows(v->path.move, sizeof(v->path.move[0]), REPORT_PATH_MAX,
                             json_object_get(answer, "critical_path"), "moves", move_fields);
    report_projection_read(&v->projection, get_object(answer, "projection"));
    v->picture = report_step_read(get_object(answer, "picture"));
    v->switches = report_switches_read(get_object(answer, "switches"));
    report_scaling_read(&v->scaling, get_object(answer, "scaling"));
    report_strategies_read(&v->strategies, get_object(answer, "strategies"));
    report_overlap_read(&v->overlap, get_object(answer, "overlap"));
    v->phases.backward_s =
        get_amount(get_object(get_object(answer, "step_phases"), "inferred"), "backward_s");
    parse_guarded(&v->guarded, json_object_get(answer, "guarded"));
    report_control_read(&v->control, answer);
    report_timeline_read(&v->timeline, answer);
    get_list(answer, "rank_table", REPORT_RANKS_MAX, &v->n_ranks);
    v->rank = xcalloc(v->n_ranks, sizeof(*v->rank));
    get_rows(v->rank, sizeof(*v->rank), v->n_ranks, answer, "rank_table", rank_fields);
    if (v->rank_total < (int64_t)v->n_ranks)
        v->rank_total = (int64_t)v->n_ranks;
    parse_heat(v, json_object_get(answer, "heat"));
    history = json_object_get(answer, "history");
    parse_series(&v->step_s, history, "step_s");
    parse_series(&v->steps_per_s, history, "steps_per_s");
    parse_series(&v->skew_s, history, "skew_s");
    parse_series(&v->synchronisation_ratio, history, "synchronisation_ratio");
    v->n_comms =
        get_rows(v->comm, sizeof(v->comm[0]), REPORT_COMMS_MAX, answer, "communicators", comm_fields);
    v->n_events = get_rows(v->event, sizeof(v->event[0]), REPORT_EVENTS_MAX, answer, "events", event_fields);
    v->n_notes = get_lines(v->note[0], sizeof(v->note[0]), REPORT_NOTES_MAX, answer, "notes");
    return v;
}

void report_free(struct report *v)
{
    if (!v)
        return;
    report_verdicts_free(&v->job.verdicts);
    report_verdicts_free(&v->timeline);
    picture_free(v->picture);
    report_switches_free(v->switches);
    free(v->health);
    free(v->rank);
    free(v);
}

/* ---- nodes, status ---- */

static const struct json_field node_fields[] = {
    { "node", FIELD_TEXT, FIELD(struct report_node_row, node) },
    { "switch", FIELD_TEXT, FIELD(struct report_node_row, switch_name) },
    { "jobs", FIELD_JOINED, FIELD(struct report_node_row, jobs) },
    { "verdict", FIELD_TEXT, FIELD(struct report_node_row, verdict) },
    { "ranks", FIELD_COUNT, FIELD(struct report_node_row, ranks) },
    { "lateness_s", FIELD_AMOUNT, FIELD(struct report_node_row, lateness_s) },
    { "slowdown", FIELD_AMOUNT, FIELD(struct report_node_row, slowdown) },
    { "culprit_count", FIELD_COUNT, FIELD(struct report_node_row, culprit_count) },
    { "last_culprit", FIELD_AMOUNT, FIELD(struct report_node_row, last_culprit) },
    { "agent", FIELD_KNOWN, FIELD(struct report_node_row, has_agent) },
    { "agent.connected", FIELD_TRUE, FIELD(struct report_node_row, connected) },
    { "agent.ended", FIELD_TRUE, FIELD(struct report_node_row, ended) },
    { "agent.cpu_ratio", FIELD_AMOUNT, FIELD(struct report_node_row, cpu_ratio) },
    { "agent.rss_bytes", FIELD_AMOUNT, FIELD(struct report_node_row, rss_bytes) },
    { "agent.backlog_bytes", FIELD_AMOUNT, FIELD(struct report_node_row, backlog_bytes) },
    { "agent.age_s", FIELD_AMOUNT, FIELD(struct report_node_row, age_s) },
    { "lemon_score", FIELD_SHARE, FIELD(struct report_node_row, lemon_score) },
    { "culprit_jobs", FIELD_COUNT, FIELD(struct report_node_row, culprit_jobs) },
    { "seen_jobs", FIELD_COUNT, FIELD(struct report_node_row, seen_jobs) },
    { 0 },
};

static void parse_node(struct report_node_row *n, const json_t *o)
{
    get_fields(n, o, node_fields);
    n->n_jobs = json_array_size(get_array(o, "jobs"));
    get_lines(n->first_job, sizeof(n->first_job), 1, o, "jobs");
    parse_health(&n->health, json_object_get(json_object_get(o, "agent"), "health"));
}

struct report_node_rows *report_node_rows_read(const json_t *answer, struct err *err)
{
    struct report_node_rows *s;
    const json_t *nodes;
    size_t n;

    if (check(answer, "nodes", JSON_ARRAY, err) < 0)
        return NULL;
    nodes = get_list(answer, "nodes", REPORT_NODES_MAX, &n);
    s = xcalloc(1, sizeof(*s));
    s->node = xcalloc(n, sizeof(*s->node));
    s->n = n;
    for (size_t i = 0; i < n; i++)
        parse_node(&s->node[i], json_array_get(nodes, i));
    return s;
}

void report_node_rows_free(struct report_node_rows *s)
{
    if (!s)
        return;
    free(s->node);
    free(s);
}

int report_status_read(struct report_status *s, const json_t *answer, struct err *err)
{
    if (check(answer, "version", JSON_STRING, err) < 0)
        return -1;
    get_text(answer, "host", s->host, sizeof(s->host));
    s->uptime_s = get_amount(answer, "uptime_s");
    s->jobs = get_count(answer, "jobs");
    s->ranks = get_count(answer, "ranks");
    return 0;
}

/* ---- what it means ---- */

enum severity report_verdict_severity(const struct report_verdict *v)
{
    if (!v->standing)
        return SEVERITY_NONE;
    if (verdict_stops(v->class))
        return SEVERITY_BAD;
    return v->slowdown >= VERDICT_BAD_SLOWDOWN && !v->acknowledged ? SEVERITY_BAD : SEVERITY_WARN;
}

enum severity report_row_severity(const struct report_row *j)
{
    enum severity worst = SEVERITY_GOOD;

    if (!report_row_alive(j))
        return SEVERITY_NONE;
    if (!strcmp(j->state, "stalled") || j->non_finite)
        return SEVERITY_BAD;
    for (size_t i = 0; i < j->verdicts.n; i++)
        if (report_verdict_severity(&j->verdicts.list[i]) > worst)
            worst = report_verdict_severity(&j->verdicts.list[i]);
    if (worst == SEVERITY_GOOD && (strcmp(j->state, "running") != 0 || strcmp(j->judged, "yes") != 0))
        return SEVERITY_NONE;
    return worst;
}

bool report_row_alive(const struct report_row *j)
{
    return strcmp(j->state, "finished") != 0 && strcmp(j->state, "lost") != 0;
}
