/* Order statistics against sorted copies; mean and deviation computed by hand. */
#include "model/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/deviate.h"
#include "tests/tap.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void fill(double *v, float *f, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        f[i] = (float)(v[i] = floor(8 * deviate_uniform(state))); /* many are equal */
}

static void by_sorting(size_t n, uint64_t *state)
{
    double v[64], sorted[64], other[64], middle;
    float f[64], floats[64];
    bool same = true;

    fill(v, f, n, state);
    memcpy(sorted, v, sizeof(sorted));
    qsort(sorted, n, sizeof(*sorted), ascending);
    for (size_t k = 0; k < n; k++) {
        memcpy(other, v, sizeof(other));
        memcpy(floats, f, sizeof(floats));
        same = same && statistics_select(other, n, k) == sorted[k] &&
               statistics_selectf(floats, n, k) == (float)sorted[k];
    }
    ok(same, "%zu values: each place selected as by sorting", n);
    middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    is_near(statistics_median(v, n), middle, 1e-15, "%zu values: median", n);
    is_near(statistics_medianf(f, n), middle, 1e-15, "%zu floats: median", n);
}

int main(void)
{
    double v[] = { 5, 1, 4, 2, 3 }, far[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4 };
    float f[] = { 5, 1, 4, 2, 3 };
    uint64_t state = 1;

    for (size_t n = 1; n <= 64; n += n < 8 ? 1 : 7)
        by_sorting(n, &state);
    ok(isnan(statistics_median(v, 0)) && isnan(statistics_medianf(f, 0)), "the median of no values is NaN");
    is_near(statistics_known_medianf((const float[]){ 3, NAN, 1, 5, NAN }, 5, (float[5]){ 0 }), 3, 0,
            "values that are not known have no part in the median of those that are");
    is_near(statistics_quantile(v, 5, 0), 1, 1e-15, "quantile 0 is the smallest");
    is_near(statistics_quantile(v, 5, 1), 5, 1e-15, "quantile 1 is the largest");
    is_near(statistics_quantilef(f, 5, 0.75), 4, 1e-15, "quantile 0.75 of five is the fourth");
    is_near(statistics_quantilef(f, 5, 0.95), 5, 1e-15,
            "quantile 0.95 of five is the largest: the nearest rank");
    ok(isnan(statistics_quantile(v, 0, 0.5)), "a quantile of no values is NaN");
    ok(statistics_mean(far, 4).mean == 1e9 + 2.5, "mean of values far from zero");
    is_near(statistics_mean(far, 4).sd, sqrt(5.0 / 3), 1e-12, "standard deviation of values far from zero");
    is_near(statistics_mean(far, 4).error, sqrt(5.0 / 3 / 4), 1e-12, "standard error of their mean");
    ok(statistics_mean(v, 1).mean == v[0] && isnan(statistics_mean(v, 1).sd),
       "one value has a mean but no standard deviation");
    ok(isnan(statistics_mean(v, 0).mean), "the mean of no values is NaN");
    return done_testing();
}
