#include "tui/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/xalloc.h"
#include "wire/json.h"

static int check(const json_t *answer, struct err *err)
{
    const char *reason;
    char shown[256];

    if (!json_is_object(answer))
        return err_set(err, "the controller's answer is no JSON object");
    reason = get_string(answer, "error");
    if (!reason)
        return 0;
    utf8_clean(shown, sizeof(shown), reason);
    return err_set(err, "%s", shown);
}

/* ---- a job ---- */

static size_t culprits(const json_t *o, char *buf, size_t size)
{
    const json_t *list = json_object_get(o, "culprits");

    join_texts(list, buf, size);
    return json_is_array(list) ? json_array_size(list) : buf[0] != '\0';
}

static void parse_verdict(struct snap_verdict *v, const json_t *o)
{
    get_text(o, "class", v->class, sizeof(v->class));
    get_text(o, "scope", v->scope, sizeof(v->scope));
    v->n_culprits = culprits(o, v->culprits, sizeof(v->culprits));
    get_text(o, "text", v->text, sizeof(v->text));
    v->slowdown = get_amount(o, "slowdown");
    v->since_s = get_amount(o, "since_s");
    v->found_s = get_amount(o, "found_s");
    v->since_step = get_count(o, "since_step");
    v->onset_seq = get_count(o, "onset_seq");
    v->detected_seq = get_count(o, "detected_seq");
    v->standing = !json_is_false(json_object_get(o, "standing"));
    v->over_s = get_amount(o, "over_s");
    v->acknowledged = get_true(o, "acknowledged");
    get_text(o, "cause", v->cause, sizeof(v->cause));
}

static void parse_worst(struct snap_job *j, const json_t *o)
{
    j->has_worst = json_is_object(o);
    j->worst.rank = get_count(o, "rank");
    get_text(o, "node", j->worst.node, sizeof(j->worst.node));
    j->worst.lateness_s = get_amount(o, "lateness_s");
    j->worst.last_ratio = get_amount(o, "last_ratio");
}

static void parse_times(struct snap_job *j, const json_t *o)
{
    static const char *const shares[SHARES] = { "compute", "communication", "synchronisation",
                                                "point_to_point" };
    const json_t *step = json_object_get(o, "step_s"), *skew = json_object_get(o, "skew_s");

    j->step_mean_s = get_amount(step, "mean");
    j->step_p50_s = get_amount(step, "p50");
    j->step_p95_s = get_amount(step, "p95");
    j->step_cv = get_amount(step, "cv");
    j->skew_p50_s = get_amount(skew, "p50");
    j->skew_p95_s = get_amount(skew, "p95");
    j->steps_per_s = get_amount(o, "steps_per_s");
    j->samples_per_s = get_amount(o, "samples_per_s");
    j->lost_ratio = get_amount(o, "lost_ratio");
    j->mds_ratio = get_amount(o, "mds_ratio");
    for (int i = 0; i < SHARES; i++)
        j->share[i] = get_amount(json_object_get(o, "shares"), shares[i]);
}

static void parse_job(struct snap_job *j, const json_t *o)
{
    const json_t *verdicts;

    get_text(o, "id", j->id, sizeof(j->id));
    get_text(o, "name", j->name, sizeof(j->name));
    get_text(o, "user", j->user, sizeof(j->user));
    get_text(o, "partition", j->partition, sizeof(j->partition));
    get_text(o, "policy", j->policy, sizeof(j->policy));
    if (json_is_object(json_object_get(o, "policy"))) /* of a job; a row of the list has its name */
        get_text(json_object_get(o, "policy"), "name", j->policy, sizeof(j->policy));
    get_text(o, "state", j->state, sizeof(j->state));
    get_text(o, "regime", j->regime, sizeof(j->regime));
    get_text(o, "sentence", j->sentence, sizeof(j->sentence));
    j->start = get_amount(o, "start");
    j->elapsed_s = get_amount(o, "elapsed_s");
    j->age_s = get_amount(o, "age_s");
    j->ranks = get_count(o, "ranks");
    j->nodes = get_count(o, "nodes");
    j->nodes_total = get_count(o, "nodes_total");
    j->steps = get_count(o, "steps");
    j->period = get_count(o, "period");
    parse_times(j, o);
    verdicts = get_list(o, "verdicts", SNAP_VERDICTS_MAX, &j->n_verdicts);
    for (size_t i = 0; i < j->n_verdicts; i++)
        parse_verdict(&j->verdict[i], json_array_get(verdicts, i));
    parse_worst(j, json_object_get(o, "worst"));
}

