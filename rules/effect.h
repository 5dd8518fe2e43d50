/* effect.h - what an action brought: the step time after it over the step time before it.
 *
 * Medians of a window each: a single odd step decides nothing. Pure. */
#ifndef SYNCGUARD_RULES_EFFECT_H
#define SYNCGUARD_RULES_EFFECT_H

#include "rules/engine.h"

#define EFFECT_COLUMNS_MIN 2    /* of a window with known step times; else it says nothing */
#define EFFECT_NEAR        0.05 /* so close to the projection is "as projected" */

/* Median step time of the columns that lie in a window, NaN unknown. step_s: n columns of column_s seconds
 * each, the newest last and ending now; the window goes from from_s ago to to_s ago (from_s the larger). */
double effect_median_s(const float *step_s, size_t n, double column_s, double from_s, double to_s);

/* after over before; NaN when either is not known. */
double effect_ratio(double before_s, double after_s);

/* "excluded n5: 0.83 of the step time, as projected", "... , 0.80 was projected", "...: the step time
 * afterwards is not known".  Returns buf. */
char *effect_text(const struct decision *d, double ratio, char *buf, size_t size);

#endif
