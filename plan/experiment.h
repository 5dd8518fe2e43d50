/* experiment.h - what the scaling experiment simulated, and the answer made of it.
 *
 * trial.h has its job, remedies.h what is tried, published.h what it is compared with.  experiment.c fits and
 * simulates, experiment_page.c writes the answer. */
#ifndef SYNCGUARD_PLAN_EXPERIMENT_H
#define SYNCGUARD_PLAN_EXPERIMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "plan/answer.h"
#include "plan/chart.h"
#include "plan/published.h"
#include "plan/remedies.h"
#include "plan/trial.h"

struct experiment {
    int sizes, nodes[CHART_PLACES_MAX], most_nodes; /* most_nodes: the last of nodes */
    double x[TRIAL_WORLDS][TRIAL_UNKNOWNS];
    struct trial_figures all[REMEDIES_ALL_SIZES][CHART_PLACES_MAX];
    struct trial_figures target[TRIAL_WORLDS][PUBLISHED_SIZES]; /* uncoordinated job of each world */
    /* On the largest number of nodes. */
    struct trial_figures remedy[REMEDIES], collective[REMEDIES_COLLECTIVE];
    struct trial_figures world[TRIAL_WORLDS][REMEDIES_ALL_SIZES];
};

/* Put figures and tables, or the verdict, into the answer; print the plots. */
void experiment_put(const struct experiment *e, struct answer *answer);
void experiment_put_verdict(const struct experiment *e, struct answer *answer);
void experiment_print_charts(const struct experiment *e, FILE *out, bool utf8);

#endif
