/* page.c - the lists: controller, jobs, nodes.  One job is page_job.c, a trace page_analysis.c. */
#include "ctl/page.h"
#include "ctl/page_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "wire/json.h"

static void page_history(struct table *t, const json_t *answer)
{
    double most = get_number(answer, "store_max_bytes"), growth = get_number(answer, "store_bytes_per_day");
    char text[200] = "off";

    if (get_true(answer, "store")) {
        snprintf(text, sizeof(text), "%s", text_bytes(get_number(answer, "store_bytes")).s);
        if (!isnan(most))
            text_append(text, sizeof(text), " of %s", text_bytes(most).s);
        if (!isnan(growth))
            text_append(text, sizeof(text), ", %s%s a day", growth < 0 ? "-" : "+",
                        text_bytes(fabs(growth)).s);
        if (get_true(answer, "store_full"))
            text_append(text, sizeof(text), "; the disk is full: nothing is added");
    }
    page_figure(t, "History", "%s", text);
}

int page_status(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    const struct page page = { out, answer, form, NULL };
    double jobs = get_number(answer, "jobs"), ranks = get_number(answer, "ranks"),
           agents = get_number(answer, "agents"), clients = get_number(answer, "clients");
    const json_t *bounds = get_object(answer, "bounds");
    struct table *t;
    char names[512];

    if (check_answer(answer, "version", JSON_STRING, err) < 0)
        return -1;
    t = page_figures();
    page_figure(t, "Controller", "syncguardd %s on %s, up %s", shown(answer, "version").s,
                shown(answer, "host").s, text_s(get_number(answer, "uptime_s")).s);
    page_figure(t, "Guards", "%s job%s, %s rank%s", text_count(jobs).s, page_plural(jobs),
                text_count(ranks).s, page_plural(ranks));
    page_figure(t, "Connections", "%s agent%s, %s terminal%s, %s batches/s", text_count(agents).s,
                page_plural(agents), text_count(clients).s, page_plural(clients),
                text_number(get_number(answer, "batches_per_s")).s);
    page_figure(t, "Uses", "%s of a core, %s", text_percent(get_number(answer, "cpu_ratio")).s,
                text_bytes(get_number(answer, "rss_bytes")).s);
    page_history(t, answer);
    if (!isnan(get_number(bounds, "steps_bytes")))
        page_figure(
            t, "Bounds", "steps take %s of %s, %s refused, %s left out",
            text_bytes(get_number(bounds, "steps_bytes")).s, text_bytes(get_number(bounds, "memory_bytes")).s,
            text_count(get_number(bounds, "refused")).s, text_count(get_number(bounds, "left_out")).s);
    page_figure(t, "Policies", "%s", show_list(get_array(answer, "policies"), 64, names, sizeof(names)));
    page_figure(t, "You see", get_true(answer, "operator") ? "all jobs (operator)" : "your own jobs");
    page_put_figures(&page, 0, t);
    return 0;
}

int page_jobs(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "JOB", .key = "id" },
        { "USER", .key = "user", .chars = 17, .spare = 1 },
        { "NAME", .key = "name", .chars = 17 },
        { "STATE", .key = "state" },
        { "FOR", .key = "elapsed_s", .words = text_s, .spare = 2 },
        { "RANKS", .key = "ranks", .words = text_count },
        { "NODES", .key = "nodes", .words = text_count, .spare = 3 },
        { "STEPS", .key = "steps", .words = text_count, .spare = 4 },
        { "STEP", .key = "step_s.p50", .words = text_s },
        { "STEPS/S", .key = "steps_per_s", .words = text_number, .spare = 7 },
        { "SKEW", .key = "skew_s.p50", .words = text_s, .spare = 6 },
        { "SYNC", .key = "synchronisation_ratio", .words = text_percent },
        { "REGIME", .key = "regime", .spare = 5 },
        { "LATEST", .key = "worst.node" },
    };
    const struct page page = { out, answer, form, NULL };

    if (check_answer(answer, "jobs", JSON_ARRAY, err) < 0)
        return -1;
    if (json_array_size(get_array(answer, "jobs")) == 0) {
        if (get_number(answer, "ended") > 0)
            page_line(&page, 0, "No guarded job that you may see is running; %s ended: sgctl jobs --finished",
                      text_count(get_number(answer, "ended")).s);
        else
            page_line(&page, 0,
                      "No guarded job that you may see is running or has ended. To start one: "
                      "srun --sync-guard PROGRAM");
    }
    page_table(&page, NULL, get_array(answer, "jobs"), SIZE_MAX, column, ARRAY_SIZE(column), 0);
    return 0;
}

