/* view_private.h - the parts of a view. Each part is a struct that one file defines and that the others reach
 * through its functions: take (an item, a joined collective, a step), roll (time passes), forget (the run begins
 * again: another program, or another step). */
#ifndef SYNCGUARD_ANALYSIS_VIEW_PRIVATE_H
#define SYNCGUARD_ANALYSIS_VIEW_PRIVATE_H

#include "analysis/diagnosis.h"
#include "analysis/exchange.h"
#include "analysis/join.h"
#include "analysis/view.h"

#define LIVE_VALID_S 3.5  /* live items come every second while a collective lasts */
#define HALT_VALID_S 3.5  /* so do items of processes that something keeps from running, while it lasts */
#define RECENT       10u  /* columns of history that "now" means */
#define TIME_MAX_NS  (30ull * 24 * 3600 * 1000000000u)

/* What samples, counts and calls show of what ranks call. */
struct call_use {
    uint64_t comm; /* of the first of them; 0: none yet */
    bool various;  /* messages, nonblocking calls, or several communicators */
};

struct view {
    struct view_params params;
    double now_s, began_s; /* the caller's clock; began: when the first item came, NaN before */
    double watched_s; /* when the first item came to this view; before it another one may have had the job (view_position_set()): if that had
                       * not judged it yet, when the first item came to that one */
    uint64_t steps_before; /* that the other one counted */
    double item_s;   /* when the newest item came */
    double moved_s;  /* when a rank came to a newer collective of the communicator that steps are counted on */
    double still_s;  /* when it was last seen to stand still; minus infinity: never */
    double steady_s; /* when a costly verdict last began or ended; minus infinity: never */
    double active_s; /* when a rank was last known to have ended a call; infinite: not known */
    bool finished;
    char unseen[512]; /* why nothing is seen of a step without ranks; "": not known */
    bool unseen_quiet;
    uint64_t refused; /* items out of bounds */
    struct view_bounds bounds;
    double calls_bytes; /* of calls, at the last tick */
    struct view_rejected rejected;
    struct view_ranks *ranks;
    struct comms *comms;
    struct view_steps *steps;
    struct view_history *history;
    struct sums *sums;
    struct series *series;
    struct phases *phases;
    struct view_health *health;
    struct view_pairs *pairs;
    struct view_marks *marks;
    struct scaling *scaling;
    struct view_reach *reach;
    struct verdicts *verdicts;
    struct view_presence *presence;
    struct view_run *run; /* NULL: it goes on */
    struct events *events;
    struct diagnosis *diagnosis;
    struct call_use call_use;
    struct view_course *course;
    struct drawn *drawn; /* the newest step, as it was drawn last */
    struct switches *switches;
    struct view_calls *calls; /* NULL: calls do not come one by one */
};

/* view.c: what changed, for the event list; key as in struct view_event */
__attribute__((format(printf, 4, 5))) void view_event(struct view *v, double now_s, const char *key, const char *fmt, ...);

/* view.c: an item came */
void view_begin(struct view *v, double now_s);

/* view.c: whether it may hold that much more; the second counts a refusal. */
bool view_fits(const struct view *v, double bytes);
bool view_has_room(struct view *v, double bytes);

