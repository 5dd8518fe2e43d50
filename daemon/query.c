/* query.c - queries of terminals: see doc/protocol.md.  All users may ask; the answer contains what the user
 * may see. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/proc.h"
#include "common/xalloc.h"
#include "daemon/bounds.h"
#include "daemon/control.h"
#include "daemon/query.h"
#include "daemon/query_action.h"
#include "daemon/query_job.h"
#include "daemon/query_rows.h"
#include "history/audit.h"
#include "history/culprit.h"
#include "history/history.h"
#include "history/lemon.h"
#include "history/store.h"
#include "job/record.h"
#include "job/report_job.h"
#include "report/report.h"
#include "report/report_nodes.h"
#include "report/report_scaling.h"
#include "report/report_status.h"
#include "report/report_step.h"
#include "report/report_strategies.h"
#include "report/report_view.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/view.h"
#include "wire/json.h"
#include "wire/pages.h"

#define ROWS_MAX   100000 /* of a list that is asked for in pages */
#define PAGE_S     0.05   /* a row of a thousand ranks takes milliseconds */
#define LEMONS_MAX 64

void query_status(struct report_status *status, const struct controller *s)
{
    uint64_t rss_bytes = proc_own_rss_bytes();

    *status = (struct report_status){ .uptime_s = controller_now_s() - s->start_s,
                                      .batches_per_s = s->batches_per_s,
                                      .cpu_ratio = s->cpu_ratio,
                                      .rss_bytes = rss_bytes ? (double)rss_bytes : NAN,
                                      .store = s->store != NULL,
                                      .store_bytes = store_bytes(s->store),
                                      .store_max_bytes = s->config.history_size,
                                      .store_bytes_per_day = s->history_per_day_bytes,
                                      .store_full = s->history_full,
                                      .now = NAN };
    snprintf(status->version, sizeof(status->version), "%s", PACKAGE_VERSION);
    snprintf(status->controller, sizeof(status->controller), "%016llx", (unsigned long long)s->instance);
    snprintf(status->host, sizeof(status->host), "%s", s->host);
    for (size_t i = 0; i < s->jobs.n; i++) {
        if (job_over(s->jobs.job[i]))
            continue;
        status->jobs++;
        status->ranks += view_ranks_running(s->jobs.job[i]->view);
        status->agents += (int64_t)job_agents_connected(s->jobs.job[i]);
    }
    for (struct peer *c = s->peers; c; c = c->next)
        status->clients += c->up && !c->agent;
    for (size_t i = 0; i < s->config.n_policies; i++)
        json_texts_add(&status->policies, s->config.policies[i].name);
    if (s->bounds) {
        struct bounds_sums b = bounds_sums_get(s->bounds);

        status->bounds.known = true;
        status->bounds.users = (int64_t)b.users;
        status->bounds.unfinished = (int64_t)b.unfinished;
        status->bounds.steps_bytes = b.bytes;
        status->bounds.memory_bytes = s->config.memory;
        status->bounds.refused = (int64_t)b.refused;
        status->bounds.left_out = (int64_t)b.left_out;
    }
}

static json_t *answer_status(struct peer *p, const json_t *q)
{
    struct report_status status;
    json_t *answer;

    (void)q;
    query_status(&status, p->controller);
    status.now = wall_s();
    status.sees_all = query_sees(p) == UINT32_MAX;
    answer = report_status_json(&status);
    report_status_free(&status);
    return answer;
}

/* ---- jobs: those that run, and then those that ended, the newest of each first ---- */

/* The word of a page: "running N", before the nth; or "ended LEFT UPDATED UID JOB STEP RESTARTS", after that
 * row, with LEFT rows still wanted. */
struct jobs_place {
    size_t running, ended;
    struct store_place stored;
};

