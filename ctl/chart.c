#include "ctl/chart.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/text.h"
#include "report/markup.h"
#include "report/step_axis.h"

#define WIDTH  1120
#define LEFT   130 /* where plots begin ... */
#define PLOT   974 /* ... and how wide they are */
#define TOP    26  /* the axis' title stands there */
#define HEIGHT 180 /* of a plot of lines */
#define BELOW  40  /* for the axis of time */
#define LINE   22  /* of bands */
#define TICKS  10

const char chart_style[] =
    ".chart{display:block;width:100%;height:auto;font:12px system-ui,sans-serif}\n"
    ".chart text{fill:var(--text)}.chart .dim{fill:var(--dim)}.chart .end{text-anchor:end}.chart .middle{text-anchor:middle}\n"
    ".chart .grid{stroke:var(--grid);fill:none}.chart .line{stroke:var(--line);stroke-width:2;fill:none;stroke-linecap:round;stroke-linejoin:round}\n"
    ".chart .mark{stroke:var(--dim);stroke-dasharray:5 4;fill:none}\n"
    ".chart .band{fill:var(--warn);fill-opacity:.16}.chart .bad{fill:var(--bad);fill-opacity:.2}\n"
    ".chart .solid{fill-opacity:.75}\n"
    ".hatch{stroke:var(--grid);stroke-width:2}.chart .none{fill:url(#none)}\n"
    ".chart .s0{fill:var(--s0)}.chart .s1{fill:var(--s1)}.chart .s2{fill:var(--s2)}.chart .s3{fill:var(--s3)}\n"
    ".h0{fill:#eef1f5}.h1{fill:#fdf0d0}.h2{fill:#fbe0a6}.h3{fill:#f8ca74}.h4{fill:#f3ae4b}.h5{fill:#ea8d32}.h6{fill:#dc6a26}"
    ".h7{fill:#c54522}.h8{fill:#a02722}.h9{fill:#741423}\n"
    "@media(prefers-color-scheme:dark){"
    ".h0{fill:#20262e}.h1{fill:#33301f}.h2{fill:#4a3d1f}.h3{fill:#664a1e}.h4{fill:#85591e}.h5{fill:#a76820}.h6{fill:#c97a28}"
    ".h7{fill:#e5923a}.h8{fill:#f5b35c}.h9{fill:#ffd992}}\n";

const char chart_defs[] =
    "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs><pattern id=\"none\" width=\"7\" height=\"7\" "
    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V7\"/></pattern></defs></svg>\n";

/* ---- parts ---- */

__attribute__((format(printf, 5, 6))) static void put_text(FILE *out, double x, double y, const char *class,
                                                           const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    markup_text(out, text);
    fputs("</text>\n", out);
}

static void begin_chart(FILE *out, double height, const char *name)
{
    fprintf(
        out,
        "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" role=\"img\">\n<title>",
        WIDTH, height);
    markup_text(out, name);
    fputs("</title>\n", out);
}

struct unit {
    double s;
    const char *name;
};

static double x_of(double age_s, double span_s)
{
    return LEFT + PLOT * (1 - fmin(fmax(age_s / span_s, 0), 1));
}

static void put_time_axis(FILE *out, double span_s, double top, double bottom, const char *until)
{
    struct unit unit = span_s <= 180     ? (struct unit){ 1, "seconds" }
                       : span_s <= 10800 ? (struct unit){ 60, "minutes" }
                                         : (struct unit){ 3600, "hours" };
    double tick = step_axis_tick_s(span_s / unit.s, TICKS);

    for (int i = 0; i * tick * unit.s <= span_s * (1 + 1e-9); i++) {
        double x = x_of(i * tick * unit.s, span_s);

        fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top, bottom);
        if (i)
            put_text(out, x, bottom + 16, "dim middle", "%.6g", i * tick);
        else
            put_text(out, x, bottom + 16, "dim end", "%s", until);
    }
    put_text(out, LEFT, bottom + 32, "dim", "%s before %s", unit.name, until);
}

static void put_none(FILE *out, double x, double y, double width, double height)
{
    fprintf(
        out,
        "<rect class=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>not measured</title></rect>\n",
        x, y, width, height);
}

/* ---- lines ---- */

size_t chart_lines_range(const struct chart_lines *c, double *low, double *high)
{
    size_t known = 0;

    *low = INFINITY;
    *high = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (isnan(c->value[i]))
            continue;
        *low = fmin(*low, c->value[i]);
        *high = fmax(*high, c->value[i]);
        known++;
    }
    return known;
}