/* view_ranks.c: where each rank runs and what it is doing; for the others to read */
struct view_rank {
    bool known, ended, vanished;
    uint32_t node, switch_id; /* numbers of names; WORK_PLACE_NONE */
    uint8_t left_op;          /* the collective that its newest sample is of */
    uint32_t left_seq;
    uint64_t left_comm;
    uint8_t inside_op, live_op; /* live_op: of the newest live item, also when the rank has left since */
    uint32_t inside_seq;
    uint64_t inside_comm, inside_ns; /* ns: by the node's clock */
    struct partner_item partner; /* of the call that it entered at partner.enter_ns; op RING_OP_NONE: none */
    double inside_since_s, live_at_s, left_at_s;
    bool never_left;
    enum process_state process; /* what kept its process from running, by the newest item about it */
    double process_since_s, process_at_s;
    uint64_t events, dropped, missed;
    struct losses_item losses;
    bool signals_known;
    uint64_t endured; /* signals, as in signals_item */
};
struct rank_count {
    uint32_t running, most; /* most that ran at a time */
    uint16_t app;
    double added_s; /* when the last one was added */
};
struct view_ranks *view_ranks_new(double now_s);
void view_ranks_free(struct view_ranks *s);
void view_ranks_forget(struct view *v, uint16_t app);
void view_ranks_add(struct view *v, uint32_t rank, const char *node, const char *switch_name);
void view_ranks_take_sample(struct view *v, const struct sample *s);
void view_ranks_take_live(struct view *v, double now_s, const struct live *l);
void view_ranks_take_partner(struct view *v, const struct partner_item *p);
void view_ranks_take_process(struct view *v, double now_s, const struct process_item *p);
/* The one message that the call lasts for in which the rank is by its newest live item; NULL: none, or it is not known. */
const struct partner_item *view_rank_partner(const struct view_rank *k);
/* PROCESS_RUNS also where nothing is known of it. */
enum process_state view_rank_process(const struct view_rank *k, double now_s);
void view_ranks_take_counts(struct view *v, const struct counts *c);
void view_ranks_take_losses(struct view *v, const struct losses_item *l);
void view_ranks_take_signals(struct view *v, const struct signals_item *i);
const struct view_rank *view_ranks_at(const struct view *v, uint32_t rank); /* rank < view_rank_limit(v) */
/* The rank that an item is of.  NULL: unknown; the item is counted as refused. */
const struct view_rank *view_ranks_find(struct view *v, uint32_t rank, uint16_t app);
const struct rank_count *view_ranks_count(const struct view *v);
uint32_t view_places(const struct view *v); /* nodes and switches */
uint32_t view_place_find(const struct view *v, const char *name); /* WORK_PLACE_NONE: there is none of that name */

/* view_comms.c: communicators, samples joined into collectives */
struct joined_sums { /* of all ranks */
    double wait_s, transfer_s;
};
struct comms *view_comms_new(void);
void view_comms_free(struct view *v);
void view_comms_forget(struct view *v);
void view_comms_take(struct view *v, const struct comm_item *c);
void view_comms_take_end(struct view *v, const struct comm_end_item *c);
/* The name of the communicator that stands for it and those of the same members; its own where it is among the first of them. */
uint64_t view_comms_series(const struct view *v, uint64_t name);
void view_comms_take_sample(struct view *v, const struct sample *s);
void view_comms_end_rank(struct view *v, uint32_t rank);
void view_comms_roll(struct view *v, double now_s);
void view_comms_fade(struct view *v); /* a column of history is over */
void view_comms_position(const struct view *v, struct view_position *p); /* its of_size */
void view_comms_go_on(struct view *v, const struct view_position *p);
double view_comms_bytes(const struct view *v);
uint64_t view_comms_joined(const struct view *v);
bool view_comms_unseen(const struct view *v); /* none of its collectives shows who waits for whom */
uint32_t view_comms_main_size(const struct view *v);              /* of the largest one with a sample */
uint32_t view_comms_size(const struct view *v, uint64_t name);    /* 0: unknown */
bool view_comms_member(const struct view *v, uint64_t name, uint32_t rank);
uint32_t view_comms_of_size(const struct view *v, uint32_t size); /* how many */
/* Which ranks are in it; and with the bytes of its collectives: of those that a ring does, and of others.  The latter returns how many. */
struct exchange_comm view_comms_shape(const struct view *v, uint64_t name);
size_t view_comms_exchanged(const struct view *v, uint64_t name, struct exchange_comm out[2]);
bool view_exchange_sums(uint8_t op); /* view_exchange.c: is it done by a ring, or by what needs the same neighbours? */

/* view_steps.c: training steps, put together from what each rank reports */
struct step_count {
    uint64_t comm;         /* on which steps are counted */
    uint32_t size, period; /* of comm; collectives a step, 0: not known */
    uint32_t block;        /* steps that are judged together: a power of two */
    uint32_t newest_seq;   /* of comm */
    uint64_t done;
    double seen_s; /* when the newest was done */
};
struct rank_steps { /* a step, smoothed; 0: nothing yet */
    double compute_s, stay_s;
};
struct view_steps *view_steps_new(void);
void view_steps_position(const struct view *v, struct view_position *p); /* its fields of steps */
void view_steps_go_on(struct view *v, const struct view_position *p);
void view_steps_free(struct view_steps *s);
void view_steps_reserve(struct view *v, uint32_t ranks);
void view_steps_forget(struct view *v);
void view_steps_restart(struct view *v); /* what was counted were no steps, but less */
void view_steps_end_rank(struct view *v, uint32_t rank);
void view_steps_take(struct view *v, double now_s, const struct step *s);
void view_steps_take_seq(struct view *v, uint64_t comm, uint32_t seq); /* a rank has come to seq of comm */
/* A step that was put together from its calls: its number after the one before it, collectives in it, duration, and each of n
 * ranks' own work (NaN not known). */
