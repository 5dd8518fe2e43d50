#include "rules/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/statistics.h"

#define COLUMNS_MAX 512

double effect_median_s(const float *step_s, size_t n, double column_s, double from_s, double to_s)
{
    float known[COLUMNS_MAX];
    size_t k = 0;

    for (size_t i = 0; i < n && k < COLUMNS_MAX; i++) {
        double ends_s = (double)(n - 1 - i) * column_s, begins_s = ends_s + column_s; /* ago */

        if (begins_s <= from_s * (1 + 1e-9) && ends_s >= to_s && isfinite(step_s[i]) && step_s[i] > 0)
            known[k++] = step_s[i];
    }
    return k < EFFECT_COLUMNS_MIN ? NAN : statistics_medianf(known, k);
}

double effect_ratio(double before_s, double after_s)
{
    return before_s > 0 && after_s > 0 ? after_s / before_s : NAN;
}

char *effect_text(const struct decision *d, double ratio, char *buf, size_t size)
{
    char deed[256];

    decision_deed(d, true, deed, sizeof(deed));
    if (isnan(ratio))
        snprintf(buf, size, "%s: the step time afterwards is not known", deed);
    else if (isnan(d->projected_ratio))
        snprintf(buf, size, "%s: %.2f of the step time", deed, ratio);
    else if (fabs(ratio - d->projected_ratio) <= EFFECT_NEAR * d->projected_ratio)
        snprintf(buf, size, "%s: %.2f of the step time, as projected", deed, ratio);
    else
        snprintf(buf, size, "%s: %.2f of the step time, %.2f was projected", deed, ratio, d->projected_ratio);
    return buf;
}
