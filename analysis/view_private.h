/* view_private.h - what the files of the view, view.c and view_*.c, share. */
#ifndef SYNCGUARD_ANALYSIS_VIEW_PRIVATE_H
#define SYNCGUARD_ANALYSIS_VIEW_PRIVATE_H

#include "analysis/cause.h"
#include "analysis/delay.h"
#include "analysis/diagnosis.h"
#include "analysis/join.h"
#include "analysis/names.h"
#include "analysis/view.h"

#define STEPS_OPEN     16u /* steps being put together */
#define STEPS_ITEM_MAX 4096u
#define STEPS_KEPT     600u
#define STEP_WINDOW_S  60.0
#define STEPS_LATE     4u  /* a step is given up when one so much newer is complete */
#define SETTLE_S       1.0 /* after a rank was added more may follow: what seems complete may not be */
#define SKEWS          512u
#define BUCKETS        192u /* of lateness */
#define EVENTS         64u
#define COMM_WINDOW_S  5.0
#define LIVE_VALID_S   3.5 /* live items come every second while something lasts */
#define RECENT         10u /* columns that "now" means */
#define SERIES         3u
#define SERIES_POINTS  90u
#define SYNC_SHARE     0.10 /* waiting for late ranks above this share names the regime */
#define TIME_MAX_NS    (30ull * 24 * 3600 * 1000000000u)

struct cell {         /* a rank in a column of history */
    float lateness_s; /* sum */
    uint16_t joined, last;
};

struct rank_sums {
    double work_s, stay_s, time_s;       /* of all samples */
    double wait_s, delay_s, collectives; /* of those joined, each for those that it stands for */
};

struct joined_sums {
    double wait_s, transfer_s; /* of all ranks */
};

struct member_sums { /* a rank's stay in a communicator's collectives; kept when it has left */
    double recent_s, run_s;
    uint32_t rank;
    bool told;
};

struct task_health { /* what its node tells of its process */
    double told_s;
    struct task_item figures;            /* smoothed */
    float n, mean_x, mean_y, xx, yy, xy; /* of run delay and lateness, old ones fade; n: how many count */
};

struct node_health { /* of a place that is a node */
    bool told;
    double told_s;
    struct node_item figures;
    float involuntary_per_s; /* of all its ranks */
    struct {
        bool told;
        double told_s;
        struct gpu_item figures;
    } gpu[VIEW_GPUS_MAX];
};

struct view_rank {
    bool known, ended, vanished;
    uint32_t node, leaf; /* numbers of names; WORK_PLACE_NONE */
    struct cell now;
    float late_s[VIEW_COLUMNS];                       /* cells laid down: mean lateness, ... */
    uint8_t joined[VIEW_COLUMNS], last[VIEW_COLUMNS]; /* ... and how many, scaled down where there are many */
    uint16_t bucket[BUCKETS], bucketed;               /* lateness, for its quantiles */
    struct rank_sums recent, run;
    double compute_s, stay_s; /* a step, smoothed; 0: nothing yet */
    uint8_t left_op;          /* the collective it left last, as its samples tell */
    uint32_t left_seq;
    uint64_t left_comm;
    uint8_t inside_op, live_op; /* live_op: the last told, also when it has left since */
    uint32_t inside_seq;
    uint64_t inside_comm, inside_ns;             /* ns: by the node's clock */
    double inside_since_s, live_at_s, left_at_s; /* left: told to have left its newest collective */
    bool never_left;
    uint32_t period; /* the last it told that is not the view's */
    uint64_t events, dropped, missed;
    struct task_health *health; /* NULL: nothing told yet */
};

struct comm_totals {
    double collectives, bytes, skew_s, transfer_s, over_s;
    uint64_t joined;
};

struct comm {
    uint64_t name;
    uint32_t size, first, instance; /* see struct ring_comm */
    char *label;                    /* NULL: called by its size and first rank */
    struct join *join;
    struct comm_totals now, before; /* the running and the last full window */
    struct joined_sums recent, run;
    struct member_sums *member; /* by place */
};

struct totals {                   /* all ranks, one column of history */
    double wait_s, transfer_s;    /* in the collectives that were joined */
    double work_s, p2p_s, stay_s; /* of all */
    double skew_sum_s, step_sum_s;
    uint32_t skews, steps;
};

struct series { /* history in longer columns, for what changes slowly */
    double begin_s;
    struct totals sum;
    struct {
        double at_s;
        float lost_ratio, step_s;
    } point[SERIES_POINTS];
    size_t points; /* ever laid down */
};

struct open_step { /* a stretch of step_block steps being put together */
    bool used;
    uint32_t number;        /* of its first step */
    uint32_t present, full; /* ranks that told some, all of it */
    uint32_t told, cap;     /* told: steps whose duration is known */
    uint32_t last_seq;
    double duration_sum_s;
    float stay_s[STEP_PARTS_MAX]; /* of the last arrivers, by part; infinite not told */
    uint32_t parts;
    struct {
        float work_s;
        uint16_t steps; /* told of ... */
        bool holed;     /* ... with records missing */
    } * rank;
};

struct phases { /* of the run, but for steps: since it was last begun anew */
    uint64_t steps;
    float first_s[32];
    uint32_t warm_up, last_seq;
    uint64_t pauses, evaluations, foreign;
    double pause_s;
};

struct scaling;