static int jobs_place_read(struct jobs_place *at, const json_t *q, size_t jobs, struct err *err)
{
    const char *word = json_get_word(q, "from");
    struct job_id *id = &at->stored.id;

    *at = (struct jobs_place){ .running = jobs, .stored = STORE_LIST_BEGIN };
    if (json_get_true(q, "finished"))
        at->ended = (size_t)json_get_int(q, "newest", 1, ROWS_MAX, ROWS_MAX);
    if (!*word || sscanf(word, "running %zu", &at->running) == 1) {
        at->running = at->running < jobs ? at->running : jobs; /* some may be forgotten by now */
        return 0;
    }
    at->running = 0;
    if (sscanf(word, "ended %zu %la %u %u %u %u", &at->ended, &at->stored.updated, &id->uid, &id->job,
               &id->step, &id->restarts) == 6)
        return 0;
    return err_set(err, "unknown 'from': expected the word that the answer before had as page.next");
}

struct jobs_rows {
    struct pages_page page;
    size_t ended; /* that are wanted */
    double wall_s;
};

static bool take_ended(json_t *row, size_t bytes, void *arg)
{
    struct jobs_rows *r = arg;

    if (row)
        query_job_age(row, r->wall_s);
    pages_append(&r->page, row, bytes);
    return --r->ended && !pages_full(&r->page);
}

static json_t *answer_jobs(struct peer *p, const json_t *q)
{
    struct jobs_rows r = { .wall_s = wall_s() };
    struct jobs_place at;
    const struct job_id *id = &at.stored.id;
    double now_s = controller_now_s(), until_s = now_s + PAGE_S;
    bool more = false;
    struct err err;
    json_t *answer;

    if (jobs_place_read(&at, q, p->controller->jobs.n, &err) < 0)
        return query_error(err.text);
    r.page.rows = json_array();
    r.ended = at.ended;
    for (; at.running > 0 && !pages_full(&r.page) && controller_now_s() < until_s; at.running--) {
        const struct job *j = p->controller->jobs.job[at.running - 1];
        struct report_row row;

        if (!query_may_see(p, j) || job_over(j))
            continue;
        report_job_row(&row, j, now_s);
        pages_append(&r.page, report_row_json(&row), 0);
        report_row_free(&row);
    }
    if (at.running)
        snprintf(r.page.next, sizeof(r.page.next), "running %zu", at.running);
    else if (r.ended)
        more = pages_full(&r.page) ||
               store_list(p->controller->store, query_sees(p), &at.stored, take_ended, &r);
    if (more && r.ended)
        snprintf(r.page.next, sizeof(r.page.next), "ended %zu %a %u %u %u %u", r.ended, at.stored.updated,
                 id->uid, id->job, id->step, id->restarts);
    answer = json_pack("{s:f}", "now", wall_s());
    if (!*json_get_word(q, "from"))
        json_put_count(answer, "ended", store_listed_count(p->controller->store, query_sees(p)));
    pages_put(&r.page, answer, "jobs");
    return answer;
}

/* The selected rows beyond those that a frame has room for; `cut` is what pages_cut() goes on with. */
static void put_cut(json_t *report, const struct report_selection *asked)
{
    int64_t total = json_get_count(report, "rank_table_total"),
            from = asked->offset < total ? asked->offset : total,
            wanted = asked->count < total - from ? asked->count : total - from,
            lost = wanted - (int64_t)json_array_size(json_get_array(report, "rank_table"));

    if (lost > 0)
        json_put_json(report, "cut",
                      json_pack("{s:I,s:I}", "rank_table", (json_int_t)lost, "heat.rows", (json_int_t)lost));
}

