#include "term/sheet.h"

#define TEXT_ROWS 12

int sheet_text(struct canvas *c, int y, int x, enum style style, const char *text)
{
    return y + canvas_wrap(c, y, x, x, c->width - x - 1, TEXT_ROWS, style, text);
}

int sheet_heading(struct canvas *c, int y, const char *text)
{
    if (y)
        y++;
    canvas_put(c, y, 1, c->width - 2, STYLE_BOLD, text);
    return y + 1;
}

int sheet_titles(struct canvas *c, int y, struct table_layout *l, const struct table_column *columns, int n)
{
    table_fit(l, columns, n, 1, c->width - 2, 0);
    canvas_fill(c, y, 0, c->width, STYLE_HEADER, ' ');
    table_header(c, y, l, columns, -1, false, 0);
    return y + 1;
}

int sheet_table(struct canvas *c, int y, const struct table_column *columns, int n, const void *rows,
                size_t n_rows, size_t size)
{
    struct table_layout l;

    y = sheet_titles(c, y, &l, columns, n);
    for (size_t i = 0; i < n_rows; i++)
        table_row(c, y++, &l, columns, (const char *)rows + i * size, NULL);
    return y;
}
