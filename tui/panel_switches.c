/* panel_switches.c - the job on its switches, drawn as a tree: under a switch stand those below it, and only
 * the nodes that verdicts name. */
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"
#include "term/padded.h"
#include "term/sheet.h"
#include "tui/look.h"
#include "tui/panel.h"

#define INDENT_MAX 5 /* levels; what is deeper stands below the same column */

struct row {
    const struct report_switch *of; /* NULL: a node */
    char name[80], note[192];
    int64_t nodes, ranks;
    double slowdown, wait_s;
    enum style style;
};

static enum style row_style(const void *row)
{
    return ((const struct row *)row)->style;
}

static const struct table_column columns[] = {
    { "SWITCH", 20, 20, 0, TABLE_TEXT, offsetof(struct row, name), .style = row_style },
    { "NODES", 5, 0, 0, TABLE_COUNT, .field = offsetof(struct row, nodes) },
    { "RANKS", 5, 0, 0, TABLE_COUNT, .field = offsetof(struct row, ranks) },
    { "WORK", 5, 0, 0, TABLE_TIMES, .field = offsetof(struct row, slowdown) },
    { "WAITS", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct row, wait_s) },
    { "WORST RANK, OR VERDICT", 28, 60, 0, TABLE_TEXT, offsetof(struct row, note), .style = row_style },
};

static int indent(int64_t depth)
{
    return depth < 0 ? 0 : depth < INDENT_MAX ? 2 * (int)depth : 2 * INDENT_MAX;
}

static void switch_row(struct row *r, const struct report_switch *s, enum style blamed)
{
    char worst[160] = "";
    bool passed = s->slow_routes > 0;

    if (s->worst_rank >= 0)
        snprintf(worst, sizeof(worst), "%s r%lld %s", text_times(s->worst_slowdown).s,
                 (long long)s->worst_rank, s->worst_node);
    *r = (struct row){
        .of = s, .nodes = s->nodes, .ranks = s->ranks, .slowdown = s->slowdown, .wait_s = s->wait_s
    };
    r->style = s->class[0] ? blamed : s->n_named || passed ? STYLE_BOLD : STYLE_TEXT;
    snprintf(r->name, sizeof(r->name), "%*s%s%s", indent(s->depth), "", s->name, s->class[0] ? "!" : "");
    snprintf(r->note, sizeof(r->note), "%s%s%s%s%s", s->class, s->class[0] && passed ? ", " : "",
             passed ? "on a slow route" : "", (s->class[0] || passed) && worst[0] ? ", " : "", worst);
}

static void node_row(struct row *r, const struct report_named *named, int64_t depth, enum style blamed)
{
    bool itself = !strcmp(named->name, named->culprit), link = !strcmp(named->scope, "link");

    *r = (struct row){ .nodes = -1,
                       .ranks = named->ranks,
                       .slowdown = named->slowdown,
                       .wait_s = named->wait_s,
                       .style = blamed };
    snprintf(r->name, sizeof(r->name), "%*s%s!", indent(depth), "", named->name);
    if (link)
        snprintf(r->note, sizeof(r->note), "slow link to %s, %s", named->culprit, named->class);
    else
        snprintf(r->note, sizeof(r->note), "%s%s%s", named->class, itself ? "" : " ",
                 itself ? "" : named->culprit);
}

static int draw_head(struct canvas *c, const struct report_switches *s)
{
    char text[256];
    int y;

    snprintf(text, sizeof(text), "%lld switch%s, %lld node%s, %lld rank%s; with a verdict: %lld",
             (long long)s->total, s->total == 1 ? "" : "es", (long long)s->nodes, text_plural(s->nodes),
             (long long)s->ranks, text_plural(s->ranks), (long long)s->eventful);
    y = sheet_text(c, 0, 1, s->eventful > 0 ? STYLE_BOLD : STYLE_TEXT, text);
    if (s->unknown_nodes > 0)
        y += canvas_printf(c, y, 1, c->width - 2, STYLE_WARN, "the switch of %lld node%s is not known",
                           (long long)s->unknown_nodes, text_plural(s->unknown_nodes)) > 0;
    if (s->total > (int64_t)s->n)
        y += canvas_printf(c, y, 1, c->width - 2, STYLE_DIM, "the first %zu switch%s listed", s->n,
                           s->n == 1 ? " is" : "es are") > 0;
    return y;
}

static int draw_list(struct canvas *c, int y, const struct report *v)
{
    const struct report_switches *s = v->switches;
    enum style blamed = look_severity_style(look_job_severity(&v->job));
    struct row *rows = xcalloc(s->n + s->n_named, sizeof(*rows));
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        switch_row(&rows[n++], &s->list[i], blamed);
        for (size_t k = 0; k < s->list[i].n_named; k++)
            node_row(&rows[n++], &s->named[s->list[i].first + k], s->list[i].depth + 1, blamed);
    }
    y = sheet_table(c, y, columns, ARRAY_SIZE(columns), rows, n, sizeof(*rows));
    free(rows);
    return y;
}

static bool has_content(const struct report *v)
{
    return v->switches && v->switches->n;
}

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct report *v = ui->view;

    if (!v->switches) {
        canvas_put(c, 0, 1, c->width - 2, STYLE_DIM,
                   ui->frozen                  ? "not part of the frozen picture: press Space to go on"
                   : report_row_alive(&v->job) ? "not known yet"
                                               : "not stored of steps that have ended");
        return 1;
    }
    if (!has_content(v))
        return sheet_text(
            c, 0, 1, STYLE_TEXT,
            "The switches are not known: Slurm named none of them to the nodes (SLURM_TOPOLOGY_ADDR). Set "
            "TopologyPlugin=topology/tree in slurm.conf, and list the switches in topology.conf.");
    return draw_list(c, draw_head(c, v->switches), v);
}

const struct panel_ops panel_switches = { "switches: the job's nodes by the switch they are below", draw,
                                          has_content };
