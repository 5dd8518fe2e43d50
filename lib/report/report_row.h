/* report_row.h - a job as a row of "jobs", which its whole report begins with (sgctl(1), JSON): what it is,
 * its pace, where its time goes, its verdicts.  A trace has the figures and no identity.  A key of it is a
 * member, a row of report_row.c's tables, and where it is filled.
 *
 * Units: seconds, ratios; ages at the moment of the report.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_ROW_H
#define SYNCGUARD_REPORT_REPORT_ROW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "report/report_verdict.h"

struct view;
struct view_figures;

#define REPORT_JOBS_MAX     4096
#define REPORT_FINISHED_MAX 1000 /* of them: the newest */

enum { SHARE_COMPUTE, SHARE_COMMUNICATION, SHARE_SYNCHRONISATION, SHARE_P2P, SHARES };

struct report_row {
    /* what it is */
    int64_t job, step; /* Slurm's numbers */
    int64_t restarts;  /* how often Slurm had restarted the job before */
    char id[48], name[128], user[64], partition[64];
    char unconfirmed[96]; /* why nothing acts on the job; "": it is confirmed */
    char no_requeue[128]; /* why it cannot be requeued; "": it can, or that is not known */
    char policy[32], state[16];
    double start; /* Unix time */
    double elapsed_s, age_s;
    double left_s; /* until Slurm's time limit ends it; of a running job alone */
    int64_t ranks, nodes, nodes_total;
    int64_t agents_lost;     /* not heard, and they did not say that they end; of a running job alone */
    int64_t records_dropped; /* for want of room, overwritten, or not made */
    double samples_per_s;
    /* figures (view/figures.h) */
    int64_t steps, period;
    struct {
        int64_t warm_up_steps, pauses, evaluations, foreign_collectives, delays, rhythm_steps, rhythm_heavy;
        double pause_s, delays_s, rhythm_ratio;
    } phases;
    double step_p50_s, step_p95_s, step_p99_s, step_mean_s, step_cv;
    int64_t step_p99_steps;
    double steps_per_s, skew_p50_s, skew_p95_s, synchronisation_ratio;
    double share[SHARES];
    char regime[24];
    int non_finite;   /* 1: a loss, or a norm of the gradient, 0: none; -1: none is reported */
    char trend[16];   /* whether it comes to lose more: "rising", "steady", "falling"; see view_trend() */
    char judged[16];  /* "yes", "early", "partly", ...; see view/view.h */
    double mds_ratio; /* the smallest slowdown that could be found now */
    struct {          /* the same by what is slow; of a node's and a link's transfers */
        double work, work_from_start, transfers, node_transfers, link_transfers;
    } limits;
    char sentence[512];
    struct {
        bool known;
        int64_t rank;
        char node[64];
        double lateness_s, last_ratio;
    } worst;
    struct report_verdicts verdicts; /* the most costly first */
};

/* The figures and verdicts of a view; the rest is unknown.  f: as of now_s. */
void report_row_get(struct report_row *r, const struct view *v, double now_s, const struct view_figures *f);
json_t *report_row_json(const struct report_row *r);   /* the caller's */
extern const struct json_field report_figure_fields[]; /* neither its identity nor its verdicts */
/* Of an answer; NULL: all is unknown. */
void report_row_read(struct report_row *r, const json_t *o);
void report_row_free(struct report_row *r); /* what it holds */

struct report_rows {
    size_t n;
    struct report_row *job;
};
/* The first rows of an answer to "jobs", at most max; NULL with the reason: it is none, or an error. */
struct report_rows *report_rows_read(const json_t *answer, size_t max, struct err *err);
void report_rows_free(struct report_rows *s); /* NULL is fine */

/* How bad it is, or was of one that has ended: hangs, lost jobs and what costs much; a healthy job is
 * SEVERITY_GOOD, one that cannot be judged yet SEVERITY_NONE. */
enum severity report_row_severity(const struct report_row *j);
/* A report counts the ages of an ended step's verdicts from its end; count them from now, once. */
void report_row_count_from_now(struct report_row *j);
/* What one of its verdicts costs until then if nothing is done, a clause; where that is not known, why.  "":
 * it has ended, or the verdict is over.  Returns buf. */
char *report_row_ahead(char *buf, size_t size, const struct report_row *j, const struct report_verdict *v);
/* Seconds since it ended; 0 of one that has not, or where that is not known. */
double report_row_ended_s(const struct report_row *j);
/* Not finished: somebody can still look at it. */
bool report_row_alive(const struct report_row *j);
/* Not finished, and nothing moves: nobody is late then, and what each process does is what counts. */
bool report_row_still(const struct report_row *j);
/* The verdict that the job's sentence is about, which is the first; NULL: there is none, or nothing moves and
 * it only says what costs time. */
const struct report_verdict *report_row_told(const struct report_row *j);

#endif
