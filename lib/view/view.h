/* view.h - what is known about one guarded step: its ranks, its steps, who is late, who is to blame.
 *
 * Telemetry items go in, figures and verdicts come out. Pure: the time is the caller's (any clock that only
 * grows, in seconds; live the controller's, in a trace the trace's), nothing is read, written or logged.
 * Items out of bounds are ignored and counted in view_figures.refused.
 *
 * Units: seconds, bytes, ratios. NaN is unknown. */
#ifndef SYNCGUARD_VIEW_VIEW_H
#define SYNCGUARD_VIEW_VIEW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/efficiency.h"
#include "detect/finding.h"
#include "calls/overlap.h"
#include "view/reach.h"
#include "detect/trend.h"
#include "graph/graph.h"
#include "model/algorithm.h"
#include "model/linkfit.h"
#include "model/projection.h"
#include "model/strategy.h"
#include "model/variation.h"
#include "wire/telemetry.h"

#define VIEW_RANKS_MAX    65536u
#define VIEW_COMMS_MAX    4096u
#define VIEW_COLUMNS      120u /* of history; a column starts at a second and doubles with slow steps */
#define VIEW_VERDICTS_MAX 4u
#define VIEW_RAISED_MAX   FINDINGS_MAX /* verdicts of the whole run; the oldest that is over gives way */
#define VIEW_CULPRITS_MAX 64u
#define VIEW_MDS_MAX      2.0 /* that nobody is three times as slow says nothing */
#define VIEW_STATE_SIZE   32u
#define VIEW_CULPRIT_SIZE 128u /* of its name; of a link, the names of both ends */

struct view_params {
    double min_slowdown;   /* stragglers below this price are not named */
    double hang_timeout_s; /* a collective open longer is a hang */
    double sync_limit; /* share of waiting that projections look for; 0: the regime synchronisation's own */
};

struct config_policy;
struct view_params view_params_of(const struct config_policy *policy);

enum view_regime {
    VIEW_STARTING,
    VIEW_COMPUTE,         /* of the ranks' time most is their own work */
    VIEW_COMMUNICATION,   /* most is in transfers */
    VIEW_SYNCHRONISATION, /* waiting for late ranks weighs */
    VIEW_OSCILLATING,     /* steps alternate between fast and slow */
    VIEW_CHECKPOINT,      /* no rank is in a collective, none begins a step: all pause */
    VIEW_STALLED,         /* nothing moves for far longer than a step */
    VIEW_SUSPENDED,       /* Slurm has suspended the job */
    VIEW_UNKNOWN,         /* too few of the ranks are seen to say */
    VIEW_NO_REGIME,       /* it ended before one was known */
};
const char *view_regime_name(enum view_regime r); /* NULL: there is none */

/* A finding in words, with names for its numbers. */
struct view_verdict {
    struct finding finding;
    char culprit[VIEW_CULPRITS_MAX][VIEW_CULPRIT_SIZE]; /* "r3", a node's or a switch's name */
    uint32_t n_culprits;
    int64_t since_step; /* -1: not known */
    int64_t found_step; /* the newest one when it was found; -1: not known */
    double since_s;     /* when it began, by the caller's clock; NaN: not known */
    double found_s;     /* when the verdict was raised, by the caller's clock */
    double over_s;      /* valid when it no longer stands */
    bool minor;         /* view_is_minor() of its price; in the timeline: of each price it had */
    bool earlier;       /* found before view_position_set(): the text is in the past tense, without a price, and its places have no numbers */
    bool went_on;       /* of such a one: it stood when it was found last, and goes on if it is found again */
    uint32_t times;     /* in how many stretches it was there; more than 1 only in what is reported of a job that ended */
    char text[512];     /* the evidence, one sentence */
    char cause[256];    /* what else is known of the culprit ("its CPU is shared ..."); "" nothing */
};
/* Is a verdict of this price left out of lists and sentences?  Not of an unknown price. */
#define VIEW_MINOR_SLOWDOWN 1.015 /* what people read as 1.00x and 1.01x */
bool view_is_minor(double slowdown);
/* When it began as far as is known: no later than it was found. */
double view_verdict_from_s(const struct view_verdict *d);

struct picture;
struct switches;
struct view;

/* now_s: when the step began, by the caller's clock. */
struct view *view_new(const struct view_params *p, double now_s);
void view_free(struct view *v); /* NULL is fine */
void view_params_set(struct view *v, const struct view_params *p);

