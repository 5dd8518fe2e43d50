/* answer.c - kept as JSON from the start, beside it how each value is shown to people. */
#include "plan/answer.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"

struct item {
    const char *key;
    enum { FIGURE, TABLE } kind;
    char *value, *words; /* of a figure, as shown */
    const char *title;   /* of a table, from here on */
    struct table_column *layout;
    const struct answer_column *columns;
    size_t n_columns;
    struct table *table;
};

struct answer {
    json_t *json;
    char *title, *source, *assumes;
    struct item *items;
    size_t n_items, cap, n_cells; /* n_cells: of the last table */
};

struct answer *answer_new(void)
{
    struct answer *a = xcalloc(1, sizeof(*a));

    a->json = json_object();
    return a;
}

void answer_free(struct answer *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n_items; i++) {
        free(a->items[i].value);
        free(a->items[i].words);
        table_free(a->items[i].table);
        free(a->items[i].layout);
    }
    free(a->items);
    free(a->title);
    free(a->source);
    free(a->assumes);
    json_decref(a->json);
    free(a);
}

bool answer_empty(const struct answer *a)
{
    return a->n_items == 0;
}

__attribute__((format(printf, 1, 0))) static char *format_words(const char *fmt, va_list ap)
{
    char text[1024];

    vsnprintf(text, sizeof(text), fmt, ap);
    return xstrdup(text);
}

static const char *format_value(char *buf, size_t size, double value, enum answer_unit unit)
{
    if (isinf(value)) {
        snprintf(buf, size, "%s", unit == ANSWER_SECONDS || unit == ANSWER_HOURS ? "never" : "inf");
        return buf;
    }
    switch (unit) {
    case ANSWER_SECONDS:
        return units_format_s(buf, size, value);
    case ANSWER_HOURS:
        return units_format_s(buf, size, value * 3600);
    case ANSWER_BYTES:
        return units_format_bytes(buf, size, value);
    case ANSWER_RATE:
        return units_format_rate(buf, size, value);
    case ANSWER_SHARE:
        return units_format_percent(buf, size, value);
    case ANSWER_TIMES:
        return units_format_times(buf, size, value);
    case ANSWER_COUNT:
        snprintf(buf, size, isnan(value) ? "?" : "%.0f", value);
        return buf;
    default:
        return units_format_number(buf, size, value);
    }
}

static json_t *json_figure(double value, enum answer_unit unit)
{
    if (!isfinite(value))
        return json_null();
    if (unit == ANSWER_COUNT && fabs(value) < 9e15 && value == floor(value))
        return json_integer((json_int_t)value);
    return json_real(value);
}

static struct item *add(struct answer *a, const char *key, json_t *value)
{
    struct item *item;

    json_object_set_new(a->json, key, value);
    a->items = xgrow(a->items, &a->cap, a->n_items + 1, sizeof(*a->items));
    item = &a->items[a->n_items++];
    item->key = key;
    return item;
}

__attribute__((format(printf, 5, 0))) static void add_line(struct answer *a, const char *key, json_t *value,
                                                           const char *shown, const char *fmt, va_list ap)
{
    struct item *item = add(a, key, value);

    item->value = xstrdup(shown);
    item->words = format_words(fmt, ap);
}

void answer_figure(struct answer *a, const char *key, double value, enum answer_unit unit, const char *fmt,
                   ...)
{
    char shown[64];
    va_list ap;

    va_start(ap, fmt);
    add_line(a, key, json_figure(value, unit), format_value(shown, sizeof(shown), value, unit), fmt, ap);
    va_end(ap);
}

void answer_word(struct answer *a, const char *key, const char *word, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_line(a, key, word ? json_string(word) : json_null(), word ? word : "?", fmt, ap);
    va_end(ap);
}

void answer_flag(struct answer *a, const char *key, bool yes, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_line(a, key, json_boolean(yes), yes ? "yes" : "no", fmt, ap);
    va_end(ap);
}

/* ---- tables ---- */

void answer_table(struct answer *a, const char *key, const char *title, const struct answer_column *columns,
                  size_t n_columns)
{
    struct item *item = add(a, key, json_array());
    struct table_column *layout = xcalloc(n_columns, sizeof(*layout));
    size_t shown = 0;

    for (size_t c = 0; c < n_columns; c++)
        if (columns[c].title)
            layout[shown++] = (struct table_column){ columns[c].title, columns[c].unit != ANSWER_WORDS };
    item->kind = TABLE;
    item->title = title;
    item->columns = columns;
    item->n_columns = n_columns;
    item->layout = layout;
    item->table = table_new(layout, shown);
    a->n_cells = 0;
}

