#include "common/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#define GAP      2  /* between columns */
#define NARROW   12 /* a column of text is made no narrower, unless all of its text is */
#define WORD_MAX 24 /* a longer word may be broken */

struct table {
    const struct text_column *columns;
    size_t n_columns, n_cells, cap;
    char **cells;
};

static struct text written(char *format(char *, size_t, double), double value)
{
    struct text t = { "-" };

    if (isfinite(value))
        format(t.s, sizeof(t.s), value);
    return t;
}

const char *text_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

struct text text_s(double seconds)
{
    return written(units_format_s, seconds);
}

struct text text_about_s(double seconds)
{
    return written(units_format_about_s, seconds);
}

struct text text_age(double seconds)
{
    struct text t;

    if (!(seconds >= 0 && seconds < 59.5))
        return text_s(floor(seconds));
    snprintf(t.s, sizeof(t.s), "%.0f s", seconds);
    return t;
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

struct text text_times_between(double factor, double low, double high)
{
    struct text t = text_times(factor), from = text_times(low), to = text_times(high);

    if (low <= high && (strcmp(from.s, t.s) || strcmp(to.s, t.s)))
        text_append(t.s, sizeof(t.s), " (%s to %s)", from.s, to.s);
    return t;
}

struct text text_count(double number)
{
    struct text t = { "-" };

    if (number >= 0 && isfinite(number))
        snprintf(t.s, sizeof(t.s), "%.0f", number);
    return t;
}

void text_append(char *buf, size_t size, const char *fmt, ...)
{
    size_t at = strlen(buf);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(buf + at, size - at, fmt, ap);
    va_end(ap);
}

/* The first line begins at column at, which is already written up to there. */
static void wrap_at(FILE *out, const char *paragraph, int at, int indent, int columns)
{
    bool has_word = false;

    if (columns <= 0 || columns > TEXT_COLUMNS)
        columns = TEXT_COLUMNS;
    while (*(paragraph += strspn(paragraph, " "))) {
        size_t bytes = strcspn(paragraph, " ");
        int word = utf8_width(paragraph, bytes);

        if (has_word && at + 1 + word > columns) {
            fputc('\n', out);
            at = 0;
            has_word = false;
        }
        at += fprintf(out, "%*s", has_word ? 1 : indent - at, "") + word;
        has_word = true;
        fwrite(paragraph, 1, bytes, out);
        paragraph += bytes;
    }
    fputc('\n', out);
}

void text_wrap(FILE *out, const char *paragraph, int indent, int columns)
{
    wrap_at(out, paragraph, 0, indent, columns);
}

void text_hang(FILE *out, int margin, const char *head, const char *paragraph, int indent, int columns)
{
    wrap_at(out, paragraph, fprintf(out, "%*s%s", margin, "", head), indent, columns);
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
    fprintf(out, "%c%s", strchr(" ,", text[n]) ? toupper((unsigned char)*text) : *text,
            *text ? text + 1 : "");
}

struct table *table_new(const struct text_column *columns, size_t n_columns)
{
    struct table *t = xcalloc(1, sizeof(*t));

