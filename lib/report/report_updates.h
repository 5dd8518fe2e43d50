/* report_updates.h - workers that read parameters from servers and write updates to them without waiting for
 * one another (view/updates.h), as it is reported: filled from a view, written as JSON, and read from it by
 * pages and screens (sgctl(1), "updates").
 *
 * Units: seconds, updates.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_UPDATES_H
#define SYNCGUARD_REPORT_REPORT_UPDATES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/view.h"

#define REPORT_UPDATES_RANKS 64 /* those that are slowest against the others of their kind first */

struct report_updates_rank {
    int64_t rank;
    char node[64];
    char part[8]; /* "worker", "server" */
    int64_t updates;
    double update_bytes;
    /* of an iteration, a server's from one update to the next: all, its own work, waiting for messages */
    double iteration_s, work_s, wait_s;
    double times;    /* its work over that of the others of its kind */
    double slowdown; /* what it costs all; 1: it is not slow */
    double stale_mean, stale_p95;
    int64_t stale_max;
    double busy_ratio, busy_low, busy_high; /* a server's, with its 90 % interval */
    bool limit;                             /* with more workers the rate stays what it is */
    double silent_s;                        /* a worker's, while others write */
    bool silent;                            /* for so long that it counts in no sum */
};

struct report_updates {
    bool known;
    bool standing; /* it is so now; else it was before the ranks last met, or most workers stopped */
    int64_t servers, workers, silent; /* silent: of the workers */
    double iterations_per_s, busy_ratio, wait_ratio;
    double stale_mean, stale_p95;
    int64_t stale_max;
    /* learning rate times curvature, see struct view_updates */
    double limit, limit_p95, limit_fresh;
    char text[512];
    struct report_updates_rank rank[REPORT_UPDATES_RANKS];
    size_t n;
};
void report_updates_get(struct report_updates *r, const struct view *v, double now_s);
json_t *report_updates_json(const struct report_updates *r);
void report_updates_read(struct report_updates *r, const json_t *o); /* NULL: all is unknown */

#endif
