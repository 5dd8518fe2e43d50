/* experiment.h - the scaling experiment: published figures, simulated figures, and the answer made of them.
 *
 * trial.h has its job.  experiment.c fits and simulates, experiment_page.c writes the answer. */
#ifndef SYNCGUARD_PLAN_EXPERIMENT_H
#define SYNCGUARD_PLAN_EXPERIMENT_H

#include <stdbool.h>

#include "plan/answer.h"
#include "plan/chart.h"
#include "plan/trial.h"

#define EXPERIMENT_SIZES 5

struct published {
    int nodes;
    double rate, cv; /* samples/s, and deviation of the iteration time over its mean */
    double coordinated_rate, coordinated_cv;
};
extern const struct published experiment_published[EXPERIMENT_SIZES];
const struct published *experiment_published_of(int nodes); /* NULL: nothing is published for this number of nodes */

/* Accepted relative error of a figure; for a variation, relative to any value that rounds to the published one. */
#define EXPERIMENT_OFF   0.05
#define EXPERIMENT_ROUND 0.005

/* Error over the accepted error: within -1 to 1 the figure is met. */
double experiment_rate_miss(const struct published *p, double rate);
double experiment_cv_miss(const struct published *p, double cv);
/* Largest absolute value of the above over a column's ten figures. */
double experiment_worst_miss(const struct trial_figures column[EXPERIMENT_SIZES]);

/* The remedies.  The first EXPERIMENT_ALL_SIZES are simulated on all numbers of nodes. */
enum { EXPERIMENT_UNCOORDINATED, EXPERIMENT_PACING, EXPERIMENT_GATED, EXPERIMENT_ALL_SIZES };
#define EXPERIMENT_REMEDIES    14
#define EXPERIMENT_COLLECTIVES 7
extern const struct trial_remedy experiment_remedies[EXPERIMENT_REMEDIES];
/* Collectives of eight ranks per node that share its work, in the fitted fabric without other traffic, to compare
 * where the bytes go. */
extern const struct trial_remedy experiment_collectives[EXPERIMENT_COLLECTIVES];

struct experiment {
    struct trial trial;
    int sizes, nodes[CHART_PLACES_MAX];
    double x[TRIAL_WORLDS][TRIAL_UNKNOWNS];
    struct trial_figures all[EXPERIMENT_ALL_SIZES][CHART_PLACES_MAX];
    struct trial_figures target[TRIAL_WORLDS][EXPERIMENT_SIZES]; /* uncoordinated job of each world */
    /* On the largest number of nodes. */
    struct trial_figures remedy[EXPERIMENT_REMEDIES], collective[EXPERIMENT_COLLECTIVES];
    struct trial_figures world[TRIAL_WORLDS][EXPERIMENT_ALL_SIZES];
    /* For the progress on a terminal. */
    const char *doing;
    double worst; /* during a fit: the worst miss; else NaN */
    double last_report_s;
    int simulated;
};

int experiment_most_nodes(const struct experiment *e);

/* Put figures and tables, or the verdict, into the answer; print the plots. */
void experiment_put(const struct experiment *e, struct answer *answer);
void experiment_put_verdict(const struct experiment *e, struct answer *answer);
void experiment_print_charts(const struct experiment *e, FILE *out, bool utf8);

#endif
