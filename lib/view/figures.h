/* figures.h - what a view knows of its job as a whole and of each rank, in figures.
 *
 * Units: seconds, bytes, ratios. NaN is unknown. */
#ifndef SYNCGUARD_VIEW_FIGURES_H
#define SYNCGUARD_VIEW_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/efficiency.h"
#include "wire/telemetry.h"

struct picture;
struct view;

#define VIEW_MDS_MAX 2.0 /* that nobody is three times as slow says nothing */

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
/* The name of a node or a switch by its number in a finding; "" unknown. */
const char *view_place_name(const struct view *v, uint32_t place);

/* Of a job that is stalled the rates, times and shares are unknown, and so are those of its ranks: what was
 * measured before does not describe it. */
struct view_figures {
    uint32_t ranks;       /* that run */
    uint32_t ranks_known; /* that were added, ended ones included */
    uint64_t steps;       /* training steps done; valid with a period */
    uint32_t period;      /* collectives a step on the main communicator; 0: not known */
    bool by_messages;     /* ... which do not count the steps: messages do */
    /* Over the last minute, or since a costly verdict last began or ended if that is shorter; the sentence's
     * cost is a share of this mean. */
    double step_mean_s, step_p50_s, step_p95_s, step_cv;
    /* of the newest p99_steps, at most 600, of the last minute or before; NaN of fewer than 100 */
    double step_p99_s;
    uint32_t p99_steps;
    double steps_per_s;
    double skew_p50_s, skew_p95_s;
    /* Shares of the ranks' time. */
    double compute_ratio, communication_ratio, synchronisation_ratio, p2p_ratio;
    enum view_regime regime;
    /* Smallest slowdown of a rank's work that could be named now, where it became so, and where it was so
     * from the start; above VIEW_MDS_MAX the job is not judged. */
    double mds, mds_from_start;
    /* The same for transfers, over what they took: of all, of one node's, of one link's (of those that are
     * hardest to see); where calls do not come one by one only of all. What costs less than min_slowdown is
     * not named. */
    double transfer_mds, transfer_node_mds, transfer_link_mds;
    uint32_t worst_rank; /* largest mean lateness; valid with worst_lateness_s known */
    double worst_lateness_s, worst_last_ratio;
    uint64_t events, dropped, missed, collectives, refused;
    uint64_t messages_missed, streams_forgotten, comms_missed; /* struct losses_item, of all ranks */
    uint64_t messages_unplaced, comms_disputed;                /* view_call_place(), view/communicators.h */
};
void view_figures_get(const struct view *v, double now_s, struct view_figures *f);
enum view_regime view_regime_get(const struct view *v);
bool view_called(const struct view *v); /* a rank was seen to call something */
/* Mean time of the newest steps, also of a job that is stalled: the unit of its history. */
double view_newest_steps_s(const struct view *v, double now_s);

/* What in the run is neither an ordinary step nor a fault. */
struct view_phases {
    int32_t warm_up_steps;        /* first ones that took longer; -1: not known yet */
    uint64_t pauses;              /* in which no rank worked, before a step (checkpoints) ... */
    double pause_s;               /* ... and how long all of them were */
    uint64_t evaluations;         /* stretches of collectives between steps that belong to none ... */
    uint64_t foreign_collectives; /* ... and how many those were */
    /* delays of single ranks, too few to be jitter, each 0.8 times the typical work or longer ... */
    uint32_t delays;
    double delays_s; /* ... and what they cost together, at most */
    /* period of a rhythm that all ranks have had from the start, in steps; 0: there is none ... */
    uint32_t rhythm_steps;
    uint32_t rhythm_heavy; /* ... the steps of a period that do more ... */
    double rhythm_ratio;   /* ... this many times the work of the others; NaN */
};
void view_phases_get(const struct view *v, struct view_phases *p);

struct view_rank_figures {
    uint32_t rank;
    const char *node, *switch_name; /* lent; "" not known */
    int64_t pid;                    /* of its process on that node; -1: not known */
    bool ended, gone;               /* gone: without finalizing */
    /* what its process does is known: it runs, and its node is heard */
    bool heard;
    double lateness_s, lateness_p50_s, lateness_p95_s, lateness_p99_s; /* mean; percentiles to about 5 % */
    double last_ratio; /* share of the newest steps in which it had the longest own work; while no step is
                        * known, of the collectives in which it came last */
    double wait_s;     /* its waiting in collectives for ranks that came later, a step */
    double delay_s;    /* the others' waiting that it causes, a step (detect/delay.h) */
    double compute_s, stay_s; /* own work and time in collectives, a step */
    double slowdown;          /* own work over the median of the ranks */
    uint8_t inside_op;        /* RING_OP_NONE: none, or not known */
    uint64_t inside_comm;
    uint32_t inside_seq;
    double inside_s;
    double outside_s; /* for how long it has been in no call; NaN: it is in one, or that is not known */
    /* lent: the message that the call lasts for; NULL: none, or not known */
    const struct partner_item *partner;
    /* what keeps its process from running; PROCESS_RUNS also where that is not known */
    enum process_state process;
    double process_s; /* since the agent first saw that */
};
/* Of the ranks that the costliest verdict is about the one that is last most often; false: there is none, as
 * in a healthy job. */
bool view_latest_get(const struct view *v, double now_s, struct view_rank_figures *f);
uint32_t view_rank_limit(const struct view *v); /* ranks are below this */
uint32_t view_ranks_running(const struct view *v);
/* Nothing moves, and the rank, or its node, is one of those that hold the others up. */
bool view_rank_holds_up(const struct view *v, uint32_t rank);
/* The first running rank whose process neither catches, ignores nor blocks the signal, 1 to 64.  false: there
 * is none, as far as is known. */
bool view_rank_ended_by(const struct view *v, int signal, uint32_t *rank);
/* false: unknown rank */
bool view_rank_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_figures *f);
/* When the rank entered what it is inside of, by its node's clock, from the live item; 0: not known. */
uint64_t view_rank_inside_ns(const struct view *v, uint32_t rank);

/* Of the ranks together: recent is over the last columns (older ones fade), run since the program began. */
struct view_efficiency {
    struct efficiency recent, run;
};
void view_efficiency_get(const struct view *v, struct view_efficiency *e);

/* On whose work the critical path of the newest steps lies, and on whose arrival the collectives of the last
 * columns waited. */
#define VIEW_CRITICAL_MAX 8u
#define VIEW_MOVES_MAX    8u
struct view_move {         /* of the critical path, from one node to another */
    const char *from, *to; /* lent; from "": before, it lay on no node alone */
    double at_s;           /* by the caller's clock */
    int64_t step;
};
struct view_critical_path {
    double concentration; /* share of the collectives whose last arriver is the commonest; NaN: none yet */
    size_t n, moves;
    struct {
        uint32_t rank;
        const char *node; /* lent; "" not known */
        /* share of the newest steps' critical path that is its work; NaN: calls are not known */
        double path_ratio;
        /* share of its collectives in which it came last; as in view_rank_figures */
        double last_ratio, delay_s;
    } rank[VIEW_CRITICAL_MAX];             /* those with most of the path first */
    struct view_move move[VIEW_MOVES_MAX]; /* the newest first */
};
void view_critical_path_get(const struct view *v, struct view_critical_path *c);

/* The newest step that is known, drawn with at most `rows` rows (calls/picture.h).  NULL: none is known; lent
 * until the next call. Some 70 ms for 16,384 ranks, once a step. */
const struct picture *view_picture(const struct view *v, double now_s, uint32_t rows);

#endif
