/* report_rank.h - a rank as it is reported: filled from a view's figures, written as JSON, and read from it
 * by pages and screens (sgctl(1), "rank_table" and "heat.rows").
 *
 * Units: seconds; shares from 0 to 1.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_RANK_H
#define SYNCGUARD_REPORT_REPORT_RANK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_health.h"
#include "report/report_view.h"

#define REPORT_RANKS_MAX 1024 /* rows that are read of one answer, not ranks of a job */
#define REPORT_HEAT_MAX  256  /* columns of the heat map */

struct report_rank {
    int64_t rank;
    char node[64], switch_name[64];
    double lateness_s, lateness_p50_s, lateness_p95_s, lateness_p99_s;
    double wait_s, delay_s; /* a step: its own waiting, and what it causes in the others */
    double last_ratio, compute_s, stay_s, slowdown;
    bool inside; /* of a call: */
    char op[32], comm[64];
    int64_t seq;
    double inside_age_s;
    char message[32]; /* that the call lasts for: "send", "recv"; "": of none */
    int64_t peer, tag;
    char phase[24]; /* of its step; "": not known */
    double phase_s;
    struct report_rank_health health;
    /* Of a job alone.  state: of its process, "unknown" where its node is silent; state_s: for how long it
     * has been stopped, traced or blocked; NaN: it has not.  outside_s: for how long it has been in no call;
     * NaN: it is in one, or that is not known. */
    int64_t pid; /* of its process on that node */
    char state[16];
    double state_s, outside_s;
    int64_t lost;                   /* of a trace alone: records that are missing */
    char heat[REPORT_HEAT_MAX + 1]; /* digits and '.', the newest last */
};

/* Everything but lost and heat. */
void report_rank_get(struct report_rank *r, const struct view *v, double now_s,
                     const struct view_rank_figures *f);
/* Its heat, of at most max columns; step_s: mean step time (view_newest_steps_s()). */
void report_rank_heat_get(struct report_rank *r, const struct view *v, double step_s, uint32_t max);
enum report_rank_of { RANK_OF_TRACE, RANK_OF_JOB };
json_t *report_rank_json(const struct report_rank *r, enum report_rank_of of); /* the caller's */

/* What the rank is inside of: "allreduce 812 on world", "recv from rank 3", "no call"; "": that is not known.
 * brief: without number and communicator.  for_s: for how long; NaN: not known.  Returns buf. */
char *report_rank_inside(char *buf, size_t size, const struct report_rank *r, bool brief, double *for_s);

json_t *report_rank_heat_json(const struct report_rank *r); /* its row of the heat map; the caller's */

struct report_heat_row {
    int64_t rank;
    char levels[REPORT_HEAT_MAX + 1];
};

/* The ranks of an answer with what its heat map has of them, at most REPORT_RANKS_MAX; and its other rows, at
 * most VIEW_RANKS_MAX.  The caller frees both. */
struct report_rank *report_ranks_read(const json_t *answer, size_t *n, struct report_heat_row **row,
                                      size_t *n_rows);

#endif
