#include "term/table.h"

#include <math.h>
#include <string.h>

#include "term/padded.h"

#define GAP 1

static bool is_number(const struct table_column *column)
{
    return column->kind > TABLE_RANK;
}

/* Takes out the most dispensable columns until the rest fits. */
unsigned table_hidden(const struct table_column *columns, int n, int width, unsigned hidden)
{
    for (;;) {
        int need = -GAP, victim = -1;

        for (int i = 0; i < n; i++) {
            if (hidden & 1u << i)
                continue;
            need += columns[i].width + GAP;
            if (columns[i].spare && (victim < 0 || columns[i].spare >= columns[victim].spare))
                victim = i;
        }
        if (need <= width || victim < 0)
            return hidden;
        hidden |= 1u << victim;
    }
}

void table_fit(struct table_layout *l, const struct table_column *columns, int n, int x, int width,
               unsigned hidden)
{
    int left = width + GAP, first_x = x;

    l->n = 0;
    hidden = table_hidden(columns, n, width, hidden);
    for (int i = 0; i < n; i++) {
        if (hidden & 1u << i)
            continue;
        l->column[l->n] = i;
        l->width[l->n++] = columns[i].width;
        left -= columns[i].width + GAP;
    }
    for (int more = 1; more && left > 0;) { /* in turn, so that no column takes all */
        more = 0;
        for (int i = 0; i < l->n && left > 0; i++) {
            const struct table_column *column = &columns[l->column[i]];

            if (l->width[i] >= column->width + column->grow)
                continue;
            l->width[i]++;
            left--;
            more = 1;
        }
    }
    for (int i = 0; i < l->n; i++) {
        l->x[i] = x;
        if (x + l->width[i] > first_x + width)
            l->width[i] = first_x + width > x ? first_x + width - x : 0;
        x += l->width[i] + GAP;
    }
}

void table_header(struct canvas *c, int y, const struct table_layout *l, const struct table_column *columns,
                  int sort, bool reverse, int action)
{
    for (int i = 0; i < l->n; i++) {
        const struct table_column *column = &columns[l->column[i]];
        bool sorted = l->column[i] == sort;
        enum style style = sorted ? STYLE_SORTED : STYLE_HEADER;
        const char *mark = !sorted ? "" : reverse ? "▲" : "▼";
        char title[64];

        snprintf(title, sizeof(title), "%.*s%s", sorted ? l->width[i] - 1 : 60, column->title, mark);
        canvas_fill(c, y, l->x[i], l->width[i] + (i + 1 < l->n ? GAP : 0), STYLE_HEADER, ' ');
        if (is_number(column))
            canvas_put_right(c, y, l->x[i], l->width[i], style, title);
        else
            canvas_put(c, y, l->x[i], l->width[i], style, title);
        if (action && !column->unsorted)
            canvas_hit(c, y, l->x[i], 1, l->width[i] + GAP, action, l->column[i]);
    }
}

double table_number(const struct table_column *column, const void *row)
{
    const char *field = (const char *)row + column->field;

    if (column->number)
        return column->number(row);
    return column->kind == TABLE_COUNT || column->kind == TABLE_RANK
               ? (double)*(const int64_t *)(const void *)field
               : *(const double *)(const void *)field;
}

static struct text figure_of(const struct table_column *column, const void *row)
{
    static struct text (*const padded[])(double) = {
        [TABLE_SECONDS] = padded_s,       [TABLE_ABOUT_SECONDS] = padded_about_s,
        [TABLE_PERCENT] = padded_percent, [TABLE_TIMES] = padded_times,
        [TABLE_NUMBER] = padded_number,   [TABLE_BYTES] = padded_bytes,
    };
    double x = table_number(column, row);
    struct text rank = { "?" };

    if (column->kind == TABLE_COUNT)
        return padded_count((int64_t)x);
    if (column->kind != TABLE_RANK)
        return padded[column->kind](x);
    if (x >= 0)
        snprintf(rank.s, sizeof(rank.s), "r%.0f", x);
    return rank;
}

void table_put(const struct table_cell *at, enum style style, const char *text)
{
    if (is_number(at->column))
        canvas_put_right(at->canvas, at->y, at->x, at->width, style, text);
    else
        canvas_put(at->canvas, at->y, at->x, at->width, style, text[0] ? text : "-");
}

void table_row(struct canvas *c, int y, const struct table_layout *l, const struct table_column *columns,
               const void *row, const void *context)
{
    for (int i = 0; i < l->n; i++) {
        const struct table_column *column = &columns[l->column[i]];
        struct table_cell at = { column, c, y, l->x[i], l->width[i], context };
        enum style style = column->style ? column->style(row) : column->plain;

        if (at.width <= 0)
            continue;
        if (column->draw)
            column->draw(&at, row);
        else if (column->kind == TABLE_TEXT)
            table_put(&at, style, (const char *)row + column->field);
        else
            table_put(&at, style, figure_of(column, row).s);
    }
}

int table_compare_number(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

int table_compare(const struct table_column *column, const void *a, const void *b)
{
    if (column->compare)
        return column->compare(a, b);
    if (column->kind != TABLE_TEXT)
        return table_compare_number(table_number(column, a), table_number(column, b));
    return strverscmp((const char *)a + column->field, (const char *)b + column->field);
}

int table_width(const struct table_layout *l, int column)
{
    for (int i = 0; i < l->n; i++)
        if (l->column[i] == column)
            return l->width[i];
    return 0;
}

int table_sort_next(const struct table_column *columns, int n, unsigned hidden, int sort, int by)
{
    for (int tries = 0; tries < n; tries++) {
        sort = (sort + by + n) % n;
        if (!columns[sort].unsorted && !(hidden & 1u << sort))
            break;
    }
    return sort;
}
