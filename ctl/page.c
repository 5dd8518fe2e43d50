/* page.c - the lists: controller, jobs, nodes.  One job is page_job.c, a trace page_analysis.c. */
#include "ctl/page.h"
#include "ctl/page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/job_line.h"
#include "report/verdict_words.h"
#include "wire/json.h"

int page_status(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const struct page page = { out, answer, form, NULL };
    struct report_status s;
    struct table *t;
    char names[512], history[200] = "off";

    if (report_status_read(&s, answer, err) < 0) {
        report_status_free(&s);
        return -1;
    }
    t = page_figures();
    page_figure(t, "Controller", "syncguardd %s on %s, up %s", page_word(s.version), page_word(s.host),
                text_s(s.uptime_s).s);
    page_figure(t, "Guards", "%s job%s, %s rank%s", page_count(s.jobs).s, text_plural(s.jobs),
                page_count(s.ranks).s, text_plural(s.ranks));
    page_figure(t, "Connections", "%s agent%s, %s terminal%s, %s batches/s", page_count(s.agents).s,
                text_plural(s.agents), page_count(s.clients).s, text_plural(s.clients),
                text_number(s.batches_per_s).s);
    page_figure(t, "Uses", "%s of a core, %s", text_percent(s.cpu_ratio).s, text_bytes(s.rss_bytes).s);
    if (s.store) {
        snprintf(history, sizeof(history), "%s", text_bytes(s.store_bytes).s);
        if (!isnan(s.store_max_bytes))
            text_append(history, sizeof(history), " of %s", text_bytes(s.store_max_bytes).s);
        if (!isnan(s.store_bytes_per_day))
            text_append(history, sizeof(history), ", %s%s a day", s.store_bytes_per_day < 0 ? "-" : "+",
                        text_bytes(fabs(s.store_bytes_per_day)).s);
        if (s.store_full > 0)
            text_append(history, sizeof(history), "; the disk is full: nothing is added");
    }
    page_figure(t, "History", "%s", history);
    if (!isnan(s.bounds.steps_bytes))
        page_figure(t, "Bounds", "steps take %s of %s, %s refused, %s left out",
                    text_bytes(s.bounds.steps_bytes).s, text_bytes(s.bounds.memory_bytes).s,
                    page_count(s.bounds.refused).s, page_count(s.bounds.left_out).s);
    page_figure(t, "Policies", "%s", page_word(json_texts_show(&s.policies, 64, names, sizeof(names))));
    page_figure(t, "You see", s.sees_all ? "all jobs (operator)" : "your own jobs");
    page_put_figures(&page, 0, t);
    report_status_free(&s);
    return 0;
}

static char *state_cell(const void *row, char *buf, size_t size)
{
    return job_line_state(row, buf, size);
}

static char *tag_cell(const void *row, char *buf, size_t size)
{
    snprintf(buf, size, "%s", job_line_tag(row));
    return buf;
}

static char *cost_cell(const void *row, char *buf, size_t size)
{
    snprintf(buf, size, "%s", text_percent(job_line_cost(row)).s);
    return buf;
}

static char *culprits_cell(const void *row, char *buf, size_t size)
{
    if (!*job_line_culprit(row, buf, size))
        snprintf(buf, size, "-");
    return buf;
}

static int by_line(const void *a, const void *b)
{
    return job_line_compare(a, b);
}

