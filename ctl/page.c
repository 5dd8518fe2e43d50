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

static void jobs_row(struct table *t, const json_t *job)
{
    const json_t *step = get_object(job, "step_s"), *skew = get_object(job, "skew_s"),
                 *worst = get_object(job, "worst");
    char text[64];

    table_cell(t, "%s", show_text(job, "id", text, sizeof(text)));
    table_cell(t, "%s", show_text(job, "user", text, 17));
    table_cell(t, "%s", show_text(job, "name", text, 17));
    table_cell(t, "%s", show_text(job, "state", text, sizeof(text)));
    table_cell(t, "%s", text_s(get_number(job, "elapsed_s")).s);
    table_cell(t, "%s", text_count(get_number(job, "ranks")).s);
    table_cell(t, "%s", text_count(get_number(job, "nodes")).s);
    table_cell(t, "%s", text_count(get_number(job, "steps")).s);
    table_cell(t, "%s", text_s(get_number(step, "p50")).s);
    table_cell(t, "%s", text_number(get_number(job, "steps_per_s")).s);
    table_cell(t, "%s", text_s(get_number(skew, "p50")).s);
    table_cell(t, "%s", text_percent(get_number(job, "synchronisation_ratio")).s);
    table_cell(t, "%s", show_text(job, "regime", text, sizeof(text)));
    table_cell(t, "%s", show_text(worst, "node", text, sizeof(text)));
}

int page_jobs(FILE *out, const json_t *answer, int columns, struct err *err)
{
    static const struct text_column layout[] = {
        { "JOB", false, 0 },    { "USER", false, 1 },   { "NAME", false, 0 }, { "STATE", false, 0 },
        { "FOR", true, 2 },     { "RANKS", true, 0 },   { "NODES", true, 3 }, { "STEPS", true, 4 },
        { "STEP", true, 0 },    { "STEPS/S", true, 7 }, { "SKEW", true, 6 },  { "SYNC", true, 0 },
        { "REGIME", false, 5 }, { "LATEST", false, 0 },
    };
    const json_t *jobs, *job;
    struct table *t;
    size_t i;

    if (check_answer(answer, "jobs", JSON_ARRAY, err) < 0)
        return -1;
    jobs = get_array(answer, "jobs");
    if (json_array_size(jobs) == 0) {
        double ended = get_number(answer, "ended");
        char line[160] = "No guarded job is running or has ended. To start one: srun --sync-guard PROGRAM";

        if (ended > 0)
            snprintf(line, sizeof(line), "No guarded job is running; %s ended: sgctl jobs --finished",
                     text_count(ended).s);
        text_wrap(out, line, 0, columns);
        return 0;
    }
    t = table_new(layout, ARRAY_SIZE(layout));
    json_array_foreach(jobs, i, job)
        jobs_row(t, job);
    table_print(t, out, 0, columns);
    table_free(t);
    return 0;
}

const char *page_agent_link(const json_t *agent)
{
    return get_true(agent, "ended") ? "ended" : get_true(agent, "connected") ? "connected" : "lost";
}

/* The agent of a node: null where none is connected now. */
static const char *agent_word(const json_t *agent)
{
    return agent ? page_agent_link(agent) : "none";
}

#define LEMON_SURE 0.95 /* a score from here on is called a lemon: doc/protocol.md */

/* In how many of the jobs that were seen on the node it was the culprit, and whether that is too many. */
static void nodes_past(struct table *t, const json_t *node)
{
    double seen = get_number(node, "seen_jobs"), score = get_number(node, "lemon_score");

    if (isnan(seen))
        table_cell(t, "-");
    else
        table_cell(t, "%s of %s jobs", text_count(get_number(node, "culprit_jobs")).s, text_count(seen).s);
    table_cell(t, "%s%s", score >= LEMON_SURE ? "YES, " : "", text_percent(score).s);
}

static void nodes_row(struct table *t, const json_t *node, double now)
{
    const json_t *agent = get_object(node, "agent");
    double last = get_number(node, "last_culprit");
    char text[128], verdict[400];

    table_cell(t, "%s", show_text(node, "node", text, sizeof(text)));
    table_cell(t, "%s", show_text(node, "switch", text, sizeof(text)));
    table_cell(t, "%s", show_list(get_array(node, "jobs"), 3, text, sizeof(text)));
    table_cell(t, "%s", text_count(get_number(node, "ranks")).s);
    table_cell(t, "%s", text_s(get_number(node, "lateness_s")).s);
    table_cell(t, "%s", text_times(get_number(node, "slowdown")).s);
    table_cell(t, "%s", text_count(get_number(node, "culprit_count")).s);
    table_cell(t, "%s%s", text_s(now - last).s, isnan(now - last) ? "" : " ago");
    nodes_past(t, node);
    table_cell(t, "%s", agent_word(agent));
    table_cell(t, "%s", text_percent(get_number(agent, "cpu_ratio")).s);
    table_cell(t, "%s", text_bytes(get_number(agent, "rss_bytes")).s);
    table_cell(t, "%s", show_text(node, "verdict", verdict, sizeof(verdict)));
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
    static const struct text_column layout[] = {
        { "NODE", false, 0 },      { "SWITCH", false, 4 },  { "JOBS", false, 0 },  { "RANKS", true, 3 },
        { "LATE", true, 0 },       { "WORK", true, 0 },     { "NAMED", true, 5 },  { "LAST NAMED", true, 6 },
        { "CULPRIT IN", true, 2 }, { "LEMON?", true, 1 },   { "AGENT", false, 0 }, { "CPU", true, 7 },
        { "MEMORY", true, 8 },     { "VERDICT", false, 0 },
    };
    const json_t *nodes, *node;
    struct table *t;
    size_t i;

    if (check_answer(answer, "nodes", JSON_ARRAY, err) < 0)
        return -1;
    nodes = get_array(answer, "nodes");
    if (json_array_size(nodes) == 0) {
        text_wrap(out, "No nodes are known yet. They appear with the first guarded job.", 0, columns);
        return 0;
    }
    t = table_new(layout, ARRAY_SIZE(layout));
    json_array_foreach(nodes, i, node)
        nodes_row(t, node, get_number(answer, "now"));
    table_print(t, out, 0, columns);
    table_free(t);
    explain_lemons(out, nodes, columns);
    return 0;
}
