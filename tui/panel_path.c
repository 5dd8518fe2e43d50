/* panel_path.c - the critical path: for whom the collectives wait, what that costs, how well the time is
 * used. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/xalloc.h"
#include "term/draw.h"
#include "term/padded.h"
#include "term/sheet.h"
#include "tui/panel.h"

/* ---- who is last ---- */

static void draw_last(const struct table_cell *at, const void *row)
{
    double last = ((const struct report_path_rank *)row)->last_ratio;
    enum style style = last >= 0.5 ? STYLE_BAD : last >= 0.2 ? STYLE_WARN : STYLE_ACCENT;

    canvas_put(at->canvas, at->y, at->x, 6, STYLE_TEXT, padded_percent(last).s);
    draw_bar(at->canvas, at->y, at->x + 7, at->width - 7, style, last);
}

static const struct table_column path_columns[] = {
    { "RANK", 6, 0, 0, TABLE_RANK, offsetof(struct report_path_rank, rank), .plain = STYLE_BOLD },
    { "NODE", 10, 10, 0, TABLE_TEXT, .field = offsetof(struct report_path_rank, node) },
    { "ON THE PATH", 11, 0, 0, TABLE_PERCENT, offsetof(struct report_path_rank, path_ratio),
      .plain = STYLE_BOLD },
    { "CAUSED", 8, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_path_rank, delay_s) },
    { "LAST ARRIVER OF", 30, 30, 0, TABLE_TEXT, .draw = draw_last },
};

/* ---- where it went ---- */

/* "14:02:07" of a job; in a trace, its own clock: "9 s of the run". */
static void time_text(char *buf, size_t size, const struct ui *ui, double age_s)
{
    time_t at = (time_t)(ui->wall_s - report_row_ended_s(&ui->view->job) - age_s);
    struct tm tm;

    if (ui->playback.on)
        snprintf(buf, size, "%s of the run", text_age(fmax(0, ui->view->job.elapsed_s - age_s)).s);
    else if (!localtime_r(&at, &tm) || !strftime(buf, size, "%H:%M:%S", &tm))
        snprintf(buf, size, "?");
}

static int draw_moves(struct canvas *c, int y, const struct ui *ui)
{
    const struct report_path *p = &ui->view->path;
    char at[64];

    if (p->moves)
        y = sheet_heading(c, y, "where most of the critical path lay, the newest first");
    for (size_t i = 0; i < p->moves; i++, y++) {
        time_text(at, sizeof(at), ui, p->move[i].age_s);
        if (p->move[i].from[0])
            canvas_printf(c, y, 1, c->width - 2, STYLE_TEXT, "moved from %s to %s at %s, step %lld",
                          p->move[i].from, p->move[i].to, at, (long long)p->move[i].step);
        else
            canvas_printf(c, y, 1, c->width - 2, STYLE_TEXT, "on %s since %s, step %lld", p->move[i].to, at,
                          (long long)p->move[i].step);
    }
    return y;
}

/* ---- efficiencies ---- */

static enum style parallel_style(const void *row)
{
    double x = ((const struct report_comm *)row)->efficiency.parallel;

    return x < 0.6 ? STYLE_BAD : x < 0.8 ? STYLE_WARN : STYLE_BOLD;
}

static const struct table_column used_columns[] = {
    { "COMMUNICATOR", 16, 20, 0, TABLE_TEXT, .field = offsetof(struct report_comm, label) },
    { "PARALLEL =", 10, 0, 0, TABLE_PERCENT, offsetof(struct report_comm, efficiency.parallel),
      .style = parallel_style },
    { "LOAD BALANCE x", 14, 0, 0, TABLE_PERCENT,
      .field = offsetof(struct report_comm, efficiency.load_balance) },
    { "SERIALISATION x", 15, 0, 0, TABLE_PERCENT,
      .field = offsetof(struct report_comm, efficiency.serialisation) },
    { "TRANSFER", 8, 0, 0, TABLE_PERCENT, .field = offsetof(struct report_comm, efficiency.transfer) },
};

static bool known(const struct report_efficiency *e)
{
    return !isnan(e->parallel) || !isnan(e->load_balance) || !isnan(e->serialisation) || !isnan(e->transfer);
}

static int draw_used(struct canvas *c, int y, const struct report *v)
{
    struct report_comm job = { .label = "the job", .efficiency = v->efficiency };
    struct table_layout layout;

    y = sheet_heading(c, y, "efficiency: how much of the ranks' time is work (POP model)");
    y = sheet_titles(c, y, &layout, used_columns, ARRAY_SIZE(used_columns));
    table_row(c, y++, &layout, used_columns, &job, NULL);
    for (size_t i = 0; i < v->comms.n; i++)
        if (known(&v->comms.list[i].efficiency))
            table_row(c, y++, &layout, used_columns, &v->comms.list[i], NULL);
    return y;
}

/* ---- transfers ---- */

static void draw_hidden(const struct table_cell *at, const void *row)
{
    const struct linkfit_range *h = &((const struct report_overlap_group *)row)->hidden_s;

    if (isnan(h->value) && !isnan(h->high))
        canvas_printf(at->canvas, at->y, at->x, at->width, STYLE_TEXT, "at most %s", text_s(h->high).s);
    else
        canvas_put(at->canvas, at->y, at->x, at->width, STYLE_TEXT, padded_s(h->value).s);
}

