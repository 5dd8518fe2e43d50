/* report_marks.h - what programs mark of their steps, and of programs that mark nothing what their calls show
 * of them, as it is reported: filled from a view, written as JSON, and read from it by pages and screens
 * (sgctl(1), "step_phases" and "values").
 *
 * Units: seconds.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_MARKS_H
#define SYNCGUARD_REPORT_REPORT_MARKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/marks.h"
#include "view/view.h"
#include "wire/json.h"

struct report_overlap;

struct report_step_phases {
    int64_t ranks;   /* that mark steps */
    char source[16]; /* "marks", or what a guest sees them by: "PyTorch" */
    double step_s;   /* of the typical one of them */
    size_t n;
    struct report_phase {
        char phase[24];
        int64_t ranks; /* as in struct view_phase_time */
        double median_s, least_s, most_s;
        int64_t most_rank;
        char most_node[64];
    } phase[MARKS_PHASES];
    struct report_inferred { /* by calls alone */
        bool known;
        double step_s, waiting_s, exposed_s, hidden_s, backward_s, rest_s;
    } inferred;
    char text[512];
};
void report_step_phases_get(struct report_step_phases *s, const struct view *v, double now_s,
                            const struct report_overlap *overlap);
json_t *report_step_phases_json(const struct report_step_phases *s);
void report_step_phases_read(struct report_step_phases *s, const json_t *o);
/* Marked, or at least a backward pass inferred: there is something to show. */
bool report_step_phases_known(const struct report_step_phases *s);

/* The newest values that ranks report. */
struct report_values {
    struct report_value {
        bool known;
        int64_t ranks, non_finite, step; /* as in struct view_value */
        double median, least, most;
    } value[MARKS_VALUES];
    struct report_non_finite { /* where a value began to be none, as in struct view_non_finite */
        bool known;
        char value[24];
        int64_t step, rank;
        char node[64];
        int64_t ranks;
        char text[256];
    } non_finite;
};
void report_values_get(struct report_values *r, const struct view *v, double now_s);
extern const struct json_field report_values_fields[];

#endif