/* What a view may hold, for one that is filled by somebody who is not trusted.  Ranks and communicators beyond it are
 * rejected; what is held already stays.  A new view is only bound by VIEW_RANKS_MAX and VIEW_COMMS_MAX. */
struct view_bounds {
    uint32_t ranks; /* numbers of ranks are below this */
    double bytes;
};
void view_bound(struct view *v, const struct view_bounds *b);
double view_bytes(const struct view *v); /* that it holds or will soon, estimated from above */
/* Numbers of ranks (each time one was reported) and of communicators that the bounds rejected. */
struct view_rejected {
    uint64_t ranks, memory; /* for their number; for the memory that they would take */
};
struct view_rejected view_rejected_get(const struct view *v);

/* rank runs on node, below the switch (NULL or "": not known). A larger app than before: another MPI program of
 * the step, what was known of ranks and communicators is forgotten.  -1: out of bounds (view_bounds, too). */
int view_rank_add(struct view *v, uint32_t rank, uint16_t app, const char *node, const char *switch_name);
/* The name of a node or a switch by its number in a finding; "" unknown. */
const char *view_place_name(const struct view *v, uint32_t place);
/* "core.spine0.leaf1": the switches above a node, from the root down (switches.h). */
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

/* What the caller knows beside the items.  A node of which nothing has come since since_s, the caller's clock; NaN: it is heard. */
void view_node_silent(struct view *v, const char *node, double since_s);
/* What Slurm does with the job, and its state in Slurm's words, as "NODE_FAIL" ("": not known). A suspended job has no verdicts, and its
 * time does not count. */
enum view_slurm { VIEW_SLURM_RUNS /* or it is not known */, VIEW_SLURM_SUSPENDED, VIEW_SLURM_ENDS };
void view_slurm_set(struct view *v, double now_s, enum view_slurm slurm, const char *state);

void view_item(struct view *v, double now_s, const struct telemetry_item *item);
/* Findings (detect/finding.h) so far: the next one has this id. */
uint32_t view_findings(const struct view *v);
/* A call of a rank that is known, beside its items (a call item is one): what a step is made of is then known as a graph
 * (graph/graph.h).  All ranks' calls must come, each rank's in the order in which it left them. */
void view_call(struct view *v, double now_s, const struct graph_call *c);
void view_call_lost(struct view *v, uint32_t rank); /* a call of this rank is missing here */
/* Would calls say more of this job than its samples and steps?  Where ranks pass messages, begin calls that they complete later, or
 * meet in several communicators. */
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
    bool judged;           /* what its ranks were like by then is known; else a finding at the begin of the new view may be older */
    uint16_t app;          /* number of the program within the step */
    struct efficiency_sums spent; /* of all ranks */
    struct view_spent of_size[VIEW_SIZES_MAX]; /* behind the last one there is a size of 0 */
};
void view_position_get(const struct view *v, struct view_position *p);
/* To a new view, with the verdicts of the run by then: their texts in the past tense (view_verdict_past()), over_s the caller's clock. */
void view_position_set(struct view *v, const struct view_position *p, const struct view_verdict *verdict, size_t n);
/* A verdict's sentence in the past tense, without its price.  Returns buf. */
char *view_verdict_past(const struct view *v, const struct view_verdict *d, char *buf, size_t size);

/* No more items will come: steps that are incomplete count as they are. */
void view_finish(struct view *v, double now_s);

/* Of a job that is stalled the rates, times and shares are unknown, and so are those of its ranks: what was measured before
 * does not describe it. */
