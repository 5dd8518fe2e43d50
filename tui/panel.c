#include "tui/panel.h"

#include <stdio.h>

#include "term/draw.h"

#define PAGE_ROWS 600

const struct panel_ops *panel_of(enum panel p)
{
    static const struct panel_ops *const ops[] = {
        [PANEL_EVIDENCE] = &panel_evidence, [PANEL_STEP] = &panel_step, [PANEL_PATH] = &panel_path,
        [PANEL_SCALING] = &panel_scaling,   [PANEL_WAYS] = &panel_ways, [PANEL_POLICY] = &panel_policy,
        [PANEL_SWITCHES] = &panel_switches,
    };

    return p <= PANEL_SWITCHES ? ops[p] : NULL;
}

static struct canvas *page_of(const struct ui *ui, int width, bool ascii, int *rows)
{
    struct canvas *page = canvas_new(width, PAGE_ROWS, ascii);

    *rows = panel_of(ui->panel)->draw(page, ui);
    if (*rows > PAGE_ROWS)
        *rows = PAGE_ROWS;
    return page;
}

int panel_rows(const struct ui *ui, int width)
{
    int rows;

    canvas_free(page_of(ui, width, false, &rows));
    return rows;
}

int panel_room(const struct ui *ui, int height)
{
    return height - (ui->report ? 1 : 2); /* its title; the bottom line */
}

void panel_draw(struct canvas *c, const struct ui *ui, int y)
{
    int total, room = panel_room(ui, c->height - y);
    struct canvas *page = page_of(ui, c->width, c->ascii, &total);
    char where[48];

    draw_rule(c, y, 0, c->width, panel_of(ui->panel)->title);
    if (total > room) {
        int last = ui->panel_scroll.top + room;

        snprintf(where, sizeof(where), " %d to %d of %d ", ui->panel_scroll.top + 1,
                 last < total ? last : total, total);
        canvas_put_right(c, y, 0, c->width - 1, STYLE_DIM, where);
    }
    canvas_copy(c, y + 1, room < total ? room : total, page, ui->panel_scroll.top);
    canvas_free(page);
}
