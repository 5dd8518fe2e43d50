/* panel_scaling.c - the job on more ranks: ideal, measured and projected throughput with its band, the regime
 * of each point, the next wall, and the figures behind the projection. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"
#include "term/padded.h"
#include "term/sheet.h"
#include "tui/panel.h"

#define PLOT_ROWS  9
#define PLOT_LABEL 8 /* columns left of it */
#define PLOT_WIDTH 96

static enum style regime_style(const void *point)
{
    static const struct {
        const char *name;
        enum style style;
    } styles[] = {
        { "compute", STYLE_SHARE_COMPUTE },
        { "communication", STYLE_SHARE_COMMUNICATION },
        { "synchronisation", STYLE_SHARE_SYNCHRONISATION },
    };

    for (size_t i = 0; i < ARRAY_SIZE(styles); i++)
        if (!strcmp(((const struct report_point *)point)->regime, styles[i].name))
            return styles[i].style;
    return STYLE_TEXT;
}

/* ---- the table ---- */

static void draw_ranks(const struct table_cell *at, const void *row)
{
    const struct report_point *p = row;

    table_put(at, p->factor == 1 ? STYLE_BOLD : STYLE_TEXT, padded_count(llround(fmin(1e9, p->ranks))).s);
}

static void draw_factor(const struct table_cell *at, const void *row)
{
    const struct report_point *p = row;

    table_put(at, STYLE_DIM, p->factor == 1 ? "measured" : padded_times(p->factor).s);
}

static void draw_throughput(const struct table_cell *at, const void *row)
{
    const struct report_point *p = row;
    char text[48];

    snprintf(text, sizeof(text), "%.3g (%.3g to %.3g)", p->throughput.p50, p->throughput.p5,
             p->throughput.p95);
    table_put(at, STYLE_TEXT,
              p->factor == 1 || isnan(p->throughput.p50) ? padded_times(p->throughput.p50).s : text);
}

static void draw_tail(const struct table_cell *at, const void *row)
{
    table_put(at, STYLE_TEXT, padded_times(((const struct report_point *)row)->p99_ratio.p50).s);
}

/* Of the ideal, from nothing to all of it: what is projected, and as far as the band goes. */
static void draw_of_ideal(const struct table_cell *at, const void *row)
{
    const struct report_point *p = row;
    int bar = at->width - 7, low = (int)lround(p->throughput.p5 / p->ideal * bar),
        high = (int)lround(fmin(1, p->throughput.p95 / p->ideal) * bar);

    canvas_put(at->canvas, at->y, at->x, 6, STYLE_TEXT, padded_percent(p->throughput.p50 / p->ideal).s);
    if (bar < 4 || !(p->ideal > 0) || isnan(p->throughput.p5) || isnan(p->throughput.p95))
        return;
    canvas_fill(at->canvas, at->y, at->x + 7, low, regime_style(p), 0x2588);
    canvas_fill(at->canvas, at->y, at->x + 7 + low, high > low ? high - low : 0, regime_style(p), 0x2592);
}

static const struct table_column columns[] = {
    { "RANKS", 5, 0, 0, TABLE_TEXT, .draw = draw_ranks },
    { "TIMES", 8, 0, 0, TABLE_TEXT, .draw = draw_factor },
    { "STEP", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_point, step_s.p50) },
    { "THROUGHPUT (90 %)", 22, 0, 0, TABLE_TEXT, .draw = draw_throughput },
    { "P99/MEDIAN", 10, 0, 1, TABLE_TEXT, .draw = draw_tail },
    { "REGIME", 15, 0, 0, TABLE_TEXT, offsetof(struct report_point, regime), .style = regime_style },
    { "OF IDEAL", 15, 40, 0, TABLE_TEXT, .draw = draw_of_ideal },
};

/* ---- the plot: throughput over ranks, both by doublings ---- */

struct plot {
    int y, x, width;
    double from, to, most; /* ranks; throughput */
};

/* Along a straight line on logarithmic scales. */
static double interpolate(double a, double b, double share)
{
    return exp(log(a) + share * (log(b) - log(a)));
}

static int plot_row(const struct plot *p, double value)
{
    double share = log(fmax(value, 1)) / log(p->most);

    return p->y + PLOT_ROWS - 1 - (int)lround(fmin(1, share) * (PLOT_ROWS - 1));
}

static void plot_column(struct canvas *c, const struct plot *p, int column, const struct report_scaling *s)
{
    double ranks = interpolate(p->from, p->to, (double)column / (p->width - 1));
    const struct report_point *a = &s->point[0], *b, *nearest;
    double share;
    int low, high;

    for (size_t i = 0; i + 2 < s->n && s->point[i + 1].ranks <= ranks; i++)
        a++;
    b = a + 1;
    share = fmax(0, log(ranks / a->ranks) / log(b->ranks / a->ranks));
    nearest = share < 0.5 ? a : b;
    low = plot_row(p, interpolate(a->throughput.p5, b->throughput.p5, share));
    high = plot_row(p, interpolate(a->throughput.p95, b->throughput.p95, share));
    canvas_fill(c, plot_row(p, interpolate(a->ideal, b->ideal, share)), p->x + column, 1, STYLE_DIM, 0x00b7);
    for (int y = high; y <= low; y++)
        canvas_fill(c, y, p->x + column, 1, regime_style(nearest), 0x2592);
    canvas_fill(c, plot_row(p, interpolate(a->throughput.p50, b->throughput.p50, share)), p->x + column, 1,
                regime_style(nearest), 0x2588);
}

