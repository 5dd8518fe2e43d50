#include "tui/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define COUNT_MAX ((int64_t)1 << 53) /* beyond it a JSON number of another program may have lost digits */

/* ---- values ---- */

/* C0, DEL and C1 controls, and the invisible characters that turn or join text: a job's name is its user's.
 */
static bool dangerous(const unsigned char *s)
{
    if (s[0] < 0x20 || s[0] == 0x7f)
        return true;
    if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f)
        return true;
    if (s[0] == 0xe2 && s[1] == 0x80 && ((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae)))
        return true;
    return s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf;
}

/* Bytes of the UTF-8 character at s; 0 when it is none. */
static size_t char_bytes(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

void snap_text(char *to, size_t size, const char *from)
{
    const unsigned char *s = (const unsigned char *)from;
    size_t at = 0;

    while (*s) {
        size_t n = char_bytes(s);
        bool bad = n == 0 || dangerous(s);
        size_t bytes = bad ? 1 : n;

        if (at + bytes >= size)
            break;
        if (bad)
            to[at] = '?';
        else
            memcpy(to + at, s, n);
        at += bytes;
        s += n ? n : 1;
    }
    to[at] = '\0';
}

static void text(const json_t *o, const char *key, char *to, size_t size)
{
    const char *s = json_string_value(json_object_get(o, key));

    snap_text(to, size, s ? s : "");
}

static double number_of(const json_t *v)
{
    double x;

    if (!json_is_number(v))
        return NAN;
    x = json_number_value(v);
    return isfinite(x) && fabs(x) <= 1e18 ? x : NAN;
}

static double number(const json_t *o, const char *key)
{
    return number_of(json_object_get(o, key));
}

/* Times, rates, sizes: below zero makes no sense. */
static double amount(const json_t *o, const char *key)
{
    double x = number(o, key);

    return x >= 0 ? x : NAN;
}

static int64_t count(const json_t *o, const char *key)
{
    double x = amount(o, key);

    return x <= (double)COUNT_MAX ? (int64_t)x : -1;
}

/* The array under key, and how many of its items are looked at. */
static const json_t *list(const json_t *o, const char *key, size_t max, size_t *n)
{
    const json_t *a = json_object_get(o, key);

    *n = json_is_array(a) ? json_array_size(a) : 0;
    if (*n > max)
        *n = max;
    return a;
}

/* "a, b, c" of an array of strings (a bare string is one). */
static void join(const json_t *v, char *to, size_t size)
{
    size_t n = json_is_array(v) ? json_array_size(v) : 0, at = 0;

    to[0] = '\0';
    if (json_is_string(v))
        snap_text(to, size, json_string_value(v));
    for (size_t i = 0; i < n && at + 3 < size; i++) {
        const char *s = json_string_value(json_array_get(v, i));

        if (!s)
            continue;
        if (at) {
            memcpy(to + at, ", ", 3);
            at += 2;
        }
        snap_text(to + at, size - at, s);
        at += strlen(to + at);
    }
}

static int check(const json_t *answer, struct err *err)
{
    const char *reason;
    char shown[256];

    if (!json_is_object(answer))
        return err_set(err, "the controller's answer is no JSON object");
    reason = json_string_value(json_object_get(answer, "error"));
    if (!reason)
        return 0;
    snap_text(shown, sizeof(shown), reason);
    return err_set(err, "%s", shown);
}

/* ---- a job ---- */

static void parse_verdict(struct snap_verdict *v, const json_t *o)
{
    text(o, "class", v->class, sizeof(v->class));
    text(o, "scope", v->scope, sizeof(v->scope));
    join(json_object_get(o, "culprits"), v->culprits, sizeof(v->culprits));
    text(o, "text", v->text, sizeof(v->text));
    v->slowdown = amount(o, "slowdown");
    v->since_s = amount(o, "since_s");
    v->confidence = amount(o, "confidence");
    v->since_step = count(o, "since_step");
}

static void parse_worst(struct snap_job *j, const json_t *o)
{
    j->has_worst = json_is_object(o);
    j->worst.rank = count(o, "rank");
    text(o, "node", j->worst.node, sizeof(j->worst.node));
    j->worst.lateness_s = amount(o, "lateness_s");
    j->worst.last_ratio = amount(o, "last_ratio");
}

static void parse_times(struct snap_job *j, const json_t *o)
{
    static const char *const shares[SHARES] = { "compute", "communication", "synchronisation",
                                                "point_to_point" };
    const json_t *step = json_object_get(o, "step_s"), *skew = json_object_get(o, "skew_s");

    j->step_mean_s = amount(step, "mean");
    j->step_p50_s = amount(step, "p50");
    j->step_p95_s = amount(step, "p95");
    j->step_cv = amount(step, "cv");
    j->skew_p50_s = amount(skew, "p50");
    j->skew_p95_s = amount(skew, "p95");
    j->steps_per_s = amount(o, "steps_per_s");
    j->samples_per_s = amount(o, "samples_per_s");
    j->lost_ratio = amount(o, "lost_ratio");
    for (int i = 0; i < SHARES; i++)
        j->share[i] = amount(json_object_get(o, "shares"), shares[i]);
}

static void parse_job(struct snap_job *j, const json_t *o)
{
    const json_t *verdicts;

    text(o, "id", j->id, sizeof(j->id));
    text(o, "name", j->name, sizeof(j->name));
    text(o, "user", j->user, sizeof(j->user));
    text(o, "partition", j->partition, sizeof(j->partition));
    text(o, "policy", j->policy, sizeof(j->policy));
    text(o, "state", j->state, sizeof(j->state));
    text(o, "regime", j->regime, sizeof(j->regime));
    text(o, "sentence", j->sentence, sizeof(j->sentence));
    j->start = amount(o, "start");
    j->elapsed_s = amount(o, "elapsed_s");
    j->age_s = amount(o, "age_s");
    j->ranks = count(o, "ranks");
    j->nodes = count(o, "nodes");
    j->nodes_total = count(o, "nodes_total");
    j->steps = count(o, "steps");
    j->period = count(o, "period");
    parse_times(j, o);
    verdicts = list(o, "verdicts", SNAP_VERDICTS_MAX, &j->n_verdicts);
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
    jobs = list(answer, "jobs", SNAP_JOBS_MAX, &n);
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

/* ---- a job's screen ---- */

static void parse_rank(struct snap_rank *r, const json_t *o)
{
    const json_t *inside = json_object_get(o, "inside");

    r->rank = count(o, "rank");
    text(o, "node", r->node, sizeof(r->node));
    text(o, "switch", r->leaf, sizeof(r->leaf));
    text(o, "state", r->state, sizeof(r->state));
    r->lateness_s = amount(o, "lateness_s");
    r->lateness_p95_s = amount(o, "lateness_p95_s");
    r->last_ratio = amount(o, "last_ratio");
    r->compute_s = amount(o, "compute_s");
    r->stay_s = amount(o, "stay_s");
    r->slowdown = amount(o, "slowdown");
    r->inside = json_is_object(inside);
    text(inside, "op", r->op, sizeof(r->op));
    text(inside, "comm", r->comm, sizeof(r->comm));
    r->seq = count(inside, "seq");
    r->inside_age_s = amount(inside, "age_s");
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
    const json_t *rows = list(heat, "rows", SNAP_RANKS_MAX, &n);
    const json_t *scale = list(heat, "scale", SNAP_SCALE_MAX, &n_scale);

    v->heat_column_s = amount(heat, "column_s");
    v->n_scale = n_scale;
    for (size_t i = 0; i < n_scale; i++)
        v->scale[i] = number_of(json_array_get(scale, i));
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *levels = json_string_value(json_object_get(row, "levels"));
        int64_t rank = count(row, "rank");
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

static void parse_comms(struct snap_view *v, const json_t *o)
{
    const json_t *a = list(o, "communicators", SNAP_COMMS_MAX, &v->n_comms);

    for (size_t i = 0; i < v->n_comms; i++) {
        const json_t *c = json_array_get(a, i);

        text(c, "name", v->comm[i].name, sizeof(v->comm[i].name));
        text(c, "label", v->comm[i].label, sizeof(v->comm[i].label));
        v->comm[i].size = count(c, "size");
        v->comm[i].instances = count(c, "instances");
        v->comm[i].collectives_per_s = amount(c, "collectives_per_s");
        v->comm[i].bytes_per_s = amount(c, "bytes_per_s");
        v->comm[i].skew_s = amount(c, "skew_s");
        v->comm[i].transfer_s = amount(c, "transfer_s");
    }
}

static void parse_events(struct snap_view *v, const json_t *o)
{
    const json_t *a = list(o, "events", SNAP_EVENTS_MAX, &v->n_events);
    const json_t *notes;

    for (size_t i = 0; i < v->n_events; i++) {
        v->event[i].age_s = amount(json_array_get(a, i), "age_s");
        text(json_array_get(a, i), "text", v->event[i].text, sizeof(v->event[i].text));
    }
    notes = list(o, "notes", SNAP_NOTES_MAX, &v->n_notes);
    for (size_t i = 0; i < v->n_notes; i++) {
        const char *s = json_string_value(json_array_get(notes, i));

        snap_text(v->note[i], sizeof(v->note[i]), s ? s : "");
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
    const json_t *a = list(o, "agents", SNAP_NODES_MAX, &n);

    s->total = json_is_array(a) ? (int64_t)n : -1;
    s->connected = s->total < 0 ? -1 : 0;
    s->cpu_ratio = s->backlog_bytes = NAN;
    for (size_t i = 0; i < n; i++) {
        const json_t *agent = json_array_get(a, i);
        int64_t lost = count(agent, "lost_batches");
        char node[64];

        s->cpu_ratio = fmax(s->cpu_ratio, amount(agent, "cpu_ratio"));
        s->backlog_bytes = fmax(s->backlog_bytes, amount(agent, "backlog_bytes"));
        s->lost_batches += lost > 0 ? lost : 0;
        text(agent, "node", node, sizeof(node));
        if (json_is_true(json_object_get(agent, "connected")))
            s->connected++;
        else
            add_missing(s, node);
    }
}

static void parse_probe(struct snap_probe *p, const json_t *o)
{
    p->events = count(o, "events");
    p->dropped = count(o, "dropped");
    p->missed = count(o, "missed");
    p->ranks_guarded = count(o, "ranks_guarded");
    p->ranks_total = count(o, "ranks_total");
    p->overhead_ratio = amount(o, "overhead_ratio");
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
    ranks = list(answer, "rank_table", SNAP_RANKS_MAX, &v->n_ranks);
    v->rank = xcalloc(v->n_ranks, sizeof(*v->rank));
    for (size_t i = 0; i < v->n_ranks; i++)
        parse_rank(&v->rank[i], json_array_get(ranks, i));
    v->rank_total = count(answer, "rank_table_total");
    if (v->rank_total < (int64_t)v->n_ranks)
        v->rank_total = (int64_t)v->n_ranks;
    parse_heat(v, json_object_get(answer, "heat"));
    history = json_object_get(answer, "history");
    v->history_column_s = amount(history, "column_s");
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
    free(v->rank);
    free(v);
}

/* ---- nodes, status ---- */

static void parse_verdict_of_node(struct snap_node *n, const json_t *v)
{
    /* null, a name, or a verdict as in a job */
    if (json_is_object(v))
        text(v, json_object_get(v, "text") ? "text" : "class", n->verdict, sizeof(n->verdict));
    else
        join(v, n->verdict, sizeof(n->verdict));
}

static void parse_node(struct snap_node *n, const json_t *o)
{
    const json_t *agent = json_object_get(o, "agent"), *jobs = json_object_get(o, "jobs");
    const char *first = json_string_value(json_array_get(jobs, 0));

    text(o, "node", n->node, sizeof(n->node));
    text(o, "switch", n->leaf, sizeof(n->leaf));
    join(jobs, n->jobs, sizeof(n->jobs));
    n->n_jobs = json_is_array(jobs) ? (int64_t)json_array_size(jobs) : -1;
    snap_text(n->first_job, sizeof(n->first_job), first ? first : "");
    n->ranks = count(o, "ranks");
    n->lateness_s = amount(o, "lateness_s");
    n->slowdown = amount(o, "slowdown");
    parse_verdict_of_node(n, json_object_get(o, "verdict"));
    n->culprit_count = count(o, "culprit_count");
    n->last_culprit = amount(o, "last_culprit");
    n->has_agent = json_is_object(agent);
    n->connected = json_is_true(json_object_get(agent, "connected"));
    n->cpu_ratio = amount(agent, "cpu_ratio");
    n->rss_bytes = amount(agent, "rss_bytes");
    n->backlog_bytes = amount(agent, "backlog_bytes");
    n->age_s = amount(agent, "age_s");
    n->lost_batches = count(agent, "lost_batches");
}

struct snap_nodes *snap_nodes_parse(const json_t *answer, struct err *err)
{
    struct snap_nodes *s;
    const json_t *nodes;
    size_t n;

    if (check(answer, err) < 0)
        return NULL;
    nodes = list(answer, "nodes", SNAP_NODES_MAX, &n);
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
    text(answer, "version", s->version, sizeof(s->version));
    text(answer, "host", s->host, sizeof(s->host));
    s->uptime_s = amount(answer, "uptime_s");
    s->cpu_ratio = amount(answer, "cpu_ratio");
    s->rss_bytes = amount(answer, "rss_bytes");
    s->jobs = count(answer, "jobs");
    s->agents = count(answer, "agents");
    s->ranks = count(answer, "ranks");
    return 0;
}

/* ---- what it means ---- */

enum severity snap_verdict_severity(const struct snap_verdict *v)
{
    if (!strcmp(v->class, "hang"))
        return SEVERITY_BAD;
    return v->slowdown >= 1.1 ? SEVERITY_BAD : SEVERITY_WARN;
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