char *page_agent_link(const json_t *agent, char *buf, size_t size)
{
    snprintf(buf, size, "%s",
             get_true(agent, "ended")       ? "ended"
             : get_true(agent, "connected") ? "connected"
                                            : "lost");
    return buf;
}

/* The agent of a node: null where none is connected now. */
static char *agent_cell(const json_t *node, char *buf, size_t size)
{
    const json_t *agent = get_object(node, "agent");

    if (agent)
        return page_agent_link(agent, buf, size);
    snprintf(buf, size, "none");
    return buf;
}

static char *jobs_cell(const json_t *node, char *buf, size_t size)
{
    return show_list(get_array(node, "jobs"), 3, buf, size);
}

/* In how many of the jobs that were seen on the node it was the culprit. */
static char *culprit_cell(const json_t *node, char *buf, size_t size)
{
    double seen = get_number(node, "seen_jobs");

    if (isnan(seen))
        snprintf(buf, size, "-");
    else
        snprintf(buf, size, "%s of %s jobs", text_count(get_number(node, "culprit_jobs")).s,
                 text_count(seen).s);
    return buf;
}

static char *lemon_cell(const json_t *node, char *buf, size_t size)
{
    double score = get_number(node, "lemon_score");

    snprintf(buf, size, "%s%s", score >= LEMON_SURE ? "YES, " : "", text_percent(score).s);
    return buf;
}

static void explain_lemons(const struct page *p, const json_t *nodes)
{
    const json_t *node;
    bool any = false;
    size_t i;

    json_array_foreach(nodes, i, node)
        any |= get_number(node, "lemon_score") >= LEMON_SURE;
    if (any)
        page_title(
            p,
            "LEMON? is the probability that a node holds jobs back more than 3 times as often as the other "
            "nodes do. A node with YES should be drained and tested.");
}

/* Those that a verdict names first, then the latest. */
static int worst_first(const void *a, const void *b)
{
    const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
    bool named_x = *get_word(x, "verdict"), named_y = *get_word(y, "verdict");
    double late_x = get_number(x, "lateness_s"), late_y = get_number(y, "lateness_s");

    if (named_x != named_y)
        return named_x ? -1 : 1;
    if (isnan(late_x) != isnan(late_y))
        return isnan(late_x) ? 1 : -1;
    if (late_x != late_y && !isnan(late_x))
        return late_x < late_y ? 1 : -1;
    return strverscmp(get_word(x, "node"), get_word(y, "node"));
}

static json_t *in_order(const json_t *nodes)
{
    size_t n = json_array_size(nodes);
    json_t **row = xcalloc(n, sizeof(*row)), *ordered = json_array();

    for (size_t i = 0; i < n; i++)
        row[i] = json_array_get(nodes, i);
    if (n)
        qsort(row, n, sizeof(*row), worst_first);
    for (size_t i = 0; i < n; i++)
        json_array_append(ordered, row[i]);
    free(row);
    return ordered;
}

