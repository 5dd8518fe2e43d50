/* call_steps.h - calls one by one, put together into steps, and what each complete step shows. */
#ifndef SYNCGUARD_CALLS_CALL_STEPS_H
#define SYNCGUARD_CALLS_CALL_STEPS_H

#include "calls/boundary.h"
#include "calls/phase.h"
#include "detect/diagnosis.h"
#include "graph/graph.h"

struct call_steps;
struct updates;
/* members: as boundary_new() wants it.  The diagnosis is lent. */
struct call_steps *call_steps_new(uint32_t (*members)(uint64_t comm, void *arg), void *arg,
                                  struct diagnosis *diagnosis);
void call_steps_free(struct call_steps *s);
double call_steps_bytes(const struct call_steps *s); /* looks at all ranks */
/* From now on steps come from the calls, and what they cost is replayed. */
void call_steps_activate(struct call_steps *s);

/* clock: ranks of the same one can be compared */
void call_steps_add_rank(struct call_steps *s, uint32_t rank, uint32_t clock);
void call_steps_end_rank(struct call_steps *s, uint32_t rank);

/* NULL is fine for all of these: calls do not come one by one. */
bool call_steps_active(const struct call_steps *s);
/* what of them repeats as a step, or that no steps are in common (updates.h) */
bool call_steps_found(const struct call_steps *s);
void call_steps_lost(struct call_steps *s, uint32_t rank); /* some of its calls are */
void call_steps_gap(struct call_steps *s, uint32_t rank);  /* between its newest call and the next */
uint32_t call_steps_role(const struct call_steps *s, uint32_t rank); /* see graph_role() */
bool call_steps_is_part(const struct call_steps *s, uint32_t role);  /* see parts.h */
/* What the detectors do not see of a rank's work, because ranks of its role have it alike: that over the mean
 * of all roles, which is what its work was divided by, and over the roles that have less, see roles.h. 1:
 * nothing. */
double call_steps_of_mean(const struct call_steps *s, uint32_t rank);
double call_steps_of_others(const struct call_steps *s, uint32_t rank);
double call_steps_limit(const struct call_steps *s, uint32_t nodes); /* see links_limit() */
/* The phase of the step in which the straggler at that place, or the newest that was there, is slow; false:
 * in no single one, or that is not known yet. */
bool call_steps_phase(const struct call_steps *s, enum finding_scope scope, uint32_t place,
                      struct slow_phase *found);
/* Of workers that do not wait for one another; NULL: calls do not come one by one. */
struct updates *call_steps_updates(const struct call_steps *s);
/* to replay it; NULL: steps do not come from one */
struct graph *call_steps_graph(const struct call_steps *s);

/* A call of a rank that was added; series: as graph_call() takes it.  moved: what was taken for steps was
 * something else, and is forgotten; ends: a step, see call_steps_next(). */
struct boundary_at call_steps_take(struct call_steps *s, const struct call *c, uint64_t series);

/* A step that is complete. */
struct call_step {
    struct graph_step step;
    uint32_t back;   /* of the graph's steps */
    uint32_t steps;  /* since the one before it */
    uint32_t number; /* of the program's steps, from 1 on, as the numbers of its calls show */
    uint32_t period; /* collectives; 1 of a step that ends with a message */
    bool messages;   /* it ends with one, and has any number of collectives, or none */
    double duration_s;
    const float *own_s; /* lent: own work by rank, ... */
    uint32_t ranks;     /* ... below this; NaN: not known */
};
/* the oldest that was not taken; false: there is none */
bool call_steps_next(struct call_steps *s, struct call_step *out);
/* Judges it.  began_s: when the first item came; min_slowdown: what costs less is not reported. */
void call_steps_judge(struct call_steps *s, double now_s, double began_s, double min_slowdown,
                      const struct call_step *k);

/* No more calls come: the last steps are complete; then, after they were taken, all prices are taken once
 * more. */
void call_steps_finish(struct call_steps *s);
void call_steps_settle(struct call_steps *s, double min_slowdown);

#endif