struct view_figures {
    uint32_t ranks;       /* that run */
    uint32_t ranks_known; /* that were added, ended ones included */
    uint64_t steps;       /* training steps done; valid with a period */
    uint32_t period;      /* collectives a step on the main communicator; 0: not known */
    /* Over the last minute, or since a costly verdict last began or ended if that is shorter; the sentence's cost is a share of this mean. */
    double step_mean_s, step_p50_s, step_p95_s, step_cv;
    double step_p99_s;   /* of the newest p99_steps, at most 600, of the last minute or before; NaN of fewer than 100 */
    uint32_t p99_steps;
    double steps_per_s;
    double skew_p50_s, skew_p95_s;
    /* Shares of the ranks' time. */
    double compute_ratio, communication_ratio, synchronisation_ratio, p2p_ratio;
    enum view_regime regime;
    double mds;          /* smallest slowdown that could be named now; above VIEW_MDS_MAX the job is not judged */
    /* The same for transfers, over what they took: of all, of one node's, of one link's (of those that are hardest to see); where calls do
     * not come one by one only of all. What costs less than min_slowdown is not named. */
    double transfer_mds, transfer_node_mds, transfer_link_mds;
    uint32_t worst_rank; /* largest mean lateness; valid with worst_lateness_s known */
    double worst_lateness_s, worst_last_ratio;
    uint64_t events, dropped, missed, collectives, refused;
    uint64_t messages_missed, streams_forgotten, comms_missed; /* struct losses_item, of all ranks */
};
void view_figures_get(const struct view *v, double now_s, struct view_figures *f);
enum view_regime view_regime_get(const struct view *v);
bool view_called(const struct view *v); /* a rank was seen to call something */
/* Mean time of the newest steps, also of a job that is stalled: the unit of its history. */
double view_newest_steps_s(const struct view *v, double now_s);

/* Those that stand, most costly first; returns how many. */
size_t view_verdicts_get(const struct view *v, const struct view_verdict **verdicts);
/* All that were raised since the beginning and not taken back, standing or over: most costly first, a hang
 * before all. slowdown is over the whole run: its time over its time without that cause. */
size_t view_verdicts_raised(const struct view *v, const struct view_verdict **verdicts);
/* What is reported of a job: while it goes on those that stand; when it has ended all that were raised, priced over the whole run,
 * what came and went several times once. */
size_t view_verdicts_reported(const struct view *v, const struct view_verdict **verdicts);

/* What in the run is neither an ordinary step nor a fault. */
struct view_phases {
    int32_t warm_up_steps;        /* first ones that took longer; -1: not known yet */
    uint64_t pauses;              /* in which no rank worked, before a step (checkpoints) ... */
    double pause_s;               /* ... and how long all of them were */
    uint64_t evaluations;         /* stretches of collectives between steps that belong to none ... */
    uint64_t foreign_collectives; /* ... and how many those were */
    uint32_t rhythm_steps;        /* period of a rhythm that all ranks have had from the start, in steps; 0: there is none ... */
    uint32_t rhythm_heavy;        /* ... the steps of a period that do more ... */
    double rhythm_ratio;          /* ... this many times the work of the others; NaN */
};
void view_phases_get(const struct view *v, struct view_phases *p);

/* Whether the job's ranks could be compared; a job that is not judged has no verdicts that rest on it, and is not healthy. */
enum view_judged {
    VIEW_JUDGED,
    VIEW_EARLY,       /* how much the ranks' work varies is not known yet */
    VIEW_PARTLY,      /* some ranks are not recorded, or their node is silent: only the others were compared */
    VIEW_NOT_SHOWN,   /* what is recorded does not show who waits for whom */
    VIEW_TOO_VARIOUS, /* a rank twice as slow as the others would not be seen */
    VIEW_NOTHING,     /* no steps, nothing moves, or the job is suspended */
};
enum view_judged view_judged_get(const struct view *v, double now_s);
const char *view_judged_name(enum view_judged j); /* "yes", "early", "partly", "not shown", "too various", "no" */

/* What is going on and what it costs, one sentence. */
char *view_sentence(const struct view *v, double now_s, char *buf, size_t size);

/* What changed since the last call, oldest first: texts for the event list.  false: nothing more. */
struct view_event {
    double at_s;
    char key[32 + VIEW_CULPRIT_SIZE]; /* the same of events that differ in figures alone; "": their texts are the same */
    char text[512];
};
bool view_event_take(struct view *v, struct view_event *e);

