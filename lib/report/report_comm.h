/* report_comm.h - communicators as they are reported, and those that are slower from the start than they
 * should be: filled from a view, written as JSON, and read from it by pages and screens (sgctl(1),
 * "communicators" and "shortfalls").
 *
 * Units: seconds, bytes; shares from 0 to 1.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_COMM_H
#define SYNCGUARD_REPORT_REPORT_COMM_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_diagnosis.h"
#include "view/comms.h"

struct view;

#define REPORT_COMMS_MAX 64

struct report_comm {
    char name[24], label[64]; /* label: "world", "4 groups of 8" */
    int64_t size, instances;  /* instances: communicators of that size that are shown as this one */
    double collectives_per_s, bytes_per_s, skew_s, transfer_s;
    struct report_efficiency efficiency;
};

struct report_comms { /* the largest first */
    size_t n;
    struct report_comm list[REPORT_COMMS_MAX];
};
void report_comms_get(struct report_comms *c, const struct view *v, double now_s);
json_t *report_comms_json(const struct report_comms *c); /* the caller's */
void report_comms_read(struct report_comms *c, const json_t *answer);

struct report_shortfall {
    char label[64], op[32];
    int64_t ranks, nodes;
    double bytes, time_s, expected_s;
    char source[16]; /* of what is expected: "adapter", "peers", "smaller sizes" */
    char text[400];  /* one sentence */
};

struct report_shortfalls { /* the worst first */
    size_t n;
    struct report_shortfall list[VIEW_SHORTFALLS_MAX];
};
void report_shortfalls_get(struct report_shortfalls *s, const struct view *v);
json_t *report_shortfalls_json(const struct report_shortfalls *s); /* the caller's */
void report_shortfalls_read(struct report_shortfalls *s, const json_t *answer);

#endif