double chart_lines_span_s(const struct chart_lines *c)
{
    return c->n ? c->age_s[0] + c->width_s / 2 : 0;
}

static double y_of(double value, double most)
{
    return TOP + HEIGHT * (1 - fmin(fmax(value / most, 0), 1));
}

static void put_value_axis(FILE *out, const struct chart_lines *c, double most)
{
    struct unit unit = c->share       ? (struct unit){ 0.01, "% of the time" }
                       : most >= 1    ? (struct unit){ 1, "s" }
                       : most >= 1e-3 ? (struct unit){ 1e-3, "ms" }
                                      : (struct unit){ 1e-6, "us" };
    double tick = step_axis_tick_s(most / unit.s, 5);

    for (int i = 0; i * tick * unit.s <= most * (1 + 1e-9); i++) {
        double y = y_of(i * tick * unit.s, most);

        fprintf(out, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>\n", LEFT, y, PLOT);
        put_text(out, LEFT - 8, y + 4, "dim end", "%.6g", i * tick);
    }
    put_text(out, LEFT, TOP - 10, "", "%s, %s", c->what, unit.name);
}

/* Does the i-th point stand beside the one before? */
static bool follows(const struct chart_lines *c, size_t i)
{
    return i && !isnan(c->value[i - 1]) && c->age_s[i - 1] - c->age_s[i] < 1.5 * c->width_s;
}

/* From where the last known point ends to where the next one begins; the newest stretch may not be over
 * yet. */
static void put_gaps(FILE *out, const struct chart_lines *c)
{
    double span_s = chart_lines_span_s(c), from_s = span_s;

    for (size_t i = 0; i <= c->n; i++) {
        double to_s = i < c->n ? c->age_s[i] + c->width_s / 2 : 0;

        if (i < c->n && isnan(c->value[i]))
            continue;
        if (from_s - to_s > (i < c->n ? 0.75 : 1.1) * c->width_s)
            put_none(out, x_of(from_s, span_s), TOP, x_of(to_s, span_s) - x_of(from_s, span_s), HEIGHT);
        from_s = i < c->n ? c->age_s[i] - c->width_s / 2 : 0;
    }
}

static void put_bands(FILE *out, const struct chart_lines *c)
{
    double span_s = chart_lines_span_s(c);

    for (size_t i = 0; i < c->n_bands; i++) {
        const struct chart_band *b = &c->band[i];
        double from = x_of(b->from_s, span_s), to = x_of(b->to_s, span_s);

        if (to - from < 1)
            continue;
        fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>",
                b->bad ? "bad" : "band", from, TOP, to - from, HEIGHT);
        markup_text(out, b->label);
        fputs("</title></rect>\n", out);
    }
}

void chart_lines_put(FILE *out, const struct chart_lines *c)
{
    double low, high, most, span_s = chart_lines_span_s(c);

    if (!chart_lines_range(c, &low, &high) || !(span_s > 0))
        return;
    most = 1.1 * (isnan(c->mark) ? high : fmax(high, c->mark));
    most = most > 0 ? most : c->share ? 0.01 : 1e-6;
    begin_chart(out, TOP + HEIGHT + BELOW, c->name);
    put_bands(out, c);
    put_gaps(out, c);
    put_value_axis(out, c, most);
    put_time_axis(out, span_s, TOP, TOP + HEIGHT, c->until);
    if (!isnan(c->mark)) {
        fprintf(out, "<path class=\"mark\" d=\"M%d %.1fh%d\"/>\n", LEFT, y_of(c->mark, most), PLOT);
        put_text(out, LEFT + PLOT - 6, y_of(c->mark, most) + 14, "dim end", "%s", c->mark_label);
    }
    fputs("<path class=\"line\" d=\"", out);
    for (size_t i = 0; i < c->n; i++)
        if (!isnan(c->value[i]))
            fprintf(out, "%c%.1f %.1f%s", follows(c, i) ? 'L' : 'M', x_of(c->age_s[i], span_s),
                    y_of(c->value[i], most), follows(c, i) ? "" : "h0");
    fputs("\"/>\n</svg>\n", out);
}

/* ---- shares ---- */