int page_nodes(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "NODE", .key = "node" },
        { "SWITCH", .key = "switch", .spare = 4 },
        { "JOBS", .cell = jobs_cell },
        { "RANKS", .key = "ranks", .words = text_count, .spare = 3 },
        { "LATE", .key = "lateness_s", .words = text_s },
        { "WORK", .key = "slowdown", .words = text_times },
        { "NAMED", .key = "culprit_count", .words = text_count, .spare = 5 },
        { "LAST NAMED", .key = "last_culprit", .words = page_ago, .when = true, .spare = 6 },
        { "CULPRIT IN", .cell = culprit_cell, .right = true, .spare = 2 },
        { "LEMON?", .cell = lemon_cell, .right = true, .spare = 1 },
        { "AGENT", .cell = agent_cell },
        { "CPU", .key = "agent.cpu_ratio", .words = text_percent, .spare = 7 },
        { "MEMORY", .key = "agent.rss_bytes", .words = text_bytes, .spare = 8 },
        { "VERDICT", .key = "verdict" },
    };
    const struct page page = { out, answer, form, NULL };
    json_t *nodes;

    if (check_answer(answer, "nodes", JSON_ARRAY, err) < 0)
        return -1;
    nodes = in_order(get_array(answer, "nodes"));
    if (json_array_size(nodes) == 0)
        page_line(&page, 0, "No nodes are known yet. They appear with the first guarded job.");
    page_table(&page, NULL, nodes, SIZE_MAX, column, ARRAY_SIZE(column), 0);
    explain_lemons(&page, nodes);
    json_decref(nodes);
    return 0;
}

int page_lemons(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    /* nothing for a shell */
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    const json_t *list, *node;
    size_t i, n = 0;

    (void)form;
    if (check_answer(answer, "lemons", JSON_ARRAY, err) < 0)
        return -1;
    list = get_array(answer, "lemons");
    json_array_foreach(list, i, node) {
        const char *name = json_string_value(node);

        if (name && *name && !name[strspn(name, letters)])
            fprintf(out, "%s%s", n++ ? "," : "", name);
    }
    if (n)
        fputc('\n', out);
    return 0;
}

static void put_allreduces(FILE *out, const json_t *algorithm)
{
    /* of a library's name and version */
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .-";
    double placed = get_number(algorithm, "placed"), held_out = get_number(algorithm, "held_out"),
           step_s = get_number(algorithm, "step_s");
    const char *library = get_string(algorithm, "library");
    json_t *size;
    size_t i;

    if (placed > 0 || held_out > 0)
        fprintf(out, "algorithm_placed %.0f\nalgorithm_held_out %.0f\nalgorithm_last %s\n", fmax(placed, 0),
                fmax(held_out, 0), get_true(algorithm, "held_out_last") ? "held_out" : "placed");
    if (!library || !*library || library[strspn(library, letters)] || !(step_s > 0) ||
        !json_array_size(get_array(algorithm, "allreduces")))
        return;
    fprintf(out, "library %s\nstep %.6g\n", library, step_s);
    json_array_foreach(get_array(algorithm, "allreduces"), i, size)
        fprintf(out, "allreduce %.9g %.6g %.6g %.6g %.3g\n", number_of(json_array_get(size, 0)),
                number_of(json_array_get(size, 1)), number_of(json_array_get(size, 2)),
                number_of(json_array_get(size, 3)), number_of(json_array_get(size, 4)));
}

/* Read by the plugin, too (spank/earlier.h). */
int page_earlier(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789:"; /* of a pattern's name */
    const char *pattern = get_string(answer, "pattern");
    double communication = get_number(answer, "communication_ratio");
    double placed = get_number(answer, "placed"), held_out = get_number(answer, "held_out");

    (void)form;
    if (check_answer(answer, "runs", JSON_INTEGER, err) < 0)
        return -1;
    fprintf(out, "runs %lld\n", (long long)json_integer_value(json_object_get(answer, "runs")));
    if (pattern && *pattern && !pattern[strspn(pattern, letters)])
        fprintf(out, "pattern %s\n", pattern);
    if (!isnan(communication))
        fprintf(out, "communication %.3g\n", communication);
    if (placed > 0 || held_out > 0)
        fprintf(out, "placed %.0f\nheld_out %.0f\nlast %s\n", fmax(placed, 0), fmax(held_out, 0),
                get_true(answer, "held_out_last") ? "held_out" : "placed");
    put_allreduces(out, get_object(answer, "algorithm"));
    return 0;
}
