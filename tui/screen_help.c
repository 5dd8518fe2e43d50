/* screen_help.c - the `?` help: keys, columns of the screen it was called from, what the colours mean. */
#include <string.h>

#include "term/draw.h"
#include "tui/keymap.h"
#include "tui/look.h"
#include "tui/screen.h"

#define PAGE_ROWS 100
#define TWO_FROM  76 /* columns; below, one part stands under the other */

static int draw_keymap(struct canvas *page, const struct ui *ui, const struct keymap_entry *table, int y,
                       int x, int width)
{
    for (const struct keymap_entry *e = table; e->action; e++) {
        if (!e->keys || (ui->playback.on && keymap_replaced(e)))
            continue;
        canvas_put(page, y, x, 13, STYLE_KEY, e->keys);
        canvas_put(page, y++, x + 14, width - 14, STYLE_TEXT, e->text);
    }
    return y;
}

static int draw_columns(struct canvas *page, const struct ui *ui, int y, int x, int width)
{
    const struct screen_ops *ops = screens[ui->screen];

    for (int i = 0; i < ops->n_columns; i++, y++) {
        canvas_put(page, y, x, 9, STYLE_ACCENT, ops->columns[i].title[0] ? ops->columns[i].title : "(first)");
        canvas_put(page, y, x + 10, width - 10, STYLE_TEXT, ops->columns[i].meaning);
    }
    return y;
}

static int draw_meaning(struct canvas *page, const struct ui *ui, int y, int x, int width)
{
    draw_heat(page, y, x, 9, "012345678", 8);
    canvas_put(page, y++, x + 10, width - 10, STYLE_TEXT, "late: little ... much");
    canvas_put(page, y, x, 9, STYLE_TEXT, "-");
    canvas_put(page, y++, x + 10, width - 10, STYLE_TEXT, "unknown (never zero)");
    canvas_put(page, y, x, 9, STYLE_BAD_TAG, " STALE ");
    canvas_put(page, y++, x + 10, width - 10, STYLE_TEXT, "data is old, and how old");
    canvas_put(page, y, x, 9, STYLE_TEXT, "Mouse");
    canvas_put(page, y++, x + 10, width - 10, STYLE_TEXT, "rows, titles, tabs, wheel");
    return ui->screen == SCREEN_JOB ? y + 1 + look_classes_draw(page, y + 1, x, width) : y;
}

/* Returns the rows it has. */
static int draw_page(struct canvas *page, const struct ui *ui)
{
    int half = page->width < 120 ? page->width / 2 : 60, keys, end;

    if (page->width < TWO_FROM)
        half = page->width;
    keys = ui->playback.on ? draw_keymap(page, ui, keymap_replay, 0, 1, half - 1) : 0;
    keys = draw_keymap(page, ui, keymap, keys, 1, half - 1);
    if (half == page->width)
        return draw_meaning(page, ui, draw_columns(page, ui, keys + 1, 1, half - 2) + 1, 1, half - 1);
    end = draw_columns(page, ui, 0, half + 2, page->width - half - 3);
    end = draw_meaning(page, ui, end + 1, half + 2, page->width - half - 3);
    return keys > end ? keys : end;
}

int screen_help_rows(const struct ui *ui, int width)
{
    struct canvas *page = canvas_new(width, PAGE_ROWS, true);
    int rows = draw_page(page, ui);

    canvas_free(page);
    return rows;
}

void screen_help_draw(struct canvas *c, const struct ui *ui)
{
    struct canvas *page = canvas_new(c->width, PAGE_ROWS, c->ascii);

    draw_page(page, ui);
    canvas_copy(c, 1, c->height - 2, page, ui->help_scroll.top);
    canvas_free(page);
}