static json_t *answer_job(struct peer *p, const json_t *q)
{
    struct report_selection asked, selection;
    struct err err;
    struct job *j = query_job(p, q, false, &err);
    double now_s = controller_now_s();
    struct report *report;
    json_t *answer;

    if (!j) {
        answer = query_job_stored(p, q);
        return answer ? answer : query_error(err.text);
    }
    report_selection_parse(&asked, json_object_get(q, "view"));
    selection = asked;
    if (json_get_true(q, "rows_later"))
        query_order_begin(p, j, &selection);
    else if (selection.count > QUERY_ROWS_MAX)
        selection.count = QUERY_ROWS_MAX;
    job_scaling_renew(j, now_s, false);
    report = report_job_get(j, now_s, &selection);
    controls_get(p->controller->controls, j, now_s, &report->control);
    history_get(p->controller->history, j, controls_first_action(j), report);
    answer = report_json(report);
    report_free(report);
    if (json_get_true(q, "rows_later"))
        json_put_json(answer, "rows_later", query_rows_lists());
    else
        put_cut(answer, &asked);
    return answer;
}

static json_t *answer_scaling(struct peer *p, const json_t *q)
{
    struct err err;
    const char *mode = json_get_string(q, "mode");
    struct job *j = query_job(p, q, false, &err);
    bool strong;

    if (!j)
        return query_error(err.text);
    if (mode && strcmp(mode, "weak") != 0 && strcmp(mode, "strong") != 0)
        return query_error("unknown mode: expected weak or strong");
    strong = mode && !strcmp(mode, "strong");
    job_scaling_renew(j, controller_now_s(), strong);
    return json_pack("{s:s,s:o}", "job", j->text_id, "scaling", report_scaling_json(j->scaling[strong]));
}

static json_t *answer_strategies(struct peer *p, const json_t *q)
{
    struct view_strategy_options options;
    struct report_strategies *r;
    json_t *answer;
    struct err err;
    struct job *j = query_job(p, q, false, &err);

    if (!j)
        return query_error(err.text);
    report_strategy_options(&options, q);
    r = xcalloc(1, sizeof(*r));
    report_strategies_get(r, j->view, &options);
    answer = json_pack("{s:s,s:o}", "job", j->text_id, "strategies", report_strategies_json(r));
    free(r);
    return answer;
}

/* The newest step, drawn; of an ended job as it was stored. */
static json_t *answer_step(struct peer *p, const json_t *q)
{
    uint32_t rows = (uint32_t)json_get_int(q, "rows", 1, PICTURE_ROWS_MAX, PICTURE_ROWS_MAX);
    struct err err;
    struct job *j = query_job(p, q, false, &err);
    json_t *report, *answer = json_object();

    if (j) {
        json_put_text(answer, "job", j->text_id);
        json_put_json(answer, "picture", report_step(j->view, controller_now_s(), rows));
        return answer;
    }
    report = query_job_stored(p, q);
    if (!report) {
        json_decref(answer);
        return query_error(err.text);
    }
    json_put_json(answer, "job", json_incref(json_object_get(report, "id")));
    json_put_json(answer, "picture", json_incref(json_object_get(report, "picture")));
    json_decref(report);
    return answer;
}

/* ---- nodes ---- */

#define NODES_PAGE 256u /* all ranks of their jobs are looked at */

struct names {
    const char **name;
    size_t n, cap;
};

