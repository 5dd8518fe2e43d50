/* page_table.c - an array of objects as a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

#define CHARS_MAX 400

struct text page_ago(double age_s)
{
    struct text t = text_s(age_s);

    if (!isnan(age_s))
        strncat(t.s, " ago", sizeof(t.s) - strlen(t.s) - 1);
    return t;
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

void page_table(const struct page *p, const char *key, size_t max, const struct page_column *column, size_t n,
                int indent)
{
    struct text_column *layout = xcalloc(n, sizeof(*layout));
    struct table *t = table_new(layout, n);
    const json_t *row;
    size_t i;

    for (i = 0; i < n; i++)
        layout[i] =
            (struct text_column){ column[i].title, column[i].words || column[i].right, column[i].spare };
    json_array_foreach(get_array(p->job, key), i, row)
        for (size_t c = 0; c < n && i < max; c++)
            put_cell(t, get_number(p->job, "now"), row, &column[c]);
    table_print(t, p->out, indent, p->columns);
    table_free(t);
    free(layout);
}
