#include "report/step_axis.h"

#include <math.h>
#include <stdio.h>

#define SMALLEST_S 1e-300 /* below it a decade may be zero */

double step_axis_tick_s(double span_s, int most)
{
    static const double round[] = { 1, 2, 5, 10 };
    double least_s = span_s / (most > 1 ? most : 1), decade, tick_s;

    if (!(least_s > SMALLEST_S) || !isfinite(least_s))
        return INFINITY;
    decade = pow(10, floor(log10(least_s)));
    tick_s = 10 * decade;
    for (size_t i = sizeof(round) / sizeof(round[0]); i-- > 0;)
        if (round[i] * decade >= least_s * (1 - 1e-9))
            tick_s = round[i] * decade;
    return tick_s;
}

char *step_axis_label(char *buf, size_t size, double s)
{
    if (fabs(s) < 1e-15)
        snprintf(buf, size, "0");
    else
        snprintf(buf, size, "%.6g ms", s * 1e3);
    return buf;
}
