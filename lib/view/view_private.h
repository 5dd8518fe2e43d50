/* view_private.h - a view: its parts, which view.c feeds, and what reads several of them together.
 *
 * A part is a struct of its own (roster.h, communicators.h, steps.h, ...) that takes items, joined
 * collectives or steps, lets time pass (roll) and forgets when the run begins again, as another program. The
 * files view_*.c take the whole view: they turn what the parts know into figures, findings in words,
 * verdicts, and none of them is called by a part. */
#ifndef SYNCGUARD_VIEW_VIEW_PRIVATE_H
#define SYNCGUARD_VIEW_VIEW_PRIVATE_H

#include "calls/call_steps.h"
#include "detect/diagnosis.h"
#include "model/regime.h"
#include "view/arrivals.h"
#include "view/columns.h"
#include "view/communicators.h"
#include "view/connections.h"
#include "view/events.h"
#include "view/figures.h"
#include "view/outlook.h"
#include "view/path_shares.h"
#include "view/phases.h"
#include "view/presence.h"
#include "view/quota.h"
#include "view/roster.h"
#include "view/shortfalls.h"
#include "view/step_marks.h"
#include "view/steps.h"
#include "view/sums.h"
#include "view/tempo.h"
#include "view/verdicts.h"
#include "view/view.h"

#define LIVE_VALID_S 3.5 /* live items come every second while a collective lasts */

/* What samples, counts and calls show of what ranks call. */
struct call_use {
    uint64_t comm; /* of the first of them; 0: none yet */
    /* messages, nonblocking calls, or several communicators: only calls one by one show what a step is */
    bool various;
};

struct view {
    struct view_params params;
    double now_s;     /* the caller's clock */
    double watched_s; /* when the first item came to this view; before it another one may have had the job
                       * (view_position_set()): if that had not judged it yet, when the first item came to
                       * that one */
    double item_s;    /* when the newest item came */
    char unseen[512]; /* why nothing is seen of a step without ranks; "": not known */
    bool unseen_quiet;
    struct quota quota;
    struct roster *roster;
    struct sums *sums;
    struct communicators *communicators;
    struct presence *presence;
    struct steps *steps;
    struct columns *columns;
    struct path_shares *path_shares;
    struct arrivals arrivals;
    struct phases *phases;
    struct outlook *outlook;
    struct tempo tempo;
    struct events *events;
    struct diagnosis *diagnosis;
    struct call_use call_use;
    struct call_steps *calls; /* NULL: calls do not come one by one */
    uint64_t unplaced;        /* messages whose other end is not known */
    struct view_health *health;
    struct connections *connections;
    struct step_marks *marks;
    struct scaling *scaling;
    struct shortfalls *shortfalls;
    struct switches *switches;
    struct newest_picture *picture; /* of the newest step, as it was drawn last */
    struct verdicts *verdicts;
    struct view_run *run; /* NULL: it goes on */
};

/* view_health.c */
/* lent */
struct view_health *view_health_new(struct quota *quota, struct roster *roster,
                                    const struct columns *columns);
void view_health_free(struct view_health *s);
void view_health_forget(struct view_health *s);
void view_health_take_node(struct view_health *s, double now_s, const struct node_item *n);
void view_health_take_task(struct view_health *s, double now_s, const struct task_item *t);
void view_health_take_gpu(struct view_health *s, double now_s, const struct gpu_item *g);
void view_health_take_gpu_state(struct view_health *s, double now_s, const struct gpu_state_item *g);
void view_health_roll(struct view *v, double now_s);
/* what ranks wait for will be known in a moment */
bool view_health_is_due(const struct view *v, double now_s);
/* of its process: 2 is two CPUs; NaN not known */
double view_health_cpu_ratio(const struct view *v, uint32_t rank);
/* What in the health of the verdict's culprits stands out from the others', in words; "" nothing does, or
 * nothing is known.  Returns buf. */
char *view_cause(const struct view *v, const struct view_verdict *d, char *buf, size_t size);

/* view_scaling.c */
struct scaling *scaling_new(void);
void scaling_free(struct scaling *s);
void scaling_forget(struct scaling *s); /* all but the adapter, the library and the other runs */
/* in_step: false while no step is known; its collectives then belong to none. */
void scaling_take_joined(struct scaling *s, bool in_step, uint32_t ranks, const struct joined *j);
void scaling_take_steps(struct scaling *s, uint32_t steps);