struct view_rank_figures {
    uint32_t rank;
    const char *node, *switch_name; /* lent; "" not known */
    bool ended;
    double lateness_s, lateness_p50_s, lateness_p95_s, lateness_p99_s; /* mean; percentiles to about 5 % */
    double last_ratio;        /* share of the newest steps in which it had the longest own work; while no step is known, of the
                               * collectives in which it came last */
    double wait_s;            /* its waiting in collectives for ranks that came later, a step */
    double delay_s;           /* the others' waiting that it causes, a step (detect/delay.h) */
    double compute_s, stay_s; /* own work and time in collectives, a step */
    double slowdown;          /* own work over the median of the ranks */
    uint8_t inside_op;        /* RING_OP_NONE: none, or not known */
    uint64_t inside_comm;
    uint32_t inside_seq;
    double inside_s;
    const struct partner_item *partner; /* lent: the message that the call lasts for; NULL: none, or not known */
    enum process_state process; /* what keeps its process from running; PROCESS_RUNS also where that is not known */
    double process_s;           /* since the agent first saw that */
};
/* Of the ranks that the costliest verdict is about the one that is last most often; false: there is none, as in a healthy job. */
bool view_latest_get(const struct view *v, double now_s, struct view_rank_figures *f);
uint32_t view_rank_limit(const struct view *v); /* ranks are below this */
uint32_t view_ranks_running(const struct view *v);
/* The first running rank whose process neither catches, ignores nor blocks the signal, 1 to 64.  false: there is none, as far as is known. */
bool view_rank_ended_by(const struct view *v, int signal, uint32_t *rank);
/* false: unknown rank */
bool view_rank_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_figures *f);

/* Health of a rank's process and of a node, smoothed over some seconds.  false: nothing was reported lately. */
#define VIEW_GPUS_MAX 16u /* a node */
struct view_rank_health {
    struct task_item figures;
    double follows;  /* correlation of its lateness with its run delay */
    char cause[256]; /* what stands out from the other ranks and nodes; "" nothing does */
};
bool view_rank_health_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_health *h);
struct view_node_health {
    struct node_item figures;
    double involuntary_per_s; /* of all its ranks */
    struct gpu_item gpu[VIEW_GPUS_MAX];
    size_t n_gpus;
};
bool view_node_health_get(const struct view *v, double now_s, const char *node, struct view_node_health *h);

/* The share of their time that all ranks alike lack a CPU (for other processes, the hypervisor or their quota), by the typical one of
 * them, and a sentence about it; 0 and "" if it is less than what matters for one rank, or not known. */
double view_cpu_lack(const struct view *v, char *buf, size_t size);
/* When the rank entered what it is inside of, by its node's clock, from the live item; 0: not known. */
uint64_t view_rank_inside_ns(const struct view *v, uint32_t rank);

/* History, oldest column first; arrays of VIEW_COLUMNS are the caller's, NaN where there was nothing. Returns
 * how many. */
double view_column_s(const struct view *v);
size_t view_rank_columns(const struct view *v, uint32_t rank, float *lateness_s);
struct view_columns {
    float step_s[VIEW_COLUMNS], steps_per_s[VIEW_COLUMNS], skew_s[VIEW_COLUMNS],
        synchronisation_ratio[VIEW_COLUMNS];
};
size_t view_columns_get(const struct view *v, struct view_columns *c);
/* The run so far in longer stretches: the shortest of those that view_projection_get() looks at that go back to its beginning, or else the
 * longest, of three hours.  The oldest first; the stretch that is not over is left out. */
#define VIEW_STRETCHES 90u
struct view_stretches {
    double width_s, at_s[VIEW_STRETCHES]; /* at_s: the middle, by the caller's clock */
    float step_s[VIEW_STRETCHES], synchronisation_ratio[VIEW_STRETCHES]; /* NaN: nothing was known */
};
size_t view_stretches_get(const struct view *v, struct view_stretches *s);

struct view_comm {
    uint64_t name;
    uint32_t size, instances; /* how many communicators of that size are shown as this one (inner groups) */
    bool main;
    double collectives_per_s, bytes_per_s; /* of one of them, one rank */
    double skew_s, transfer_s;
    /* What its collectives cost: all that its members do outside of them counts as useful. */
    struct efficiency recent, run;
};
/* The name of a communicator for people: what view_comm_call() gave it, or "world", "world.1" (its dup), "4@8" (4 ranks,
 * the first is 8), "4@8.1".  Returns buf. */
char *view_comm_label(const struct view *v, uint64_t name, char *buf, size_t size);
uint32_t view_comm_size(const struct view *v, uint64_t name); /* guarded members; 0: not known */
/* A known communicator gets a label, which is copied; an unknown one is ignored. */
void view_comm_call(struct view *v, uint64_t name, const char *label);
/* Forget one communicator: it will be announced again, with more members. */
void view_comm_forget(struct view *v, uint64_t name);
/* Communicators of one size are shown as one row; largest first; returns how many. */
size_t view_comms_get(const struct view *v, double now_s, struct view_comm *out, size_t max);

