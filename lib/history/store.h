/* store.h - the history of steps in SQLite (WAL), which outlives steps and controller.
 *
 * It has one row per step with its latest report; one per verdict; one per run (the step's figures, with
 * which later similar runs are compared); one per run and node (the time of its part in the run, and for how
 * much of that it was the culprit, so that rates have a denominator). The schema has a version; an older one
 * is migrated when the store is opened, a newer one is refused. The controller works without it: the queries
 * accept NULL for s. Functions that return int return 0, or -1 with a reason, unless stated otherwise.
 *
 * A step is Slurm's here; those of the program are called training steps.
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
#include "history/starts.h"
#include "job/job.h"
#include "model/algorithm.h"

/* a start within this time after a broken run of the same name is a re-run of it */
#define STORE_RERUN_S 600.0

struct store;

extern const struct database_tables store_tables; /* of its file (database.h) */

/* Open or create DIR/history.sqlite.  NULL with a reason. */
struct store *store_open(const char *dir, struct err *err);
void store_close(struct store *s);

/* Write the step's report; of an ended step also its row in the list, else NULL.  Both stay the caller's. */
int store_step(struct store *s, const struct job *j, const json_t *report, const json_t *row,
               struct err *err);
/* Write what is known of a step that goes on (job/earlier.h), the caller's; NULL: it has ended. */
int store_unfinished(struct store *s, const struct job *j, const json_t *earlier, struct err *err);
/* The same of the controller before; the caller owns it.  NULL: nothing is known. */
json_t *store_unfinished_get(struct store *s, const struct job_id *id);
int store_verdict(struct store *s, const struct job *j, const char *class, const char *scope,
                  const char *culprit, const char *node, double slowdown, const char *text, struct err *err);

/* ---- runs ---- */

struct store_run {
    const struct job *job;  /* uid, job, step, restarts, name, partition and begin are read from it */
    uint32_t ranks, period; /* period 0: not known */
    uint64_t training_steps;
    double heard;  /* when it was last heard of */
    bool ended;    /* the run is over */
    bool broken;   /* it ended lost, in a hang, or with processes that died */
    double node_s; /* node-seconds of the run */
    struct past_run figures;
};
/* Write the run's row. The store determines whether it is a re-run: requeued, or started soon after a broken
 * one of the same user, name and partition. */
int store_run(struct store *s, const struct store_run *r, struct err *err);

/* Earlier runs similar to r (same user, name, partition, ranks and period, at least 20 training steps),
 * newest first; and whether each of the newest starts of that name was a re-run, r first. */
struct store_similar_runs {
    struct past_run run[PAST_RUNS_MAX];
    bool rerun[PAST_RUNS_MAX];
    size_t n, n_starts;
};
void store_similar_runs(struct store *s, const struct store_run *r, struct store_similar_runs *out);

/* How the run's ranks were started is read from its job. */
struct store_launch {
    char pattern[32];           /* what it communicates (calls/exchange.h); "": not certain */
    double communication_ratio; /* share of the ranks' time */
};
int store_launch(struct store *s, const struct store_run *r, const struct store_launch *l, struct err *err);
/* Starts that are compared: with a choice, or held out from it. */
struct store_turns {
    size_t placed, held_out;
    bool held_out_last; /* the newest of these was held out */
};
/* The newest runs of this user and name with so many ranks and nodes (0: any), at least 20 training steps
 * each.  If the newest two differ in what they communicate, the name may stand for several programs, and
 * newest.pattern is "". */
struct store_launches {
    size_t n;
    struct store_launch newest;
    struct store_turns turns; /* of those whose order is compared */
};
void store_launches(struct store *s, uid_t uid, const char *name, uint32_t ranks, uint32_t nodes,
                    struct store_launches *out);

/* What of the start is compared. */
enum store_choice { STORE_ORDER, STORE_ALGORITHM, STORE_CHOICES };

static inline const struct job_choice *store_choice_get(const struct job *j, enum store_choice choice)
{
    return choice == STORE_ORDER ? &j->placement : &j->algorithm;
}

/* Runs similar to r, and r itself, of as many nodes, with the same choice (placed for the same pattern, told
 * to take the same algorithm) or held out from it, the newest first; returns how many, at most max. */
size_t store_starts(struct store *s, const struct store_run *r, enum store_choice choice, struct start *start,
                    size_t max);

/* A run's all-reduces (view/scaling.h).  What its library was told at launch is read from its job, of which
 * srun has looked for an algorithm. */
struct store_allreduces {
    char library[64];
    struct algorithm_size size[ALGORITHM_SIZES];
    size_t n; /* 0: not known */
    double step_s;
};
/* [[bytes, per step, shortest stay, mean stay, their relative error], ...]; the caller owns it. */
json_t *store_sizes(const struct store_allreduces *a);
int store_allreduces(struct store *s, const struct store_run *r, const struct store_allreduces *a,
                     struct err *err);
/* Of the newest run, as in store_launches(), whose library took its own choice.  n is 0 also if that run and
 * the one before differ in library or sizes. */
