/* screen_nodes.c - the nodes that guarded jobs run on, worst first. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "term/draw.h"
#include "term/padded.h"
#include "tui/health.h"
#include "tui/look.h"
#include "tui/screen.h"

static bool is_lost(const struct report_node *n)
{
    return n->has_agent && !n->agent.connected && !n->agent.ended;
}

static enum severity severity(const struct report_node *n)
{
    if (is_lost(n))
        return SEVERITY_BAD;
    if (n->verdict[0])
        return n->slowdown >= VERDICT_BAD_SLOWDOWN ? SEVERITY_BAD : SEVERITY_WARN;
    return n->jobs.n > 0 ? SEVERITY_GOOD : SEVERITY_NONE;
}

static enum style severity_style(const void *row)
{
    return look_severity_style(severity(row));
}

/* Only trouble has a colour. */
static enum style trouble_style(const void *row)
{
    return severity(row) >= SEVERITY_WARN ? severity_style(row) : STYLE_TEXT;
}

static void draw_tag(const struct table_cell *at, const void *row)
{
    const struct report_node *n = row;

    table_put(at, look_severity_style(severity(n)),
              is_lost(n)      ? "LOST"
              : n->verdict[0] ? "SLOW"
              : n->jobs.n > 0 ? "OK"
                              : "IDLE");
}

static void draw_last(const struct table_cell *at, const void *row)
{
    const struct ui *ui = at->context;
    double last = ((const struct report_node *)row)->last_culprit;

    table_put(at, STYLE_TEXT, padded_age(fmax(ui->wall_s - last, isnan(last) ? NAN : 0)).s);
}

static void draw_agent(const struct table_cell *at, const void *row)
{
    const struct report_node *n = row;
    char text[64];

    if (!n->has_agent)
        table_put(at, STYLE_DIM, "-");
    else if (n->agent.ended)
        table_put(at, STYLE_DIM, "ended");
    else if (n->agent.connected)
        table_put(at, STYLE_GOOD, "up");
    else {
        snprintf(text, sizeof(text), "gone %s", text_age(n->agent.age_s).s);
        table_put(at, STYLE_BAD, text);
    }
}

static void draw_health(const struct table_cell *at, const void *row)
{
    char text[256];
    enum severity s = health_symptoms(&((const struct report_node *)row)->agent.health, text, sizeof(text));

    table_put(at, s >= SEVERITY_WARN ? look_severity_style(s) : STYLE_TEXT, text);
}

static enum style lemon_style(const void *row)
{
    double score = ((const struct report_node *)row)->lemon_score;

    return score >= LEMON_SURE ? STYLE_BAD : score >= 0.5 ? STYLE_WARN : STYLE_TEXT;
}

static int by_severity(const void *a, const void *b)
{
    const struct report_node *na = a, *nb = b;
    int by = (int)severity(nb) - (int)severity(na);

    return by ? by : table_compare_number(na->slowdown, nb->slowdown);
}

enum { COLUMN_LEMON = 8, COLUMN_HEALTH = 11 };

static const struct table_column columns[] = {
    { "", 4, 0, 0, TABLE_TEXT, 0, draw_tag, by_severity, .meaning = "severity, worst first" },
    { "NODE", 10, 10, 0, TABLE_TEXT, offsetof(struct report_node, node), .style = trouble_style,
      .meaning = "Slurm's node name" },
    { "SWITCH", 8, 6, 5, TABLE_TEXT, offsetof(struct report_node, switch_name), .plain = STYLE_DIM,
      .meaning = "its switch" },
    { "JOBS", 9, 9, 0, TABLE_TEXT, offsetof(struct report_node, jobs_text),
      .meaning = "guarded job steps on it" },
    { "RANKS", 6, 0, 2, TABLE_COUNT, offsetof(struct report_node, ranks), .meaning = "guarded ranks on it" },
    { "LATE", 7, 0, 0, TABLE_SECONDS, offsetof(struct report_node, lateness_s),
      .meaning = "mean lateness of its ranks" },
    { "WORK", 5, 0, 0, TABLE_TIMES, offsetof(struct report_node, slowdown), .style = trouble_style,
      .meaning = "own work over the others'" },
    { "NAMED", 7, 0, 4, TABLE_COUNT, offsetof(struct report_node, culprit_count),
      .meaning = "times that a verdict named it" },
    { "LEMON", 6, 0, 3, TABLE_PERCENT, offsetof(struct report_node, lemon_score), .style = lemon_style,
      .meaning = "probability that it is slow" },
    { "LAST NAMED", 10, 0, 6, TABLE_NUMBER, offsetof(struct report_node, last_culprit), draw_last,
      .meaning = "since a verdict last named it" },
    { "AGENT", 9, 0, 0, TABLE_TEXT, 0, draw_agent, .unsorted = true, .meaning = "state of its agent" },
    { "HEALTH", 15, 60, 1, TABLE_TEXT, 0, draw_health, .unsorted = true, .meaning = "unusual figures" },
    { "RUNQ", 5, 0, 7, TABLE_NUMBER, offsetof(struct report_node, agent.health.run_queue),
      .meaning = "tasks that are ready to run" },
    { "CLOCK", 6, 0, 7, TABLE_PERCENT, offsetof(struct report_node, agent.health.frequency_ratio),
      .meaning = "of busy CPUs over the best" },
    { "STEAL", 6, 0, 7, TABLE_PERCENT, offsetof(struct report_node, agent.health.steal_ratio),
      .meaning = "taken by other machines" },
    { "CPU", 6, 0, 8, TABLE_PERCENT, offsetof(struct report_node, agent.cpu_ratio),
      .meaning = "the agent's share of a core" },
    { "MEM", 7, 0, 9, TABLE_BYTES, offsetof(struct report_node, agent.rss_bytes),
      .meaning = "the agent's memory" },
    { "BACKLOG", 8, 0, 10, TABLE_BYTES, offsetof(struct report_node, agent.backlog_bytes),
      .meaning = "what it has not sent yet" },
    { "VERDICT", 20, 400, 11, TABLE_TEXT, offsetof(struct report_node, verdict), .style = severity_style,
      .unsorted = true, .meaning = "what was found" },
};