static const struct answer_column *next_cell(struct answer *a, struct item **item)
{
    *item = &a->items[a->n_items - 1];
    return &(*item)->columns[a->n_cells++ % (*item)->n_columns];
}

static void set_cell(struct answer *a, const struct item *item, const struct answer_column *column,
                     json_t *value, const char *shown)
{
    json_t *rows = json_object_get(a->json, item->key);

    if (column == item->columns)
        json_array_append_new(rows, json_object());
    json_object_set_new(json_array_get(rows, json_array_size(rows) - 1), column->key, value);
    if (column->title)
        table_cell(item->table, "%s", shown);
}

void answer_cell(struct answer *a, double value)
{
    char shown[64];
    struct item *item;
    const struct answer_column *column = next_cell(a, &item);

    set_cell(a, item, column, json_figure(value, column->unit),
             format_value(shown, sizeof(shown), value, column->unit));
}

void answer_cell_words(struct answer *a, const char *fmt, ...)
{
    struct item *item;
    const struct answer_column *column = next_cell(a, &item);
    char *text;
    va_list ap;

    va_start(ap, fmt);
    text = format_words(fmt, ap);
    va_end(ap);
    set_cell(a, item, column, json_string(text), text);
    free(text);
}

/* ---- words ---- */

__attribute__((format(printf, 4, 0))) static void set_words(struct answer *a, char **at, const char *key,
                                                            const char *fmt, va_list ap)
{
    free(*at);
    *at = format_words(fmt, ap);
    if (key)
        json_object_set_new(a->json, key, json_string(*at));
}

void answer_title(struct answer *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_words(a, &a->title, NULL, fmt, ap);
    va_end(ap);
}

void answer_source(struct answer *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_words(a, &a->source, "source", fmt, ap);
    va_end(ap);
}

void answer_assumes(struct answer *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_words(a, &a->assumes, "assumes", fmt, ap);
    va_end(ap);
}

void answer_note(struct answer *a, const char *fmt, ...)
{
    json_t *notes = json_object_get(a->json, "notes");
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = format_words(fmt, ap);
    va_end(ap);
    if (!notes) {
        notes = json_array();
        json_object_set_new(a->json, "notes", notes);
    }
    json_array_append_new(notes, json_string(text));
    free(text);
}

/* ---- printing ---- */

static void print_figures(const struct answer *a, FILE *out)
{
    static const struct table_column layout[] = { { "", false }, { "", true }, { "", false } };
    struct table *t = table_new(layout, ARRAY_SIZE(layout));

    for (size_t i = 0; i < a->n_items; i++) {
        if (a->items[i].kind != FIGURE)
            continue;
        table_cell(t, "%s", a->items[i].key);
        table_cell(t, "%s", a->items[i].value);
        table_cell(t, "%s", a->items[i].words);
    }
    table_print(t, out, 2);
    table_free(t);
}

static void print_paragraph(FILE *out, const char *before, const char *text, int columns)
{
    char line[1200];

    if (!text)
        return;
    snprintf(line, sizeof(line), "%s%s", before, text);
    text_wrap(out, line, 0, columns);
}

void answer_print(const struct answer *a, FILE *out, int columns)
{
    const json_t *note;
    size_t i;

    print_paragraph(out, "", a->title, columns);
    print_figures(a, out);
    for (i = 0; i < a->n_items; i++) {
        if (a->items[i].kind != TABLE)
            continue;
        fprintf(out, "\n%s\n", a->items[i].title);
        table_print(a->items[i].table, out, 2);
    }
    json_array_foreach(json_object_get(a->json, "notes"), i, note)
        print_paragraph(out, i ? "" : "\n", json_string_value(note), columns);
    if (a->source || a->assumes)
        fputc('\n', out);
    print_paragraph(out, "Source: ", a->source, columns);
    print_paragraph(out, "Assumes: ", a->assumes, columns);
}

void answer_print_json(const struct answer *a, FILE *out)
{
    json_dumpf(a->json, out, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    fputc('\n', out);
}

double answer_get(const struct answer *a, const char *key)
{
    const json_t *value = json_object_get(a->json, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}
