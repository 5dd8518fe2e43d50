#include "term/canvas.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/xalloc.h"

#define ELLIPSIS 0x2026u

struct canvas *canvas_new(int width, int height, bool ascii)
{
    struct canvas *c = xcalloc(1, sizeof(*c));

    c->width = width > 0 ? width : 1;
    c->height = height > 0 ? height : 1;
    c->ascii = ascii;
    c->cells = xcalloc((size_t)c->width * (size_t)c->height, sizeof(*c->cells));
    canvas_clear(c);
    return c;
}

void canvas_free(struct canvas *c)
{
    if (!c)
        return;
    free(c->cells);
    free(c->hits);
    free(c);
}

void canvas_clear(struct canvas *c)
{
    size_t n = (size_t)c->width * (size_t)c->height;

    for (size_t i = 0; i < n; i++)
        c->cells[i] = (struct cell){ .ch = ' ', .style = STYLE_TEXT };
    c->n_hits = 0;
}

struct cell *canvas_at(const struct canvas *c, int y, int x)
{
    if (y < 0 || x < 0 || y >= c->height || x >= c->width)
        return NULL;
    return &c->cells[(size_t)y * (size_t)c->width + (size_t)x];
}

/* Plain stand-ins that keep the order of what they stand for: a taller block gives a denser character. */
static uint32_t plain(uint32_t ch)
{
    static const struct {
        uint32_t from;
        char to;
    } table[] = {
        { 0x2581, '_' }, { 0x2582, '-' }, { 0x2583, ':' },  { 0x2584, '=' }, { 0x2585, '+' }, { 0x2586, '*' },
        { 0x2587, '%' }, { 0x2588, '#' }, { 0x2589, '=' },  { 0x258a, '=' }, { 0x258b, '=' }, { 0x258c, '-' },
        { 0x258d, '-' }, { 0x258e, '-' }, { 0x258f, ' ' },  { 0x2591, '.' }, { 0x2592, '+' }, { 0x2593, '=' },
        { 0x2500, '-' }, { 0x2501, '=' }, { 0x2502, '|' },  { 0x00b7, '.' }, { 0x2026, '~' }, { 0x00b5, 'u' },
        { 0x25bc, 'v' }, { 0x25b2, '^' }, { 0x25c0, '<' },  { 0x25b6, '>' }, { 0x25cf, '*' }, { 0x2013, '-' },
        { 0x2014, '-' }, { 0x00d7, 'x' }, { 0x2019, '\'' }, { 0x2192, '>' }, { 0x2191, '^' }, { 0x2193, 'v' },
        { 0x2504, '~' }, { 0x259a, '%' },
    };

    if (ch < 0x80)
        return ch;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        if (table[i].from == ch)
            return (uint32_t)table[i].to;
    return '?';
}

/* What is put for ch, and how many columns it takes.  Control, combining and unprintable characters, which
 * would derange the terminal, become one '?'. */
static uint32_t printable(uint32_t ch, bool ascii, int *width)
{
    *width = 1;
    if (ascii)
        ch = plain(ch);
    if (ch < 0x80)
        return ch < 0x20 || ch == 0x7f ? '?' : ch;
    *width = utf8_columns(ch);
    if (*width == 1 || *width == 2)
        return ch;
    *width = 1;
    return '?';
}

static int width_of(const char *text, bool ascii)
{
    int total = 0, w;
    uint32_t ch;

    while ((ch = utf8_next(&text))) {
        printable(ch, ascii, &w);
        total += w;
    }
    return total;
}

int canvas_text_width(const char *text)
{
    return width_of(text, false);
}

static void put_cell(struct canvas *c, int y, int x, enum style style, uint32_t ch)
{
    struct cell *cell = canvas_at(c, y, x);

    if (cell)
        *cell = (struct cell){ .ch = ch, .style = (uint8_t)style };
}

int canvas_put(struct canvas *c, int y, int x, int width, enum style style, const char *text)
{
    int limit, at = 0, w;
    uint32_t ch;
    bool cut;

    if (width > c->width - x)
        width = c->width - x;
    if (width <= 0)
        return 0;
    cut = width_of(text, c->ascii) > width;
    limit = cut ? width - 1 : width;
    while ((ch = utf8_next(&text))) {
        ch = printable(ch, c->ascii, &w);
        if (at + w > limit)
            break;
        put_cell(c, y, x + at, style, ch);
        if (w == 2)
            put_cell(c, y, x + at + 1, style, 0);
        at += w;
    }
    if (cut)
        put_cell(c, y, x + at++, style, printable(ELLIPSIS, c->ascii, &w));
    return at;
}