/* Of the ranks together: recent is over the last columns (older ones fade), run since the program began. */
struct view_efficiency {
    struct efficiency recent, run;
};
void view_efficiency_get(const struct view *v, struct view_efficiency *e);

/* What it communicates, as calls/exchange.h names it, by its newest steps.  False: that is not certain, and name is "". */
#define VIEW_EXCHANGE_SIZE 32
bool view_exchange_get(const struct view *v, char name[VIEW_EXCHANGE_SIZE]);

/* What programs mark of their steps (syncguard(3)), or where they mark none PyTorch's calls show: a step's time and that of its phases, each on the
 * mean of a rank's steps of about the newest 10 s, or of its newest one. */
struct view_phase_time {
    uint32_t ranks; /* that mark it; 0: nothing is known of it, and the times are NaN */
    double median_s, least_s, most_s;
    uint32_t most_rank; /* whose is longest */
};
struct view_marked {
    bool seen; /* on some ranks by PyTorch's calls: no program has marked it, and MARKS_INPUT is that a rank stands still between steps */
    struct view_phase_time step, phase[MARKS_PHASES]; /* MARKS_OTHER: what is in no phase of the rank's */
};
bool view_marked_get(const struct view *v, struct view_marked *m); /* false: no rank has marked a whole step */
/* Is that much longer than the phase takes on the typical rank, and a share of the step that matters? */
bool view_phase_deviates(const struct view_marked *m, enum marks_phase phase, double rank_s);
/* The phase that a rank is in, and for how long; MARKS_PHASES: not known. */
enum marks_phase view_rank_phase(const struct view *v, double now_s, uint32_t rank, double *age_s);

/* The newest values that ranks report. */
struct view_value {
    uint32_t ranks, non_finite;  /* that report it; of these, those whose newest is not finite */
    uint64_t step;               /* of the newest */
    double median, least, most;  /* of the finite ones; NaN: there are none */
};
bool view_value_get(const struct view *v, enum marks_value value, struct view_value *out); /* false: no rank reports it */
bool view_values_known(const struct view *v); /* some rank reports one of them */
/* Is the newest loss or norm of the gradient of a rank infinite, or not a number? */
bool view_non_finite(const struct view *v);
/* Where that began: in the earliest step, there in the value that comes first in it. */
struct view_non_finite {
    enum marks_value value;
    uint64_t step; /* from 1 */
    uint32_t rank;  /* the first of ... */
    uint32_t ranks; /* ... so many, whose value has not been finite since that step */
    char text[256];
};
bool view_non_finite_get(const struct view *v, struct view_non_finite *n); /* false: all are finite */

/* Communicators that are slower from the start than they should be (reach.h), the worst first; lent. They are no verdicts: they have no price. */
#define VIEW_SHORTFALLS_MAX 8u
struct view_shortfall {
    struct reach_short s;
    char text[400]; /* one sentence */
};
size_t view_shortfalls_get(const struct view *v, const struct view_shortfall **list);

/* What of the communication holds ranks, and what runs beside their work (calls/overlap.h): of the newest steps. */
struct view_overlap_group {
    uint64_t comm;            /* one of its communicators */
    uint32_t size, instances; /* as in struct view_comm; size 0: messages */
};
struct view_overlap {
    bool calls; /* from its calls one by one; else every call blocks, and what they take is known from all samples */
    struct overlap o;
    struct view_overlap_group group[OVERLAP_GROUPS_MAX]; /* o.n */
};
/* NULL, or what is missing. Replays the newest steps some times: some 10 ms. */
const char *view_overlap_get(const struct view *v, double now_s, struct view_overlap *out);

/* On whose work the critical path of the newest steps lies, and on whose arrival the collectives of the last columns waited. */
#define VIEW_CRITICAL_MAX 8u
#define VIEW_MOVES_MAX    8u
struct view_move { /* of the critical path, from one node to another */
    const char *from, *to; /* lent; from "": before, it lay on no node alone */
    double at_s;           /* by the caller's clock */
    int64_t step;
};
struct view_critical_path {
    double concentration; /* share of the collectives whose last arriver is the commonest; NaN: none yet */
    size_t n, moves;
    struct {
        uint32_t rank;
        const char *node;           /* lent; "" not known */
        double path_ratio;          /* share of the newest steps' critical path that is its work; NaN: calls are not known */
        double last_ratio, delay_s; /* share of its collectives in which it came last; as in view_rank_figures */
    } rank[VIEW_CRITICAL_MAX];      /* those with most of the path first */
    struct view_move move[VIEW_MOVES_MAX]; /* the newest first */
};
void view_critical_path_get(const struct view *v, struct view_critical_path *c);

