/* report_view.h - a view as a JSON object: the keys that a running job and a recorded trace have in common
 * (sgctl(1), JSON).  Pure: only reads the view.  The caller owns the objects. */
#ifndef SYNCGUARD_REPORT_REPORT_VIEW_H
#define SYNCGUARD_REPORT_REPORT_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls/overlap.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/verdicts.h"

enum report_sort { REPORT_BY_LATENESS, REPORT_BY_RANK, REPORT_BY_NODE, REPORT_BY_LAST, REPORT_BY_COMPUTE };

/* Which rows of the table of ranks, how many columns of history, and at most how many agents and switches. */
struct report_selection {
    enum report_sort sort;
    uint32_t offset, count, columns, agents;
    uint32_t picture;  /* rows of the newest step, drawn; 0: it is not drawn */
    uint32_t switches; /* 0: none */
    char filter[64];   /* part of a node's or switch's name, or "r3"; "": all */
};
#define REPORT_ALL ((struct report_selection){ .count = UINT32_MAX, .columns = 120, .agents = UINT32_MAX })

/* Parse a query's "view"; NULL: everything; values out of range become the nearest. */
void report_selection_parse(struct report_selection *s, const json_t *view);

/* The ranks that pass the filter, sorted; the selected rows are [begin, end). */
struct report_ranks {
    struct view_rank_figures *f;
    size_t n, begin, end;
};
void report_ranks_get(struct report_ranks *r, const struct view *v, double now_s,
                      const struct report_selection *s);
/* The figures of these ranks, in this order; ranks that are not known are left out.  All of them are
 * selected. */
void report_ranks_of(struct report_ranks *r, const struct view *v, double now_s, const uint32_t *rank,
                     size_t n);
void report_ranks_free(struct report_ranks *r);

/* Projections of the job to more ranks, and to other strategies on its ranks: computed from a view (some 50
 * and 20 ms, so that the controller keeps them) or read from an answer. missing: why they are unknown; "":
 * they are known. */
#define REPORT_ASSUMES_MAX 8
struct report_point {
    double ranks, factor;                                  /* as in struct projection_point */
    struct projection_range step_s, throughput, p99_ratio; /* p99_ratio: of the step over its median */
    double cv;                                             /* of the step */
    double ideal, compute, communication, synchronisation; /* these three: shares of step_s.p50 */
    char regime[24];
    double regime_share;
};
struct report_noise { /* as in struct variation */
    int64_t steps;
    double ranks_per_node, nodes_per_switch, compute_s, cv, common_cv, tail_rate, tail_mean;
    char shape[24];
    struct variation_part lasting[VARIATION_LEVELS], passing[VARIATION_LEVELS];
    size_t n_slow; /* ranks apart; these are not read from an answer */
    int64_t slow[LAST_APART_MAX];
};
struct report_segment {
    double from_bytes, to_bytes;
    int64_t sizes;
    struct linkfit_range fixed_s, s_per_byte; /* value NaN: one size alone */
};
struct report_link { /* as in struct view_link */
    char op[32];
    int64_t ranks, instances, sizes, samples;
    bool grows;
    double noise;
    size_t n;
    struct report_segment segment[LINKFIT_SEGMENTS];
};
struct report_scaling {
    char missing[96], mode[8]; /* "weak", "strong" */
    int64_t ranks;
    double step_s, wall_ranks;
    char text[192], wall[64];
    size_t n, n_links, n_runs, n_assumes;
    struct report_point point[PROJECTION_POINTS];
    double algorithm[TRAFFIC_ALGORITHMS]; /* not read from an answer */
    struct report_noise noise;
    struct report_link link[VIEW_LINKS_MAX];
    double run_ranks[PROJECTION_RUNS];
    char assumes[REPORT_ASSUMES_MAX][160];
};
struct report_shares {
    double work, waiting, exchange, other; /* of the step */
};
struct report_strategy {
    char kind[24], name[64];
    double parameter; /* as in struct strategy */
    struct projection_range step_s, ratio;
    struct report_shares shares;
    double growth, time_s;    /* factor of iterations, NaN: not known; time that replaces one present step */
    bool per_sample, assumed; /* per_sample: the growth is not known */
    char reason[200], assumes[160];
};
struct report_strategies {
    char missing[96];
    int64_t ranks, steps; /* -1: described, not measured */
    double step_s;
    struct report_shares shares;
    size_t n, n_assumes;
    struct report_strategy list[STRATEGY_MAX];
    char assumes[REPORT_ASSUMES_MAX][160];
};
/* What of the communication is exposed and what is hidden (calls/overlap.h), kept as long as the projections.
 */
