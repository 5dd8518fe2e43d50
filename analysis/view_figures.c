/* view_figures.c - a view in figures: of the whole, of a rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "model/statistics.h"
#include "ring/ring.h"

/* Durations of the last minute's steps (at most STEPS_KEPT); at least 8, however old. */
static size_t recent_steps(const struct view *v, double now_s, double out[STEPS_KEPT])
{
    size_t n = 0, have = v->steps_kept < STEPS_KEPT ? v->steps_kept : STEPS_KEPT;

    for (size_t i = 1; i <= have; i++) {
        size_t at = (v->steps_kept - i) % STEPS_KEPT;

        if (v->step[at].at_s + STEP_WINDOW_S < now_s && n >= 8)
            break;
        out[n++] = v->step[at].duration_s;
    }
    return n;
}

double view_step_mean_s(const struct view *v, double now_s)
{
    double d[STEPS_KEPT];

    return statistics_mean(d, recent_steps(v, now_s, d)).mean;
}

static void step_figures(const struct view *v, double now_s, struct view_figures *f)
{
    double d[STEPS_KEPT];
    size_t n = recent_steps(v, now_s, d);
    struct statistics_mean m = statistics_mean(d, n);

    f->step_mean_s = m.mean;
    f->step_cv = m.sd / m.mean;
    f->step_p50_s = statistics_quantile(d, n, 0.5);
    f->step_p95_s = statistics_quantile(d, n, 0.95);
    f->steps_per_s = 1 / f->step_mean_s;
}

static void skew_figures(const struct view *v, struct view_figures *f)
{
    size_t n = v->skews_kept < SKEWS ? v->skews_kept : SKEWS;
    float skew[SKEWS];

    memcpy(skew, v->skew_s, n * sizeof(skew[0]));
    f->skew_p50_s = statistics_quantilef(skew, n, 0.5);
    f->skew_p95_s = statistics_quantilef(skew, n, 0.95);
}

void view_share_figures(const struct view *v, struct view_figures *f)
{
    struct totals t;
    double all, joined, waiting;

    view_recent_totals(v, &t);
    all = t.work_s + t.p2p_s + t.stay_s;
    joined = t.wait_s + t.transfer_s;
    f->compute_ratio = all > 0 ? t.work_s / all : NAN;
    f->p2p_ratio = all > 0 ? t.p2p_s / all : NAN;
    waiting = joined > 0 ? t.wait_s / joined : t.stay_s > 0 ? NAN : 0;
    f->synchronisation_ratio = all > 0 ? t.stay_s / all * waiting : NAN;
    f->communication_ratio = all > 0 ? t.stay_s / all * (1 - waiting) : NAN;
}

static void worst_figures(const struct view *v, struct view_figures *f)
{
    f->worst_lateness_s = f->worst_last_ratio = NAN;
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        struct cell c;

        if (!v->rank[r].known)
            continue;
        f->ranks_known++;
        f->events += v->rank[r].events;
        f->dropped += v->rank[r].dropped;
        f->missed += v->rank[r].missed;
        view_recent_cell(v, r, &c);
        if (!c.joined || !(isnan(f->worst_lateness_s) || c.lateness_s / c.joined > f->worst_lateness_s))
            continue;
        f->worst_rank = r;
        f->worst_lateness_s = c.lateness_s / c.joined;
        f->worst_last_ratio = (double)c.last / c.joined;
    }
}

void view_figures_get(const struct view *v, double now_s, struct view_figures *f)
{
    memset(f, 0, sizeof(*f));
    f->ranks = v->ranks;
    f->steps = v->steps;
    f->period = v->period;
    f->regime = v->regime;
    f->mds = 1 + diagnosis_limit(v->diagnosis);
    f->collectives = v->collectives;
    f->refused = v->refused;
    step_figures(v, now_s, f);
    skew_figures(v, f);
    view_share_figures(v, f);
    worst_figures(v, f);
}

uint32_t view_rank_limit(const struct view *v)
{
    return v->n_ranks;
}

bool view_rank_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_figures *f)
{
    const struct view_rank *k;
    struct totals t;
    struct cell c;

    if (rank >= v->n_ranks || !v->rank[rank].known)
        return false;
    k = &v->rank[rank];
    view_recent_cell(v, rank, &c);
    view_recent_totals(v, &t);
    *f = (struct view_rank_figures){
        .rank = rank,
        .node = view_place_name(v, k->node),
        .leaf = view_place_name(v, k->leaf),
        .ended = k->ended,
        .lateness_s = c.joined ? c.lateness_s / c.joined : NAN,
        .last_ratio = c.joined ? (double)c.last / c.joined : NAN,
        .lateness_p50_s = view_lateness_quantile(k, 0.5),
        .lateness_p95_s = view_lateness_quantile(k, 0.95),
        .lateness_p99_s = view_lateness_quantile(k, 0.99),
        .wait_s = k->recent.collectives > 0 ? k->recent.wait_s / k->recent.collectives : NAN,
        .delay_s = view_rank_delay_s(k, t.steps ? t.step_sum_s / t.steps : NAN),
        .compute_s = k->compute_s > 0 ? k->compute_s : NAN,
        .stay_s = k->stay_s > 0 ? k->stay_s : NAN,
        .slowdown = 1 + diagnosis_excess(v->diagnosis, rank),
        .inside_op = k->live_at_s + LIVE_VALID_S > now_s ? k->inside_op : RING_OP_NONE,
        .inside_comm = k->inside_comm,
        .inside_seq = k->inside_seq,
        .inside_s = now_s - k->inside_since_s,
    };
    return true;
}

uint64_t view_rank_inside_ns(const struct view *v, uint32_t rank)
{
    return rank < v->n_ranks ? v->rank[rank].inside_ns : 0;
}
