/* screen_help.c - the `?` help: keys, columns of the screen it was called from, what the colours mean. */
#include <string.h>

#include "tui/draw.h"
#include "tui/keymap.h"
#include "tui/screen.h"

static int draw_keymap(struct canvas *c, const struct ui *ui, const struct keymap_entry *table, int y, int x,
                       int width)
{
    for (const struct keymap_entry *e = table; e->action && y < c->height - 1; e++) {
        if (!e->keys || (ui->playback.on && keymap_replaced(e)))
            continue;
        canvas_put(c, y, x, 13, STYLE_KEY, e->keys);
        canvas_put(c, y++, x + 14, width - 14, STYLE_TEXT, e->text);
    }
    return y;
}

static int draw_columns(struct canvas *c, const struct ui *ui, int y, int x, int width)
{
    const struct screen_ops *ops = screens[ui->screen];

    for (int i = 0; i < ops->n_columns && y < c->height - 1; i++, y++) {
        canvas_put(c, y, x, 9, STYLE_ACCENT, ops->columns[i].title[0] ? ops->columns[i].title : "(first)");
        canvas_put(c, y, x + 10, width - 10, STYLE_TEXT, ops->columns[i].meaning);
    }
    return y;
}

static void draw_meaning(struct canvas *c, const struct ui *ui, int y, int x, int width)
{
    if (y + 5 > c->height - 1)
        return;
    draw_heat(c, y, x, 9, "012345678", 8);
    canvas_put(c, y++, x + 10, width - 10, STYLE_TEXT, "late: little ... much");
    canvas_put(c, y, x, 9, STYLE_TEXT, "-");
    canvas_put(c, y++, x + 10, width - 10, STYLE_TEXT, "unknown (never zero)");
    canvas_put(c, y, x, 9, STYLE_BAD_TAG, " STALE ");
    canvas_put(c, y++, x + 10, width - 10, STYLE_TEXT, "data is old, and how old");
    canvas_put(c, y, x, 9, STYLE_TEXT, "Mouse");
    canvas_put(c, y++, x + 10, width - 10, STYLE_TEXT, "rows, titles, tabs, wheel");
    if (ui->screen == SCREEN_JOB && y + 3 < c->height - 1)
        draw_classes(c, y + 1, x, width);
}

void screen_help_draw(struct canvas *c, const struct ui *ui)
{
    int half = c->width < 120 ? c->width / 2 : 60, y;

    y = ui->playback.on ? draw_keymap(c, ui, keymap_replay, 1, 1, half - 1) : 1;
    draw_keymap(c, ui, keymap, y, 1, half - 1);
    y = draw_columns(c, ui, 1, half + 2, c->width - half - 3);
    draw_meaning(c, ui, y + 1, half + 2, c->width - half - 1);
}
