/* answer.c - keeps values as they were added; text and JSON are formatted when the answer is printed. */
#include "plan/answer.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "wire/json.h"

struct value {
    enum answer_unit unit;
    double number; /* of a flag: 0 or 1 */
    char *word;    /* NULL: unknown */
};

struct item {
    enum kind { FIGURE, TABLE, NOTE, BASIS } kind; /* BASIS: source, assumptions */
    const char *key;
    char *words;         /* of every kind but TABLE */
    struct value *value; /* one for a figure; a table's cells row by row */
    size_t n, cap;
    const char *title; /* this and what follows: TABLE only */
    const struct answer_column *columns;
    size_t n_columns;
};

struct answer {
    char *title;
    struct item *item;    /* in the order in which they were added */
    size_t n, cap, table; /* table: index of the newest one */
};

struct answer *answer_new(void)
{
    return xcalloc(1, sizeof(struct answer));
}

void answer_free(struct answer *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < a->item[i].n; k++)
            free(a->item[i].value[k].word);
        free(a->item[i].value);
        free(a->item[i].words);
    }
    free(a->item);
    free(a->title);
    free(a);
}

bool answer_empty(const struct answer *a)
{
    return a->n == 0;
}

__attribute__((format(printf, 1, 0))) static char *format_words(const char *fmt, va_list ap)
{
    char text[1024];

    vsnprintf(text, sizeof(text), fmt, ap);
    return xstrdup(text);
}

/* ---- adding ---- */

static struct item *add_item(struct answer *a, enum kind kind, const char *key)
{
    struct item *item;

    a->item = xgrow(a->item, &a->cap, a->n + 1, sizeof(*a->item));
    item = &a->item[a->n++];
    *item = (struct item){ .kind = kind, .key = key };
    return item;
}

static void add_value(struct item *item, enum answer_unit unit, double number, char *word)
{
    item->value = xgrow(item->value, &item->cap, item->n + 1, sizeof(*item->value));
    item->value[item->n++] = (struct value){ unit, number, word };
}

void answer_figure(struct answer *a, const char *key, double value, enum answer_unit unit, const char *fmt,
                   ...)
{
    struct item *item = add_item(a, FIGURE, key);
    va_list ap;

    add_value(item, unit, value, NULL);
    va_start(ap, fmt);
    item->words = format_words(fmt, ap);
    va_end(ap);
}

void answer_word(struct answer *a, const char *key, const char *word, const char *fmt, ...)
{
    struct item *item = add_item(a, FIGURE, key);
    va_list ap;

    add_value(item, ANSWER_WORDS, NAN, word ? xstrdup(word) : NULL);
    va_start(ap, fmt);
    item->words = format_words(fmt, ap);
    va_end(ap);
}

void answer_table(struct answer *a, const char *key, const char *title, const struct answer_column *columns,
                  size_t n_columns)
{
    struct item *item = add_item(a, TABLE, key);

    item->title = title;
    item->columns = columns;
    item->n_columns = n_columns;
    a->table = a->n - 1;
}

void answer_cell(struct answer *a, double value)
{
    struct item *item = &a->item[a->table];

    add_value(item, item->columns[item->n % item->n_columns].unit, value, NULL);
}

void answer_numbers(struct answer *a, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        answer_cell(a, values[i]);
}

void answer_cell_words(struct answer *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_value(&a->item[a->table], ANSWER_WORDS, NAN, format_words(fmt, ap));
    va_end(ap);
}

void answer_title(struct answer *a, const char *fmt, ...)
{
    va_list ap;

    free(a->title);
    va_start(ap, fmt);
    a->title = format_words(fmt, ap);
    va_end(ap);
}

void answer_sentence(struct answer *a, const char *key, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_item(a, !strcmp(key, "notes") ? NOTE : BASIS, key)->words = format_words(fmt, ap);
    va_end(ap);
}

/* ---- printing ---- */

static const char *format_value(char *buf, size_t size, const struct value *v)
{
    if (isinf(v->number)) {
        snprintf(buf, size, "%s", v->unit == ANSWER_SECONDS || v->unit == ANSWER_HOURS ? "never" : "inf");
        return buf;
    }
    switch (v->unit) {
    case ANSWER_WORDS:
        return v->word ? v->word : "?";
    case ANSWER_FLAG:
        return v->number != 0 ? "yes" : "no";
    case ANSWER_SECONDS:
        return units_format_s(buf, size, v->number);
    case ANSWER_HOURS:
        return units_format_s(buf, size, v->number * 3600);
    case ANSWER_BYTES:
        return units_format_bytes(buf, size, v->number);
    case ANSWER_RATE:
        return units_format_rate(buf, size, v->number);
    case ANSWER_SHARE:
        return units_format_percent(buf, size, v->number);
    case ANSWER_TIMES:
        return units_format_times(buf, size, v->number);
    case ANSWER_COUNT:
        snprintf(buf, size, isnan(v->number) ? "?" : "%.0f", v->number);
        return buf;
    default:
        return units_format_number(buf, size, v->number);
    }
}