int page_jobs(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "JOB", .field = offsetof(struct report_row, id) },
        { "USER", .field = offsetof(struct report_row, user), .chars = 13 },
        { "NAME", .field = offsetof(struct report_row, name), .chars = 17 },
        { "STATE", .cell = state_cell },
        { "HEALTH", .cell = tag_cell, .spare = 1 },
        { "FOR", .field = offsetof(struct report_row, elapsed_s), .words = text_age, .spare = 4 },
        { "RANKS", .field = offsetof(struct report_row, ranks), .count = true, .spare = 3 },
        { "NODES", .field = offsetof(struct report_row, nodes), .count = true, .spare = 6 },
        { "STEPS", .field = offsetof(struct report_row, steps), .count = true, .spare = 7 },
        { "STEP", .field = offsetof(struct report_row, step_p50_s), .words = text_s, .spare = 2 },
        { "STEPS/S", .field = offsetof(struct report_row, steps_per_s), .words = text_number, .spare = 10 },
        { "SKEW", .field = offsetof(struct report_row, skew_p50_s), .words = text_s, .spare = 9 },
        { "SYNC", .field = offsetof(struct report_row, synchronisation_ratio), .words = text_percent,
          .spare = 5 },
        { "REGIME", .field = offsetof(struct report_row, regime), .spare = 8 },
        { "COST", .cell = cost_cell, .right = true },
        { "TREND", .field = offsetof(struct report_row, trend) },
        { "CULPRIT", .cell = culprits_cell },
    };
    const struct page page = { out, answer, form, NULL };
    struct report_rows *jobs = report_rows_read(answer, SIZE_MAX, err);
    int64_t ended = json_get_count(answer, "ended"), left_out = json_get_count(answer, "left_out");

    if (!jobs)
        return -1;
    if (jobs->n)
        qsort(jobs->job, jobs->n, sizeof(*jobs->job), by_line);
    if (!jobs->n && left_out > 0)
        page_line(&page, 0, "No job step matches; without --state and --cost there %s %s.",
                  left_out == 1 ? "is" : "are", page_count(left_out).s);
    else if (!jobs->n && ended > 0)
        page_line(&page, 0, "No guarded job that you may see is running; %s ended: sgctl jobs --finished",
                  page_count(ended).s);
    else if (!jobs->n)
        page_line(&page, 0,
                  "No guarded job that you may see is running or has ended. To start one: "
                  "srun --sync-guard PROGRAM");
    page_table(&page, NULL, jobs->job, jobs->n, sizeof(*jobs->job), column, ARRAY_SIZE(column), 0);
    report_rows_free(jobs);
    return 0;
}

const char *page_agent_link(const struct report_agent *agent)
{
    return agent->ended ? "ended" : agent->connected ? "connected" : "lost";
}

/* The agent of a node: none where none is connected now. */
static char *agent_cell(const void *row, char *buf, size_t size)
{
    const struct report_node *n = row;

    snprintf(buf, size, "%s", n->has_agent ? page_agent_link(&n->agent) : "none");
    return buf;
}

static char *jobs_cell(const void *row, char *buf, size_t size)
{
    const struct report_node *n = row;

    snprintf(buf, size, "-");
    return n->jobs.n ? json_texts_show(&n->jobs, 3, buf, size) : buf;
}

/* In how many of the jobs that were seen on the node it was the culprit. */
static char *culprit_cell(const void *row, char *buf, size_t size)
{
    const struct report_node *n = row;

    snprintf(buf, size, "-");
    if (n->seen_jobs >= 0)
        snprintf(buf, size, "%s of %s job%s", page_count(n->culprit_jobs).s, page_count(n->seen_jobs).s,
                 text_plural(n->seen_jobs));
    return buf;
}

static char *lemon_cell(const void *row, char *buf, size_t size)
{
    double score = ((const struct report_node *)row)->lemon_score;

    snprintf(buf, size, "%s%s", score >= LEMON_SURE ? "YES, " : "", text_percent(score).s);
    return buf;
}

/* Those that a verdict names first, then the latest. */
static int worst_first(const void *a, const void *b)
{
    const struct report_node *x = a, *y = b;
    bool named_x = *x->verdict, named_y = *y->verdict;
    double late_x = x->lateness_s, late_y = y->lateness_s;

    if (named_x != named_y)
        return named_x ? -1 : 1;
    if (isnan(late_x) != isnan(late_y))
        return isnan(late_x) ? 1 : -1;
    if (late_x != late_y && !isnan(late_x))
        return late_x < late_y ? 1 : -1;
    return strverscmp(x->node, y->node);
}