struct view {
    struct phases phases;
    struct view_params params;
    uint16_t app;
    struct view_rank *rank;
    uint32_t n_ranks, ranks, ranks_most; /* limit; running; most that ran at a time */
    size_t ranks_cap;
    struct names *places; /* nodes and switches */
    struct comm *comm;    /* by name */
    size_t n_comms, comms_cap;
    struct delay *delay; /* of the collective being shared out */
    size_t delay_cap;
    struct joined_sums recent, run;
    struct series series[SERIES];
    double comms_since_s;
    uint32_t main_size; /* of the largest communicator seen */
    uint64_t step_comm;
    uint32_t step_size, period;
    uint64_t steps;
    double steps_seen_s;
    double now_s, added_s; /* the caller's clock as last told; when the last rank was added */
    uint32_t step_block;   /* steps a stretch: a power of two */
    struct open_step open[STEPS_OPEN];
    float *work_s; /* by rank: of the stretch being judged */
    size_t work_cap;
    struct {
        float duration_s;
        double at_s;
    } step[STEPS_KEPT];
    size_t steps_kept;
    float skew_s[SKEWS];
    size_t skews_kept;
    struct totals now, columns[VIEW_COLUMNS];
    size_t column, n_columns; /* where now will go; columns with now */
    double column_s, column_begin_s;
    struct diagnosis *diagnosis;
    struct scaling *scaling;
    struct traffic_adapter adapter; /* the slowest node's; 0: none told */
    struct projection_run other_run[PROJECTION_RUNS];
    size_t n_other_runs;
    double begun_s;    /* the first step or collective was told of; NaN not yet */
    uint32_t main_seq; /* the newest of step_comm that was told of */
    bool finished;
    enum view_regime regime;
    double stalled_s; /* how long, when regime is stalled */
    struct view_verdict verdict[VIEW_VERDICTS_MAX];
    size_t n_verdicts;
    struct view_verdict raised[VIEW_RAISED_MAX];
    size_t n_raised;
    uint32_t next_finding; /* findings below it were seen */
    struct view_event event[EVENTS];
    uint64_t events_in, events_out;
    uint64_t collectives, refused;
    struct node_health *node_health;                 /* by place */
    size_t n_node_health, node_health_cap, n_health; /* n_health: ranks and nodes that ever told */
    struct cause_norm norm[CAUSE_KINDS];             /* of all ranks and nodes, at norm_s */
    double norm_s;
};

struct joined_arg {
    struct view *view;
    struct comm *comm;
};

/* view.c */
const char *view_place_name(const struct view *v, uint32_t place);
/* NULL: not told of, counted */
struct view_rank *view_rank_told(struct view *v, uint32_t rank, uint16_t app);
__attribute__((format(printf, 3, 4))) void view_event(struct view *v, double now_s, const char *fmt, ...);

/* view_comms.c */
struct comm *view_comm_find(const struct view *v, uint64_t name);
void view_forget_comms(struct view *v);
void view_take_comm(struct view *v, const struct comm_item *c);
void view_take_sample(struct view *v, const struct sample *s);
void view_roll_comms(struct view *v, double now_s);
double view_lateness_quantile(const struct view_rank *k, double q);

/* view_steps.c */
void view_forget_steps(struct view *v);
void view_take_step(struct view *v, double now_s, const struct step *s);
void view_finish_steps(struct view *v, double now_s); /* what is open counts as it is */

/* view_phases.c */
void view_forget_phases(struct view *v);
/* After diagnosis_step: the step of these collectives of the main communicator. */
void view_phases_step(struct view *v, double now_s, uint32_t first_seq, uint32_t last_seq);

/* view_history.c */
void view_roll_columns(struct view *v, double now_s);
void view_recent_totals(const struct view *v, struct totals *sum);
void view_newest_cell(const struct view *v, uint32_t rank, struct cell *sum); /* the last second or two */
void view_recent_cell(const struct view *v, uint32_t rank, struct cell *sum);

void view_add_totals(struct totals *a, const struct totals *b);
float view_lost_ratio(const struct totals *t); /* share of the time spent waiting */

/* view_efficiency.c: running sums, of the whole run and of the last columns (older ones fade) */
void view_forget_sums(struct view *v);
void view_fade_sums(struct view *v);                                          /* a column is over */
void view_sum_sample(struct view *v, struct comm *c, const struct sample *s); /* c: NULL not known */
void view_sum_joined(struct view *v, struct comm *c, const struct joined *j);
void view_sum_comm(const struct view *v, const struct comm *c, bool run, struct efficiency_sums *sums);
double view_rank_delay_s(const struct view_rank *k, double step_s);

/* view_projection.c */
void view_forget_series(struct view *v);
void view_series_add(struct view *v, const struct totals *column, double begin_s, double end_s);

/* view_health.c */
void view_take_node(struct view *v, double now_s, const struct node_item *n);
void view_take_task(struct view *v, double now_s, const struct task_item *t);
void view_take_gpu(struct view *v, double now_s, const struct gpu_item *g);
void view_roll_health(struct view *v, double now_s);
/* What in the health of the verdict's culprits stands out from the others', in words; "" nothing does, or
 * nothing is known.  Returns buf. */
char *view_cause(const struct view *v, const struct view_verdict *d, char *buf, size_t size);

/* view_scaling.c */
struct scaling *view_scaling_new(void);
void view_scaling_free(struct scaling *s);
void view_forget_scaling(struct view *v);
void view_scaling_joined(struct view *v, const struct comm *c, const struct joined *j);
void view_scaling_steps(struct view *v, uint32_t steps); /* so many more are done */

/* view_figures.c */
double view_step_mean_s(const struct view *v, double now_s);
void view_share_figures(const struct view *v, struct view_figures *f); /* fills in the shares alone */

/* view_judge.c: regime and verdicts as they are now. */
void view_judge(struct view *v, double now_s);

#endif
