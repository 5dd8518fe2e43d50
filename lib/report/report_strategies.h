/* report_strategies.h - other strategies for a job on its present ranks, as they are reported: computed from
 * a view (some 20 ms, so that the controller keeps them) or read from an answer (sgctl(1), "strategies").
 *
 * Units: seconds.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_STRATEGIES_H
#define SYNCGUARD_REPORT_REPORT_STRATEGIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_scaling.h"
#include "view/scaling.h"
#include "view/view.h"

struct report_shares {
    double work, waiting, exchange, other; /* of the step */
};
struct report_strategy {
    char kind[24], name[64];
    double parameter; /* as in struct strategy */
    struct projection_range step_s, ratio;
    struct report_shares shares;
    double growth, time_s;    /* factor of iterations, NaN: not known; time that replaces one present step */
    bool per_sample, assumed; /* per_sample: the growth is not known */
    char reason[200], assumes[160];
};
struct report_strategies {
    char missing[96];     /* why they are unknown; "": they are known */
    int64_t ranks, steps; /* -1: described, not measured */
    double step_s;
    struct report_shares shares;
    size_t n, n_assumes;
    struct report_strategy list[STRATEGY_MAX];
    char assumes[REPORT_ASSUMES_MAX][160];
};
void report_strategies_get(struct report_strategies *r, const struct view *v,
                           const struct view_strategy_options *options);
void report_strategies_put(struct report_strategies *r, const struct strategies *s);
json_t *report_strategies_json(const struct report_strategies *r);
void report_strategies_read(struct report_strategies *r, const json_t *o);
/* Options of a query; invalid ones are ignored. */
void report_strategy_options(struct view_strategy_options *o, const json_t *question);
json_t *report_strategy_question(const struct view_strategy_options *o);

#endif
