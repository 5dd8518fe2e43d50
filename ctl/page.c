/* page.c - the lists: controller, jobs, nodes.  One job is page_job.c, a trace page_analysis.c. */
#include "ctl/page.h"
#include "ctl/page_parts.h"

#include <math.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "wire/json.h"

static void status_line(struct table *t, const char *what, const char *value)
{
    table_cell(t, "%s", what);
    table_cell(t, "%s", value);
}

int page_status(FILE *out, const json_t *answer, int columns, struct err *err)
{
    static const struct text_column layout[] = { { "", false, 0 }, { "", false, 0 } };
    char buf[512], host[128], version[64];
    struct table *t;

    if (check_answer(answer, "version", JSON_STRING, err) < 0)
        return -1;
    t = table_new(layout, ARRAY_SIZE(layout));
    snprintf(buf, sizeof(buf), "syncguardd %s on %s, up %s",
             show_text(answer, "version", version, sizeof(version)),
             show_text(answer, "host", host, sizeof(host)), text_s(get_number(answer, "uptime_s")).s);
    status_line(t, "Controller", buf);
    snprintf(buf, sizeof(buf), "%s jobs, %s ranks", text_count(get_number(answer, "jobs")).s,
             text_count(get_number(answer, "ranks")).s);
    status_line(t, "Guards", buf);
    snprintf(buf, sizeof(buf), "%s agents, %s terminals, %s batches/s",
             text_count(get_number(answer, "agents")).s, text_count(get_number(answer, "clients")).s,
             text_number(get_number(answer, "batches_per_s")).s);
    status_line(t, "Connections", buf);
    snprintf(buf, sizeof(buf), "%s of a core, %s", text_percent(get_number(answer, "cpu_ratio")).s,
             text_bytes(get_number(answer, "rss_bytes")).s);
    status_line(t, "Uses", buf);
    if (get_true(answer, "store"))
        status_line(t, "History", text_bytes(get_number(answer, "store_bytes")).s);
    else
        status_line(t, "History", "off");
    status_line(t, "Policies", show_list(get_array(answer, "policies"), 64, buf, sizeof(buf)));
    status_line(t, "You see", get_true(answer, "operator") ? "all jobs (operator)" : "your own jobs");
    table_print(t, out, 0, columns);
    table_free(t);
    return 0;
}

int page_jobs(FILE *out, const json_t *answer, int columns, struct err *err)
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
    const struct page page = { out, answer, columns };

    if (check_answer(answer, "jobs", JSON_ARRAY, err) < 0)
        return -1;
    if (json_array_size(get_array(answer, "jobs")) == 0) {
        double ended = get_number(answer, "ended");
        char line[160] = "No guarded job is running or has ended. To start one: srun --sync-guard PROGRAM";

        if (ended > 0)
            snprintf(line, sizeof(line), "No guarded job is running; %s ended: sgctl jobs --finished",
                     text_count(ended).s);
        text_wrap(out, line, 0, columns);
        return 0;
    }
    page_table(&page, "jobs", SIZE_MAX, column, ARRAY_SIZE(column), 0);
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

#define LEMON_SURE 0.95 /* a score from here on is called a lemon: doc/protocol.md */

static char *lemon_cell(const json_t *node, char *buf, size_t size)
{
    double score = get_number(node, "lemon_score");

    snprintf(buf, size, "%s%s", score >= LEMON_SURE ? "YES, " : "", text_percent(score).s);
    return buf;
}

static void explain_lemons(FILE *out, const json_t *nodes, int columns)
{
    const json_t *node;
    bool any = false;
    size_t i;

    json_array_foreach(nodes, i, node)
        any |= get_number(node, "lemon_score") >= LEMON_SURE;
    if (!any)
        return;
    fputc('\n', out);
    text_wrap(
        out,
        "LEMON? is the probability that a node holds jobs back more than 3 times as often as the other nodes do. "
        "A node with YES should be drained and tested.",
        0, columns);
}

int page_nodes(FILE *out, const json_t *answer, int columns, struct err *err)
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
    const struct page page = { out, answer, columns };
    const json_t *nodes;

    if (check_answer(answer, "nodes", JSON_ARRAY, err) < 0)
        return -1;
    nodes = get_array(answer, "nodes");
    if (json_array_size(nodes) == 0) {
        text_wrap(out, "No nodes are known yet. They appear with the first guarded job.", 0, columns);
        return 0;
    }
    page_table(&page, "nodes", SIZE_MAX, column, ARRAY_SIZE(column), 0);
    explain_lemons(out, nodes, columns);
    return 0;
}