static void name_add(struct names *t, const char *name, const char *behind)
{
    if (strcmp(name, behind) <= 0)
        return;
    t->name = xgrow(t->name, &t->cap, t->n + 1, sizeof(*t->name));
    t->name[t->n++] = name;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The nodes of a page, from the first behind that one on; false: they are the last.  Also those on which a
 * job ran and none runs now; users who may see everything see those that the history has scored, too. */
static bool nodes_behind(struct peer *p, const char *behind, struct names *t)
{
    const struct jobs *jobs = &p->controller->jobs;
    const struct lemon *l;
    size_t n, kept = 0;

    for (size_t i = 0; i < jobs->n; i++)
        for (size_t a = 0; query_may_see(p, jobs->job[i]) && a < jobs->job[i]->n_agents; a++)
            name_add(t, jobs->job[i]->agent[a]->node, behind);
    l = history_lemons(p->controller->history, &n);
    for (size_t i = 0; query_sees(p) == UINT32_MAX && i < n; i++)
        name_add(t, l[i].node, behind);
    if (t->n)
        qsort(t->name, t->n, sizeof(*t->name), by_name);
    for (size_t i = 0; i < t->n; i++)
        if (!kept || strcmp(t->name[i], t->name[kept - 1]) != 0)
            t->name[kept++] = t->name[i];
    t->n = kept < NODES_PAGE ? kept : NODES_PAGE;
    return kept > t->n;
}

static bool runs_on(const struct job *j, const struct names *t)
{
    for (size_t i = 0; t->n && i < j->n_agents; i++)
        if (bsearch(&(const char *){ j->agent[i]->node }, t->name, t->n, sizeof(*t->name), by_name))
            return true;
    return false;
}

static json_t *answer_nodes(struct peer *p, const json_t *q)
{
    const struct jobs *all = &p->controller->jobs;
    struct report_nodes t = { 0 };
    struct pages_page page = { .rows = json_array() };
    struct names names = { 0 };
    bool more = nodes_behind(p, json_get_word(q, "from"), &names);
    double now_s = controller_now_s(), last_s;
    json_t *answer = json_pack("{s:f}", "now", wall_s());
    int count;

    for (size_t i = 0; i < all->n; i++)
        if (query_may_see(p, all->job[i]) && !job_over(all->job[i]) && runs_on(all->job[i], &names))
            report_job_nodes(&t, all->job[i], now_s);
    for (size_t i = 0; i < names.n && !*page.next; i++) {
        struct report_node r;
        bool known = store_node(p->controller->store, names.name[i], &count, &last_s) == 0;

        report_job_node_get(&r, report_nodes_get(&t, names.name[i]), now_s);
        r.culprit_count = known ? count : -1;
        r.last_culprit = known && count ? last_s : NAN;
        history_node_get(p->controller->history, &r);
        pages_append(&page, report_node_json(&r, NODE_OF_JOBS), 0);
        report_node_free(&r);
        if (i + 1 < names.n ? pages_full(&page) : more)
            snprintf(page.next, sizeof(page.next), "%s", names.name[i]);
    }
    report_nodes_free(&t);
    free(names.name);
    pages_put(&page, answer, "nodes");
    return answer;
}

struct node_steps {
    const struct jobs *jobs;
    struct report_node_step *step;
    size_t n, cap;
};

static struct report_node_step *node_step_add(struct node_steps *t)
{
    t->step = xgrow(t->step, &t->cap, t->n + 1, sizeof(*t->step));
    return &t->step[t->n++];
}

/* What the controller holds of a step is newer than what it has saved. */
static void take_stored(const struct job_id *id, const struct report_node_step *step, void *arg)
{
    struct node_steps *t = arg;

    if (!jobs_find(t->jobs, id))
        *node_step_add(t) = *step;
}

static int by_newest(const void *a, const void *b)
{
    const struct report_node_step *x = a, *y = b;

    return x->running != y->running ? y->running - x->running : (x->at < y->at) - (x->at > y->at);
}

/* The steps that run on a node, and those that ran there, as far as the asker may see them. */
static json_t *answer_node(struct peer *p, const json_t *q)
{
    struct node_steps t = { .jobs = &p->controller->jobs };
    const char *node = json_get_word(q, "node");
    double now_s = controller_now_s();
    json_t *list = json_array();

    for (size_t i = 0; i < t.jobs->n; i++) {
        const struct job *j = t.jobs->job[i];

        if (query_may_see(p, j) && job_agent_find(j, node))
            culprit_node_step(j, node, now_s, node_step_add(&t));
    }
    store_node_steps(p->controller->store, query_sees(p), node, REPORT_NODE_STEPS_MAX + t.n, take_stored, &t);
    if (t.n)
        qsort(t.step, t.n, sizeof(*t.step), by_newest);
    for (size_t i = 0; i < t.n && i < REPORT_NODE_STEPS_MAX; i++)
        json_array_append_new(list, report_node_step_json(&t.step[i]));
    free(t.step);
    return json_pack("{s:f, s:s, s:o}", "now", wall_s(), "node", node, "steps", list);
}

/* Their names alone, which say nothing of anybody's jobs: to everybody, where jobs of several users blame the
 * node. */
static json_t *answer_lemons(struct peer *p, const json_t *q)
{
    size_t n;
    const struct lemon *l = history_lemons(p->controller->history, &n);
    json_t *list = json_array();

    (void)q;
    for (size_t i = 0; i < n && json_array_size(list) < LEMONS_MAX; i++)
        if (l[i].score >= LEMON_SURE && (l[i].culprit_users > 1 || query_sees(p) == UINT32_MAX))
            json_array_append_new(list, json_of_text(l[i].node));
    return json_pack("{s:o}", "lemons", list);
}

/* What the asker's own earlier runs of a job showed: nobody hears of another user's, not even who sees their
 * jobs. */
static json_t *answer_earlier(struct peer *p, const json_t *q)
{
    uint32_t ranks = (uint32_t)json_get_int(q, "ranks", 1, VIEW_RANKS_MAX, 0),
             nodes = (uint32_t)json_get_int(q, "nodes", 1, JOB_AGENTS_MAX, 0);
    struct store_allreduces usual;
    struct store_launches earlier;
    struct store_turns turns;
    json_t *answer, *algorithm;
    char name[128];

    json_get_text(q, "name", name, sizeof(name));
    if (!*name || !ranks)
        return query_error("the question lacks the job's name or its number of ranks");
    store_launches(p->controller->store, link_uid(p->link), name, ranks, nodes, &earlier);
    store_usual(p->controller->store, link_uid(p->link), name, ranks, nodes, &usual, &turns);
    answer = json_object();
    json_put_int(answer, "runs", (int64_t)earlier.n);
    json_put_text(answer, "pattern", earlier.newest.pattern);
    json_put_real(answer, "communication_ratio", earlier.newest.communication_ratio);
    json_put_int(answer, "placed", (int64_t)earlier.turns.placed);
    json_put_int(answer, "held_out", (int64_t)earlier.turns.held_out);
    json_put_bool(answer, "held_out_last", earlier.turns.held_out_last);
    algorithm = json_object();
    json_put_text(algorithm, "library", usual.library);
    json_put_real(algorithm, "step_s", usual.step_s);
    json_put_json(algorithm, "allreduces", store_sizes(&usual));
    json_put_int(algorithm, "placed", (int64_t)turns.placed);
    json_put_int(algorithm, "held_out", (int64_t)turns.held_out);
    json_put_bool(algorithm, "held_out_last", turns.held_out_last);
    json_put_json(answer, "algorithm", algorithm);
    return answer;
}

/* ---- record ---- */

static json_t *answer_record(struct peer *p, const json_t *q)
{
    struct err err;
    struct job *j;

    if (json_get_true(q, "stop")) {
        j = p->recording;
        if (!j)
            return query_error("this connection is not recording");
        p->recording = NULL;
        recorder_stop(j, p->link, "stopped");
        peers_instruct(p->controller, j);
        return NULL;
    }
    if (p->recording)
        return query_error("this connection is already recording");
    j = query_job(p, q, true, &err);
    if (!j)
        return query_error(err.text);
    if (p->user && bounds_recording(p->user, &err) < 0)
        return query_error(err.text);
    if (p->user)
        p->user->recordings++;
    p->recording = j;
    recorder_start(j, p->link, json_object_get(q, "tag"));
    peers_instruct(p->controller, j);
    return NULL;
}

/* ---- policies ---- */

/* Commands for the user's own jobs; operators may give them for any job. */
static json_t *answer_control(struct peer *p, const json_t *q)
{
    const char *what = json_get_string(q, "do");
    struct controls *cs = p->controller->controls;
    uid_t by = link_uid(p->link);
    double now_s = controller_now_s();
    struct report_control control;
    struct err err;
    struct job *j = query_job(p, q, true, &err);
    json_t *answer;
    int rc;

    if (!j)
        return query_error(err.text);
    if (what && !strcmp(what, "set"))
        rc = controls_set(cs, j, json_object_get(q, "words"), by, now_s, &err);
    else if (what && (!strcmp(what, "pause") || !strcmp(what, "resume")))
        rc = controls_pause(cs, j, !strcmp(what, "pause"), by, now_s, &err);
    else if (what && !strcmp(what, "acknowledge"))
        rc = controls_acknowledge(cs, j, by, now_s, &err);
    else
        return query_error("unknown command: expected set, pause, resume or acknowledge");
    if (rc < 0)
        return query_error(err.text);
    answer = json_pack("{s:s}", "job", j->text_id);
    controls_get(cs, j, now_s, &control);
    json_put_json(answer, "policy", report_control_json(&control));
    report_control_free(&control);
    return answer;
}

static json_t *answer_policy(struct peer *p, const json_t *q)
{
    const char *name = json_get_string(q, "name");
    char names[400];
    struct err err;
    json_t *answer;

    if (!name)
        return controls_policies(p->controller->controls);
    answer = controls_policy(p->controller->controls, name);
    if (answer)
        return answer;
    err_set(&err, "unknown policy '%.40s': expected one of %s", name,
            config_policy_names(&p->controller->config, names, sizeof(names)));
    return query_error(err.text);
}

static bool take_audit(const struct audit_entry *e, void *arg)
{
    return pages_append_id(arg, audit_object(e), e->id);
}

static json_t *answer_audit(struct peer *p, const json_t *q)
{
    char text[64];
    int64_t asked = json_get_int(q, "limit", INT64_MIN, INT64_MAX, 50),
            limit = asked < 1          ? 1
                    : asked > ROWS_MAX ? ROWS_MAX
                                       : asked,
            before = strtoll(json_get_word(q, "from"), NULL, 10);
    long long job = strtoll(json_show_text(q, "job", text, sizeof(text)), NULL, 10);
    struct pages_page page = { .rows = json_array() };
    struct err err;
    json_t *answer;

    audit_list(p->controller->audit, job > 0 ? (uint32_t)job : 0, query_sees(p), before, limit, take_audit,
               &page);
    if (json_object_get(q, "job") && !json_array_size(page.rows) && !before && !query_job_known(p, q, &err)) {
        json_decref(page.rows);
        return query_error(err.text);
    }
    answer = json_pack("{s:f}", "now", wall_s());
    pages_put(&page, answer, "audit");
    return answer;
}

static const struct {
    const char *name;
    json_t *(*answer)(struct peer *p, const json_t *q); /* NULL: the answer was sent already */
} queries[] = {
    { "status", answer_status },   { "jobs", answer_jobs },       { "job", answer_job },
    { "nodes", answer_nodes },     { "record", answer_record },   { "scaling", answer_scaling },
    { "action", query_action },    { "actions", query_actions },  { "strategies", answer_strategies },
    { "policy", answer_policy },   { "control", answer_control }, { "audit", answer_audit },
    { "step", answer_step },       { "rows", query_rows },        { "lemons", answer_lemons },
    { "earlier", answer_earlier }, { "node", answer_node },
};

void query_answer(struct peer *p, const json_t *question)
{
    const char *name = json_get_string(question, "query");
    json_t *tag = json_object_get(question, "tag"), *answer = NULL;
    size_t i = 0;

    while (i < ARRAY_SIZE(queries) && (!name || strcmp(name, queries[i].name)))
        i++;
    if (i == ARRAY_SIZE(queries))
        answer = query_error(
            "unknown query: expected one of status, jobs, job, nodes, scaling, record, action, actions, "
            "strategies, policy, control, audit, step, rows, lemons, earlier, node");
    else
        answer = queries[i].answer(p, question);
    if (!answer)
        return;
    if (tag)
        json_object_set(answer, "tag", tag);
    peer_send(p, answer);
}
