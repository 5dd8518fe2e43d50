/* report.h - a guarded step as a JSON object: the answer to "job" and the row of "jobs" (doc/protocol.md).
 * Pure: reads the job, changes nothing. */
#ifndef SYNCGUARD_DAEMON_REPORT_H
#define SYNCGUARD_DAEMON_REPORT_H

#include <jansson.h>
#include <stdint.h>

struct job;
struct job_agent;

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
json_t *report_real(double value); /* null for NaN and infinity */

#endif
