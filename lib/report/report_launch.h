/* report_launch.h - what was chosen at a job's launch, as it is reported (sgctl(1), "placement" and
 * "algorithm"): the order of its ranks and the algorithm of its all-reduces, and what each made of the step
 * time.  A key is a member, a row of report_launch.c's tables, and where it is filled.
 *
 * Units: seconds; ratios.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_LAUNCH_H
#define SYNCGUARD_REPORT_REPORT_LAUNCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/json.h"

/* Starts with the choice against those held out from it. */
struct report_effect {
    bool known;
    int64_t placed, held_out;
    double ratio, low, high; /* of the step time */
    char text[400];
};

struct report_placement {
    bool known;
    char pattern[32];
    bool applied, compared;
    double slurm_s, chosen_s; /* of a step's communication, by the model */
    struct report_effect effect;
};

struct report_algorithm {
    bool known;    /* whether another one is faster was looked for */
    char name[32]; /* "": none is known to be */
    bool applied, compared;
    double usual_s, most_s; /* of a step's all-reduces: by the library's own choice; by this one at most */
    struct report_effect effect;
};

json_t *report_effect_json(const struct report_effect *e); /* NULL where it is not known */
extern const struct json_field report_placement_fields[], report_algorithm_fields[];

#endif