static bool plottable(const struct report_scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct report_point *p = &s->point[i];

        if (!(p->throughput.p50 > 0) || !(p->throughput.p5 > 0) || !(p->throughput.p95 > 0) ||
            !(p->ideal > 0) || !(p->ranks > (i ? s->point[i - 1].ranks : 0)))
            return false;
    }
    return s->n > 1 && s->point[s->n - 1].ideal > 1;
}

static int draw_plot(struct canvas *c, int y, const struct report_scaling *s)
{
    const struct report_point *last = &s->point[s->n - 1];
    struct plot p = { .x = PLOT_LABEL, .from = s->point[0].ranks, .to = last->ranks, .most = last->ideal };

    p.width = c->width - PLOT_LABEL - 8 < PLOT_WIDTH ? c->width - PLOT_LABEL - 8 : PLOT_WIDTH;
    y = sheet_heading(c, y, "throughput over ranks: ideal (dots), projected, and the band of 90 %");
    p.y = y;
    canvas_put_right(c, p.y, 0, PLOT_LABEL - 1, STYLE_DIM, text_times(p.most).s);
    canvas_put_right(c, p.y + PLOT_ROWS - 1, 0, PLOT_LABEL - 1, STYLE_DIM, text_times(1).s);
    for (int i = 0; i < p.width; i++)
        plot_column(c, &p, i, s);
    y += PLOT_ROWS;
    for (size_t i = 0; i < s->n; i++) {
        int at = p.x + (int)lround(log(s->point[i].ranks / p.from) / log(p.to / p.from) * (p.width - 1));

        canvas_put(c, y, at - (i ? 2 : 0), 8, STYLE_DIM,
                   padded_trim(padded_count(llround(fmin(1e9, s->point[i].ranks)))).s);
    }
    return y + 1;
}

/* ---- the figures behind it ---- */

static void draw_segment(struct canvas *c, int y, const struct report_link *link,
                         const struct report_segment *segment)
{
    double fixed_s = segment->fixed_s.value;
    char rate[64] = "-";

    if (segment->s_per_byte.value > 0)
        snprintf(rate, sizeof(rate), "%s/s", text_bytes(1 / segment->s_per_byte.value).s);
    canvas_printf(c, y, 3, c->width - 4, STYLE_TEXT, "%s of %.0f ranks, %s to %s: %s and a rate of %s%s",
                  link->op, (double)link->ranks, text_bytes(segment->from_bytes).s,
                  text_bytes(segment->to_bytes).s, text_s(fixed_s).s, rate,
                  isnan(fixed_s) ? " (one message size gives only their sum)" : "");
}

static int draw_fits(struct canvas *c, int y, const struct report_scaling *s)
{
    char steps[80] = "";

    y = sheet_heading(c, y, "fitted from this job");
    if (s->noise.steps > 0)
        snprintf(steps, sizeof(steps), " in the newest %s steps", text_count((double)s->noise.steps).s);
    if (!isnan(s->noise.cv))
        canvas_printf(c, y++, 3, c->width - 4, STYLE_TEXT, "own work varies by %s (shape: %s)%s",
                      text_percent(s->noise.cv).s, s->noise.shape[0] ? s->noise.shape : "-", steps);
    for (size_t i = 0; i < s->n_links; i++)
        for (size_t k = 0; k < s->link[i].n; k++)
            draw_segment(c, y++, &s->link[i], &s->link[i].segment[k]);
    for (size_t i = 0; i < s->n_assumes; i++)
        y = sheet_text(c, y, 3, STYLE_DIM, s->assumes[i]);
    return y;
}

/* ---- the panel ---- */

static bool has_content(const struct report *v)
{
    return v->scaling.n > 0;
}

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct report_scaling *s = &ui->view->scaling;
    int y = 0;

    if (s->n == 0) {
        canvas_printf(c, 0, 1, c->width - 2, STYLE_DIM, "no projection%s%s", s->missing[0] ? ": " : " yet",
                      s->missing);
        return 1;
    }
    if (s->text[0])
        y = sheet_text(c, y, 1, STYLE_WARN, s->text);
    y = sheet_table(c, y, columns, ARRAY_SIZE(columns), s->point, s->n, sizeof(s->point[0]));
    if (plottable(s))
        y = draw_plot(c, y, s);
    return draw_fits(c, y, s);
}

const struct panel_ops panel_scaling = { "scaling: the job on more ranks", draw, has_content };