struct report_overlap_group {
    char label[64]; /* "world", "4 groups of 2", "messages" */
    int64_t ranks, instances;
    double calls, nonblocking, waiting_s, exposed_s, ready_s, most_won_s;
    struct linkfit_range hidden_s, won_s; /* won_s: with buckets of the best size */
    double buckets, bucket_bytes, best_buckets, best_bucket_bytes;
    char no_estimate[96];
};
struct report_overlap {
    char missing[96], text[512];
    int64_t steps; /* that were replayed; 0: not from a replay */
    double step_s;
    struct report_overlap_group all, group[OVERLAP_GROUPS_MAX];
    size_t n;
};
void report_overlap_get(struct report_overlap *r, const struct view *v, double now_s);
json_t *report_overlap_json(const struct report_overlap *r);
void report_overlap_read(struct report_overlap *r, const json_t *o);

void report_scaling_get(struct report_scaling *r, const struct view *v, bool strong);
void report_strategies_get(struct report_strategies *r, const struct view *v,
                           const struct view_strategy_options *options);
void report_strategies_put(struct report_strategies *r, const struct strategies *s);
json_t *report_scaling_json(const struct report_scaling *r);
void report_scaling_read(struct report_scaling *r, const json_t *o);
json_t *report_strategies_json(const struct report_strategies *r);
void report_strategies_read(struct report_strategies *r, const json_t *o);
/* Options of a query; invalid ones are ignored. */
void report_strategy_options(struct view_strategy_options *o, const json_t *question);
json_t *report_strategy_question(const struct view_strategy_options *o);

/* Where the time spent waiting is going (view_projection). */
struct report_projection {
    bool known;
    double synchronisation_ratio, per_hour, limit, step_per_hour;
    double reach_s[3]; /* until it reaches the limit: p10, p50, p90 */
    bool warning;      /* it varies more and more slowly, as before a change */
    char trend[16];    /* rising, falling, none */
    char text[256];
};
void report_projection_get(struct report_projection *p, const struct view *v, double now_s);
json_t *report_projection_json(const struct report_projection *p);
void report_projection_read(struct report_projection *p, const json_t *o);

/* The keys that a list of jobs has, too, without the verdicts. */
void report_put_row(json_t *o, const struct view *v, double now_s, const struct view_figures *f);
/* All other keys, without the rows of ranks.  scaling, strategies and overlap: as kept by the caller; all
 * NULL: computed now. */
void report_put_view(json_t *o, const struct view *v, double now_s, const struct report_ranks *ranks,
                     const struct report_selection *selection, const struct report_scaling *scaling,
                     const struct report_strategies *strategies, const struct report_overlap *overlap);

/* Parts. */
json_t *report_rank_json(const struct view *v, double now_s, const struct view_rank_figures *f);
/* The selected rows, each with the rank's state, which a trace does not have. */
json_t *report_rank_table(const struct view *v, double now_s, const struct report_ranks *ranks);
/* The heat map's rows of the selected ranks. */
json_t *report_heat_rows(const struct view *v, double now_s, const struct report_ranks *ranks,
                         uint32_t columns);
json_t *report_efficiency(const struct efficiency *recent, const struct efficiency *run); /* run: or NULL */
json_t *report_critical_path(const struct view *v, double now_s);
/* Phases of its steps, marked or inferred; values that it reports. */
json_t *report_step_phases(const struct view *v, double now_s, const struct report_overlap *overlap);
json_t *report_values(const struct view *v, double now_s);
/* Health of a node and of a rank; NULL: no recent report. */
json_t *report_node_health(const struct view *v, double now_s, const char *node);
json_t *report_rank_health(const struct view *v, double now_s, uint32_t rank);

#endif