struct snap_jobs *snap_jobs_parse(const json_t *answer, struct err *err)
{
    struct snap_jobs *s;
    const json_t *jobs;
    size_t n;

    if (check(answer, err) < 0)
        return NULL;
    jobs = get_list(answer, "jobs", SNAP_JOBS_MAX, &n);
    if (!json_is_array(jobs)) {
        err_set(err, "the controller's answer lists no jobs");
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->job = xcalloc(n, sizeof(*s->job));
    s->n = n;
    for (size_t i = 0; i < n; i++)
        parse_job(&s->job[i], json_array_get(jobs, i));
    return s;
}

void snap_jobs_free(struct snap_jobs *s)
{
    if (!s)
        return;
    free(s->job);
    free(s);
}

/* ---- a node's health ---- */

static void parse_gpus(struct snap_health *h, const json_t *o)
{
    const json_t *a = get_list(o, "gpus", SNAP_GPUS_MAX, &h->n_gpus);

    for (size_t i = 0; i < h->n_gpus; i++) {
        const json_t *g = json_array_get(a, i);

        h->gpu[i].index = get_count(g, "index");
        h->gpu[i].clock_ratio = get_amount(g, "clock_ratio");
        h->gpu[i].temperature_c = get_amount(g, "temperature_c");
        h->gpu[i].power_w = get_amount(g, "power_w");
        h->gpu[i].busy_ratio = get_share(g, "busy_ratio");
        get_text(g, "throttle", h->gpu[i].throttle, sizeof(h->gpu[i].throttle));
    }
}

static void parse_health(struct snap_health *h, const json_t *o)
{
    h->known = json_is_object(o);
    h->run_queue = get_amount(o, "run_queue");
    h->involuntary_per_s = get_amount(o, "involuntary_per_s");
    h->busy_ratio = get_amount(o, "busy_ratio");
    h->steal_ratio = get_amount(o, "steal_ratio");
    h->frequency_ratio = get_amount(o, "frequency_ratio");
    h->throttled_per_s = get_amount(o, "throttled_per_s");
    h->quota_ratio = get_amount(o, "quota_ratio");
    h->cpu_pressure_ratio = get_amount(o, "cpu_pressure_ratio");
    h->swap_per_s = get_amount(o, "swap_per_s");
    h->memory_pressure_ratio = get_amount(o, "memory_pressure_ratio");
    h->io_pressure_ratio = get_amount(o, "io_pressure_ratio");
    h->retransmits_per_s = get_amount(o, "retransmits_per_s");
    h->nic_errors_per_s = get_amount(o, "nic_errors_per_s");
    parse_gpus(h, o);
}

/* ---- a job's screen ---- */

static void parse_rank_health(struct snap_rank *r, const json_t *o)
{
    r->has_health = json_is_object(o);
    r->shared_cpu = get_true(o, "shared_cpu");
    r->run_delay_ratio = get_amount(o, "run_delay_ratio");
    r->involuntary_per_s = get_amount(o, "involuntary_per_s");
    get_text(o, "cpus", r->cpus, sizeof(r->cpus));
    get_text(o, "cause", r->cause, sizeof(r->cause));
}

static void parse_rank(struct snap_rank *r, const json_t *o)
{
    const json_t *inside = json_object_get(o, "inside");

    r->rank = get_count(o, "rank");
    get_text(o, "node", r->node, sizeof(r->node));
    get_text(o, "switch", r->leaf, sizeof(r->leaf));
    get_text(o, "state", r->state, sizeof(r->state));
    r->lateness_s = get_amount(o, "lateness_s");
    r->lateness_p95_s = get_amount(o, "lateness_p95_s");
    r->last_ratio = get_amount(o, "last_ratio");
    r->compute_s = get_amount(o, "compute_s");
    r->stay_s = get_amount(o, "stay_s");
    r->slowdown = get_amount(o, "slowdown");
    r->lateness_p50_s = get_amount(o, "lateness_p50_s");
    r->lateness_p99_s = get_amount(o, "lateness_p99_s");
    r->wait_s = get_amount(o, "wait_s");
    r->delay_s = get_amount(o, "delay_s");
    parse_rank_health(r, json_object_get(o, "health"));
    r->inside = json_is_object(inside);
    get_text(inside, "op", r->op, sizeof(r->op));
    get_text(inside, "comm", r->comm, sizeof(r->comm));
    r->seq = get_count(inside, "seq");
    r->inside_age_s = get_amount(inside, "age_s");
}

/* Only what a heat row may hold; of a long one the newest. */
static void parse_levels(struct snap_rank *r, const char *levels)
{
    size_t n = strlen(levels), i;

    if (n > SNAP_COLUMNS_MAX) {
        levels += n - SNAP_COLUMNS_MAX;
        n = SNAP_COLUMNS_MAX;
    }
    for (i = 0; i < n; i++)
        r->heat[i] = levels[i] >= '0' && levels[i] <= '9' ? levels[i] : '.';
    r->heat[i] = '\0';
}

static void parse_heat(struct snap_view *v, const json_t *heat)
{
    size_t n, n_scale;
    const json_t *rows = get_list(heat, "rows", SNAP_RANKS_MAX, &n);
    const json_t *scale = get_list(heat, "scale", SNAP_SCALE_MAX, &n_scale);

    v->heat_column_s = get_amount(heat, "column_s");
    v->n_scale = n_scale;
    for (size_t i = 0; i < n_scale; i++)
        v->scale[i] = number_of(json_array_get(scale, i));
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

static void parse_series(struct snap_series *s, const json_t *history, const char *key)
{
    const json_t *a = json_object_get(history, key);
    size_t n = json_is_array(a) ? json_array_size(a) : 0,
           skip = n > SNAP_COLUMNS_MAX ? n - SNAP_COLUMNS_MAX : 0;

    s->n = n - skip;
    for (size_t i = 0; i < s->n; i++) {
        double x = number_of(json_array_get(a, skip + i));

        s->value[i] = x >= 0 ? x : NAN;
    }
}

static void parse_efficiency(struct snap_efficiency *e, const json_t *o)
{
    e->parallel = get_share(o, "parallel");
    e->load_balance = get_share(o, "load_balance");
    e->serialisation = get_share(o, "serialisation");
    e->transfer = get_share(o, "transfer");
}

static void parse_path(struct snap_path *p, const json_t *o)
{
    const json_t *a = get_list(o, "ranks", SNAP_PATH_MAX, &p->n);

    p->concentration = get_share(o, "concentration");
    for (size_t i = 0; i < p->n; i++) {
        const json_t *r = json_array_get(a, i);

        p->rank[i].rank = get_count(r, "rank");
        get_text(r, "node", p->rank[i].node, sizeof(p->rank[i].node));
        p->rank[i].last_ratio = get_share(r, "last_ratio");
        p->rank[i].delay_s = get_amount(r, "delay_s");
    }
}

static void parse_projection(struct snap_projection *p, const json_t *o)
{
    const json_t *reach = json_object_get(o, "reach_s");

    p->known = json_is_object(o);
    p->warning = get_true(o, "warning");
    get_text(o, "trend", p->trend, sizeof(p->trend));
    p->lost_ratio = get_amount(o, "lost_ratio");
    p->per_hour = get_number(o, "per_hour");
    p->limit_ratio = get_amount(o, "limit");
    p->reach_p10_s = get_amount(reach, "p10");
    p->reach_p50_s = get_amount(reach, "p50");
    p->reach_p90_s = get_amount(reach, "p90");
    get_text(o, "text", p->text, sizeof(p->text));
}

static void parse_point(struct snap_point *p, const json_t *o)
{
    static const char *const shares[SHARES] = { "compute", "communication", "synchronisation",
                                                "point_to_point" };
    const json_t *step = json_object_get(o, "step_s"), *rate = json_object_get(o, "throughput_ratio");

    p->ranks = get_amount(o, "ranks");
    p->factor = get_amount(o, "factor");
    p->step_s = get_amount(step, "p50");
    p->step_p5_s = get_amount(step, "p5");
    p->step_p95_s = get_amount(step, "p95");
    p->throughput = get_amount(rate, "p50");
    p->throughput_p5 = get_amount(rate, "p5");
    p->throughput_p95 = get_amount(rate, "p95");
    p->ideal = get_amount(o, "ideal_ratio");
    for (int i = 0; i < SHARES; i++)
        p->share[i] = get_share(json_object_get(o, "shares"), shares[i]);
    get_text(o, "regime", p->regime, sizeof(p->regime));
}

static void parse_link(struct snap_scaling *s, const json_t *o)
{
    size_t n;
    const json_t *segments = get_list(o, "segments", SNAP_LINKS_MAX, &n);

    for (size_t i = 0; i < n && s->n_links < SNAP_LINKS_MAX; i++) {
        const json_t *g = json_array_get(segments, i);
        struct snap_link *l = &s->link[s->n_links++];

        get_text(o, "op", l->op, sizeof(l->op));
        l->ranks = get_amount(o, "ranks");
        l->from_bytes = get_amount(g, "from_bytes");
        l->to_bytes = get_amount(g, "to_bytes");
        l->fixed_s = get_amount(json_object_get(g, "fixed_s"), "value");
        l->s_per_byte = get_amount(json_object_get(g, "s_per_byte"), "value");
    }
}

static size_t parse_assumes(char out[SNAP_ASSUMES_MAX][160], const json_t *o)
{
    size_t n;
    const json_t *list = get_list(o, "assumes", SNAP_ASSUMES_MAX, &n);

    for (size_t i = 0; i < n; i++) {
        const char *words = json_string_value(json_array_get(list, i));

        utf8_clean(out[i], sizeof(out[i]), words ? words : "");
    }
    return n;
}

static void parse_scaling(struct snap_scaling *s, const json_t *o)
{
    const json_t *points = get_list(o, "points", SNAP_POINTS_MAX, &s->n), *links;
    const json_t *noise = json_object_get(o, "noise");
    size_t n;

    get_text(o, "missing", s->missing, sizeof(s->missing));
    s->known = s->n > 0;
    get_text(o, "text", s->text, sizeof(s->text));
    s->ranks = get_amount(o, "ranks");
    s->step_s = get_amount(o, "step_s");
    s->cv = get_amount(noise, "cv");
    get_text(noise, "shape", s->shape, sizeof(s->shape));
    for (size_t i = 0; i < s->n; i++)
        parse_point(&s->point[i], json_array_get(points, i));
    links = get_list(o, "links", SNAP_LINKS_MAX, &n);
    for (size_t i = 0; i < n; i++)
        parse_link(s, json_array_get(links, i));
    s->n_assumes = parse_assumes(s->assumes, o);
}

static void parse_way(struct snap_way *w, const json_t *o)
{
    const json_t *rate = json_object_get(o, "throughput_ratio");

    get_text(o, "strategy", w->name, sizeof(w->name));
    get_text(o, "reason", w->reason, sizeof(w->reason));
    get_text(o, "assumes", w->assumes, sizeof(w->assumes));
    w->step_s = get_amount(json_object_get(o, "step_s"), "p50");
    w->ratio = get_amount(rate, "p50");
    w->ratio_p5 = get_amount(rate, "p5");
    w->ratio_p95 = get_amount(rate, "p95");
    w->growth = get_amount(o, "iterations_ratio");
    w->per_sample = get_true(o, "per_sample");
}

static void parse_ways(struct snap_ways *w, const json_t *o)
{
    const json_t *list = get_list(o, "strategies", SNAP_WAYS_MAX, &w->n);

    get_text(o, "missing", w->missing, sizeof(w->missing));
    w->known = w->n > 0;
    for (size_t i = 0; i < w->n; i++)
        parse_way(&w->way[i], json_array_get(list, i));
    w->n_assumes = parse_assumes(w->assumes, o);
}

static void parse_guarded(struct snap_guarded *g, const json_t *o)
{
    static const struct {
        const char *key, *name;
    } figures[SNAP_GUARDED_MAX] = { { "step", "step time" },   { "throughput", "throughput" },
                                    { "cv", "its variation" }, { "lost", "lost to waiting" },
                                    { "skew", "skew" },        { "energy", "energy a step" } };
    const json_t *ratios = json_object_get(o, "ratios");

    get_text(o, "text", g->text, sizeof(g->text));
    g->known = json_is_object(json_object_get(ratios, "step"));
    for (size_t i = 0; i < SNAP_GUARDED_MAX; i++) {
        const json_t *r = json_object_get(ratios, figures[i].key);

        snprintf(g->ratio[i].name, sizeof(g->ratio[i].name), "%s", figures[i].name);
        get_text(r, "reference", g->ratio[i].reference, sizeof(g->ratio[i].reference));
        g->ratio[i].selected = get_true(r, "selected");
        g->ratio[i].value = get_amount(r, "value");
        g->ratio[i].low = get_amount(r, "low");
        g->ratio[i].high = get_amount(r, "high");
    }
}

static void parse_past(struct snap_past *p, const json_t *o)
{
    p->known = json_is_object(o);
    p->unusual = get_true(o, "unusual");
    p->runs = get_count(o, "runs");
    p->reruns = get_count(o, "reruns");
    p->step_p50_s = get_amount(o, "step_p50_s");
    p->step_ratio = get_amount(o, "step_ratio");
    p->spread_ratio = get_amount(o, "spread_ratio");
    p->energy_j_per_step = get_amount(o, "energy_j_per_step");
    p->energy_ratio = get_amount(o, "energy_ratio");
    get_text(o, "text", p->text, sizeof(p->text));
}

static void parse_span(struct snap_span *s, const json_t *o)
{
    get_text(o, "class", s->class, sizeof(s->class));
    s->n_culprits = culprits(o, s->culprits, sizeof(s->culprits));
    get_text(o, "text", s->text, sizeof(s->text));
    s->slowdown = get_amount(o, "slowdown");
    s->from_s = get_amount(o, "from_s");
    s->to_s = get_amount(o, "to_s");
}

/* Of a verdict that is told of without its life: as long as it stands. */
static void span_of(struct snap_span *s, const struct snap_verdict *v)
{
    memcpy(s->class, v->class, sizeof(s->class));
    memcpy(s->culprits, v->culprits, sizeof(s->culprits));
    s->n_culprits = v->n_culprits;
    memcpy(s->text, v->text, sizeof(s->text));
    s->slowdown = v->slowdown;
    s->from_s = isnan(v->since_s) ? v->found_s : v->since_s;
    s->to_s = v->standing ? NAN : v->over_s;
}

/* Of a long one the newest. */
static void parse_timeline(struct snap_view *v, const json_t *o)
{
    const json_t *a = json_object_get(o, "timeline");
    size_t n = json_array_size(a), skip = n > SNAP_TIMELINE_MAX ? n - SNAP_TIMELINE_MAX : 0;

    v->n_spans = json_is_array(a) ? n - skip : v->job.n_verdicts;
    for (size_t i = 0; i < v->n_spans; i++) {
        if (json_is_array(a))
            parse_span(&v->span[i], json_array_get(a, skip + i));
        else
            span_of(&v->span[i], &v->job.verdict[i]);
    }
}

static void parse_comms(struct snap_view *v, const json_t *o)
{
    const json_t *a = get_list(o, "communicators", SNAP_COMMS_MAX, &v->n_comms);

    for (size_t i = 0; i < v->n_comms; i++) {
        const json_t *c = json_array_get(a, i);

        get_text(c, "name", v->comm[i].name, sizeof(v->comm[i].name));
        get_text(c, "label", v->comm[i].label, sizeof(v->comm[i].label));
        v->comm[i].size = get_count(c, "size");
        v->comm[i].instances = get_count(c, "instances");
        v->comm[i].collectives_per_s = get_amount(c, "collectives_per_s");
        v->comm[i].bytes_per_s = get_amount(c, "bytes_per_s");
        v->comm[i].skew_s = get_amount(c, "skew_s");
        v->comm[i].transfer_s = get_amount(c, "transfer_s");
        parse_efficiency(&v->comm[i].efficiency, json_object_get(c, "efficiency"));
    }
}

static void parse_events(struct snap_view *v, const json_t *o)
{
    const json_t *a = get_list(o, "events", SNAP_EVENTS_MAX, &v->n_events);
    const json_t *notes;

    for (size_t i = 0; i < v->n_events; i++) {
        v->event[i].age_s = get_amount(json_array_get(a, i), "age_s");
        get_text(json_array_get(a, i), "text", v->event[i].text, sizeof(v->event[i].text));
    }
    notes = get_list(o, "notes", SNAP_NOTES_MAX, &v->n_notes);
    for (size_t i = 0; i < v->n_notes; i++) {
        const char *s = json_string_value(json_array_get(notes, i));

        utf8_clean(v->note[i], sizeof(v->note[i]), s ? s : "");
    }
}

static void add_missing(struct snap_agents *s, const char *node)
{
    size_t at = strlen(s->missing);

    snprintf(s->missing + at, sizeof(s->missing) - at, "%s%s", at ? ", " : "", node);
}

static void parse_agents(struct snap_agents *s, const json_t *o)
{
    size_t n;
    const json_t *a = get_list(o, "agents", SNAP_NODES_MAX, &n);

    s->total = json_is_array(a) ? (int64_t)n : -1;
    s->heard = s->total < 0 ? -1 : 0;
    s->cpu_ratio = s->backlog_bytes = NAN;
    for (size_t i = 0; i < n; i++) {
        const json_t *agent = json_array_get(a, i);
        int64_t lost = get_count(agent, "lost_batches");
        char node[64];

        s->cpu_ratio = fmax(s->cpu_ratio, get_amount(agent, "cpu_ratio"));
        s->backlog_bytes = fmax(s->backlog_bytes, get_amount(agent, "backlog_bytes"));
        s->lost_batches += lost > 0 ? lost : 0;
        get_text(agent, "node", node, sizeof(node));
        if (get_true(agent, "connected") ||
            get_true(agent, "ended"))
            s->heard++;
        else
            add_missing(s, node);
    }
}

/* Only of nodes whose agent told. */
static void parse_nodes_health(struct snap_view *v, const json_t *o)
{
    size_t n;
    const json_t *a = get_list(o, "agents", SNAP_NODES_MAX, &n);

    v->health = xcalloc(n, sizeof(*v->health));
    for (size_t i = 0; i < n; i++) {
        const json_t *agent = json_array_get(a, i);
        struct snap_node_health *to = &v->health[v->n_health];

        parse_health(&to->health, json_object_get(agent, "health"));
        get_text(agent, "node", to->node, sizeof(to->node));
        v->n_health += to->health.known;
    }
}

static void parse_probe(struct snap_probe *p, const json_t *o)
{
    p->events = get_count(o, "events");
    p->dropped = get_count(o, "dropped");
    p->missed = get_count(o, "missed");
    p->ranks_guarded = get_count(o, "ranks_guarded");
    p->ranks_total = get_count(o, "ranks_total");
    p->overhead_ratio = get_amount(o, "overhead_ratio");
}

struct snap_view *snap_view_parse(const json_t *answer, struct err *err)
{
    const json_t *ranks, *history;
    struct snap_view *v;

    if (check(answer, err) < 0)
        return NULL;
    if (!json_is_string(json_object_get(answer, "id")) && !json_is_string(json_object_get(answer, "state"))) {
        err_set(err, "the controller's answer describes no job");
        return NULL;
    }
    v = xcalloc(1, sizeof(*v));
    parse_job(&v->job, answer);
    parse_probe(&v->probe, json_object_get(answer, "probe"));
    parse_agents(&v->agents, answer);
    parse_nodes_health(v, answer);
    parse_efficiency(&v->efficiency, json_object_get(answer, "efficiency"));
    parse_path(&v->path, json_object_get(answer, "critical_path"));
    parse_projection(&v->projection, json_object_get(answer, "projection"));
    parse_scaling(&v->scaling, json_object_get(answer, "scaling"));
    parse_ways(&v->ways, json_object_get(answer, "strategies"));
    parse_guarded(&v->guarded, json_object_get(answer, "guarded"));
    parse_past(&v->past, json_object_get(answer, "past"));
    snap_control_parse(&v->control, answer);
    parse_timeline(v, answer);
    ranks = get_list(answer, "rank_table", SNAP_RANKS_MAX, &v->n_ranks);
    v->rank = xcalloc(v->n_ranks, sizeof(*v->rank));
    for (size_t i = 0; i < v->n_ranks; i++)
        parse_rank(&v->rank[i], json_array_get(ranks, i));
    v->rank_total = get_count(answer, "rank_table_total");
    if (v->rank_total < (int64_t)v->n_ranks)
        v->rank_total = (int64_t)v->n_ranks;
    parse_heat(v, json_object_get(answer, "heat"));
    history = json_object_get(answer, "history");
    v->history_column_s = get_amount(history, "column_s");
    parse_series(&v->step_s, history, "step_s");
    parse_series(&v->steps_per_s, history, "steps_per_s");
    parse_series(&v->skew_s, history, "skew_s");
    parse_series(&v->lost_ratio, history, "lost_ratio");
    parse_comms(v, answer);
    parse_events(v, answer);
    return v;
}

void snap_view_free(struct snap_view *v)
{
    if (!v)
        return;
    free(v->health);
    free(v->rank);
    free(v);
}

/* ---- nodes, status ---- */

static void parse_verdict_of_node(struct snap_node *n, const json_t *v)
{
    /* null, a name, or a verdict as in a job */
    if (json_is_object(v))
        get_text(v, json_object_get(v, "text") ? "text" : "class", n->verdict, sizeof(n->verdict));
    else
        join_texts(v, n->verdict, sizeof(n->verdict));
}

static void parse_node(struct snap_node *n, const json_t *o)
{
    const json_t *agent = json_object_get(o, "agent"), *jobs = json_object_get(o, "jobs");
    const char *first = json_string_value(json_array_get(jobs, 0));

    get_text(o, "node", n->node, sizeof(n->node));
    get_text(o, "switch", n->leaf, sizeof(n->leaf));
    join_texts(jobs, n->jobs, sizeof(n->jobs));
    n->n_jobs = json_is_array(jobs) ? (int64_t)json_array_size(jobs) : -1;
    utf8_clean(n->first_job, sizeof(n->first_job), first ? first : "");
    n->ranks = get_count(o, "ranks");
    n->lateness_s = get_amount(o, "lateness_s");
    n->slowdown = get_amount(o, "slowdown");
    parse_verdict_of_node(n, json_object_get(o, "verdict"));
    n->culprit_count = get_count(o, "culprit_count");
    n->last_culprit = get_amount(o, "last_culprit");
    n->has_agent = json_is_object(agent);
    n->connected = get_true(agent, "connected");
    n->ended = get_true(agent, "ended");
    n->cpu_ratio = get_amount(agent, "cpu_ratio");
    n->rss_bytes = get_amount(agent, "rss_bytes");
    n->backlog_bytes = get_amount(agent, "backlog_bytes");
    n->age_s = get_amount(agent, "age_s");
    n->lost_batches = get_count(agent, "lost_batches");
    n->lemon_score = get_share(o, "lemon_score");
    n->culprit_jobs = get_count(o, "culprit_jobs");
    n->seen_jobs = get_count(o, "seen_jobs");
    parse_health(&n->health, json_object_get(agent, "health"));
}

struct snap_nodes *snap_nodes_parse(const json_t *answer, struct err *err)
{
    struct snap_nodes *s;
    const json_t *nodes;
    size_t n;

    if (check(answer, err) < 0)
        return NULL;
    nodes = get_list(answer, "nodes", SNAP_NODES_MAX, &n);
    if (!json_is_array(nodes)) {
        err_set(err, "the controller's answer lists no nodes");
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->node = xcalloc(n, sizeof(*s->node));
    s->n = n;
    for (size_t i = 0; i < n; i++)
        parse_node(&s->node[i], json_array_get(nodes, i));
    return s;
}

void snap_nodes_free(struct snap_nodes *s)
{
    if (!s)
        return;
    free(s->node);
    free(s);
}

int snap_status_parse(struct snap_status *s, const json_t *answer, struct err *err)
{
    if (check(answer, err) < 0)
        return -1;
    get_text(answer, "version", s->version, sizeof(s->version));
    get_text(answer, "host", s->host, sizeof(s->host));
    s->uptime_s = get_amount(answer, "uptime_s");
    s->cpu_ratio = get_amount(answer, "cpu_ratio");
    s->rss_bytes = get_amount(answer, "rss_bytes");
    s->jobs = get_count(answer, "jobs");
    s->agents = get_count(answer, "agents");
    s->ranks = get_count(answer, "ranks");
    return 0;
}

/* ---- what it means ---- */

enum severity snap_verdict_severity(const struct snap_verdict *v)
{
    if (!v->standing)
        return SEVERITY_NONE;
    if (!strcmp(v->class, "hang"))
        return SEVERITY_BAD;
    return v->slowdown >= 1.1 && !v->acknowledged ? SEVERITY_BAD : SEVERITY_WARN;
}

enum severity snap_job_severity(const struct snap_job *j)
{
    enum severity worst = SEVERITY_GOOD;

    if (!strcmp(j->state, "finished"))
        return SEVERITY_NONE;
    if (!strcmp(j->state, "stalled") || !strcmp(j->state, "lost"))
        return SEVERITY_BAD;
    for (size_t i = 0; i < j->n_verdicts; i++)
        if (snap_verdict_severity(&j->verdict[i]) > worst)
            worst = snap_verdict_severity(&j->verdict[i]);
    if (worst == SEVERITY_GOOD && strcmp(j->state, "running") != 0)
        return SEVERITY_NONE;
    return worst;
}

bool snap_job_alive(const struct snap_job *j)
{
    return strcmp(j->state, "finished") != 0;
}