void view_steps_take_whole(struct view *v, double now_s, uint32_t steps, uint32_t period, double duration_s,
                           const float *own_s, uint32_t n);
void view_steps_finish(struct view *v, double now_s); /* steps that are open count as they are */
const struct step_count *view_steps_count(const struct view *v);
struct rank_steps view_steps_rank(const struct view *v, uint32_t rank);
#define VIEW_MINUTE_S 60.0
/* How far back the figures of steps go: a minute, or to the job's begin or steady_s if these are later. */
double view_steps_window_s(const struct view *v, double now_s);
double view_steps_mean_s(const struct view *v, double now_s);
double view_steps_median_s(const struct view *v, double now_s);
void view_steps_figures(const struct view *v, double now_s, struct view_figures *f);

/* view_calls.c: calls one by one, as a graph */
void view_calls_free(struct view_calls *s);                    /* NULL is fine */
double view_calls_bytes(const struct view_calls *s);           /* NULL is fine; looks at all ranks */
uint32_t view_calls_role(const struct view *v, uint32_t rank); /* see graph_role() */
/* What the detectors do not see of a rank's work, because ranks of its role have it alike: that over the mean of all roles, which is what its
 * work was divided by, and over the roles that have less, see roles.h. 1: nothing. */
double view_calls_of_mean(const struct view *v, uint32_t rank);
double view_calls_of_others(const struct view *v, uint32_t rank);
bool view_calls_active(const struct view *v); /* steps come from the graph, not from step items */
void view_calls_take(struct view *v, double now_s, const struct call_item *c);
void view_calls_take_sample(struct view *v,
                            const struct sample *s); /* neither is judged: they show what calls there are */
void view_calls_take_counts(struct view *v, const struct counts *c);
void view_calls_add_rank(struct view *v, uint32_t rank);
void view_calls_end_rank(struct view *v, uint32_t rank);
void view_calls_forget(struct view *v);
void view_calls_finish(struct view *v, double now_s);

/* See links_limit(). */
double view_calls_limit(const struct view *v, uint32_t nodes);
struct graph *view_calls_graph(const struct view *v); /* to replay it; NULL: steps do not come from one */

/* view_picture.c */
struct drawn *view_drawn_new(void);
void view_drawn_free(struct drawn *d);

/* view_course.c: on whom the critical path of each step lies */
struct path;
struct view_course *view_course_new(void);
void view_course_free(struct view_course *s);
void view_course_forget(struct view *v);
void view_course_take_path(struct view *v, double now_s, const struct path *p); /* of one more step */
void view_course_take_work(struct view *v, double now_s, const float *work_s, uint32_t n); /* of one of which only the work is known */
double view_course_share(const struct view *v, uint32_t rank); /* of the newest steps' paths; NaN: their calls are not known */
size_t view_course_moves(const struct view *v, struct view_move out[VIEW_MOVES_MAX]); /* the newest first */

/* view_history.c: columns of history; lateness of each rank */
struct cell {         /* a rank in some columns */
    float lateness_s; /* sum */
    uint16_t joined, last;
};
struct totals {                   /* all ranks in some columns */
    double wait_s, transfer_s;    /* in the collectives that were joined */
    double work_s, p2p_s, stay_s; /* of all */
    double skew_sum_s, step_sum_s;
    uint32_t skews, steps;
};
struct view_history *view_history_new(double now_s);
void view_history_free(struct view_history *s);
void view_history_reserve(struct view *v, uint32_t ranks);
void view_history_forget(struct view *v);
void view_history_take_sample(struct view *v, const struct sample *s);
void view_history_take_joined(struct view *v, const struct joined *j, bool main);
void view_history_take_step(struct view *v, double duration_s);
void view_history_roll(struct view *v, double now_s);
struct cell view_history_newest(const struct view *v, uint32_t rank); /* the last second or two */
struct cell view_history_recent(const struct view *v, uint32_t rank);
struct totals view_history_totals(const struct view *v); /* recent */
void view_history_quantiles(const struct view *v, uint32_t rank, struct view_rank_figures *f);
void view_history_skews(const struct view *v, struct view_figures *f);
void view_totals_add(struct totals *a, const struct totals *b);
float view_totals_synchronisation(const struct totals *t); /* share of the time spent waiting */

