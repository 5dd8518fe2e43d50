#include "term/draw.h"

#include <math.h>
#include <string.h>

#define FULL_BLOCK 0x2588u

/* ▁ to █: 1 to 8 eighths from below. */
static uint32_t lower_block(int eighths)
{
    return 0x2580u + (uint32_t)eighths;
}

void draw_bar(struct canvas *c, int y, int x, int width, enum style style, double ratio)
{
    int eighths, whole;

    if (!(ratio > 0))
        return;
    eighths = (int)lround(fmin(ratio, 1) * width * 8);
    if (eighths == 0)
        eighths = 1;
    whole = eighths / 8;
    canvas_fill(c, y, x, whole, style, FULL_BLOCK);
    if (eighths % 8)
        canvas_fill(c, y, x + whole, 1, style, FULL_BLOCK + 8 - (uint32_t)eighths % 8); /* ▏ to ▉ */
}

void draw_spark(struct canvas *c, int y, int x, int width, enum style style, const double *value, size_t n)
{
    size_t first = n > (size_t)width ? n - (size_t)width : 0;
    int at = x + width - (int)(n - first);
    double low = INFINITY, high = -INFINITY;

    for (size_t i = first; i < n; i++) {
        if (isnan(value[i]))
            continue;
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    if (high - low < 0.2 * high) {
        double middle = (high + low) / 2;

        low = middle * 0.9;
        high = middle * 1.1;
    }
    for (size_t i = first; i < n; i++, at++) {
        double part = high > low ? (value[i] - low) / (high - low) : 0;

        if (!isnan(value[i]))
            canvas_fill(c, y, at, 1, style, lower_block(1 + (int)lround(part * 7)));
    }
}

void draw_heat(struct canvas *c, int y, int x, int width, const char *levels, size_t n_scale)
{
    size_t n = strlen(levels), first = n > (size_t)width ? n - (size_t)width : 0;
    int at = x + width - (int)(n - first);

    for (size_t i = first; i < n; i++, at++) {
        int level = levels[i] - '0', heat;

        if (levels[i] == '.')
            continue;
        if (level > (int)n_scale)
            level = (int)n_scale;
        heat = n_scale ? (level * (CANVAS_HEATS - 1) + (int)n_scale - 1) / (int)n_scale : 0;
        canvas_fill(c, y, at, 1, (enum style)(STYLE_HEAT + heat), heat ? lower_block(heat) : 0xb7u);
    }
}

void draw_rule(struct canvas *c, int y, int x, int width, const char *title)
{
    canvas_fill(c, y, x, width, STYLE_DIM, 0x2500);
    if (title[0])
        canvas_printf(c, y, x + 2, width - 4, STYLE_BOLD, " %s ", title);
}
