/* report_history.h - how a job's figures went, as it is reported: filled from a view, written as JSON, and
 * read from it by pages and screens (sgctl(1), "history" and "heat").
 *
 * Units: seconds; ages at the moment of the report.  Series have the newest last, NaN where there was
 * nothing.  Unknown is NaN, -1 or no value. */
#ifndef SYNCGUARD_REPORT_REPORT_HISTORY_H
#define SYNCGUARD_REPORT_REPORT_HISTORY_H

#include <jansson.h>
#include <stdint.h>

#include "view/view.h"
#include "wire/json.h"

/* The newest columns, each of column_s; and the run as far as it is kept. */
struct report_history {
    double column_s;
    struct json_series step_s, steps_per_s, skew_s, synchronisation_ratio;
    struct report_stretches {
        bool known; /* one is over */
        double width_s;
        struct json_series age_s, step_s, synchronisation_ratio; /* age_s: of their middles */
    } run;
};
/* columns: at most so many, the newest. */
void report_history_get(struct report_history *h, const struct view *v, double now_s, uint32_t columns);
extern const struct json_field report_history_fields[];

/* What the rows of the heat map have in common: how late ranks came in each column. */
#define REPORT_SCALE_MAX 9
struct report_heat {
    double column_s;
    int64_t columns;
    struct json_series scale; /* mean lateness over mean step time, from which on a level is 1, 2, ... */
};
void report_heat_get(struct report_heat *h, const struct view *v, uint32_t columns);
json_t *report_heat_json(const struct report_heat *h); /* without the rows */
void report_heat_read(struct report_heat *h, const json_t *o);
char report_heat_level(double lateness_s, double step_s); /* '0' to '9'; '.': not known */

#endif
