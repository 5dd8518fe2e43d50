/* report.h - guarded steps as JSON objects: the answer to "job", the rows of "jobs" and "nodes"
 * (doc/protocol.md).
 * Pure: reads the job, changes nothing. */
#ifndef SYNCGUARD_JOB_REPORT_H
#define SYNCGUARD_JOB_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct efficiency;
struct job;
struct job_agent;
struct view;

/* Recorded calls cost about so much each beyond the library's own: what the hook benchmark measured. */
#define REPORT_HOOK_S 40e-9

enum report_sort { REPORT_BY_LATENESS, REPORT_BY_RANK, REPORT_BY_NODE, REPORT_BY_LAST, REPORT_BY_COMPUTE };

struct report_view {
    enum report_sort sort;
    uint32_t offset, count, columns;
    char filter[64]; /* part of a node's or switch's name, or "r3"; "" is all */
};
#define REPORT_VIEW_ALL ((struct report_view){ .count = UINT32_MAX, .columns = 120 })

/* Reads VIEW; NULL gives everything, nonsense is bounded. */
void report_view_parse(struct report_view *v, const json_t *view);

json_t *report_row(const struct job *j, double now_s);                              /* the caller's */
json_t *report_job(const struct job *j, double now_s, const struct report_view *v); /* the caller's */
json_t *report_agent(const struct job_agent *a, double now_s);                      /* the caller's */
/* The nodes of these steps, worst first, without what the history knows of them; the caller's. */
json_t *report_nodes(const struct job *const *jobs, size_t n, double now_s);
/* Parts of the job object; the caller's. */
json_t *report_verdicts(const struct job *j, double now_s); /* that stand */
json_t *report_timeline(const struct job *j, double now_s); /* of the whole run, oldest first */
json_t *report_efficiency(const struct efficiency *recent, const struct efficiency *run); /* run: or NULL */
json_t *report_critical_path(const struct job *j);
json_t *report_projection(const struct job *j, double now_s);
/* {"missing": why} when too little is known.  It takes some 50 ms: a job keeps the last one, which is
 * made anew here when it is older than REPORT_SCALING_S. */
#define REPORT_SCALING_S 10.0
json_t *report_scaling(const struct view *v, bool strong);
void report_scaling_renew(struct job *j, double now_s, bool strong);
/* Other ways to run the job on the ranks it has (model/strategy.h), {"missing": why} when too little is
 * known; some 20 ms. Options are read from the question, what is nonsense there counts as not said. */
struct strategies;
struct view_strategy_options;
json_t *report_strategies(const struct view *v, const struct view_strategy_options *options);
json_t *report_strategy_list(const struct strategies *s);
void report_strategy_options(struct view_strategy_options *o, const json_t *question);
/* The report gets `guarded`: the job over its own unguarded reference (guarded.h), from its other keys. */
void report_put_guarded(json_t *report, double wall_s);
/* How a node and a rank fare; NULL: nothing was told lately. */
json_t *report_node_health(const struct job *j, double now_s, const char *node);
json_t *report_rank_health(const struct job *j, double now_s, uint32_t rank);
/* {p5, p50, p95} */
struct projection_range;
json_t *report_range(const struct projection_range *r);

#endif
