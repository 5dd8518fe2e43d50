#include "tui/sort_menu.h"

#include "term/draw.h"
#include "tui/screen.h"

#define TITLE_ROWS 2 /* the screen's, the menu's */

void sort_menu_open(struct ui *ui)
{
    ui->sort_menu.open = true;
    ui->sort_menu.column = ui->list[ui->screen].sort;
}

/* The next column by that many rows of the menu, which ends at both ends. */
static void move(struct ui *ui, int by)
{
    const struct screen_ops *ops = screens[ui->screen];
    int step = by < 0 ? -1 : 1, at = ui->sort_menu.column;

    while (by && (at += step) >= 0 && at < ops->n_columns) {
        if (ops->columns[at].unsorted)
            continue;
        ui->sort_menu.column = at;
        by -= step;
    }
}

bool sort_menu_act(struct ui *ui, enum key_action action)
{
    switch (action) {
    case KEY_ACTION_UP:
        move(ui, -1);
        return false;
    case KEY_ACTION_DOWN:
        move(ui, 1);
        return false;
    case KEY_ACTION_PAGE_UP:
    case KEY_ACTION_HOME:
        move(ui, -TABLE_COLUMNS_MAX);
        return false;
    case KEY_ACTION_PAGE_DOWN:
    case KEY_ACTION_END:
        move(ui, TABLE_COLUMNS_MAX);
        return false;
    default:
        ui->sort_menu.open = false;
        return action == KEY_ACTION_OPEN;
    }
}

static void draw_row(struct canvas *c, const struct ui *ui, int y, int column)
{
    const struct table_column *of = &screens[ui->screen]->columns[column];
    const struct ui_list *l = &ui->list[ui->screen];
    bool under = column == ui->sort_menu.column;

    canvas_put(c, y, 0, 1, STYLE_TEXT, under ? "▶" : " ");
    canvas_put(c, y, 1, 9, STYLE_ACCENT, of->title[0] ? of->title : "(first)");
    if (column == l->sort)
        canvas_put(c, y, 10, 1, STYLE_BOLD, l->reverse ? "▲" : "▼");
    canvas_put(c, y, 12, c->width - 13, STYLE_TEXT, of->meaning);
    if (under)
        canvas_reverse(c, y, 0, c->width);
    canvas_hit(c, y, 0, 1, c->width, KEY_ACTION_SORT, column);
}

void sort_menu_draw(struct canvas *c, const struct ui *ui)
{
    const struct screen_ops *ops = screens[ui->screen];
    int room = c->height - TITLE_ROWS - 1, at = 0, top = 0;

    for (int i = 0; i < ui->sort_menu.column; i++)
        at += !ops->columns[i].unsorted;
    if (at >= room)
        top = at - room + 1;
    draw_rule(c, 1, 0, c->width, "sort by");
    for (int i = 0, row = 0; i < ops->n_columns; i++) {
        if (ops->columns[i].unsorted)
            continue;
        if (row >= top && row < top + room)
            draw_row(c, ui, TITLE_ROWS + row - top, i);
        row++;
    }
}
