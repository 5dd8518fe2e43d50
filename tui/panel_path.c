/* panel_path.c - the critical path: for whom the collectives wait, what that costs, how well the time is
 * used. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "tui/draw.h"
#include "tui/keymap.h"
#include "tui/padded.h"
#include "tui/panel.h"
#include "tui/table.h"

static void put_rank(const struct table_cell *at, int64_t rank)
{
    char text[24] = "?";

    if (rank >= 0)
        snprintf(text, sizeof(text), "r%lld", (long long)rank);
    table_put(at, STYLE_BOLD, text);
}

/* ---- who is last ---- */

static void draw_path_rank(const struct table_cell *at, const void *row)
{
    put_rank(at, ((const struct snap_path_rank *)row)->rank);
}

static void draw_last(const struct table_cell *at, const void *row)
{
    double last = ((const struct snap_path_rank *)row)->last_ratio;
    enum style style = last >= 0.5 ? STYLE_BAD : last >= 0.2 ? STYLE_WARN : STYLE_ACCENT;

    canvas_put(at->canvas, at->y, at->x, 6, STYLE_TEXT, padded_percent(last).s);
    draw_bar(at->canvas, at->y, at->x + 7, at->width - 7, style, last);
}

static const struct table_column path_columns[] = {
    { "RANK", 6, 0, 0, TABLE_TEXT, 0, draw_path_rank, .unsorted = true },
    { "NODE", 10, 10, 0, TABLE_TEXT, offsetof(struct snap_path_rank, node), .unsorted = true },
    { "CAUSED", 8, 0, 0, TABLE_SECONDS, offsetof(struct snap_path_rank, delay_s), .unsorted = true },
    { "LAST ARRIVER OF", 30, 30, 0, TABLE_TEXT, 0, draw_last, .unsorted = true },
};

/* Beside what chance would give each of them. */
static int draw_concentration(struct canvas *c, int y, double concentration, int64_t ranks)
{
    char chance[64] = "";

    if (ranks > 0)
        snprintf(chance, sizeof(chance), " (by chance: %s)",
                 text_percent(1 / (double)ranks).s);
    canvas_printf(c, y, 1, c->width - 2, concentration >= 0.5 ? STYLE_WARN : STYLE_TEXT,
                  "%s of the collectives wait for the same rank%s",
                  text_percent(concentration).s, chance);
    return y + 1;
}

static int draw_path(struct canvas *c, int y, const struct snap_path *p, int64_t ranks)
{
    struct table_layout layout;

    if (!isnan(p->concentration))
        y = draw_concentration(c, y, p->concentration, ranks);
    if (!p->n)
        return y;
    table_fit(&layout, path_columns, ARRAY_SIZE(path_columns), 1, c->width - 2, 0);
    canvas_fill(c, y, 0, c->width, STYLE_HEADER, ' ');
    table_header(c, y++, &layout, path_columns, -1, false, KEY_ACTION_NONE);
    for (size_t i = 0; i < p->n; i++)
        table_row(c, y++, &layout, path_columns, &p->rank[i], NULL);
    return y;
}

/* ---- efficiencies ---- */

struct used {
    const char *name;
    const struct snap_efficiency *efficiency;
};

static void draw_name(const struct table_cell *at, const void *row)
{
    table_put(at, STYLE_TEXT, ((const struct used *)row)->name);
}

static void put_share(const struct table_cell *at, double share, enum style style)
{
    table_put(at, style, padded_percent(share).s);
}

static void draw_parallel(const struct table_cell *at, const void *row)
{
    double x = ((const struct used *)row)->efficiency->parallel;

    put_share(at, x, x < 0.6 ? STYLE_BAD : x < 0.8 ? STYLE_WARN : STYLE_BOLD);
}

static void draw_balance(const struct table_cell *at, const void *row)
{
    put_share(at, ((const struct used *)row)->efficiency->load_balance, STYLE_TEXT);
}

static void draw_serialisation(const struct table_cell *at, const void *row)
{
    put_share(at, ((const struct used *)row)->efficiency->serialisation, STYLE_TEXT);
}

static void draw_transfer(const struct table_cell *at, const void *row)
{
    put_share(at, ((const struct used *)row)->efficiency->transfer, STYLE_TEXT);
}