/* view_picture.c */
struct newest_picture *newest_picture_new(void);
void newest_picture_free(struct newest_picture *d);

/* view_efficiency.c */
void view_shares(const struct view *v, struct view_figures *f); /* fills in the shares alone */
/* what is recorded of its collectives does not show who waits for whom */
bool view_is_unseen(const struct view *v);

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
/* The rank, or its node, is a culprit. */
bool view_stall_names(const struct view_stall *s, const struct view *v, uint32_t rank);
/* The smallest wait that can be called a stall: the job's own rhythm decides. */
double view_stall_limit_s(const struct view *v, double now_s);

/* view_stall_moves.c: whether a rank of a hang has moved since the hang was described */
struct stall_mark;
struct stall_moves {
    struct stall_mark *mark; /* by rank, when it was described */
    uint32_t n;              /* 0: it was not */
    double moved_s;          /* when the first of them was seen to have moved; infinite: none was */
};
void stall_moves_note(struct stall_moves *m, const struct view *v, double now_s, const struct view_stall *s);
/* False again when all that is known of who still waits was reported after that. */
bool stall_moves_seen(struct stall_moves *m, const struct view *v, double now_s);
void stall_moves_forget(struct stall_moves *m); /* frees what it holds */

/* view_finding.c */
/* What shows a finding, without its price, of a job that goes on or in the past tense. */
void view_finding_text(const struct view *v, const struct finding *f, bool past, char *buf, size_t size);
/* Adds whom it names, and whom those that are reported with it. */
void view_finding_culprits(const struct view *v, const struct finding *f, struct view_verdict *d);
void view_finding_add_rank(struct view_verdict *d, uint32_t rank);

/* view_updates.c */
struct updates_rank;
struct view_updates;
/* What shows that a worker or a server is slow, without its price. */
void view_updates_append(const struct view *v, const struct finding *f, bool past, char *buf, size_t size);
/* Is the job judged by them?  As long as it goes on; of a finished one also if it was so, and no step is
 * known. */
bool view_updates_judge(const struct view *v, double now_s, struct view_updates *f);
void view_updates_sentence(const struct view_updates *f, char *buf, size_t size);

/* view_updates_verdict.c: it has that id; before: as it stood until now; NULL: it is new */
void view_updates_describe(const struct view *v, double now_s, const struct updates_rank *k, uint32_t id,
                           const struct view_verdict *before, struct view_verdict *d);

/* Same class, scope and culprits?  The report of an ended job joins such verdicts into one, except those that
 * stop the job. */
bool view_verdict_same(const struct view_verdict *a, const struct view_verdict *b);

/* view_judge.c: regime and verdicts as they are now, which it alone writes */
struct verdicts {
    enum view_regime regime;
    enum view_regime moving;   /* the newest one that was not stalled */
    enum regime by_shares;     /* the newest one that the shares of time gave; REGIMES: none yet */
    struct view_stall stalled; /* who holds it up, when regime is stalled */
    bool ended_still;          /* the job ended while it was stalled */
    struct stall_moves moves;  /* since the hang was described */
    struct view_verdict *stop; /* as it was then; NULL: none was yet */
    struct view_verdict now[VIEW_VERDICTS_MAX], *raised;
    size_t n, n_raised, raised_cap;
    uint32_t next_finding; /* findings below it were seen */
};
struct verdicts *view_verdicts_new(void);
void view_verdicts_free(struct verdicts *s);
/* those of view_position_set() */
void view_verdicts_go_on(struct view *v, const struct view_verdict *verdict, size_t n);
void view_judge(struct view *v, double now_s);
/* For qsort(): by what they cost.  A hang that goes on, which has no price, comes first; what follows from
 * another behind all others. */
int view_verdict_by_cost(const void *a, const void *b);
/* What mending one of several would undo of the run: the same part of saved_s as it is, by alone and
 * slowdown, of the steps that these two are of. */
double view_verdict_alone(const struct finding *f, double run_s);

/* view_run.c: the verdicts of a job that has ended */
void view_run_take(struct view *v, double now_s);
/* The costliest of them as a sentence; NULL: none cost anything. */
const char *view_run_sentence(const struct view *v);

#endif
