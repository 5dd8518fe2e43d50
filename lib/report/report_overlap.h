/* report_overlap.h - what of a job's communication is exposed and what is hidden (calls/overlap.h), as it is
 * reported: computed from a view, and kept as long as the projections, or read from an answer (sgctl(1),
 * "overlap").
 *
 * Units: seconds, bytes.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_OVERLAP_H
#define SYNCGUARD_REPORT_REPORT_OVERLAP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/overlap.h"
#include "view/view.h"

struct report_overlap_group {
    char label[64]; /* "world", "4 groups of 2", "messages" */
    int64_t ranks, instances;
    double calls, nonblocking, waiting_s, exposed_s, ready_s, most_won_s;
    struct linkfit_range hidden_s, won_s; /* won_s: with buckets of the best size */
    double buckets, bucket_bytes, best_buckets, best_bucket_bytes;
    char no_estimate[96];
};
struct report_overlap {
    char missing[96]; /* why it is unknown; "": it is known */
    char text[512];
    int64_t steps; /* that were replayed; 0: not from a replay */
    double step_s;
    struct report_overlap_group all, group[OVERLAP_GROUPS_MAX];
    size_t n;
};
void report_overlap_get(struct report_overlap *r, const struct view *v, double now_s);
json_t *report_overlap_json(const struct report_overlap *r);
void report_overlap_read(struct report_overlap *r, const json_t *o);

#endif
