/* panel_ways.c - other ways to run the job on the ranks it has: what each would make of its speed, and why.
 * Above them what the guard makes of it, over the job's own unguarded reference. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"
#include "term/draw.h"
#include "term/padded.h"
#include "term/sheet.h"
#include "tui/panel.h"

#define BAR_MAX 2.0 /* the bar's end: twice as fast */
#define SURE    0.005

static bool is_now(const struct report_strategy *way)
{
    return way->ratio.p50 == 1 && way->ratio.p5 == 1 && way->ratio.p95 == 1;
}

/* Surely better, surely worse, or neither. */
static enum style way_style(const void *row)
{
    const struct report_strategy *way = row;

    if (is_now(way))
        return STYLE_BOLD;
    if (way->ratio.p5 > 1 + SURE)
        return STYLE_GOOD;
    return way->ratio.p95 < 1 - SURE ? STYLE_DIM : STYLE_TEXT;
}

static void draw_range(const struct table_cell *at, const void *row)
{
    const struct report_strategy *way = row;
    char text[48];

    if (is_now(way) || isnan(way->ratio.p5) || isnan(way->ratio.p95))
        return;
    snprintf(text, sizeof(text), "%.2f to %.2f", way->ratio.p5, way->ratio.p95);
    table_put(at, STYLE_DIM, text);
}

static void draw_speed_bar(const struct table_cell *at, const void *row)
{
    const struct report_strategy *way = row;

    draw_bar(at->canvas, at->y, at->x, at->width, way_style(way), fmin(1, way->ratio.p50 / BAR_MAX));
}

static const struct table_column columns[] = {
    { "WAY", 39, 7, 0, TABLE_TEXT, offsetof(struct report_strategy, name), .style = way_style },
    { "SPEED", 6, 0, 0, TABLE_TIMES, .field = offsetof(struct report_strategy, ratio.p50) },
    { "RANGE (90 %)", 12, 0, 0, TABLE_TEXT, .draw = draw_range },
    { "STEP", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_strategy, step_s.p50) },
    { "TO TWICE", 10, 50, 0, TABLE_TEXT, .draw = draw_speed_bar },
};

static int draw_part(struct canvas *c, int y, const struct table_layout *layout,
                     const struct report_strategies *s, bool per_sample)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].per_sample == per_sample)
            table_row(c, y++, layout, columns, &s->list[i], NULL);
    return y;
}

static int draw_ways(struct canvas *c, int y, const struct report_strategies *s)
{
    struct table_layout layout;
    bool any = false;

    y = sheet_titles(c, y, &layout, columns, ARRAY_SIZE(columns));
    y = draw_part(c, y, &layout, s, false);
    for (size_t i = 0; i < s->n; i++)
        any = any || s->list[i].per_sample;
    if (!any)
        return y;
    y = sheet_heading(c, y, "per sample only: these need more samples; how many is unknown");
    return draw_part(c, y, &layout, s, true);
}

static int draw_reasons(struct canvas *c, int y, const struct report_strategies *s)
{
    char text[480];

    y = sheet_heading(c, y, "why");
    for (size_t i = 0; i < s->n; i++) {
        const struct report_strategy *way = &s->list[i];

        if (is_now(way))
            continue;
        snprintf(text, sizeof(text), "%s: %s%s%s%s", way->name, way->reason, way->assumes[0] ? " (if " : "",
                 way->assumes, way->assumes[0] ? ")" : "");
        y = sheet_text(c, y, 3, STYLE_TEXT, text);
    }
    for (size_t i = 0; i < s->n_assumes; i++)
        y = sheet_text(c, y, 3, STYLE_DIM, s->assumes[i]);
    return y;
}

/* ---- under the guard, over without ---- */

struct guarded_row {
    const struct report_guarded_ratio *ratio;
    char name[24];
};

static void draw_guarded_value(const struct table_cell *at, const void *row)
{
    const struct report_guarded_ratio *r = ((const struct guarded_row *)row)->ratio;
    enum style style = STYLE_TEXT;

    if (!r->selected && (r->high < 1 - SURE || r->low > 1 + SURE))
        style = STYLE_BOLD;
    table_put(at, style, padded_times(r->value).s);
}

static void draw_guarded_range(const struct table_cell *at, const void *row)
{
    const struct report_guarded_ratio *r = ((const struct guarded_row *)row)->ratio;
    char text[48] = "-";

    if (!isnan(r->low) && !isnan(r->high))
        snprintf(text, sizeof(text), "%.2f to %.2f", r->low, r->high);
    table_put(at, STYLE_DIM, text);
}

static void draw_guarded_reference(const struct table_cell *at, const void *row)
{
    table_put(at, STYLE_TEXT, ((const struct guarded_row *)row)->ratio->reference);
}

static const struct table_column guarded_columns[] = {
    { "GUARDED", 16, 0, 0, TABLE_TEXT, .field = offsetof(struct guarded_row, name) },
    { "RATIO", 6, 0, 0, TABLE_TEXT, .draw = draw_guarded_value },
    { "RANGE", 12, 0, 0, TABLE_TEXT, .draw = draw_guarded_range },
    { "REFERENCE", 10, 10, 0, TABLE_TEXT, .draw = draw_guarded_reference },
};

static int draw_guarded(struct canvas *c, int y, const struct report_guarded *g)
{
    static const char *const names[GUARDED_FIGURES] = {
        [GUARDED_STEP] = "step time",   [GUARDED_THROUGHPUT] = "throughput",
        [GUARDED_CV] = "its variation", [GUARDED_SYNCHRONISATION] = "synchronisation",
        [GUARDED_SKEW] = "skew",        [GUARDED_ENERGY] = "energy a step",
    };
    struct table_layout layout;

    if (!g->known)
        return y;
    y = sheet_text(c, y, 1, STYLE_TEXT, g->text);
    y = sheet_titles(c, y, &layout, guarded_columns, ARRAY_SIZE(guarded_columns));
    for (int f = 0; f < GUARDED_FIGURES; f++) {
        struct guarded_row row = { &g->ratio[f], "" };

        snprintf(row.name, sizeof(row.name), "%s", names[f]);
        if (*g->ratio[f].reference)
            table_row(c, y++, &layout, guarded_columns, &row, NULL);
    }
    return y + 1;
}

static bool has_content(const struct report *v)
{
    return v->strategies.n > 0 || v->guarded.known;
}

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct report_strategies *s = &ui->view->strategies;
    int y = draw_guarded(c, 0, &ui->view->guarded);

    if (s->n == 0) {
        canvas_printf(c, y, 1, c->width - 2, STYLE_DIM, "no comparison%s%s", s->missing[0] ? ": " : " yet",
                      s->missing);
        return y + 1;
    }
    y = draw_ways(c, y, s);
    return draw_reasons(c, y, s);
}

const struct panel_ops panel_ways = { "ways: other ways to run the job", draw, has_content };
