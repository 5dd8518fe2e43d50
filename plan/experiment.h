/* experiment.h - the scaling experiment: what is published of it, what was simulated, and how that is told.
 *
 * Its job is trial.h's.  Figures go from experiment.c, which simulates and searches, to experiment_page.c,
 * which tells. */
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
const struct published *experiment_published_of(int nodes); /* NULL: nothing is published of this size */

/* A figure is met that is so far off, or less; of a variation, from anything that would be rounded to it. */
#define EXPERIMENT_OFF   0.05
#define EXPERIMENT_ROUND 0.005

/* How far off, of what still counts as met: 1 and -1 are the edges. */
double experiment_rate_miss(const struct published *p, double rate);
double experiment_cv_miss(const struct published *p, double cv);
/* The worst of a column's ten figures. */
double experiment_worst_miss(const struct trial_figures column[EXPERIMENT_SIZES]);

/* What is tried.  The first ones are simulated on all sizes. */
enum { EXPERIMENT_UNCOORDINATED, EXPERIMENT_PACING, EXPERIMENT_GATED, EXPERIMENT_ALL_SIZES };
#define EXPERIMENT_REMEDIES    14
#define EXPERIMENT_COLLECTIVES 7
extern const struct trial_remedy experiment_remedies[EXPERIMENT_REMEDIES];
/* Eight ranks on each node that share its work, in the fabric and work that were fitted, without other
 * traffic: what is compared is where the bytes go. */
extern const struct trial_remedy experiment_collectives[EXPERIMENT_COLLECTIVES];

struct experiment {
    struct trial trial;
    int sizes, nodes[CHART_PLACES_MAX];
    double x[TRIAL_WORLDS][TRIAL_UNKNOWNS];
    struct trial_figures all[EXPERIMENT_ALL_SIZES][CHART_PLACES_MAX];
    struct trial_figures target[TRIAL_WORLDS][EXPERIMENT_SIZES]; /* of each world's uncoordinated job */
    /* On the most nodes. */
    struct trial_figures remedy[EXPERIMENT_REMEDIES], collective[EXPERIMENT_COLLECTIVES];
    struct trial_figures world[TRIAL_WORLDS][EXPERIMENT_ALL_SIZES];
    /* For who looks on. */
    const char *doing;
    double worst; /* while it is searched: the worst miss; else NaN */
    double last_report_s;
    int simulated;
};

int experiment_most_nodes(const struct experiment *e);

/* Figures and tables; what they mean; the plots. */
void experiment_tell(const struct experiment *e, struct answer *answer);
void experiment_tell_verdict(const struct experiment *e, struct answer *answer);
void experiment_print_charts(const struct experiment *e, FILE *out, bool utf8);

#endif
