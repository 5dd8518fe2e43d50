/* history.h - what steps leave in the store, and what the store knows of them: the run compared with
 * similar earlier runs, the nodes that keep being the culprit.
 *
 * Between the jobs and the store: it turns a step into rows (store.h), remembers of each running step what a
 * row needs and the view forgets, and keeps the answers (past.h, lemon.h) at hand, so that a question costs
 * no pass over the database: a run is compared when it is saved; when rows changed, the nodes are scored
 * anew, a few rows at a tick, at most once in HISTORY_LEMONS_S. Every function takes NULL, and a history
 * without a store.
 *
 * Times: now_s is the controller's monotonic clock. */
#ifndef SYNCGUARD_HISTORY_HISTORY_H
#define SYNCGUARD_HISTORY_HISTORY_H

#include <jansson.h>

#include "common/err.h"

#define HISTORY_LEMONS_S  60.0
#define HISTORY_SCALING_S 300.0 /* what it shows of growth over more ranks, too */
#define HISTORY_PARTS_S   600.0 /* the nodes of a running step are stored so often, and at its end */

struct accounting;
struct history;
struct store;
struct job;
struct lemon;
struct past;

struct history *history_new(struct store *s); /* s is lent until history_free */
void history_free(struct history *h);

/* The step as it is now goes to the store: its report, which gets keys as from history_put, its figures, its
 * nodes. */
int history_save(struct history *h, const struct job *j, double now_s, double first_action_s, json_t *report,
                 struct err *err);
/* The step's verdicts changed: those that were raised since the last call go to the store, each culprit with
 * its node. */
int history_verdicts(struct history *h, const struct job *j, double now_s, struct err *err);
/* Call it about every quarter second. */
void history_tick(struct history *h, double now_s);
/* How often it will fail, to its cadence: how often the nodes of its partition went down, as Slurm's
 * accounting has it; how often guarded steps of its partition failed, or of all where those are too few,
 * where the accounting does not know or the partition's steps failed more often than its nodes; and what
 * earlier runs of the job itself saw. */
void history_failures(const struct history *h, struct accounting *a, struct job *j);
/* Slurm said how the job ended (j->outcome): its step counts as failed, or not. */
int history_outcome(const struct history *h, const struct job *j, struct err *err);
/* The step is about to go. */
void history_forget(struct history *h, const struct job *j);

/* The run compared with those like it, as of the last save, lent; NULL: there are none. */
const struct past *history_past(const struct history *h, const struct job *j);
/* report gets the key `past` of that (null: there are none), and `guarded` (job/report_job.h). */
void history_put(const struct history *h, const struct job *j, double first_action_s, json_t *report);
/* The row of a node gets lemon_score, culprit_jobs, seen_jobs; null until the nodes were scored once. */
void history_put_node(const struct history *h, const char *node, json_t *row);
/* Nodes as they were scored last, lent; *n is 0 until then. */
const struct lemon *history_lemons(const struct history *h, size_t *n);

#endif
