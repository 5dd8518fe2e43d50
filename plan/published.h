/* published.h - figures of the published scaling experiment, and how far simulated ones are from them.
 *
 * Rates are samples per second; a variation is the deviation of the iteration time over its mean. */
#ifndef SYNCGUARD_PLAN_PUBLISHED_H
#define SYNCGUARD_PLAN_PUBLISHED_H

#include "plan/trial.h"

#define PUBLISHED_SIZES   5
#define PUBLISHED_FIGURES (2 * PUBLISHED_SIZES) /* without coordination */

struct published {
    int nodes;
    double rate, cv;
    double coordinated_rate, coordinated_cv;
};
extern const struct published published_table[PUBLISHED_SIZES];
const struct published *published_of(int nodes); /* NULL: nothing is published for this number of nodes */

/* Accepted relative error of a figure; for a variation, relative to any value that rounds to the published one. */
#define PUBLISHED_OFF   0.05
#define PUBLISHED_ROUND 0.005

/* Error over the accepted error: within -1 to 1 the figure is met. */
double published_rate_miss(const struct published *p, double rate);
double published_cv_miss(const struct published *p, double cv);
/* The above of a column's ten figures, and their largest absolute value. */
void published_misses(const struct trial_figures column[PUBLISHED_SIZES], double miss[PUBLISHED_FIGURES]);
double published_worst_miss(const struct trial_figures column[PUBLISHED_SIZES]);

#endif