void store_usual(struct store *s, uid_t uid, const char *name, uint32_t ranks, uint32_t nodes,
                 struct store_allreduces *usual, struct store_turns *turns);

/* A node's part in a run. */
struct store_part {
    const char *node;
    double seconds;    /* in the run */
    double culprit_s;  /* time as the culprit; 0: never */
    double lost_s;     /* time that the run lost because of the node */
    double slowdown;   /* highest slowdown of its verdicts */
    const char *class; /* class of that verdict; NULL: none */
};
int store_parts(struct store *s, const struct job *j, double now, const struct store_part *part, size_t n,
                struct err *err);
/* Call each for the jobs of all nodes after `node` ("": from the first), ordered by node (strcmp), then by
 * user; a job's steps and restarts are one call. Stops after the node with which max jobs are reached, and
 * copies its name to node. 1: there are more nodes, 0: that was the last one. */
#define STORE_NODE_MAX 64
typedef void store_node_job(const char *node, int64_t uid, double seconds, double culprit_s, double at,
                            void *arg);
int store_node_jobs(struct store *s, char node[STORE_NODE_MAX], size_t max, store_node_job *each, void *arg);

/* Number of failed runs of the partition ("": of all) and node-seconds of its runs; only runs of at least 20
 * steps, without j's job.  A run failed if it was lost, hung at its end or had processes die, unless
 * store_outcome() recorded otherwise. */
void store_failures(struct store *s, const struct job *j, const char *partition, double *failures,
                    double *node_s);

/* Failures and node-seconds of the job's own other runs: its other steps, and its runs before it was
 * requeued. */
void store_own_failures(struct store *s, const struct job *j, double *failures, double *node_s);
/* Record whether the ended step failed, which replaces the value derived from `broken`: a start after a
 * cancelled run is no re-run. */
int store_outcome(struct store *s, const struct job *j, bool failed, struct err *err);

/* Store the step's measurements for projections, as text in the format of job/scaling_run.h. */
int store_scaling(struct store *s, const struct job *j, uint32_t ranks, double heard, const char *run_text,
                  struct err *err);
/* Call each for steps of the same user, name and partition with another number of ranks: the newest for each
 * number, newest first, at most max. */
typedef void store_scaling_run(const char *run_text, void *arg);
void store_scaling_runs(struct store *s, const struct job *j, uint32_t ranks, size_t max,
                        store_scaling_run *each, void *arg);

/* All writes in between are one transaction. */
void store_begin(struct store *s);
int store_end(struct store *s, struct err *err);

int store_expire(struct store *s, int days, struct err *err); /* delete rows that are older */

/* Bytes in use, without what deleted rows left in the file, which new rows take; NaN without a store. */
double store_used_bytes(struct store *s);
/* If the history takes more than max_bytes, delete the oldest steps of the user who has the most, until a
 * 20th of it is free: nobody pushes out others' steps with his own.  Returns how many, or -1. */
int store_trim(struct store *s, double max_bytes, struct err *err);
/* Whether the file system has so much free space.  True where this is not known. */
bool store_has_space(struct store *s, double free_bytes);

/* ---- queries ---- */

/* The report of the newest stored step that matches (step -1: any; restarts: how often Slurm had restarted
 * the job before, -1: any) and that uid may see (UINT32_MAX: all).  NULL: none.  The caller owns it. */
json_t *store_report(struct store *s, int64_t job, int64_t step, int64_t restarts, uid_t uid);
/* Whether there is one; does not read it. */
bool store_has_report(struct store *s, int64_t job, int64_t step, uid_t uid);
/* A place in the list of ended steps that uid may see (UINT32_MAX: all), which is ordered from the newest on:
 * behind the row it names. */
struct store_place {
    double updated;
    struct job_id id;
};
#define STORE_LIST_BEGIN ((struct store_place){ .updated = 1e18 })
/* Takes a row (NULL: it is not JSON) of so many bytes.  False: no more of them. */
typedef bool store_listed(json_t *row, size_t bytes, void *arg);
/* Call each for the rows behind at, which is moved along.  True: each has said no; there may be more. */
bool store_list(struct store *s, uid_t uid, struct store_place *at, store_listed *each, void *arg);
int64_t store_listed_count(struct store *s, uid_t uid);
/* Ended steps that a program before version 8 has stored and that are not in the list yet. */
int64_t store_unlisted_count(struct store *s);
/* Put the newest of them into the list, at most so many: half a millisecond each. */
int store_list_earlier(struct store *s, int64_t max, struct err *err);
struct report_node_step;
typedef void store_node_step(const struct job_id *id, const struct report_node_step *step, void *arg);
/* Call each for the steps that ran on the node, of that user or (UINT32_MAX) of all, the newest first, at
 * most max. */
void store_node_steps(struct store *s, uid_t uid, const char *node, size_t max, store_node_step *each,
                      void *arg);
/* Number of verdicts with the node as culprit, and Unix time of the last (0: never).  -1: no store. */
int store_node(struct store *s, const char *node, int *count, double *last_wall_s);
double store_bytes(struct store *s); /* size of the file; NaN without a store */

#endif
