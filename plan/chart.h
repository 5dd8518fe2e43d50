/* chart.h - some series over a few places, drawn with characters: 80 columns wide, so many rows high.
 *
 * The places are equally far apart, as nodes that double are on a logarithmic axis.  Series have a column
 * each beside the place, so that none hides another; a line of dots leads from place to place of those that
 * want it. */
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
    int rows; /* of the plot itself, 6 to 36; those that are 1 more than a multiple of 5 have round labels */
    int places, place[CHART_PLACES_MAX]; /* their names */
    const char *axis;                    /* what these are, in 7 characters */
    int n;
    struct chart_series series[CHART_SERIES_MAX];
};

/* utf8: marks beyond ASCII. */
void chart_print(const struct chart *c, FILE *out, bool utf8);

/* May this program write UTF-8 to a terminal?  As the locale's variables say. */
bool chart_utf8(void);

#endif
