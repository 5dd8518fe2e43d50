/* effect.h - the effect of an action: the step time after it over the step time before it.
 *
 * Both are medians over a window, so that single steps do not matter. The interval is of 90 %, by Student's t
 * on the logarithms of the columns of the two windows, with the number of independent columns (model/batch.h)
 * and the variance of a median. A rule acts when steps are slow, so that part of an effect may be regression
 * to the mean: an effect does not prove what the action did. Pure. */
#ifndef SYNCGUARD_RULES_EFFECT_H
#define SYNCGUARD_RULES_EFFECT_H

#include "rules/engine.h"

#define EFFECT_COLUMNS_MIN  2    /* least number of known columns for a median */
#define EFFECT_INTERVAL_MIN 4    /* least number for an interval */
#define EFFECT_NEAR         0.05 /* an effect this close to the projection is "as projected" */

struct effect_level {
    double median_s; /* NaN: not known */
    double error, n; /* standard error of its logarithm, NaN: not known; number of columns */
};

/* Step time of the columns that lie in a window. step_s: n columns of column_s seconds each, the newest last
 * and ending now; the window goes from from_s ago to to_s ago (from_s the larger). */
struct effect_level effect_level(const float *step_s, size_t n, double column_s, double from_s, double to_s);

struct effect_ratio {
    double value, low, high; /* NaN: not known */
};
/* The ratio of after to before. */
struct effect_ratio effect_ratio(const struct effect_level *before, const struct effect_level *after);

/* "0.83 of the step time (0.80 to 0.86)", "... (too few steps for an interval)"; of is what they are too few
 * of.  Returns buf. */
char *effect_words(const struct effect_ratio *r, const char *of, char *buf, size_t size);
/* "excluded n5: 0.83 of the step time (0.80 to 0.86), as projected", "..., 0.80 was projected", "...: the
 * step time afterwards is not known".  Returns buf. */
char *effect_text(const struct decision *d, const struct effect_ratio *r, char *buf, size_t size);

#endif
