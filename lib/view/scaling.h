/* scaling.h - what a view's job would be on more ranks, or by another strategy. */
#ifndef SYNCGUARD_VIEW_SCALING_H
#define SYNCGUARD_VIEW_SCALING_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/algorithm.h"
#include "model/linkfit.h"
#include "model/projection.h"
#include "model/strategy.h"
#include "model/variation.h"

struct view;

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

/* The all-reduces of a step, all over all ranks; returns how many sizes, at most max. 0: there are none, or
 * some are over other communicators, nonblocking, or of more sizes. Times are medians. */
size_t view_allreduces_get(const struct view *v, struct algorithm_size *out, size_t max);

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