/* The newest step that is known, drawn with at most `rows` rows (calls/picture.h).  NULL: none is known; lent until the next
 * call. Some 70 ms for 16,384 ranks, once a step. */
const struct picture *view_picture(const struct view *v, double now_s, uint32_t rows);

/* Where the share of waiting is heading: the shortest of three windows (3 minutes, 24 minutes, 3 hours) that
 * shows a trend. */
struct view_projection {
    double synchronisation_ratio; /* now */
    enum trend_direction trend;
    double per_hour;          /* ratio an hour; NaN without a trend */
    double limit;             /* where the regime becomes, or ceases to be, synchronisation */
    struct trend_reach reach; /* seconds from now until limit; NaN: not reached in a foreseeable time */
    double step_per_hour;     /* growth of the step time, of itself an hour; NaN without a trend */
    bool warning;             /* it fluctuates ever wider and slower, as before many changes of regime */
    char text[256];           /* all but the warning, in a few words */
};
void view_projection_get(const struct view *v, double now_s, struct view_projection *p);

/* What this job would be on more ranks (model/projection.h), and what that stands on: the newest steps'
 * noise, and the cost of each operation on communicators of one size. */
#define VIEW_LINKS_MAX 8u
struct view_link {
    uint8_t op;
    uint32_t ranks, instances; /* members of one; how many communicators of that size are taken together */
    bool grows;                /* as the job does; else a group that stays as it is */
    struct linkfit_result fit;
};
struct view_scaling {
    struct projection projection;
    size_t n_runs; /* over other numbers of ranks, that it stands on, too */
    double run_ranks[PROJECTION_RUNS];
    struct variation noise; /* its ranks' indices are those of apart_rank here */
    uint32_t apart_rank[LAST_APART_MAX];
    size_t n_links;
    struct view_link link[VIEW_LINKS_MAX]; /* those of most time a step first */
};
/* NULL, or what is missing (a text that stays). Looks at all of the newest steps and draws: some 50 ms. */
const char *view_scaling_get(const struct view *v, bool strong, struct view_scaling *s);

/* The all-reduces of a step, all over all ranks; returns how many sizes, at most max. 0: there are none, or some are over other communicators,
 * nonblocking, or of more sizes. Times are medians. */
size_t view_allreduces_get(const struct view *v, struct algorithm_size *out, size_t max);
/* What the MPI library calls itself ("Open MPI 4.1.4"); "": not known, or the ranks differ. */
#define VIEW_LIBRARY_SIZE 64
/* Why nothing is seen while there is no rank, for view_sentence(); "": not known.  quiet: its processes are watched, and call nothing. */
void view_unseen_set(struct view *v, bool quiet, const char *text);
void view_library(struct view *v, const char *library); /* a rank's */
const char *view_library_get(const struct view *v);

/* What this run shows of growth, for later ones; NULL, or what is missing. */
const char *view_run_get(const struct view *v, struct projection_run *out);
/* Runs of the same job over other numbers of ranks, copied: the newest PROJECTION_RUNS of them, for the
 * projection. */
void view_runs_set(struct view *v, const struct projection_run *run, size_t n);

/* What this job would be by other strategies on the ranks it has (model/strategy.h). */
struct view_strategy_options {
    enum traffic_algorithm algorithm; /* of its all-reduce; TRAFFIC_ALGORITHMS: not known */
    double shards; /* parameter servers; NaN: one a node, and the rows are marked as assumed */
    double every;  /* local steps; NaN: 8, likewise */
    double staleness_penalty, local_penalty, async_growth; /* of the iterations; NaN: not known */
};
#define VIEW_STRATEGY_OPTIONS ((struct view_strategy_options){ TRAFFIC_ALGORITHMS, NAN, NAN, NAN, NAN, NAN })
struct view_strategies {
    struct strategies s;
    uint32_t ranks, steps;
    bool fixed_known, algorithm_known, inside_seen, several_nodes;
};
/* As view_scaling_get; some 20 ms. */
const char *view_strategies_get(const struct view *v, const struct view_strategy_options *o,
                                struct view_strategies *s);

#endif