int page_nodes(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "NODE", .field = offsetof(struct report_node, node) },
        { "SWITCH", .field = offsetof(struct report_node, switch_name), .spare = 4 },
        { "JOBS", .cell = jobs_cell },
        { "RANKS", .field = offsetof(struct report_node, ranks), .count = true, .spare = 3 },
        { "LATE", .field = offsetof(struct report_node, lateness_s), .words = text_s },
        { "WORK", .field = offsetof(struct report_node, slowdown), .words = text_times },
        { "NAMED", .field = offsetof(struct report_node, culprit_count), .count = true, .spare = 5 },
        { "LAST NAMED", .field = offsetof(struct report_node, last_culprit_age_s), .words = page_ago,
          .spare = 6 },
        { "CULPRIT IN", .cell = culprit_cell, .right = true, .spare = 2 },
        { "LEMON?", .cell = lemon_cell, .right = true, .spare = 1 },
        { "AGENT", .cell = agent_cell },
        { "CPU", .field = offsetof(struct report_node, agent.cpu_ratio), .words = text_percent, .spare = 7 },
        { "MEMORY", .field = offsetof(struct report_node, agent.rss_bytes), .words = text_bytes, .spare = 8 },
        { "VERDICT", .field = offsetof(struct report_node, verdict) },
    };
    const struct page page = { out, answer, form, NULL };
    struct report_node_rows *nodes = report_node_rows_read(answer, err);
    bool lemons = false;

    if (!nodes)
        return -1;
    if (nodes->n)
        qsort(nodes->node, nodes->n, sizeof(*nodes->node), worst_first);
    else
        page_line(&page, 0, "No nodes are known yet. They appear with the first guarded job.");
    page_table(&page, NULL, nodes->node, nodes->n, sizeof(*nodes->node), column, ARRAY_SIZE(column), 0);
    for (size_t i = 0; i < nodes->n; i++)
        lemons |= nodes->node[i].lemon_score >= LEMON_SURE;
    if (lemons)
        page_title(
            &page,
            "LEMON? is the probability that a node holds jobs back more than 3 times as often as the other "
            "nodes do. A node with YES should be drained and tested.");
    report_node_rows_free(nodes);
    return 0;
}

static char *ended_cell(const void *row, char *buf, size_t size)
{
    const struct report_node_step *r = row;

    snprintf(buf, size, "%s", r->running ? "running" : page_ago(r->age_s).s);
    return buf;
}

static char *for_cell(const void *row, char *buf, size_t size)
{
    const struct report_node_step *r = row;

    snprintf(buf, size, "%s", r->culprit_s > 0 ? text_s(r->culprit_s).s : "-");
    return buf;
}

