/* panel_evidence.c - why a job is slow: every verdict in full, the health of ranks and nodes. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "term/padded.h"
#include "term/sheet.h"
#include "tui/health.h"
#include "tui/look.h"
#include "tui/panel.h"

#define CULPRITS_WIDTH 100
#define RANKS_SHOWN    4
#define NODES_SHOWN    64 /* those with symptoms first */

/* "node05 is slow (straggler) · step time 1.26x · for 18 s" */
static void headline_text(const struct report_verdict *v, char *buf, size_t size)
{
    char names[256];

    verdict_names(names, sizeof(names), CULPRITS_WIDTH, &v->culprits);
    verdict_words(buf, size, v->class[0] ? v->class : "?", names, v->culprits.n);
    if (!isnan(v->slowdown))
        text_append(buf, size, " · step time %s",
                    text_times_between(v->slowdown, v->slowdown_low, v->slowdown_high).s);
    if (!isnan(v->since_s))
        text_append(buf, size, " · for %s",
                    text_age(isnan(v->over_s) ? v->since_s : v->since_s - v->over_s).s);
    else if (!isnan(v->found_s))
        text_append(buf, size, " · found %s ago", text_age(v->found_s).s);
    text_append(buf, size, "%s%s", v->standing ? "" : " · over", v->acknowledged ? " · acknowledged" : "");
}

/* "began at step 155 123 (collective 1 090 332); found 8 steps later" */
static void onset_text(const struct report_verdict *v, char *buf, size_t size)
{
    int64_t later = v->found_step >= 0 && v->since_step >= 0 ? v->found_step - v->since_step : -1;

    buf[0] = '\0';
    if (v->since_step >= 0)
        text_append(buf, size, "began at step %s", padded_steps(v->since_step).s);
    if (v->onset_seq >= 0)
        text_append(buf, size, buf[0] ? " (collective %s)" : "began at collective %s",
                    padded_steps(v->onset_seq).s);
    if (later >= 0)
        text_append(buf, size, "; found %s step%s later", padded_steps(later).s, later == 1 ? "" : "s");
    else if (v->found_step < 0 && v->onset_seq >= 0 && v->detected_seq >= v->onset_seq)
        text_append(buf, size, "; found %s collectives later",
                    padded_steps(v->detected_seq - v->onset_seq).s);
}

static int draw_verdict(struct canvas *c, int y, const struct report_row *j, const struct report_verdict *v)
{
    char text[512];

    headline_text(v, text, sizeof(text));
    look_class_draw(c, y, 1, v->class);
    y = sheet_text(c, y, 3, look_severity_style(look_verdict_severity(v)), text);
    if (v->text[0])
        y = sheet_text(c, y, 3, STYLE_TEXT, v->text);
    if (v->cause[0]) {
        canvas_put(c, y, 3, 8, STYLE_DIM, "cause:");
        y = sheet_text(c, y, 10, STYLE_BOLD, v->cause);
    }
    onset_text(v, text, sizeof(text));
    if (text[0])
        y = sheet_text(c, y, 3, STYLE_DIM, text);
    report_row_ahead(text, sizeof(text), j, v);
    if (text[0] && !isnan(j->left_s)) { /* of each verdict the same is unknown otherwise */
        canvas_put(c, y, 3, 8, STYLE_DIM, "ahead:");
        y = sheet_text(c, y, 10, STYLE_TEXT, text);
    }
    if (v->next[0]) {
        canvas_put(c, y, 3, 8, STYLE_DIM, "next:");
        y = sheet_text(c, y, 10, STYLE_BOLD, v->next);
    }
    return y;
}

/* Verdicts that are over, the newest first. */
static int draw_former(struct canvas *c, int y, const struct report *v)
{
    double ended_s = report_row_ended_s(&v->job);
    bool any = false;

    for (size_t i = v->timeline.n; i-- > 0;) {
        const struct report_verdict *s = &v->timeline.list[i];
        char text[1152];

        if (isnan(s->to_s))
            continue;
        if (!any)
            y = sheet_heading(c, y, "found before");
        any = true;
        snprintf(text, sizeof(text), "%s to %s ago · %s", text_age(s->from_s + ended_s).s,
                 text_age(s->to_s + ended_s).s, s->text[0] ? s->text : s->class);
        look_class_draw(c, y, 1, s->class);
        y = sheet_text(c, y, 3, STYLE_TEXT, text);
    }
    return y;
}

/* ---- ranks ---- */

static void draw_shared(const struct table_cell *at, const void *row)
{
    bool shared = ((const struct report_rank *)row)->health.shared_cpu;

    table_put(at, shared ? STYLE_WARN : STYLE_TEXT, shared ? "shared" : "own");
}