void chart_shares_put(FILE *out, const char *name, const struct chart_share *share, size_t n)
{
    double x = 0, total = 0, y = 62;

    for (size_t i = 0; i < n; i++)
        total += isnan(share[i].ratio) ? 0 : fmax(share[i].ratio, 0);
    begin_chart(out, 84, name);
    for (size_t i = 0; i < n; i++) {
        double width = isnan(share[i].ratio) ? 0 : WIDTH * fmax(share[i].ratio, 0) / fmax(total, 1);

        if (width > 0)
            fprintf(out, "<rect class=\"s%zu\" x=\"%.1f\" y=\"4\" width=\"%.1f\" height=\"32\"/>\n", i, x,
                    width);
        x += width;
    }
    if (WIDTH - x > 4)
        put_none(out, x, 4, WIDTH - x, 32);
    for (size_t i = 0; i < n; i++) {
        double at = i * (WIDTH / 4.0);

        fprintf(out, "<rect class=\"s%zu\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n", i, at,
                y - 10);
        put_text(out, at + 20, y, "", "%s: %s", share[i].label,
                 isnan(share[i].ratio) ? "not measured" : text_percent(share[i].ratio).s);
    }
    fputs("</svg>\n", out);
}

/* ---- the map ---- */

/* All cells of a level in one path: a step to the right for each run of them. */
static void put_level(FILE *out, const struct chart_map *c, char level, double width, double height)
{
    bool any = false;

    for (size_t r = 0; r < c->n; r++) {
        size_t have = strlen(c->row[r].level), skip = c->columns - have;

        for (size_t i = 0, n; i < have; i += n) {
            for (n = 0; i + n < have && c->row[r].level[i + n] == level; n++)
                ;
            if (n && !any)
                fprintf(out, "<path class=\"h%c\" d=\"", level);
            if (n)
                fprintf(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", LEFT + (double)(skip + i) * width,
                        TOP + (double)r * height, (double)n * width, height, -(double)n * width);
            any |= n > 0;
            n += !n;
        }
    }
    if (any)
        fputs("\"/>\n", out);
}

void chart_map_put(FILE *out, const struct chart_map *c)
{
    double height = c->n <= 16   ? 18
                    : c->n <= 32 ? 14
                                 : 10,
           width = (double)PLOT / (double)c->columns, bottom = TOP + (double)c->n * height;
    double x = LEFT, y = bottom + BELOW + 16; /* of the scale */
    size_t every = height < 12 ? 2 : 1;       /* rows with a label */

    if (!c->n || !c->columns)
        return;
    begin_chart(out, bottom + BELOW + 24, c->name);
    put_none(out, LEFT, TOP, PLOT, bottom - TOP);
    put_text(out, LEFT, TOP - 10, "", "%s", c->what);
    for (char level = '0'; level < '0' + CHART_LEVELS; level++)
        put_level(out, c, level, width, height);
    for (size_t r = 0; r < c->n; r += every)
        put_text(out, LEFT - 6, TOP + ((double)r + 0.5) * height + 4, "dim end", "%s", c->row[r].label);
    put_time_axis(out, c->column_s * (double)c->columns, bottom, bottom + 4, c->until);
    put_text(out, x, y, "dim", "mean lateness, in shares of a step:");
    x += 230;
    for (size_t i = 0; i <= c->n_scale; i++, x += 64) {
        fprintf(out, "<path class=\"h%zu\" d=\"M%.1f %.1fh14v12h-14z\"/>\n", i, x, y - 10);
        put_text(out, x + 18, y, "dim", i ? "%.3g %%" : "below", 100 * (i ? c->scale[i - 1] : 0));
    }
    fprintf(out, "<rect class=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\"/>\n", x, y - 10);
    put_text(out, x + 18, y, "dim", "not measured");
    fputs("</svg>\n", out);
}

/* ---- bands ---- */

void chart_bands_put(FILE *out, const char *name, const struct chart_band *band, size_t n, double span_s,
                     const char *until)
{
    double bottom = TOP + (double)n * LINE;

    if (!n || !(span_s > 0))
        return;
    begin_chart(out, bottom + BELOW, name);
    put_time_axis(out, span_s, TOP, bottom, until);
    for (size_t i = 0; i < n; i++) {
        double from = x_of(band[i].from_s, span_s), to = x_of(band[i].to_s, span_s),
               y = TOP + (double)i * LINE;
        bool left = from - LEFT > PLOT / 2.0; /* room for the label */

        fprintf(out,
                "<rect class=\"%s solid\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
                band[i].bad ? "bad" : "band", from, y + 13, fmax(to - from, 2), LINE - 15);
        put_text(out, left ? to : from, y + 10, left ? "end" : "", "%s", band[i].label);
    }
    fputs("</svg>\n", out);
}