static const struct table_column overlap_columns[] = {
    { "GROUP", 16, 20, 0, TABLE_TEXT, .field = offsetof(struct report_overlap_group, label) },
    { "RANKS", 6, 0, 0, TABLE_COUNT, .field = offsetof(struct report_overlap_group, ranks) },
    { "WAITING", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_overlap_group, waiting_s) },
    { "EXPOSED", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_overlap_group, exposed_s) },
    { "CAN WIN", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_overlap_group, most_won_s) },
    { "HIDDEN", 15, 15, 0, TABLE_TEXT, .draw = draw_hidden },
};

/* ---- updates ---- */

static const struct table_column updates_columns[] = {
    { "RANK", 6, 0, 0, TABLE_RANK, offsetof(struct report_updates_rank, rank), .plain = STYLE_BOLD },
    { "NODE", 10, 10, 0, TABLE_TEXT, .field = offsetof(struct report_updates_rank, node) },
    { "PART", 7, 0, 0, TABLE_TEXT, .field = offsetof(struct report_updates_rank, part) },
    { "TAKES", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_updates_rank, iteration_s) },
    { "WORK", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_updates_rank, work_s) },
    { "STALE", 7, 0, 0, TABLE_NUMBER, .field = offsetof(struct report_updates_rank, stale_mean) },
    { "MOST", 6, 0, 0, TABLE_COUNT, .field = offsetof(struct report_updates_rank, stale_max) },
};

/* ---- who waits ---- */

static const struct table_column wait_columns[] = {
    { "RANK", 6, 0, 0, TABLE_RANK, offsetof(struct report_rank, rank), .plain = STYLE_BOLD },
    { "NODE", 10, 10, 0, TABLE_TEXT, .field = offsetof(struct report_rank, node) },
    { "LATE", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_rank, lateness_s) },
    { "P50", 7, 0, 0, TABLE_ABOUT_SECONDS, .field = offsetof(struct report_rank, lateness_p50_s) },
    { "P99", 7, 0, 0, TABLE_ABOUT_SECONDS, .field = offsetof(struct report_rank, lateness_p99_s) },
    { "WAITS", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_rank, wait_s) },
    { "CAUSED", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_rank, delay_s) },
};

static int draw_waits(struct canvas *c, int y, const struct report *v)
{
    struct table_layout layout;
    bool any = false;

    for (size_t i = 0; i < v->n_ranks; i++) {
        const struct report_rank *r = &v->rank[i];

        if (isnan(r->wait_s) && isnan(r->delay_s) && isnan(r->lateness_p99_s))
            continue;
        if (!any) {
            y = sheet_heading(c, y, "waiting per step: how long a rank WAITS, and CAUSED others to wait");
            y = sheet_titles(c, y, &layout, wait_columns, ARRAY_SIZE(wait_columns));
        }
        any = true;
        table_row(c, y++, &layout, wait_columns, r, NULL);
    }
    return y;
}

/* ---- the panel ---- */

static bool has_content(const struct report *v)
{
    return v->path.n || known(&v->efficiency) || v->overlap.text[0] || v->updates.text[0] ||
           report_step_phases_known(&v->step_phases);
}

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct report *v = ui->view;
    const struct report_path *p = &v->path;
    char chance[64] = "";
    int y = 0;

    if (!isnan(p->concentration)) {
        if (v->job.ranks > 0)
            snprintf(chance, sizeof(chance), " (by chance: %s)", text_percent(1 / (double)v->job.ranks).s);
        canvas_printf(c, y++, 1, c->width - 2, p->concentration >= 0.5 ? STYLE_WARN : STYLE_TEXT,
                      "%s of the collectives wait for the same rank%s", text_percent(p->concentration).s,
                      chance);
    }
    if (p->n)
        y = sheet_table(c, y, path_columns, ARRAY_SIZE(path_columns), p->rank, p->n, sizeof(p->rank[0]));
    y = draw_moves(c, y, ui);
    if (known(&v->efficiency))
        y = draw_used(c, y, v);
    if (v->updates.text[0]) {
        y = sheet_heading(c, y,
                          v->updates.standing && report_row_alive(&v->job)
                              ? "staleness: workers do not wait for one another"
                              : "staleness: workers did not wait for one another");
        y = sheet_text(c, y, 1, STYLE_TEXT, v->updates.text);
        y = sheet_table(c, y, updates_columns, ARRAY_SIZE(updates_columns), v->updates.rank, v->updates.n,
                        sizeof(v->updates.rank[0]));
    }
    if (v->overlap.text[0]) {
        y = sheet_heading(c, y, "overlap: communication a step, and what hiding it can win at most");
        y = sheet_text(c, y, 1, STYLE_TEXT, v->overlap.text);
    }
    if (v->overlap.text[0] && v->overlap.steps > 0 && v->overlap.n)
        y = sheet_table(c, y, overlap_columns, ARRAY_SIZE(overlap_columns), v->overlap.group, v->overlap.n,
                        sizeof(v->overlap.group[0]));
    if (report_step_phases_known(&v->step_phases)) {
        y = sheet_heading(c, y, "phases of a step");
        y = sheet_text(c, y, 1, STYLE_TEXT, v->step_phases.text);
    }
    y = draw_waits(c, y, v);
    if (!y)
        canvas_put(c, y++, 1, c->width - 2, STYLE_DIM, "not known yet");
    return y;
}

const struct panel_ops panel_path = { "critical path: whom the others wait for", draw, has_content };
