/* report_status.h - what the controller as a whole does: its answer to "status" (sgctl(1), JSON), which
 * sgctl, sgtop and its metrics show.  A key of it is a member, a row of report_status.c's table, and where it
 * is filled.
 *
 * Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_STATUS_H
#define SYNCGUARD_REPORT_REPORT_STATUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/json.h"

struct report_status {
    char version[32], controller[24], host[64];
    double uptime_s;
    int64_t jobs, agents, ranks, clients; /* that run or are connected */
    double batches_per_s, cpu_ratio, rss_bytes;
    bool store; /* there is a history */
    double store_bytes, store_max_bytes, store_bytes_per_day;
    int store_full; /* 1: nothing is added to it for want of space, 0: it has room; -1: not known */
    struct json_texts policies;
    struct {
        bool known;
        int64_t users, unfinished, refused, left_out;
        double steps_bytes, memory_bytes;
    } bounds;
    double now;    /* Unix time */
    bool sees_all; /* who asked is an operator */
};

json_t *report_status_json(const struct report_status *s); /* the caller's */
/* -1 with the reason: it is no answer to "status", and what is not in it is unknown.  report_status_free(),
 * in both cases. */
int report_status_read(struct report_status *s, const json_t *answer, struct err *err);
void report_status_free(struct report_status *s); /* what it holds */

#endif
