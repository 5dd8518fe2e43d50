/* page_parts.c - paragraphs, figures, and an array of objects as a table. */
#include "ctl/page_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "wire/json.h"

#define CHARS_MAX 400

struct shown shown(const json_t *o, const char *key)
{
    struct shown t;

    show_text(o, key, t.s, sizeof(t.s));
    return t;
}

void page_line(const struct page *p, int indent, const char *fmt, ...)
{
    char line[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    text_wrap(p->out, line, indent, p->columns);
}

void page_title(const struct page *p, const char *text)
{
    fputc('\n', p->out);
    text_wrap(p->out, text, 0, p->columns);
}

struct table *page_figures(void)
{
    static const struct text_column layout[] = { { "", false, 0 }, { "", false, 0 } };

    return table_new(layout, ARRAY_SIZE(layout));
}

void page_figure(struct table *t, const char *name, const char *fmt, ...)
{
    char words[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    if (!strcmp(words, "-"))
        return;
    table_cell(t, "%s", name);
    table_cell(t, "%s", words);
}

void page_put_figures(const struct page *p, int indent, struct table *t)
{
    table_print(t, p->out, indent, p->columns);
    table_free(t);
}

struct text page_ago(double age_s)
{
    struct text t = text_s(age_s);

    if (!isnan(age_s))
        text_append(t.s, sizeof(t.s), " ago");
    return t;
}

const char *page_plural(double n)
{
    return n == 1 ? "" : "s";
}

static void put_cell(struct table *t, double now, const json_t *row, const struct page_column *c)
{
    size_t size = c->chars ? c->chars : CHARS_MAX;
    const char *key = c->key;
    char buf[CHARS_MAX];

    if (!c->cell)
        row = get_owner(row, &key);
    if (c->words)
        table_cell(t, "%s", c->words(c->when ? now - get_number(row, key) : get_number(row, key)).s);
    else
        table_cell(t, "%s", c->cell ? c->cell(row, buf, size) : show_text(row, key, buf, size));
}

void page_table(const struct page *p, const char *title, const json_t *rows, size_t max,
                const struct page_column *column, size_t n, int indent)
{
    struct text_column *layout = xcalloc(n, sizeof(*layout));
    struct table *t = table_new(layout, n);
    const json_t *row;
    size_t i;

    if (title && json_array_size(rows))
        page_title(p, title);
    for (i = 0; i < n; i++)
        layout[i] =
            (struct text_column){ column[i].title, column[i].words || column[i].right, column[i].spare };
    json_array_foreach(rows, i, row)
        for (size_t c = 0; c < n && i < max; c++)
            put_cell(t, get_number(p->answer, "now"), row, &column[c]);
    table_print(t, p->out, indent, p->columns);
    table_free(t);
    free(layout);
}