static const struct table_column rank_columns[] = {
    { "RANK", 6, 0, 0, TABLE_RANK, offsetof(struct report_rank, rank), .plain = STYLE_BOLD },
    { "NODE", 9, 8, 0, TABLE_TEXT, .field = offsetof(struct report_rank, node) },
    { "WORK", 5, 0, 2, TABLE_TIMES, .field = offsetof(struct report_rank, slowdown) },
    { "CPUS", 10, 8, 0, TABLE_TEXT, .field = offsetof(struct report_rank, health.cpus) },
    { "", 6, 0, 0, TABLE_TEXT, .draw = draw_shared },
    { "DELAY", 6, 0, 0, TABLE_PERCENT, .field = offsetof(struct report_rank, health.run_delay_ratio) },
    { "ASIDE/S", 7, 0, 1, TABLE_NUMBER, .field = offsetof(struct report_rank, health.involuntary_per_s) },
    { "CAUSE", 30, 80, 0, TABLE_TEXT, offsetof(struct report_rank, health.cause), .plain = STYLE_WARN },
};

/* Its health has a known cause of slowness. */
static bool suspicious(const struct report_rank *r)
{
    return r->health.known && (r->health.cause[0] || r->health.shared_cpu);
}

static size_t count_ranks(const struct report *v, bool suspects)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_ranks; i++)
        n += v->rank[i].health.known && (!suspects || suspicious(&v->rank[i]));
    return n;
}

/* The suspicious ones, or the first of the table. */
static int draw_ranks(struct canvas *c, int y, const struct report *v)
{
    size_t known = count_ranks(v, false), suspects = count_ranks(v, true), shown = 0;
    struct table_layout layout;

    if (!known)
        return y;
    y = sheet_heading(c, y, "ranks: their CPUs, and the DELAY by other tasks there, as a share of the time");
    y = sheet_titles(c, y, &layout, rank_columns, ARRAY_SIZE(rank_columns));
    for (size_t i = 0; i < v->n_ranks; i++) {
        const struct report_rank *r = &v->rank[i];

        if (!r->health.known || (suspects && !suspicious(r)) || (!suspects && shown >= RANKS_SHOWN))
            continue;
        table_row(c, y++, &layout, rank_columns, r, NULL);
        shown++;
    }
    if (known > shown)
        canvas_printf(c, y++, 3, c->width - 4, STYLE_GOOD, "%zu other%s: nothing found", known - shown,
                      text_plural((int64_t)(known - shown)));
    return y;
}

/* ---- nodes ---- */

static size_t count_nodes(const struct report *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_agents; i++)
        n += v->agent[i].health.known;
    return n;
}

static int draw_node(struct canvas *c, int y, const struct report_agent *n)
{
    char text[512];
    enum severity s = health_symptoms(&n->health, text, sizeof(text));

    canvas_put(c, y, 3, 14, STYLE_BOLD, n->node);
    y = sheet_text(c, y, 18, look_severity_style(s), text);
    health_figures(&n->health, text, sizeof(text));
    if (text[0])
        y = sheet_text(c, y, 18, STYLE_DIM, text);
    health_gpus_text(&n->health, text, sizeof(text));
    return text[0] ? sheet_text(c, y, 18, STYLE_DIM, text) : y;
}

/* Those with symptoms in full, the others as a number. */
static int draw_nodes(struct canvas *c, int y, const struct report *v)
{
    size_t reported = count_nodes(v), shown = 0, fine = 0;

    if (reported)
        y = sheet_heading(c, y, "nodes");
    for (size_t i = 0; i < v->n_agents; i++) {
        const struct report_agent *a = &v->agent[i];
        char text[256];

        if (!a->health.known)
            continue;
        if (health_symptoms(&a->health, text, sizeof(text)) <= SEVERITY_GOOD && reported > 4)
            fine++;
        else if (shown++ < NODES_SHOWN)
            y = draw_node(c, y, a);
    }
    if (fine)
        canvas_printf(c, y++, 3, c->width - 4, STYLE_GOOD, "%zu %s fine", fine,
                      !shown      ? "are"
                      : fine == 1 ? "other is"
                                  : "others are");
    return y;
}

/* ---- the panel ---- */

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct report *v = ui->view;
    int y = 0;

    for (size_t i = 0; i < v->job.verdicts.n; i++)
        y = draw_verdict(c, y + (i > 0), &v->job, &v->job.verdicts.list[i]);
    y = draw_former(c, y, v);
    y = draw_ranks(c, y, v);
    y = draw_nodes(c, y, v);
    if (v->past.text[0]) {
        y = sheet_heading(c, y, "similar runs");
        y = sheet_text(c, y, 3, v->past.unusual ? STYLE_WARN : STYLE_TEXT, v->past.text);
    }
    if (!y)
        canvas_put(c, y++, 1, c->width - 2, STYLE_DIM, "no further evidence");
    return y;
}

static bool has_content(const struct report *v)
{
    return v->job.verdicts.n || v->timeline.n || count_nodes(v) || v->past.text[0];
}

const struct panel_ops panel_evidence = { "evidence: what was found, and why", draw, has_content };
