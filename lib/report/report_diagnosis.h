/* report_diagnosis.h - where a job's time goes, whom its ranks wait for and where that leads, as it is
 * reported: filled from a view, written as JSON, and read from it by pages and screens (sgctl(1),
 * "efficiency", "critical_path", "cpu_lack" and "projection").  A key of it is a member, a row of
 * report_diagnosis.c's tables, and where it is filled.
 *
 * Units: seconds; ages at the moment of the report.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_DIAGNOSIS_H
#define SYNCGUARD_REPORT_REPORT_DIAGNOSIS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/efficiency.h"
#include "view/figures.h"
#include "view/view.h"
#include "wire/json.h"

/* As in the POP model: parallel = load_balance x serialisation x transfer, each 0 to 1. */
struct report_efficiency {
    double parallel, load_balance, serialisation, transfer; /* now */
    struct {
        double parallel, load_balance, serialisation, transfer;
    } run; /* since it began */
};
void report_efficiency_get(struct report_efficiency *e, const struct efficiency *now,
                           const struct efficiency *run);
extern const struct json_field report_efficiency_fields[];

#define REPORT_PATH_MAX 8
struct report_path_rank {
    int64_t rank;
    char node[64];
    double path_ratio, last_ratio, delay_s; /* as in struct view_critical_path */
};

/* The critical path moved from one node to another; from "": before, it lay on none. */
struct report_move {
    char from[64], to[64];
    double age_s;
    int64_t step;
};

/* Who the steps waited for. */
struct report_path {
    double concentration; /* share of the collectives that wait for the most frequent last arriver */
    size_t n, moves;
    struct report_path_rank rank[REPORT_PATH_MAX];
    struct report_move move[REPORT_PATH_MAX]; /* the newest first */
};
void report_path_get(struct report_path *p, const struct view *v, double now_s);
json_t *report_path_json(const struct report_path *p);
void report_path_read(struct report_path *p, const json_t *o);

/* CPU time that all ranks lack alike (view_cpu_lack). */
struct report_cpu_lack {
    bool known; /* they lack some */
    double ratio;
    char text[80];
};
void report_cpu_lack_get(struct report_cpu_lack *c, const struct view *v);
extern const struct json_field report_cpu_lack_fields[];

/* Where the time spent waiting is going (view_projection). */
struct report_projection {
    bool known;
    double synchronisation_ratio, per_hour, limit, step_per_hour;
    double reach_s[3]; /* until it reaches the limit: p10, p50, p90 */
    bool warning;      /* it varies more and more slowly, as before a change */
    char trend[16];    /* rising, falling, none */
    char text[256];
};
void report_projection_get(struct report_projection *p, const struct view *v, double now_s);
extern const struct json_field report_projection_fields[];

#endif
