/* chart.h - the charts of a page about a job, as SVG within HTML (ctl/page_html.h): lines over time, shares,
 * a map of lateness, the verdicts over time.  Each has units and axes, is WIDTH wide whatever the data, and
 * bounded by the limits below.  What was not measured is hatched, and has no point, no bar and no colour of
 * its own.  Classes are styled by chart_style.
 *
 * Time is an age: seconds before now, or before the end of what has ended; on the axes the newest is at the
 * right. */
#ifndef SYNCGUARD_CTL_CHART_H
#define SYNCGUARD_CTL_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CHART_POINTS_MAX  512
#define CHART_BANDS_MAX   32
#define CHART_ROWS_MAX    64  /* of a map */
#define CHART_COLUMNS_MAX 256 /* of a map */
#define CHART_LEVELS      10  /* of a map: digits */

extern const char chart_style[]; /* CSS, light and dark */
extern const char chart_defs[];  /* what the charts of a page refer to: stands once in it, before them */

/* A stretch of time with a name, such as that of a verdict. */
struct chart_band {
    double from_s, to_s; /* ages; to_s 0: until now */
    bool bad;
    char label[240];
};

struct chart_lines {
    const char *name;  /* what is drawn, for who does not see it */
    const char *what;  /* of the axis: "step time" */
    const char *until; /* "now", "the end" */
    bool share;        /* values are ratios, drawn in per cent; otherwise seconds */
    size_t n;          /* points, the oldest first; value NaN: not measured */
    double age_s[CHART_POINTS_MAX], value[CHART_POINTS_MAX];
    double width_s; /* of the time that a point stands for */
    double mark;    /* a value to compare with; NaN: none */
    char mark_label[100];
    size_t n_bands;
    struct chart_band band[CHART_BANDS_MAX];
};
/* The smallest and the largest value, and how many are known; 0: there is nothing to draw. */
size_t chart_lines_range(const struct chart_lines *c, double *low, double *high);
double chart_lines_span_s(const struct chart_lines *c); /* how far back they go */
void chart_lines_put(FILE *out, const struct chart_lines *c);

struct chart_share {
    const char *label;
    double ratio; /* NaN: not known */
};
/* One bar; what the known shares leave of the whole is hatched. */
void chart_shares_put(FILE *out, const char *name, const struct chart_share *share, size_t n);

struct chart_map {
    const char *name, *what, *until; /* what: of the axis of rows */
    double column_s;
    size_t columns, n;
    struct chart_row {
        char label[64];
        char level[CHART_COLUMNS_MAX + 1]; /* digits, '.': not measured; the newest last, flushed right */
    } row[CHART_ROWS_MAX];
    size_t n_scale; /* thresholds: of level 1, 2, ... */
    double scale[CHART_LEVELS - 1];
};
void chart_map_put(FILE *out, const struct chart_map *c);

/* The bands below each other, over span_s. */
void chart_bands_put(FILE *out, const char *name, const struct chart_band *band, size_t n, double span_s,
                     const char *until);

#endif
