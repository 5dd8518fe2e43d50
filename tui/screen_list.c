/* screen_list.c - the rows of a screen's table, with cursor and clicks. */
#include "tui/keymap.h"
#include "tui/screen.h"

void screen_rows_draw(struct canvas *c, const struct ui *ui, const struct screen_rows *r)
{
    const struct ui_list *l = &ui->list[ui->screen];
    const struct table_layout *t = r->layout;
    int plain = r->plain < t->n ? r->plain : t->n, end = plain ? t->x[plain - 1] + t->width[plain - 1] : 0;

    for (int i = 0; i < r->height && l->top + i < (int)l->n; i++) {
        const void *row = r->row(ui, l->top + i);

        if (row)
            table_row(c, r->y + i, t, r->columns, row, r->context);
        if (l->top + i == l->selected && !ui->report) {
            canvas_put(c, r->y + i, 0, 1, STYLE_TEXT, "▶");
            canvas_reverse(c, r->y + i, 0, end);
        }
    }
    if (r->height > 0 && l->n)
        canvas_hit(c, r->y, 0, r->height, c->width, KEY_ACTION_ROW, l->top);
}

void screen_list_draw(struct canvas *c, const struct ui *ui, const struct screen_ops *ops,
                      const void *(*row)(const struct ui *ui, int i), const char *empty)
{
    const struct ui_list *l = &ui->list[ui->screen];
    struct table_layout layout;
    struct screen_rows rows = { .y = 2,
                                .height = ops->rows(ui, c->width, c->height),
                                .layout = &layout,
                                .columns = ops->columns,
                                .row = row,
                                .context = ui };

    table_fit(&layout, ops->columns, ops->n_columns, 1, c->width - 1, ops->hidden(ui, c->width));
    canvas_fill(c, 1, 0, c->width, STYLE_HEADER, ' ');
    table_header(c, 1, &layout, ops->columns, l->sort, l->reverse, KEY_ACTION_SORT);
    rows.plain = layout.n;
    screen_rows_draw(c, ui, &rows);
    if (!l->n)
        canvas_put(c, 3, 2, c->width - 4, STYLE_DIM, empty);
}