int canvas_put_right(struct canvas *c, int y, int x, int width, enum style style, const char *text)
{
    int w = width_of(text, c->ascii);

    if (w >= width)
        return canvas_put(c, y, x, width, style, text);
    return canvas_put(c, y, x + width - w, w, style, text);
}

int canvas_printf(struct canvas *c, int y, int x, int width, enum style style, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return canvas_put(c, y, x, width, style, text);
}

void canvas_fill(struct canvas *c, int y, int x, int width, enum style style, uint32_t ch)
{
    int w;

    ch = printable(ch, c->ascii, &w);
    for (int i = 0; i < width; i++)
        put_cell(c, y, x + i, style, ch);
}

void canvas_reverse(struct canvas *c, int y, int x, int width)
{
    for (int i = 0; i < width; i++) {
        struct cell *cell = canvas_at(c, y, x + i);

        if (cell)
            cell->reversed = 1;
    }
}

/* Bytes of text that fit width columns, broken at a blank where there is one. */
static size_t line_length(const char *text, int width, bool ascii)
{
    const char *at = text, *before, *blank = NULL;
    int used = 0, w;
    uint32_t ch;

    for (;;) {
        before = at;
        ch = utf8_next(&at);
        if (!ch)
            return (size_t)(before - text);
        if (ch == ' ')
            blank = before;
        printable(ch, ascii, &w);
        used += w;
        if (used > width)
            return (size_t)((blank && blank > text ? blank : before) - text);
    }
}

int canvas_wrap(struct canvas *c, int y, int x, int rest, int width, int rows, enum style style,
                const char *text)
{
    char line[1024];
    int row = 0, end = x + width;

    while (*text && row < rows && end > x + 1) {
        size_t n = line_length(text, end - x, c->ascii);

        if (row == rows - 1 || n == 0 || n >= sizeof(line)) {
            canvas_put(c, y + row, x, end - x, style, text);
            return row + 1;
        }
        memcpy(line, text, n);
        line[n] = '\0';
        canvas_put(c, y + row++, x, end - x, style, line);
        text += n;
        while (*text == ' ')
            text++;
        x = rest;
    }
    return row;
}

int canvas_text_rows(const char *text, int first, int width)
{
    int rows = 0, columns = first;

    for (; *text; rows++, columns = width) {
        size_t n = columns > 0 ? line_length(text, columns, false) : 0;

        if (n == 0)
            return rows + 1;
        text += n;
        text += strspn(text, " ");
    }
    return rows;
}

void canvas_copy(struct canvas *c, int y, int rows, const struct canvas *from, int from_y)
{
    for (int i = 0; i < rows; i++)
        for (int x = 0; x < c->width; x++) {
            struct cell *to = canvas_at(c, y + i, x);
            const struct cell *cell = canvas_at(from, from_y + i, x);

            if (to && cell)
                *to = *cell;
        }
}

void canvas_hit(struct canvas *c, int y, int x, int height, int width, int action, int arg)
{
    c->hits = xgrow(c->hits, &c->cap_hits, c->n_hits + 1, sizeof(*c->hits));
    c->hits[c->n_hits++] = (struct canvas_hit){ y, x, height, width, action, arg };
}

const struct canvas_hit *canvas_hit_at(const struct canvas *c, int y, int x)
{
    for (size_t i = c->n_hits; i-- > 0;) {
        const struct canvas_hit *h = &c->hits[i];

        if (y >= h->y && y < h->y + h->height && x >= h->x && x < h->x + h->width)
            return h;
    }
    return NULL;
}

/* As UTF-8. */
static void print_char(uint32_t ch, FILE *out)
{
    static const unsigned lead[] = { 0, 0xc0, 0xe0, 0xf0 };
    unsigned more = ch < 0x80 ? 0 : ch < 0x800 ? 1 : ch < 0x10000 ? 2 : 3;

    putc((int)(lead[more] | ch >> 6 * more), out);
    while (more-- > 0)
        putc((int)(0x80 | (ch >> 6 * more & 0x3f)), out);
}

void canvas_print(const struct canvas *c, FILE *out)
{
    for (int y = 0; y < c->height; y++) {
        int end = c->width;

        while (end > 0 && canvas_at(c, y, end - 1)->ch == ' ')
            end--;
        for (int x = 0; x < end; x++) {
            uint32_t ch = canvas_at(c, y, x)->ch;

            if (ch)
                print_char(ch, out);
        }
        putc('\n', out);
    }
}