static void print_figures(const struct answer *a, FILE *out, int columns)
{
    static const struct text_column layout[] = { { "", false, 0 }, { "", true, 0 }, { "", false, 0 } };
    struct table *t = table_new(layout, ARRAY_SIZE(layout));
    char buf[64];

    for (const struct item *item = a->item; item < a->item + a->n; item++) {
        if (item->kind != FIGURE)
            continue;
        table_cell(t, "%s", item->key);
        table_cell(t, "%s", format_value(buf, sizeof(buf), item->value));
        table_cell(t, "%s", item->words);
    }
    table_print(t, out, 2, columns);
    table_free(t);
}

static void print_table(const struct item *item, FILE *out, int columns)
{
    struct text_column *layout = xcalloc(item->n_columns, sizeof(*layout));
    struct table *t;
    size_t shown = 0;
    char buf[64];

    for (const struct answer_column *c = item->columns; c < item->columns + item->n_columns; c++)
        if (c->title)
            layout[shown++] = (struct text_column){ .title = c->title, .right = c->unit != ANSWER_WORDS };
    t = table_new(layout, shown);
    for (size_t i = 0; i < item->n; i++)
        if (item->columns[i % item->n_columns].title)
            table_cell(t, "%s", format_value(buf, sizeof(buf), &item->value[i]));
    fprintf(out, "\n%s\n", item->title);
    table_print(t, out, 2, columns);
    table_free(t);
    free(layout);
}

/* The sentences under a key; before: in front of the first. */
static void print_sentences(const struct answer *a, const char *key, const char *before, FILE *out,
                            int columns)
{
    char line[1200];

    for (size_t i = 0; i < a->n; i++) {
        if (a->item[i].kind < NOTE || strcmp(a->item[i].key, key) != 0)
            continue;
        snprintf(line, sizeof(line), "%s%s", before, a->item[i].words);
        text_wrap(out, line, 0, columns);
        before = "";
    }
}

void answer_print(const struct answer *a, FILE *out, int columns)
{
    bool based = false;

    if (a->title)
        text_wrap(out, a->title, 0, columns);
    print_figures(a, out, columns);
    for (size_t i = 0; i < a->n; i++) {
        if (a->item[i].kind == TABLE)
            print_table(&a->item[i], out, columns);
        based |= a->item[i].kind == BASIS;
    }
    print_sentences(a, "notes", "\n", out, columns);
    if (based)
        fputc('\n', out);
    print_sentences(a, "source", "Source: ", out, columns);
    print_sentences(a, "assumes", "Assumes: ", out, columns);
}

/* ---- JSON ---- */

static json_t *value_json(const struct value *v)
{
    if (v->unit == ANSWER_WORDS)
        return v->word ? json_string(v->word) : json_null();
    if (v->unit == ANSWER_FLAG)
        return json_boolean(v->number != 0);
    if (v->unit == ANSWER_COUNT && fabs(v->number) < 9e15 && v->number == floor(v->number))
        return json_integer((json_int_t)v->number);
    return json_of_real(v->number);
}

void answer_print_json(const struct answer *a, FILE *out)
{
    json_t *o = json_object(), *notes = NULL, *rows, *row = NULL;

    for (const struct item *item = a->item; item < a->item + a->n; item++) {
        switch (item->kind) {
        case FIGURE:
            json_object_set_new(o, item->key, value_json(item->value));
            break;
        case TABLE:
            json_object_set_new(o, item->key, rows = json_array());
            for (size_t i = 0; i < item->n; i++) {
                if (i % item->n_columns == 0)
                    json_array_append_new(rows, row = json_object());
                json_object_set_new(row, item->columns[i % item->n_columns].key, value_json(&item->value[i]));
            }
            break;
        case NOTE:
            if (!notes)
                json_object_set_new(o, item->key, notes = json_array());
            json_array_append_new(notes, json_string(item->words));
            break;
        case BASIS:
            json_object_set_new(o, item->key, json_string(item->words));
        }
    }
    json_dumpf(o, out, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(o);
}
