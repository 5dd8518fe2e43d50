/* store.h - what outlives the controller and the step: history in SQLite (WAL).
 *
 * One row a step, with the report as it last stood; one row a verdict; one row a run (the step's figures, to
 * compare the next run like it with); one row a run and node (that it took part, and for how long it was the
 * culprit: so a rate has a denominator). The schema has a version; an older one is migrated when the store is
 * opened, a newer one is refused. The controller works without it: every function takes NULL.
 *
 * Times: Unix seconds. Unknown: NaN, in the database null. */
#ifndef SYNCGUARD_HISTORY_STORE_H
#define SYNCGUARD_HISTORY_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "history/past.h"

#define STORE_RERUN_S 600.0 /* a start so soon after a broken run of the same name is a re-run of it */

struct store;
struct job;

/* DIR/history.sqlite, made when it is new.  NULL on failure. */
struct store *store_open(const char *dir, struct err *err);
void store_close(struct store *s);

/* The step's row as it is now; report is lent. */
int store_step(struct store *s, const struct job *j, const json_t *report, struct err *err);
int store_verdict(struct store *s, const struct job *j, const char *class, const char *scope,
                  const char *culprit, const char *node, double slowdown, const char *text, struct err *err);

/* ---- runs ---- */

struct store_run {
    const struct job *job;  /* who: uid, job, step, restarts, name, partition, begin */
    uint32_t ranks, period; /* period 0: not known */
    uint64_t steps;
    double heard;  /* when it was last heard of */
    bool ended;    /* nothing more will come */
    bool broken;   /* and it did not end well: lost, hanging, processes gone */
    double node_s; /* node-seconds of it */
    struct past_run figures;
};
/* The run's row as it is now. Whether it is a re-run (requeued, or started soon after a broken one of the
 * same user, name and partition) the store finds out. */
int store_run(struct store *s, const struct store_run *r, struct err *err);

/* The earlier runs similar to r (same user, name, partition, ranks and period, at least 20 steps), newest first,
 * and of the newest starts of that name, r first, whether they were re-runs; both arrays are PAST_RUNS_MAX
 * long. */
struct store_similar_runs {
    struct past_run run[PAST_RUNS_MAX];
    bool rerun[PAST_RUNS_MAX];
    size_t n, n_starts;
};
int store_similar_runs(struct store *s, const struct store_run *r, struct store_similar_runs *out);

/* A node's part in a run. */
struct store_part {
    const char *node;
    double seconds;    /* in the run */
    double culprit_s;  /* of these it was the culprit; 0: never */
    double lost_s;     /* the run's time lost to it */
    double slowdown;   /* the highest price */
    const char *class; /* of that verdict; NULL: none */
};
int store_parts(struct store *s, const struct job *j, double now, const struct store_part *part, size_t n,
                struct err *err);
/* The jobs of the nodes behind `node` ("": of all), ordered by node (strcmp), then by user: a job's steps and
 * restarts are one. Ends with the node that makes it max jobs or more, which is put into node. 1: there are
 * more, 0: that was the last node, -1: no store. */
#define STORE_NODE_MAX 64
typedef void store_node_job(const char *node, int64_t uid, double seconds, double culprit_s, double at,
                            void *arg);
int store_node_jobs(struct store *s, char node[STORE_NODE_MAX], size_t max, store_node_job *each, void *arg);

/* Runs of the partition ("": of any) of at least 20 steps, but for j: how many failed (were lost, hung at
 * their end or had processes die, where store_outcome did not say otherwise), and the node-seconds of all of
 * them.  -1: no store. */
int store_failures(struct store *s, const struct job *j, const char *partition, double *failures,
                   double *node_s);

/* The same of the job's own other runs: its steps, and what came before it was requeued. */
int store_own_failures(struct store *s, const struct job *j, double *failures, double *node_s);
/* The step is over, and whether it failed is known better than by `broken`. */
int store_outcome(struct store *s, const struct job *j, bool failed, struct err *err);

/* What the step shows of growth over more ranks, as job/scaling_run.h has it. */
int store_scaling(struct store *s, const struct job *j, uint32_t ranks, double heard, const char *run_text,
                  struct err *err);
/* Of the steps of the same user, name and partition over another number of ranks: the newest of each number,
 * the newest of them first, at most max. */
typedef void store_scaling_run(const char *run_text, void *arg);
void store_scaling_runs(struct store *s, const struct job *j, uint32_t ranks, size_t max,
                        store_scaling_run *each, void *arg);

/* What is stored in between is written at once, or not at all. */
void store_begin(struct store *s);
int store_end(struct store *s, struct err *err);

/* ---- answers ---- */

/* The report of the newest stored step that fits (step -1: any) and that uid may see (UINT32_MAX: every).
 * NULL: none.  The caller's. */
json_t *store_report(struct store *s, int64_t job, int64_t step, uid_t uid);
/* Rows for the list of finished steps, newest first: array of the reports' first keys. The caller's. */
json_t *store_list(struct store *s, uid_t uid, int limit);
/* How often a node was a culprit, and when last (Unix time; 0: never). */
int store_node(struct store *s, const char *node, int *count, double *last_wall_s);
int store_expire(struct store *s, int days, struct err *err);
double store_bytes(struct store *s); /* NaN without one */

#endif
