/* report_cadence.h - a job's checkpoints as they are reported (sgctl(1), "checkpoint"): the interval and its
 * reason, what it stands on, and what became of requests.  A key is a member, a row of report_cadence.c's
 * tables, and where it is filled (job/cadence.c).
 *
 * Units: seconds, ages and times ahead at the moment of the report; failures per node and day.  Unknown is
 * NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_CADENCE_H
#define SYNCGUARD_REPORT_REPORT_CADENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct report_cadence {
    bool known;
    char mode[16]; /* "off": left to the program, and no other member is known */
    char reason[32];
    double interval_s, optimal_s; /* of work */
    struct report_write_cost {
        double value, low, high;
    } cost_s;
    char cost_source[16]; /* "program", "pauses", "policy" */
    struct report_failure_rate {
        double value, low, high;
        double failures, node_days; /* that the rate is of */
        char source[16], source_text[160];
        double own_failures; /* of this job's earlier runs */
    } rate;
    double mtbf_s, goodput_most;
    int64_t written;
    double last_s, next_due_s, lost_work_s;
    struct report_perhaps { /* the latest pause of all ranks that may have been a checkpoint */
        bool known;
        double pause_s, age_s;
    } perhaps;
    bool too_late;            /* the job ends before another can be written */
    double limit_s, notice_s; /* until its time limit, until its announced end */
    int64_t callers;          /* ranks that ask whether one is due */
    int64_t asked, heard, delivered, failed, split;
    struct report_request { /* the newest */
        bool known;
        char reason[64], state[160];
        int64_t call;
        double age_s;
    } newest;
    char missing[128]; /* why requests are impossible; "": they are not */
};

json_t *report_cadence_json(const struct report_cadence *c);
void report_cadence_read(struct report_cadence *c, const json_t *o); /* from the object, or NULL */

#endif
