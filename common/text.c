#include "common/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "common/utf8.h"
#include "common/xalloc.h"

struct table {
    const struct table_column *columns;
    size_t n_columns, n_cells, cap;
    char **cells;
};

static struct text written(char *format(char *, size_t, double), double value)
{
    struct text t = { "-" };

    if (!isnan(value))
        format(t.s, sizeof(t.s), value);
    return t;
}

struct text text_s(double seconds)
{
    return written(units_format_s, seconds);
}

struct text text_about_s(double seconds)
{
    return written(units_format_about_s, seconds);
}

struct text text_bytes(double bytes)
{
    return written(units_format_bytes, bytes);
}

struct text text_percent(double ratio)
{
    return written(units_format_percent, ratio);
}

struct text text_number(double number)
{
    return written(units_format_number, number);
}

struct text text_times(double factor)
{
    return written(units_format_times, factor);
}

struct text text_count(double number)
{
    struct text t = { "-" };

    if (!isnan(number))
        snprintf(t.s, sizeof(t.s), "%.0f", number);
    return t;
}

void text_wrap(FILE *out, const char *paragraph, int indent, int columns)
{
    int at = 0;

    while (*(paragraph += strspn(paragraph, " "))) {
        size_t bytes = strcspn(paragraph, " ");
        int word = utf8_width(paragraph, bytes);

        if (at && at + 1 + word > columns) {
            fputc('\n', out);
            at = 0;
        }
        at += fprintf(out, "%*s", at ? 1 : indent, "") + word;
        fwrite(paragraph, 1, bytes, out);
        paragraph += bytes;
    }
    fputc('\n', out);
}

void text_mdoc(FILE *out, const char *paragraph)
{
    for (; *paragraph; paragraph++) {
        fputc(*paragraph, out);
        if (strchr(".:;", *paragraph) && paragraph[1] == ' ') {
            fputc('\n', out);
            paragraph++;
        }
    }
    fputc('\n', out);
}

void text_capital(FILE *out, const char *text)
{
    size_t n = 0;

    while (islower((unsigned char)text[n]))
        n++;
    fprintf(out, "%c%s", strchr(" ,", text[n]) ? toupper((unsigned char)*text) : *text, *text ? text + 1 : "");
}

struct table *table_new(const struct table_column *columns, size_t n_columns)
{
    struct table *t = xcalloc(1, sizeof(*t));

    t->columns = columns;
    t->n_columns = n_columns;
    return t;
}

void table_cell(struct table *t, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    t->cells = xgrow(t->cells, &t->cap, t->n_cells + 1, sizeof(*t->cells));
    t->cells[t->n_cells++] = xstrdup(text);
}

/* 0: the column is left out. */
static int column_width(const struct table *t, size_t c)
{
    const char *title = t->columns[c].title;
    int w = utf8_width(title, strlen(title));
    bool known = false;

    for (size_t i = c; i < t->n_cells; i += t->n_columns) {
        int cell = utf8_width(t->cells[i], strlen(t->cells[i]));

        known |= strcmp(t->cells[i], "-") != 0;
        w = cell > w ? cell : w;
    }
    return known ? w : 0;
}

/* One line, without spaces at its end. */
static void put_row(FILE *out, const struct table *t, char *const *cells, const int *widths, int indent)
{
    int pending = indent;

    for (size_t c = 0; c < t->n_columns; c++) {
        const char *cell = cells ? cells[c] : t->columns[c].title;
        int pad = widths[c] - utf8_width(cell, strlen(cell));

        if (!widths[c])
            continue;
        if (t->columns[c].right)
            pending += pad;
        if (*cell) {
            fprintf(out, "%*s%s", pending, "", cell);
            pending = 0;
        }
        pending += 2 + (t->columns[c].right ? 0 : pad);
    }
    fputc('\n', out);
}

void table_print(const struct table *t, FILE *out, int indent)
{
    int *widths = xcalloc(t->n_columns, sizeof(*widths));
    bool titled = false, known = false;

    for (size_t c = 0; c < t->n_columns; c++) {
        widths[c] = column_width(t, c);
        titled |= *t->columns[c].title != '\0';
        known |= widths[c] > 0;
    }
    if (titled && known)
        put_row(out, t, NULL, widths, indent);
    for (size_t i = 0; known && i + t->n_columns <= t->n_cells; i += t->n_columns)
        put_row(out, t, t->cells + i, widths, indent);
    free(widths);
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t);
}
