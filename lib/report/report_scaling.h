/* report_scaling.h - projections of a job to more ranks and their basis, as they are reported: computed from
 * a view (some 50 ms, so that the controller keeps them) or read from an answer (sgctl(1), "scaling").
 *
 * Units: seconds, bytes.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_SCALING_H
#define SYNCGUARD_REPORT_REPORT_SCALING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/scaling.h"
#include "view/view.h"

#define REPORT_ASSUMES_MAX 8
struct report_point {
    double ranks, factor;                                  /* as in struct projection_point */
    struct projection_range step_s, throughput, p99_ratio; /* p99_ratio: of the step over its median */
    double cv;                                             /* of the step */
    double ideal, compute, communication, synchronisation; /* these three: shares of step_s.p50 */
    char regime[24];
    double regime_share;
};
struct report_noise { /* as in struct variation */
    int64_t steps;
    double ranks_per_node, nodes_per_switch, compute_s, cv, common_cv, tail_rate, tail_mean;
    char shape[24];
    struct variation_part lasting[VARIATION_LEVELS], passing[VARIATION_LEVELS];
    size_t n_slow; /* ranks apart; these are not read from an answer */
    int64_t slow[LAST_APART_MAX];
};
struct report_segment {
    double from_bytes, to_bytes;
    int64_t sizes;
    struct linkfit_range fixed_s, s_per_byte; /* value NaN: one size alone */
};
struct report_link { /* as in struct view_link */
    char op[32];
    int64_t ranks, instances, sizes, samples;
    bool grows;
    double noise;
    size_t n;
    struct report_segment segment[LINKFIT_SEGMENTS];
};
struct report_scaling {
    char missing[96]; /* why they are unknown; "": they are known */
    char mode[8];     /* "weak", "strong" */
    int64_t ranks;
    double step_s, wall_ranks;
    char text[192], wall[64];
    size_t n, n_links, n_runs, n_assumes;
    struct report_point point[PROJECTION_POINTS];
    double algorithm[TRAFFIC_ALGORITHMS]; /* not read from an answer */
    struct report_noise noise;
    struct report_link link[VIEW_LINKS_MAX];
    double run_ranks[PROJECTION_RUNS];
    char assumes[REPORT_ASSUMES_MAX][160];
};
void report_scaling_get(struct report_scaling *r, const struct view *v, bool strong);
json_t *report_scaling_json(const struct report_scaling *r);
void report_scaling_read(struct report_scaling *r, const json_t *o);

#endif