static const struct table_column used_columns[] = {
    { "COMMUNICATOR", 16, 20, 0, TABLE_TEXT, 0, draw_name, .unsorted = true },
    { "PARALLEL =", 10, 0, 0, TABLE_PERCENT, 0, draw_parallel, .unsorted = true },
    { "LOAD BALANCE x", 14, 0, 0, TABLE_PERCENT, 0, draw_balance, .unsorted = true },
    { "SERIALISATION x", 15, 0, 0, TABLE_PERCENT, 0, draw_serialisation, .unsorted = true },
    { "TRANSFER", 8, 0, 0, TABLE_PERCENT, 0, draw_transfer, .unsorted = true },
};

static bool known(const struct snap_efficiency *e)
{
    return !isnan(e->parallel) || !isnan(e->load_balance) || !isnan(e->serialisation) || !isnan(e->transfer);
}

static int draw_used(struct canvas *c, int y, const struct snap_view *v)
{
    struct used row = { "the job", &v->efficiency };
    struct table_layout layout;

    y = panel_heading(c, y, "efficiency: how much of the ranks' time is work (POP model)");
    table_fit(&layout, used_columns, ARRAY_SIZE(used_columns), 1, c->width - 2, 0);
    canvas_fill(c, y, 0, c->width, STYLE_HEADER, ' ');
    table_header(c, y++, &layout, used_columns, -1, false, KEY_ACTION_NONE);
    table_row(c, y++, &layout, used_columns, &row, NULL);
    for (size_t i = 0; i < v->n_comms; i++) {
        row = (struct used){ v->comm[i].label, &v->comm[i].efficiency };
        if (known(row.efficiency))
            table_row(c, y++, &layout, used_columns, &row, NULL);
    }
    return y;
}

/* ---- who waits ---- */

static void draw_rank(const struct table_cell *at, const void *row)
{
    put_rank(at, ((const struct snap_rank *)row)->rank);
}

static const struct table_column wait_columns[] = {
    { "RANK", 6, 0, 0, TABLE_TEXT, 0, draw_rank, .unsorted = true },
    { "NODE", 10, 10, 0, TABLE_TEXT, offsetof(struct snap_rank, node), .unsorted = true },
    { "LATE", 7, 0, 0, TABLE_SECONDS, offsetof(struct snap_rank, lateness_s), .unsorted = true },
    { "P50", 7, 0, 0, TABLE_ABOUT_SECONDS, offsetof(struct snap_rank, lateness_p50_s), .unsorted = true },
    { "P99", 7, 0, 0, TABLE_ABOUT_SECONDS, offsetof(struct snap_rank, lateness_p99_s), .unsorted = true },
    { "WAITS", 7, 0, 0, TABLE_SECONDS, offsetof(struct snap_rank, wait_s), .unsorted = true },
    { "CAUSED", 7, 0, 0, TABLE_SECONDS, offsetof(struct snap_rank, delay_s), .unsorted = true },
};

static int draw_waits(struct canvas *c, int y, const struct snap_view *v)
{
    struct table_layout layout;
    bool any = false;

    table_fit(&layout, wait_columns, ARRAY_SIZE(wait_columns), 1, c->width - 2, 0);
    for (size_t i = 0; i < v->n_ranks; i++) {
        const struct snap_rank *r = &v->rank[i];

        if (isnan(r->wait_s) && isnan(r->delay_s) && isnan(r->lateness_p99_s))
            continue;
        if (!any) {
            y = panel_heading(c, y, "waiting per step: how long a rank WAITS, and CAUSED others to wait");
            canvas_fill(c, y, 0, c->width, STYLE_HEADER, ' ');
            table_header(c, y++, &layout, wait_columns, -1, false, KEY_ACTION_NONE);
        }
        any = true;
        table_row(c, y++, &layout, wait_columns, r, NULL);
    }
    return y;
}

/* ---- the panel ---- */

static bool has_content(const struct snap_view *v)
{
    return v->path.n || known(&v->efficiency);
}

static int draw(struct canvas *c, const struct ui *ui)
{
    const struct snap_view *v = ui->view;
    int y = draw_path(c, 0, &v->path, v->job.ranks);

    if (known(&v->efficiency))
        y = draw_used(c, y, v);
    y = draw_waits(c, y, v);
    if (!y)
        canvas_put(c, y++, 1, c->width - 2, STYLE_DIM, "not known yet");
    return y;
}

const struct panel_ops panel_path = { "critical path: whom the others wait for", draw, has_content };