/* view_efficiency.c: what the ranks spend their time on, in the whole run and recently (older columns fade) */
struct rank_sums { /* of all samples */
    double work_s, stay_s, time_s;
};
struct sums *view_sums_new(void);
void view_sums_free(struct sums *s);
void view_sums_reserve(struct view *v, uint32_t ranks);
void view_sums_forget(struct view *v);
void view_sums_take_sample(struct view *v, const struct sample *s);
struct joined_sums view_sums_take_joined(struct view *v, const struct joined *j);
void view_sums_fade(struct view *v); /* a column of history is over */
void view_sums_position(const struct view *v, struct view_position *p); /* its spent */
void view_sums_go_on(struct view *v, const struct view_position *p);
void view_joined_add(struct joined_sums *a, const struct joined_sums *b);
void view_joined_fade(struct joined_sums *s);
double view_fade(double sum);
const struct rank_sums *view_sums_rank(const struct view *v, uint32_t rank, bool run);
/* Of a step, in the time that collectives hold ranks; NaN: not known. */
struct rank_waiting {
    double own_s, caused_s; /* its own waiting for ranks that come later; the others' that it causes */
};
struct rank_waiting view_sums_waiting(const struct view *v, uint32_t rank);

/* view_projection.c */
struct series *view_series_new(void);
void view_series_forget(struct view *v);
void view_series_take(struct view *v, const struct totals *column, double begin_s, double end_s);

/* view_phases.c */
struct phases *view_phases_new(void);
void view_phases_forget(struct view *v);
uint32_t view_phases_warm_up(const struct view *v); /* steps; 0 while not known */
/* After diagnosis_step: the step of these collectives of the main communicator. */
void view_phases_take_step(struct view *v, double now_s, uint32_t first_seq, uint32_t last_seq);

/* view_health.c */
struct view_health *view_health_new(void);
void view_health_free(struct view_health *s);
void view_health_forget(struct view *v);
void view_health_take_node(struct view *v, double now_s, const struct node_item *n);
void view_health_take_task(struct view *v, double now_s, const struct task_item *t);
void view_health_take_gpu(struct view *v, double now_s, const struct gpu_item *g);
void view_health_roll(struct view *v, double now_s);
bool view_health_is_due(const struct view *v, double now_s); /* what ranks wait for will be known in a moment */
double view_health_cpu_ratio(const struct view *v, uint32_t rank); /* of its process: 2 is two CPUs; NaN not known */
/* What in the health of the verdict's culprits stands out from the others', in words; "" nothing does, or
 * nothing is known.  Returns buf. */
char *view_cause(const struct view *v, const struct view_verdict *d, char *buf, size_t size);

/* view_pairs.c */
struct view_pairs *view_pairs_new(void);
void view_pairs_free(struct view_pairs *s); /* NULL is fine */
void view_pairs_forget(struct view *v);
double view_pairs_bytes(const struct view *v);
void view_pairs_take(struct view *v, double now_s, const struct traffic_item *t);
/* Give slow collectives that have no place the one whose connections became slower, if there is one.  Returns whether it did. */
bool view_pairs_place(struct view *v, double now_s, struct finding *f);
/* By how much those of the last place became slower, in words; returns buf. */
char *view_pairs_text(const struct view *v, char *buf, size_t size);

/* view_marks.c */
struct view_marks *view_marks_new(void);
void view_marks_free(struct view_marks *s);
void view_marks_forget(struct view *v);
void view_marks_take_phases(struct view *v, double now_s, const struct phases_item *i);
void view_marks_take_value(struct view *v, const struct value_item *i);
void view_marks_roll(struct view *v, double now_s);
struct marked_longest {
    enum marks_phase phase;  /* MARKS_PHASES: none */
    uint32_t n, rank;        /* ranks that have phases, and one of them */
    double own_s, typical_s; /* a step: their mean, and the typical rank's */
    bool seen;               /* by a guest; else the program marks it */
};
/* The one phase that all ranks of a node, or the one of a rank, take longest for, compared with the typical rank. */
struct marked_longest view_marks_longest(const struct view *v, enum finding_scope scope, uint32_t place);
/* Append it to the causes in buf; and of a rank that holds up the others, the phase that it is in. */
void view_marks_cause(const struct view *v, enum finding_scope scope, uint32_t place, char *buf, size_t size);
void view_marks_inside(const struct view *v, double now_s, uint32_t rank, char *buf, size_t size);

