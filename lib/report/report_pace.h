/* report_pace.h - pacing of a job's ranks as it is reported (sgctl(1), "pace"): what the policy allows, and
 * what each node does with which effect.  A key is a member, a row of report_pace.c's tables, and where it is
 * filled (job/pacing.c).
 *
 * Units: seconds; ratios are the time with a lever over that without it.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_PACE_H
#define SYNCGUARD_REPORT_REPORT_PACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_LEVERS_MAX 4

struct report_paced_lever {
    char lever[17], why[129];
    int64_t compared;
    double ratio, low, high;
};

struct report_paced_node {
    bool known;               /* it has reported */
    char mode[17], lever[17]; /* mode is "in force" while the lever is */
    int64_t ranks, cores, collectives, with, without, late_holds;
    double switches_hz, wait_ratio;
    size_t n_levers;
    struct report_paced_lever levers[REPORT_LEVERS_MAX];
    char node[64];
};

struct report_pace {
    bool known;
    char levers[64]; /* that are allowed; "": pacing is off */
    double max_delay_s, share;
    int64_t epoch, holdout;
    char held[128]; /* why none is; "": they are not held */
    size_t n;
    struct report_paced_node *node; /* those that reported */
};

/* A lever over all nodes of the job. */
struct report_lever {
    char name[17], why[129]; /* of the node whose ratio it is */
    int64_t in_force, trial; /* nodes */
    double ratio, low, high; /* of the node where most was compared */
    int64_t compared;
};

json_t *report_pace_json(const struct report_pace *p);
json_t *report_pace_control_json(const struct report_pace *p); /* what is allowed, alone */
json_t *report_paced_node_json(const struct report_paced_node *n);

/* From the object, or NULL; the second without the node's name. */
void report_pace_read(struct report_pace *p, const json_t *o);
void report_paced_node_read(struct report_paced_node *n, const json_t *o);
void report_pace_free(struct report_pace *p); /* its nodes */

/* Returns how many levers there are. */
size_t report_pace_levers(const struct report_pace *p, struct report_lever lever[REPORT_LEVERS_MAX]);

#endif
