#include "plan/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL 8 /* columns of the axis' numbers and a space */
#define WIDTH (CHART_WIDTH - LABEL - 2)
#define ROWS  40

static const struct mark {
    const char *utf8, *ascii;
} marks[CHART_SERIES_MAX] = {
    { "○", "o" }, { "●", "O" }, { "△", "^" }, { "×", "x" }, { "◆", "#" }, { "▲", "A" }, { "□", "=" },
}, dot = { "·", "." }, bar = { "│", "|" }, floor_mark = { "─", "-" }, corner = { "└", "+" };

static const char *as(const struct mark *m, bool utf8)
{
    return utf8 ? m->utf8 : m->ascii;
}

bool chart_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *v = getenv(names[i]);

        if (v && *v)
            return strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "UTF8") || strstr(v, "utf-8");
    }
    return false;
}

/* Round v up to a number whose fifths are easy to read. */
static double round_up(double v)
{
    static const double steps[] = { 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 };
    double unit = pow(10, floor(log10(v)));

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i] * unit >= v * (1 - 1e-12))
            return steps[i] * unit;
    }
    return v;
}

static double top_of(const struct chart *c)
{
    double top = 0;

    for (int k = 0; k < c->n; k++) {
        for (int i = 0; i < c->places; i++)
            top = c->series[k].y[i] > top ? c->series[k].y[i] : top;
    }
    return top > 0 ? round_up(top) : 1;
}

static int column_of(const struct chart *c, int place)
{
    int room = WIDTH - c->n - 1;

    return c->n / 2 + (c->places > 1 ? place * room / (c->places - 1) : room / 2);
}

static int row_of(const struct chart *c, double y, double top)
{
    return c->rows - 1 - (int)lround(y / top * (c->rows - 1));
}

/* A cell holds 0: nothing, 1: a dot, 2 + k: the mark of series k. */
static void draw_line(const struct chart *c, unsigned char cell[ROWS][WIDTH], int k, double top)
{
    const double *y = c->series[k].y;

    for (int i = 0; i + 1 < c->places; i++) {
        int from = column_of(c, i), to = column_of(c, i + 1);

        if (isnan(y[i]) || isnan(y[i + 1]))
            continue;
        for (int x = from; x < to; x++) {
            double at = y[i] + (y[i + 1] - y[i]) * (x - from) / (to - from);

            cell[row_of(c, at, top)][x] = 1;
        }
    }
}

static void draw_marks(const struct chart *c, unsigned char cell[ROWS][WIDTH], int k, double top)
{
    for (int i = 0; i < c->places; i++) {
        int x = column_of(c, i) - c->n / 2 + k;

        if (!isnan(c->series[k].y[i]) && x >= 0 && x < WIDTH)
            cell[row_of(c, c->series[k].y[i], top)][x] = (unsigned char)(2 + k);
    }
}

static void print_row(FILE *out, const unsigned char *cell, bool utf8)
{
    int end = WIDTH;

    while (end > 0 && !cell[end - 1])
        end--;
    for (int x = 0; x < end; x++)
        fputs(!cell[x] ? " " : cell[x] == 1 ? as(&dot, utf8) : as(&marks[cell[x] - 2], utf8), out);
    fputc('\n', out);
}

static void print_axis(const struct chart *c, FILE *out, bool utf8)
{
    char names[CHART_WIDTH + 1];
    size_t axis = strnlen(c->axis, LABEL - 1);

    memset(names, ' ', sizeof(names));
    memcpy(names + LABEL - 1 - axis, c->axis, axis);
    for (int i = 0; i < c->places; i++) {
        char name[16];
        int n = snprintf(name, sizeof(name), "%d", c->place[i]), at = LABEL + 1 + column_of(c, i) - n / 2;

        if (at + n <= CHART_WIDTH)
            memcpy(names + at, name, (size_t)n);
    }
    names[CHART_WIDTH] = '\0';
    for (int end = CHART_WIDTH; end > 0 && names[end - 1] == ' '; end--)
        names[end - 1] = '\0';
    fprintf(out, "%*s %s", LABEL - 1, "", as(&corner, utf8));
    for (int x = 0; x < WIDTH; x++)
        fputs(as(&floor_mark, utf8), out);
    fprintf(out, "\n%s\n", names);
}

/* Print a number in rows at a multiple of a fifth of the top, else blanks. */
static void print_label(const struct chart *c, FILE *out, int row, double top)
{
    int up = c->rows - 1 - row;

    if (up * 5 % (c->rows - 1) == 0)
        fprintf(out, "%*.6g ", LABEL - 1, top * up / (c->rows - 1));
    else
        fprintf(out, "%*s", LABEL, "");
}

void chart_print(const struct chart *c, FILE *out, bool utf8)
{
    unsigned char cell[ROWS][WIDTH];
    double top = top_of(c);

    memset(cell, 0, sizeof(cell));
    for (int k = 0; k < c->n; k++) {
        if (c->series[k].line)
            draw_line(c, cell, k, top);
    }
    for (int k = 0; k < c->n; k++)
        draw_marks(c, cell, k, top);
    fprintf(out, "%s\n", c->title);
    for (int k = 0; k < c->n; k++)
        fprintf(out, "%*s%s  %s\n", LABEL + 1, "", as(&marks[k], utf8), c->series[k].name);
    for (int row = 0; row < c->rows; row++) {
        print_label(c, out, row, top);
        fputs(as(&bar, utf8), out);
        print_row(out, cell[row], utf8);
    }
    print_axis(c, out, utf8);
}
