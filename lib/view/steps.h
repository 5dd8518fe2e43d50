/* steps.h - a view's training steps: what the ranks report of them is put together, or whole steps are
 * counted as they come. */
#ifndef SYNCGUARD_VIEW_STEPS_H
#define SYNCGUARD_VIEW_STEPS_H

#include "calls/call_steps.h"
#include "view/communicators.h"
#include "view/events.h"
#include "view/figures.h"
#include "view/presence.h"
#include "view/roster.h"
#include "view/view.h"

#define STEPS_MINUTE_S 60.0

struct step_count {
    uint64_t comm;         /* on which steps are counted */
    uint32_t size, period; /* of comm; collectives a step, 0: not known */
    bool messages;         /* steps are counted by messages, period is 1 */
    uint32_t block;        /* steps that are judged together: a power of two */
    uint32_t newest_seq;   /* of comm */
    double moved_s;        /* when a rank came to a newer collective of comm */
    uint64_t done;    /* the program's, from its first one on as far as the numbers of its calls show it */
    double seen_s;    /* when the newest was done */
    double changed_s; /* when steps_change() was last; minus infinity: never */
};

struct rank_steps { /* a step, smoothed; 0: nothing yet */
    double compute_s, stay_s;
};

/* Steps that ended together, put together from what the ranks reported; lent. */
struct step_done {
    uint32_t steps;    /* new ones; each ... */
    double duration_s; /* ... took so long, on the mean, ... */
    double transfer_s; /* ... so much of it in transfers; NaN: not known */
    double wait_s;     /* ... for the last at its collectives, the mean of the ranks; NaN likewise */
    uint32_t period;   /* collectives of what is judged as one step */
    uint32_t first_seq, last_seq; /* the collectives of count.comm */
    const float *own_s;           /* own work a step, by rank below ranks; NaN: not known */
    uint32_t ranks;
};

/* What follows from them is the caller's. on_done: steps ended. on_restart: a step is another thing than
 * before (other_period), or as many more are judged together; what was judged of them is over. */
struct steps_hooks {
    void (*on_done)(void *arg, double now_s, const struct step_done *d);
    void (*on_restart)(void *arg, bool other_period);
    void *arg;
};

struct steps;
struct steps *steps_new(struct quota *quota, struct roster *roster, const struct communicators *communicators,
                        const struct presence *presence,
                        /* all but the hooks are lent */
                        struct events *events, const struct steps_hooks *hooks);
void steps_free(struct steps *s);
void steps_reserve(struct steps *s, uint32_t ranks);
void steps_forget(struct steps *s);
void steps_restart(struct steps *s); /* what was counted were no steps, but less */
void steps_position(const struct steps *s, struct view_position *p); /* its fields of steps */
void steps_go_on(struct steps *s, double now_s, const struct view_position *p);

/* An item of a rank that is known. */
void steps_take(struct steps *s, double now_s, const struct step *i);
/* a rank has come to seq of comm */
void steps_take_seq(struct steps *s, double now_s, uint64_t comm, uint32_t seq);
void steps_end_rank(struct steps *s, uint32_t rank);
void steps_finish(struct steps *s, double now_s); /* steps that are open count as they are */
/* A step that was put together from its calls. */
void steps_count_whole(struct steps *s, double now_s, const struct call_step *k);
/* Its duration counts towards the pace; false: the job stood still in it, and measuring starts over with the
 * next one. */
bool steps_keep(struct steps *s, double now_s, double duration_s);
/* A costly verdict began or ended then: what was before says nothing of the pace since. */
void steps_change(struct steps *s, double at_s);

const struct step_count *steps_count(const struct steps *s);
struct rank_steps steps_rank(const struct steps *s, uint32_t rank);
/* How far back the figures of steps go: a minute, or to the job's begin or count.changed_s if these are
 * later. */
double steps_window_s(const struct steps *s, double now_s);
double steps_mean_s(const struct steps *s, double now_s);
double steps_median_s(const struct steps *s, double now_s);
void steps_figures(const struct steps *s, double now_s, struct view_figures *f); /* those of steps */

#endif