    t->columns = columns;
    t->n_columns = n_columns;
    return t;
}

void table_cell(struct table *t, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    t->cells = xgrow(t->cells, &t->cap, t->n_cells + 1, sizeof(*t->cells));
    t->cells[t->n_cells++] = text;
}

/* ---- how wide each column is ---- */

/* Of the longest word or item of a list, at most WORD_MAX. */
static int longest_word(const char *cell)
{
    int longest = 0;

    while (*(cell += strspn(cell, " "))) {
        size_t bytes = strcspn(cell, " ,") + (cell[strcspn(cell, " ,")] == ',');
        int width = utf8_width(cell, bytes);

        longest = width > longest ? width : longest;
        cell += bytes;
    }
    return longest < WORD_MAX ? longest : WORD_MAX;
}

/* As wide as its cells, and how narrow it may become; both 0: nothing is known in it. */
static void measure_column(const struct table *t, size_t c, int *wide, int *narrow)
{
    const char *title = t->columns[c].title;
    bool known = false;

    *wide = *narrow = utf8_width(title, strlen(title));
    for (size_t i = c; i < t->n_cells; i += t->n_columns) {
        int cell = utf8_width(t->cells[i], strlen(t->cells[i])), word = longest_word(t->cells[i]);

        known |= strcmp(t->cells[i], "-") != 0;
        *wide = cell > *wide ? cell : *wide;
        *narrow = word > *narrow ? word : *narrow;
    }
    if (*narrow < NARROW)
        *narrow = *wide < NARROW ? *wide : NARROW;
    if (t->columns[c].right)
        *narrow = *wide;
    if (!known)
        *wide = *narrow = 0;
}

static int total_width(const int *widths, size_t n, int indent)
{
    int total = indent - GAP;

    for (size_t c = 0; c < n; c++)
        total += widths[c] ? widths[c] + GAP : 0;
    return total;
}

/* The column that is missed least; n: none may be left out. */
static size_t least_wanted(const struct table *t, const int *widths)
{
    size_t least = t->n_columns;

    for (size_t c = 0; c < t->n_columns; c++)
        if (widths[c] && t->columns[c].spare &&
            (least == t->n_columns || t->columns[c].spare > t->columns[least].spare))
            least = c;
    return least;
}

/* Leaves columns out until the others fit at their narrowest, then takes from the widest what is too
 * much. */
static void fit_columns(const struct table *t, int *widths, int *narrow, int indent, int columns)
{
    size_t c;

    while (total_width(narrow, t->n_columns, indent) > columns &&
           (c = least_wanted(t, widths)) < t->n_columns)
        widths[c] = narrow[c] = 0;
    while (total_width(widths, t->n_columns, indent) > columns) {
        size_t widest = t->n_columns;

        for (c = 0; c < t->n_columns; c++)
            if (widths[c] > narrow[c] && (widest == t->n_columns || widths[c] > widths[widest]))
                widest = c;
        if (widest == t->n_columns)
            break;
        widths[widest]--;
    }
}

/* ---- rows ---- */

/* The bytes of the cell's next line, which is at most width columns: up to a space, or behind a comma; a word
 * that is longer is broken. */
static size_t next_line(const char *cell, int width)
{
    const char *at = cell, *last = NULL;
    int columns = 0;

    while (*at) {
        const char *next = at;
        uint32_t ch = utf8_next(&next);

        columns += utf8_columns(ch) < 0 ? 1 : utf8_columns(ch);
        if (columns > width && ch == ' ')
            last = at;
        if (columns > width)
            return last ? (size_t)(last - cell) : at == cell ? (size_t)(next - cell) : (size_t)(at - cell);
        if (ch == ' ')
            last = at;
        else if (ch == ',')
            last = next;
        at = next;
    }
    return (size_t)(at - cell);
}

/* The next line of each cell, without spaces at its end; cells move behind it.  Is anything left? */
static bool put_line(FILE *out, const struct table *t, const char **cells, const int *widths, int indent)
{
    int pending = indent;
    bool more = false;

    for (size_t c = 0; c < t->n_columns; c++) {
        size_t bytes = next_line(cells[c], widths[c]);
        int pad = widths[c] - utf8_width(cells[c], bytes);

        if (!widths[c])
            continue;
        if (t->columns[c].right)
            pending += pad;
        if (bytes) {
            fprintf(out, "%*s%.*s", pending, "", (int)bytes, cells[c]);
            pending = 0;
        }
        pending += GAP + (t->columns[c].right ? 0 : pad);
        cells[c] += bytes;
        cells[c] += strspn(cells[c], " ");
        more |= *cells[c] != '\0';
    }
    fputc('\n', out);
    return more;
}

/* cells NULL: the titles. */
static void put_row(FILE *out, const struct table *t, char *const *cells, const int *widths, int indent)
{
    const char **rest = xcalloc(t->n_columns, sizeof(*rest));

    for (size_t c = 0; c < t->n_columns; c++)
        rest[c] = cells ? cells[c] : t->columns[c].title;
    while (put_line(out, t, rest, widths, indent))
        ;
    free(rest);
}

void table_print(const struct table *t, FILE *out, int indent, int columns)
{
    int *wide = xcalloc(3 * t->n_columns, sizeof(*wide)), *narrow = wide + t->n_columns,
        *widths = narrow + t->n_columns;
    char *left_out = NULL;
    bool titled = false, known = false;

    for (size_t c = 0; c < t->n_columns; c++) {
        measure_column(t, c, &wide[c], &narrow[c]);
        widths[c] = wide[c];
        titled |= *t->columns[c].title != '\0';
        known |= widths[c] > 0;
    }
    if (columns > 0)
        fit_columns(t, widths, narrow, indent, columns);
    if (titled && known)
        put_row(out, t, NULL, widths, indent);
    for (size_t i = 0; known && i + t->n_columns <= t->n_cells; i += t->n_columns)
        put_row(out, t, t->cells + i, widths, indent);
    for (size_t c = 0; c < t->n_columns; c++) {
        char *before = left_out;

        if (!wide[c] || widths[c])
            continue;
        left_out = xasprintf("%s%s%s", before ? before : "Left out at this width (--wide shows all): ",
                             before ? ", " : "", t->columns[c].title);
        free(before);
    }
    if (left_out)
        text_wrap(out, left_out, indent, columns);
    free(left_out);
    free(wide);
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
