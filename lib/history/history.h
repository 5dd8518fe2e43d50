/* history.h - saves steps in the store, and keeps what is derived from it: the comparison of a run with
 * similar earlier runs, and the scores of nodes that are the culprit again and again.
 *
 * It turns a step into rows (store.h), keeps the data of a running step that a row needs and the view
 * discards, and caches the results (past.h, lemon.h), so that a query does not read the database: a run is
 * compared when it is saved; after rows changed, the nodes are scored again, a few rows per tick, at most
 * once in HISTORY_LEMONS_S. A history without a store has no data.
 *
 * Times: now_s is the controller's monotonic clock. */
#ifndef SYNCGUARD_HISTORY_HISTORY_H
#define SYNCGUARD_HISTORY_HISTORY_H

#include <jansson.h>

#include "common/err.h"
#include "history/store.h"

#define HISTORY_LEMONS_S 60.0
/* interval at which a running step's measurements for projections are stored */
#define HISTORY_SCALING_S 300.0
/* interval at which a running step's nodes are stored; also at its end */
#define HISTORY_PARTS_S 600.0

struct accounting;
struct history;
struct job;
struct lemon;
struct past;
struct report_node;
struct report;
struct report_effect;

struct history *
history_new(struct store *s);         /* uses s (NULL: none), which the caller closes after history_free() */
void history_free(struct history *h); /* NULL is fine */

/* Save the present state of the step: its report, in which history_get() fills what is known here, its
 * figures and its nodes.  Of a step that is not confirmed, only the report; of one for which only its user
 * vouches, nothing: what later runs and nodes are measured by cannot be invented.  -1 with a reason. */
int history_save(struct history *h, const struct job *j, double now_s, double first_action_s,
                 struct report *report, struct err *err);
/* Between two saves of a step that goes on: what is known of it, for a controller that is started again
 * (job/earlier.h).  -1 with a reason. */
int history_keep(struct history *h, const struct job *j, double now_s, struct err *err);
/* A step that is new to this controller: what an earlier one stored of it while it went on is its past
 * (job/earlier.h). */
void history_go_on(struct history *h, struct job *j, double now_s);
/* The verdicts of a confirmed step changed: store those raised since the last call, one row per culprit with
 * its node. -1 with a reason. */
int history_verdicts(struct history *h, const struct job *j, double now_s, struct err *err);
/* Continue scoring the nodes; call it about every quarter of a second. */
void history_tick(struct history *h, double now_s);
/* Give the job's cadence a failure rate: that of the nodes of its partition by Slurm's accounting.  If the
 * accounting has none, or guarded steps of the partition failed more often than its nodes: that of guarded
 * steps of the partition, or of all partitions where those are too few.  Also give it the failures of the
 * job's own earlier runs. */
void history_failures(const struct history *h, struct accounting *a, struct job *j);
/* Store how the job ended (j->outcome): whether its step counts as failed.  -1 with a reason. */
int history_outcome(const struct history *h, const struct job *j, struct err *err);
/* The step is about to be freed: discard its data. */
void history_forget(struct history *h, const struct job *j);

/* The comparison with similar earlier runs at the last save; valid until the next.  NULL: there are none. */
const struct past *history_past(const struct history *h, const struct job *j);
/* The effect of the order of the step's ranks, or of the algorithm of its all-reduces, by then (sgctl(1),
 * JSON: placement.effect, algorithm.effect). */
void history_effect(const struct history *h, const struct job *j, enum store_choice choice,
                    struct report_effect *e);
/* Fill the report's past, which is that comparison, and guarded (job/report_job.h), and of its placement and
 * algorithm the effect, which is history_effect(). */
void history_get(const struct history *h, const struct job *j, double first_action_s, struct report *r);
/* Set the node's lemon_score, culprit_jobs and seen_jobs; unknown until nodes were scored. */
void history_node_get(const struct history *h, struct report_node *r);
/* The latest score of a node, valid until the next history_tick(); NULL: it has none. */
const struct lemon *history_lemon(const struct history *h, const char *node);
/* The latest scores of all nodes, valid until the next history_tick(); *n is 0 before the first. */
const struct lemon *history_lemons(const struct history *h, size_t *n);

#endif