static const void *node_row(const struct ui *ui, int i)
{
    return &ui->nodes->node[ui->list[SCREEN_NODES].order[i]];
}

static int room(const struct ui *ui, int width, int height)
{
    (void)width;
    return ui->report ? height - 2 : height - 7; /* title, header; rule, three lines, keys */
}

static int natural(const struct ui *ui, int width)
{
    (void)width;
    return 2 + (ui->list[SCREEN_NODES].n ? (int)ui->list[SCREEN_NODES].n : 2);
}

/* Columns without a figure in any row. */
static unsigned hidden(const struct ui *ui, int width)
{
    unsigned lemon = 1u << COLUMN_LEMON, health = 15u << COLUMN_HEALTH;

    for (size_t i = 0; ui->nodes && i < ui->nodes->n; i++) {
        if (!isnan(ui->nodes->node[i].lemon_score))
            lemon = 0;
        if (ui->nodes->node[i].agent.health.known)
            health = 0;
    }
    return table_hidden(columns, ARRAY_SIZE(columns), width - 1, lemon | health);
}

/* The node under the cursor: its verdict, how often it was the culprit, its health. */
static void draw_selected(struct canvas *c, const struct ui *ui, int y)
{
    const struct ui_list *l = &ui->list[SCREEN_NODES];
    const struct report_node *n;
    char text[512], blamed[96] = "";

    if (l->selected >= (int)l->n) {
        draw_rule(c, y, 0, c->width, "");
        return;
    }
    n = node_row(ui, l->selected);
    if (n->seen_jobs > 0 && n->culprit_jobs >= 0)
        snprintf(blamed, sizeof(blamed), " · culprit in %lld of %lld job%s", (long long)n->culprit_jobs,
                 (long long)n->seen_jobs, text_plural(n->seen_jobs));
    snprintf(text, sizeof(text), "%s%s%s · %s%s", n->node, n->switch_name[0] ? " " : "", n->switch_name,
             n->jobs_text[0] ? n->jobs_text : "no job", blamed);
    draw_rule(c, y, 0, c->width, text);
    y += 1 + canvas_wrap(c, y + 1, 1, 1, c->width - 2, n->agent.health.n_gpus ? 1 : 2,
                         look_severity_style(severity(n)), n->verdict[0] ? n->verdict : "nothing found");
    canvas_put(c, y++, 1, c->width - 2, STYLE_TEXT, health_figures(&n->agent.health, text, sizeof(text)));
    canvas_put(c, y, 1, c->width - 2, STYLE_TEXT, health_gpus_text(&n->agent.health, text, sizeof(text)));
}

static void draw(struct canvas *c, const struct ui *ui)
{
    screen_list_draw(c, ui, &screen_nodes, node_row,
                     ui->list[SCREEN_NODES].filter[0] ? "no node matches the filter"
                                                      : "no node runs a guarded job");
    if (!ui->report)
        draw_selected(c, ui, c->height - 5);
}

const struct screen_ops screen_nodes = {
    .title = "nodes",
    .columns = columns,
    .n_columns = ARRAY_SIZE(columns),
    .draw = draw,
    .hidden = hidden,
    .rows = room,
    .natural = natural,
};
