/* report_past.h - a run against the similar earlier runs of its user (history/past.h), as it is reported
 * (sgctl(1), "past" and "guarded"), and its figures under the guard against the job's own unguarded reference
 * (job/guarded.h).  A key is a member, a row of report_past.c's tables, and where it is filled.
 *
 * Units: seconds, joules; ratios.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_PAST_H
#define SYNCGUARD_REPORT_REPORT_PAST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/json.h"

struct report_past {
    bool known; /* there are similar runs */
    int64_t runs;
    double step_p50_s, step_ratio; /* their median, and this run's over it */
    double run_spread;             /* of their step times */
    double spread_ratio;           /* of the variation of the step */
    int64_t reruns, starts;        /* how many of the newest starts were re-runs */
    double energy_j_per_step, energy_ratio;
    bool unusual;
    char text[400];
};

enum guarded_figure {
    GUARDED_STEP, /* time of a step */
    GUARDED_THROUGHPUT,
    GUARDED_CV, /* of the step time */
    GUARDED_SYNCHRONISATION,
    GUARDED_SKEW,
    GUARDED_ENERGY, /* per step */
    GUARDED_FIGURES
};

struct report_guarded {
    bool known;         /* the ratio of the step time is, which the text is about */
    char reference[16]; /* its own; "none" */
    char text[384];
    struct report_guarded_ratio {
        char reference[16];      /* "": the figure is not known */
        bool selected;           /* the reference was chosen by how the job fared */
        double value, low, high; /* low, high NaN: no interval */
    } ratio[GUARDED_FIGURES];
};

extern const struct json_field report_past_fields[];
json_t *report_guarded_json(const struct report_guarded *g);
void report_guarded_read(struct report_guarded *g, const json_t *o); /* from the object, or NULL */

#endif