int page_node(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "JOB", .field = offsetof(struct report_node_step, id) },
        { "USER", .field = offsetof(struct report_node_step, user), .chars = 13 },
        { "NAME", .field = offsetof(struct report_node_step, name), .chars = 17, .spare = 1 },
        { "ENDED", .cell = ended_cell, .right = true },
        { "THERE FOR", .field = offsetof(struct report_node_step, seconds), .words = text_s, .spare = 2 },
        { "NAMED FOR", .cell = for_cell, .right = true },
        { "LOST", .field = offsetof(struct report_node_step, lost_s), .words = text_s },
        { "AT MOST", .field = offsetof(struct report_node_step, slowdown), .words = text_times },
        { "VERDICT", .field = offsetof(struct report_node_step, class) },
    };
    const struct page page = { out, answer, form, NULL };
    struct report_node_steps s;
    size_t named = 0;

    if (report_node_steps_read(&s, answer, err) < 0)
        return -1;
    for (size_t i = 0; i < s.n; i++)
        named += s.step[i].culprit_s > 0;
    if (!s.n)
        page_line(&page, 0, "No guarded job step on %s is known that you may see.", page_word(s.node));
    else if (s.n == 1)
        page_line(&page, 0, "%s %s the only job step that is known there.", page_word(s.node),
                  named ? "held back" : "did not hold back");
    else
        page_line(&page, 0, "%s held back %s of the %s newest job steps there.", page_word(s.node),
                  named ? page_count((int64_t)named).s : "none", page_count((int64_t)s.n).s);
    page_table(&page, NULL, s.step, s.n, sizeof(*s.step), column, ARRAY_SIZE(column), 0);
    if (named)
        page_title(&page, "What the newest verdict on it said");
    for (size_t i = 0; i < s.n; i++)
        if (s.step[i].culprit_s > 0 && *s.step[i].verdict)
            page_line(&page, PAGE_INDENT, "%s: %s", page_word(s.step[i].id), page_word(s.step[i].verdict));
    report_node_steps_free(&s);
    return 0;
}

int page_lemons(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    /* nothing for a shell */
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    const json_t *list, *node;
    size_t i, n = 0;

    (void)form;
    if (json_check_answer(answer, "lemons", JSON_ARRAY, err) < 0)
        return -1;
    list = json_get_array(answer, "lemons");
    json_array_foreach(list, i, node) {
        const char *name = json_string_value(node);

        if (name && *name && !name[strspn(name, letters)])
            fprintf(out, "%s%s", n++ ? "," : "", name);
    }
    if (n)
        fputc('\n', out);
    return 0;
}

/* How many starts with and without a choice are compared, and which the newest was; before: of the names. */
static void put_starts(FILE *out, const char *before, const json_t *o)
{
    double placed = json_get_number(o, "placed"), held_out = json_get_number(o, "held_out");

    if (placed > 0 || held_out > 0)
        fprintf(out, "%splaced %.0f\n%sheld_out %.0f\n%slast %s\n", before, fmax(placed, 0), before,
                fmax(held_out, 0), before, json_get_true(o, "held_out_last") ? "held_out" : "placed");
}

static void put_allreduces(FILE *out, const json_t *algorithm)
{
    /* of a library's name and version */
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .-";
    const json_t *sizes = json_get_array(algorithm, "allreduces"), *size;
    double step_s = json_get_number(algorithm, "step_s");
    const char *library = json_get_word(algorithm, "library");
    size_t i;

    put_starts(out, "algorithm_", algorithm);
    if (!*library || library[strspn(library, letters)] || !(step_s > 0) || !json_array_size(sizes))
        return;
    fprintf(out, "library %s\nstep %.6g\n", library, step_s);
    json_array_foreach(sizes, i, size)
        fprintf(out, "allreduce %.9g %.6g %.6g %.6g %.3g\n", json_number_of(json_array_get(size, 0)),
                json_number_of(json_array_get(size, 1)), json_number_of(json_array_get(size, 2)),
                json_number_of(json_array_get(size, 3)), json_number_of(json_array_get(size, 4)));
}

/* Read by the plugin, too (spank/earlier.h). */
int page_earlier(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789:"; /* of a pattern's name */
    const char *pattern = json_get_word(answer, "pattern");
    double communication = json_get_number(answer, "communication_ratio");

    (void)form;
    if (json_check_answer(answer, "runs", JSON_INTEGER, err) < 0)
        return -1;
    fprintf(out, "runs %lld\n", (long long)json_integer_value(json_object_get(answer, "runs")));
    if (*pattern && !pattern[strspn(pattern, letters)])
        fprintf(out, "pattern %s\n", pattern);
    if (!isnan(communication))
        fprintf(out, "communication %.3g\n", communication);
    put_starts(out, "", answer);
    put_allreduces(out, json_get_object(answer, "algorithm"));
    return 0;
}
