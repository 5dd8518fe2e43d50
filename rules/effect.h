/* effect.h - what an action brought: the step time after it over the step time before it.
 *
 * Medians of a window each: a single odd step decides nothing. The interval holds 90 %: Student's t on the logarithms
 * of the columns of the two windows, with as many columns as are independent (model/batch.h), and the variance of a
 * median. A rule acts when steps are slow, so that some of an effect may be regression to the mean: it is no proof of
 * what the action did. Pure. */
#ifndef SYNCGUARD_RULES_EFFECT_H
#define SYNCGUARD_RULES_EFFECT_H

#include "rules/engine.h"

#define EFFECT_COLUMNS_MIN  2    /* of a window with known step times; else it says nothing */
#define EFFECT_INTERVAL_MIN 4    /* fewer have no interval */
#define EFFECT_NEAR         0.05 /* so close to the projection is "as projected" */

struct effect_level {
    double median_s; /* NaN: not known */
    double error, n; /* of its logarithm: standard error, NaN not known; columns that it stands on */
};

/* Step time of the columns that lie in a window. step_s: n columns of column_s seconds each, the newest last and
 * ending now; the window goes from from_s ago to to_s ago (from_s the larger). */
struct effect_level effect_level(const float *step_s, size_t n, double column_s, double from_s, double to_s);

struct effect_ratio {
    double value, low, high; /* NaN: not known */
};
/* After over before. */
struct effect_ratio effect_ratio(const struct effect_level *before, const struct effect_level *after);

/* "excluded n5: 0.83 of the step time (0.80 to 0.86), as projected", "..., 0.80 was projected", "...: the step
 * time afterwards is not known".  Returns buf. */
char *effect_text(const struct decision *d, const struct effect_ratio *r, char *buf, size_t size);

#endif