/* view_scaling.c */
struct scaling *view_scaling_new(void);
void view_scaling_free(struct scaling *s);
void view_scaling_forget(struct view *v);
void view_scaling_take_joined(struct view *v, uint32_t ranks, const struct joined *j);
void view_scaling_take_steps(struct view *v, uint32_t steps);

/* view_presence.c */
struct view_presence *view_presence_new(void);
void view_presence_free(struct view_presence *s);
double view_silent_since_s(const struct view *v, uint32_t place); /* infinite: the node is heard */
struct view_silence {
    uint32_t nodes, ranks; /* that are silent; that should run there */
    uint32_t first;        /* the node of the first of these ranks; WORK_PLACE_NONE: there is none */
};
struct view_silence view_silence_get(const struct view *v);
/* Members of the largest communicator that nobody reports; *first is the first of them, if there is one. */
uint32_t view_missing_ranks(const struct view *v, uint32_t *first);
/* Either: who waits for whom, and how long transfers take, is known only where all ranks are seen. */
bool view_is_partial(const struct view *v);
enum view_slurm view_slurm_get(const struct view *v);
const char *view_slurm_state(const struct view *v);
double view_suspended_s(const struct view *v, double now_s); /* for how long it has been; NaN: it is not */
double view_run_s(const struct view *v, double now_s); /* since the first item, without the time in which it was suspended */
void view_presence_go_on(struct view *v, double suspended_s);
/* Was the job suspended at any time in the last duration_s? */
bool view_was_suspended(const struct view *v, double now_s, double duration_s);

/* view_figures.c */
void view_share_figures(const struct view *v, struct view_figures *f); /* fills in the shares alone */

/* view_stall.c: does the job stand still, since when, and who holds it up */
struct view_stall {
    double age_s;
    bool hang; /* for so long that a verdict is due */
    bool open; /* a trace ends so */
    bool lost; /* culprits are nodes that have gone silent, else ranks */
    uint32_t culprit[VIEW_CULPRITS_MAX], n_culprits;
    char text[512];
};
/* False: it moves. */
bool view_stall_find(const struct view *v, double now_s, struct view_stall *s);
/* The smallest wait that can be called a stall: the job's own rhythm decides. */
double view_stall_limit_s(const struct view *v, double now_s);

/* view_reach.c: communicators that are slow from the start */
struct view_reach *view_reach_new(void);
void view_reach_free(struct view_reach *s); /* NULL is fine */
void view_reach_forget(struct view *v);
void view_reach_take_joined(struct view *v, uint32_t ranks, const struct joined *j);
void view_reach_judge(struct view *v, double now_s);

/* view_judge.c: regime and verdicts as they are now */
struct verdicts *view_verdicts_new(void);
void view_verdicts_free(struct verdicts *s);
void view_verdicts_go_on(struct view *v, const struct view_verdict *verdict, size_t n); /* those of view_position_set() */
void view_judge(struct view *v, double now_s);
/* Stalled now: what was measured before does not describe it. */
bool view_stands_still(const struct view *v);
bool view_stood_still(const struct view *v, double now_s, double duration_s); /* at any time in the last duration_s */

/* view_finding.c */
/* What shows a finding, without its price, of a job that goes on or in the past tense.  Returns the length. */
size_t view_finding_text(const struct view *v, const struct finding *f, bool past, char *buf, size_t size);
/* Adds whom it names, and whom those that are reported with it. */
void view_finding_culprits(const struct view *v, const struct finding *f, struct view_verdict *d);
void view_finding_add_rank(struct view_verdict *d, uint32_t rank);
/* Adds to the text of length at; returns what its length would be in a larger buffer. */
__attribute__((format(printf, 4, 5))) size_t view_append(char *buf, size_t size, size_t at, const char *fmt, ...);

/* view_run.c: the verdicts of a job that has ended */
/* Same class, scope and culprit?  The report of an ended job joins such verdicts into one, except those that stop the job. */
bool view_verdict_same(const struct view_verdict *a, const struct view_verdict *b);
void view_run_take(struct view *v, double now_s);
void view_run_free(struct view_run *s); /* NULL is fine */
/* The costliest of them as a sentence; NULL: none cost anything. */
const char *view_run_sentence(const struct view *v);

#endif
