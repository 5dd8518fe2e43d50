/* screen_nodes.c - the nodes that guarded jobs run on, worst first. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "tui/draw.h"
#include "tui/figures.h"
#include "tui/screen.h"

static enum severity severity(const struct snap_node *n)
{
    if (n->has_agent && !n->connected)
        return SEVERITY_BAD;
    if (n->verdict[0])
        return n->slowdown >= 1.1 ? SEVERITY_BAD : SEVERITY_WARN;
    return n->n_jobs > 0 ? SEVERITY_GOOD : SEVERITY_NONE;
}

static enum style severity_style(const void *row)
{
    return draw_severity_style(severity(row));
}

/* Only trouble has a colour. */
static enum style trouble_style(const void *row)
{
    return severity(row) >= SEVERITY_WARN ? severity_style(row) : STYLE_TEXT;
}

static enum style dim(const void *row)
{
    (void)row;
    return STYLE_DIM;
}

static void draw_tag(const struct table_cell *at, const void *row)
{
    const struct snap_node *n = row;

    table_put(at, draw_severity_style(severity(n)),
              n->has_agent && !n->connected ? "LOST"
              : n->verdict[0]               ? "SLOW"
              : n->n_jobs > 0               ? "OK"
                                            : "IDLE");
}

static void draw_last(const struct table_cell *at, const void *row)
{
    const struct ui *ui = at->context;
    double last = ((const struct snap_node *)row)->last_culprit;

    table_put(at, STYLE_TEXT, figure_age(fmax(ui->wall_s - last, isnan(last) ? NAN : 0)).text);
}

static void draw_agent(const struct table_cell *at, const void *row)
{
    const struct snap_node *n = row;
    char text[48];

    if (!n->has_agent)
        table_put(at, STYLE_DIM, "-");
    else if (n->connected)
        table_put(at, STYLE_GOOD, "up");
    else {
        snprintf(text, sizeof(text), "gone%s", figure_age(n->age_s).text);
        table_put(at, STYLE_BAD, text);
    }
}

static int by_severity(const void *a, const void *b)
{
    const struct snap_node *na = a, *nb = b;
    int by = (int)severity(nb) - (int)severity(na);

    return by ? by : table_compare_number(na->slowdown, nb->slowdown);
}

static const struct table_column columns[] = {
    { "", 4, 0, 0, TABLE_TEXT, 0, draw_tag, by_severity, .meaning = "how it goes, worst first" },
    { "NODE", 10, 10, 0, TABLE_TEXT, offsetof(struct snap_node, node), .style = trouble_style,
      .meaning = "Slurm's node name" },
    { "SWITCH", 8, 6, 3, TABLE_TEXT, offsetof(struct snap_node, leaf), .style = dim,
      .meaning = "its leaf switch" },
    { "JOBS", 10, 8, 0, TABLE_TEXT, offsetof(struct snap_node, jobs), .meaning = "guarded job steps on it" },
    { "RANKS", 6, 0, 2, TABLE_COUNT, offsetof(struct snap_node, ranks), .meaning = "guarded ranks on it" },
    { "LATE", 7, 0, 0, TABLE_SECONDS, offsetof(struct snap_node, lateness_s),
      .meaning = "mean lateness of its ranks" },
    { "WORK", 5, 0, 0, TABLE_TIMES, offsetof(struct snap_node, slowdown), .style = trouble_style,
      .meaning = "own work over the others'" },
    { "BLAMED", 7, 0, 4, TABLE_COUNT, offsetof(struct snap_node, culprit_count),
      .meaning = "how often the culprit" },
    { "AGO", 5, 0, 5, TABLE_NUMBER, offsetof(struct snap_node, last_culprit), draw_last,
      .meaning = "when so for the last time" },
    { "AGENT", 10, 0, 0, TABLE_TEXT, 0, draw_agent, .unsorted = true, .meaning = "is its agent heard" },
    { "CPU", 6, 0, 6, TABLE_PERCENT, offsetof(struct snap_node, cpu_ratio),
      .meaning = "the agent's share of a core" },
    { "MEM", 6, 0, 7, TABLE_BYTES, offsetof(struct snap_node, rss_bytes), .meaning = "the agent's memory" },
    { "BACKLOG", 8, 0, 8, TABLE_BYTES, offsetof(struct snap_node, backlog_bytes),
      .meaning = "what it has not sent yet" },
    { "VERDICT", 20, 400, 9, TABLE_TEXT, offsetof(struct snap_node, verdict), .style = severity_style,
      .unsorted = true, .meaning = "what was found" },
};

static const void *node_row(const struct ui *ui, int i)
{
    return &ui->nodes->node[ui->list[SCREEN_NODES].order[i]];
}

static int room(const struct ui *ui, int width, int height)
{
    (void)width;
    return ui->report ? height - 2 : height - 3;
}

static int natural(const struct ui *ui, int width)
{
    (void)width;
    return 2 + (ui->list[SCREEN_NODES].n ? (int)ui->list[SCREEN_NODES].n : 2);
}

static void draw(struct canvas *c, const struct ui *ui)
{
    const struct ui_list *l = &ui->list[SCREEN_NODES];
    struct table_layout layout;
    struct screen_rows rows = {
        .y = 2, .layout = &layout, .columns = columns, .row = node_row, .context = ui
    };

    table_fit(&layout, columns, ARRAY_SIZE(columns), 1, c->width - 1, 0);
    canvas_fill(c, 1, 0, c->width, STYLE_HEADER, ' ');
    table_header(c, 1, &layout, columns, l->sort, l->reverse, ACTION_SORT);
    rows.height = room(ui, c->width, c->height);
    rows.plain = layout.n;
    screen_rows_draw(c, ui, &rows);
    if (!l->n)
        canvas_put(c, 3, 2, c->width - 4, STYLE_DIM,
                   l->filter[0] ? "no node matches the filter" : "no node with a guarded job");
}

const struct screen_ops screen_nodes = {
    .title = "nodes",
    .columns = columns,
    .n_columns = ARRAY_SIZE(columns),
    .sort = 0,
    .draw = draw,
    .rows = room,
    .natural = natural,
};
