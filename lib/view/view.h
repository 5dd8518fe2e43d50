/* view.h - a job as its telemetry shows it: its ranks, its steps, who is late, who is to blame.
 *
 * Telemetry items go in, figures and verdicts come out (figures.h, verdicts.h, comms.h, timeline.h, health.h,
 * marks.h, scaling.h). Pure: the time is the caller's (any clock that only grows, in seconds; live the
 * controller's, in a trace the trace's), nothing is read, written or logged.  Items out of bounds are ignored
 * and counted in view_figures.refused.
 *
 * Units: seconds, bytes, ratios. NaN is unknown. */
#ifndef SYNCGUARD_VIEW_VIEW_H
#define SYNCGUARD_VIEW_VIEW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/efficiency.h"
#include "graph/graph.h"
#include "wire/telemetry.h"

struct view;
struct switches;
struct view_verdict;

#define VIEW_RANKS_MAX  65536u
#define VIEW_COMMS_MAX  4096u
#define VIEW_STATE_SIZE 32u

struct view_params {
    double min_slowdown;   /* stragglers below this price are not named */
    double hang_timeout_s; /* a collective open longer is a hang */
    double sync_limit; /* share of waiting that projections look for; 0: the regime synchronisation's own */
};

struct config_policy;
struct view_params view_params_of(const struct config_policy *policy);

/* now_s: when the step began, by the caller's clock. */
struct view *view_new(const struct view_params *p, double now_s);
void view_free(struct view *v); /* NULL is fine */
void view_params_set(struct view *v, const struct view_params *p);

/* How many bytes a view may hold, for one that is filled by somebody who is not trusted.  Ranks and
 * communicators beyond that are rejected; what is held already stays.  A new view is only bound by
 * VIEW_RANKS_MAX and VIEW_COMMS_MAX. */
void view_bound(struct view *v, double bytes);
double view_bytes(const struct view *v); /* that it holds or will soon, estimated from above */
/* Communicators of more than VIEW_RANKS_MAX ranks; and of what came, each time, as much as would have taken
 * too much memory. */
struct view_rejected {
    uint64_t large, memory;
};
struct view_rejected view_rejected_get(const struct view *v);

/* rank runs on node, below the switch (NULL or "": not known). A larger app than before: another MPI program
 * of the step, what was known of ranks and communicators is forgotten.  -1: out of bounds (view_bounds, too).
 */
int view_rank_add(struct view *v, uint32_t rank, uint16_t app, const char *node, const char *switch_name);
/* The number of a rank's process on its node; -1: not known. */
void view_rank_process(struct view *v, uint32_t rank, uint16_t app, int64_t pid);
/* "core.spine0.leaf1": the switches above a node, from the root down (switches_add()). */
void view_switches_add(struct view *v, const char *path);
const struct switches *view_switches(const struct view *v);
/* What a node's adapters to the network can send each, bytes a second, and how many it has: the slowest
 * node's counts. Values out of bounds are ignored. */
#define VIEW_ADAPTER_MAX  1e13
#define VIEW_ADAPTERS_MAX 64u
void view_adapter(struct view *v, double bytes_per_s, unsigned number);
double view_adapter_get(const struct view *v, unsigned *number); /* 0: none is known */
/* rank ended, or its process vanished without finalizing: its figures stay, it is no longer waited for. */
void view_rank_end(struct view *v, uint32_t rank, uint16_t app, bool vanished);

/* What a record of a job that stands still says beside its calls.  In a communicator that is known: the
 * numbers of the newest collectives that the rank has left and has called (UINT32_MAX: not known).  Of a
 * rank: whether its calls were recorded, and how many it has made that are not over, beside the one that it
 * is in. */
void view_comm_reached(struct view *v, uint64_t name, uint32_t rank, uint32_t left, uint32_t called);
void view_rank_record(struct view *v, uint32_t rank, bool recorded, uint32_t queued);

/* What the caller knows beside the items.  A node of which nothing has come since since_s, the caller's
 * clock; NaN: it is heard. */
void view_node_silent(struct view *v, const char *node, double since_s);
/* What Slurm does with the job, and its state in Slurm's words, as "NODE_FAIL" ("": not known). A suspended
 * job has no verdicts, and its time does not count. */
enum view_slurm { VIEW_SLURM_RUNS /* or it is not known */, VIEW_SLURM_SUSPENDED, VIEW_SLURM_ENDS };
void view_slurm_set(struct view *v, double now_s, enum view_slurm slurm, const char *state);

void view_item(struct view *v, double now_s, const struct telemetry_item *item);
/* A call of a rank that is known, beside its items (a call item is one): what a step is made of is then known
 * as a graph (graph/graph.h).  All ranks' calls must come, each rank's in the order in which it left them. */
void view_call(struct view *v, double now_s, const struct call *c);
void view_call_lost(struct view *v, uint32_t rank); /* a call of this rank is missing here */
/* A message whose other end is named by its place in a communicator gets that one's rank; other calls stay as
 * they are.  False: it is not known, which is counted, and the message is missing; or it is none of a
 * rank that is known, such as a late one of a process before.  Call items are done so by view_item(). */
bool view_call_place(struct view *v, struct call *c);
/* Would calls say more of this job than its samples and steps?  Where ranks pass messages, begin calls that
 * they complete later, or meet in several communicators. */
bool view_calls_wanted(const struct view *v);
/* Whether it is known from its calls where its steps end. */
bool view_calls_found(const struct view *v);
/* Call about every quarter second: columns, hangs, verdicts. */
void view_tick(struct view *v, double now_s);
#define VIEW_SIZES_MAX 32 /* of communicators */
struct view_spent {       /* what the communicators of a size spent their ranks' time on */
    uint32_t size;
    struct efficiency_sums sums;
};
/* How far a view has come, for another one that goes on where it stopped. */
struct view_position {
    double began_s;        /* the caller's clock: the first item */
    double suspended_s;    /* for how long the job was suspended by then */
    uint64_t steps, comm;  /* done; the communicator that they are counted on */
    uint32_t size, period; /* of comm */
    uint32_t counted;      /* its collective after the newest step ... */
    bool counts;           /* ... if any was counted */
    /* what its ranks were like by then is known; else a finding at the begin of the new view may be older */
    bool judged;
    uint16_t app;                              /* number of the program within the step */
    struct efficiency_sums spent;              /* of all ranks */
    struct view_spent of_size[VIEW_SIZES_MAX]; /* behind the last one there is a size of 0 */
};
void view_position_get(const struct view *v, struct view_position *p);
/* To a new view, with the verdicts of the run by then: their texts in the past tense (view_verdict_past()),
 * over_s the caller's clock. */
void view_position_set(struct view *v, const struct view_position *p, const struct view_verdict *verdict,
                       size_t n);

/* No more items will come: steps that are incomplete count as they are. */
void view_finish(struct view *v, double now_s);
/* A known communicator gets a label, which is copied; an unknown one is ignored. */
void view_comm_call(struct view *v, uint64_t name, const char *label);
/* Forget one communicator: it will be announced again, with more members. */
void view_comm_forget(struct view *v, uint64_t name);
/* What the MPI library calls itself ("Open MPI 4.1.4"); "": not known, or the ranks differ. */
#define VIEW_LIBRARY_SIZE 64
/* Why nothing is seen while there is no rank, for view_sentence(); "": not known.  quiet: its processes are
 * watched, and call nothing. */
void view_unseen_set(struct view *v, bool quiet, const char *text);
void view_library(struct view *v, const char *library); /* a rank's */
const char *view_library_get(const struct view *v);

#endif
