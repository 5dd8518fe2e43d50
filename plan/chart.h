/* chart.h - a chart of a few series over a few places, drawn with characters, 80 columns wide.
 *
 * Places are equally spaced, as numbers of nodes that double are on a logarithmic axis.  At each place every
 * series has a column of its own, so that none hides another.  Series with `line` set get a dotted line from
 * place to place. */
#ifndef SYNCGUARD_PLAN_CHART_H
#define SYNCGUARD_PLAN_CHART_H

#include <stdbool.h>
#include <stdio.h>

#define CHART_PLACES_MAX 12
#define CHART_SERIES_MAX 7
#define CHART_WIDTH      80

struct chart_series {
    const char *name;
    const double *y; /* by place; NaN: nothing is drawn */
    bool line;
};

struct chart {
    const char *title;
    int rows; /* height of the plot, 6 to 36; a multiple of 5 plus 1 labels every fifth of the axis */
    int places, place[CHART_PLACES_MAX]; /* numbers below the axis */
    const char *axis;                    /* name of the axis, at most 7 characters */
    int n;
    struct chart_series series[CHART_SERIES_MAX];
};

/* utf8: use marks beyond ASCII. */
void chart_print(const struct chart *c, FILE *out, bool utf8);

/* Whether the locale's environment variables name UTF-8. */
bool chart_utf8(void);

#endif
