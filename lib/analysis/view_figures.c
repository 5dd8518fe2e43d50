/* view_figures.c - figures of a view as a whole and of each rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "ring/ring.h"

void view_share_figures(const struct view *v, struct view_figures *f)
{
    struct totals t = view_history_totals(v);
    double all = t.work_s + t.p2p_s + t.stay_s, joined = t.wait_s + t.transfer_s, waiting;

    f->compute_ratio = all > 0 ? t.work_s / all : NAN;
    f->p2p_ratio = all > 0 ? t.p2p_s / all : NAN;
    waiting = view_is_partial(v) ? NAN : joined > 0 ? t.wait_s / joined : t.stay_s > 0 ? NAN : 0;
    f->synchronisation_ratio = all > 0 ? t.stay_s / all * waiting : NAN;
    f->communication_ratio = all > 0 ? t.stay_s / all * (1 - waiting) : NAN;
}

static void worst_figures(const struct view *v, struct view_figures *f)
{
    f->worst_lateness_s = f->worst_last_ratio = NAN;
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        const struct view_rank *k = view_ranks_at(v, r);
        struct cell c;

        if (!k->known)
            continue;
        f->ranks_known++;
        f->events += k->events;
        f->dropped += k->dropped;
        f->missed += k->missed;
        f->messages_missed += k->losses.messages;
        f->streams_forgotten += k->losses.streams;
        f->comms_missed += k->losses.comms;
        c = view_history_recent(v, r);
        if (!c.joined || !(isnan(f->worst_lateness_s) || c.lateness_s / c.joined > f->worst_lateness_s))
            continue;
        f->worst_rank = r;
        f->worst_lateness_s = c.lateness_s / c.joined;
        f->worst_last_ratio = (double)c.last / c.joined;
    }
}

/* Of transfers: what the detectors could tell from their noise, and what is then worth naming. */
static void limit_figures(const struct view *v, struct view_figures *f)
{
    double worth = (v->params.min_slowdown - 1) / (f->communication_ratio + f->p2p_ratio);
    bool calls = view_calls_active(v);

    f->transfer_mds = 1 + (calls ? view_calls_limit(v, 0) : diagnosis_transfer_limit(v->diagnosis));
    f->transfer_node_mds = calls ? 1 + view_calls_limit(v, 1) : NAN;
    f->transfer_link_mds = calls ? 1 + view_calls_limit(v, 2) : NAN;
    if (isnan(worth)) /* what they cost is not known */
        f->transfer_mds = f->transfer_node_mds = f->transfer_link_mds = NAN;
    if (f->transfer_mds < 1 + worth)
        f->transfer_mds = 1 + worth;
    if (f->transfer_node_mds < 1 + worth)
        f->transfer_node_mds = 1 + worth;
    if (f->transfer_link_mds < 1 + worth)
        f->transfer_link_mds = 1 + worth;
}

/* Nothing of before is a figure of a job that stands still. */
static void forget_pace(struct view_figures *f)
{
    f->step_mean_s = f->step_p50_s = f->step_p95_s = f->step_p99_s = f->step_cv = f->steps_per_s = NAN;
    f->skew_p50_s = f->skew_p95_s = NAN;
    f->compute_ratio = f->communication_ratio = f->synchronisation_ratio = f->p2p_ratio = NAN;
    f->transfer_mds = f->transfer_node_mds = f->transfer_link_mds = NAN;
    f->mds = f->worst_lateness_s = f->worst_last_ratio = NAN;
}

static void forget_rank_pace(struct view_rank_figures *f)
{
    f->lateness_s = f->lateness_p50_s = f->lateness_p95_s = f->lateness_p99_s = f->last_ratio = NAN;
    f->wait_s = f->delay_s = f->compute_s = f->stay_s = f->slowdown = NAN;
}

void view_figures_get(const struct view *v, double now_s, struct view_figures *f)
{
    memset(f, 0, sizeof(*f));
    f->ranks = view_ranks_count(v)->running;
    f->steps = view_steps_count(v)->done;
    f->period = view_steps_count(v)->period;
    f->regime = view_regime_get(v);
    f->mds = 1 + diagnosis_limit(v->diagnosis);
    f->collectives = view_comms_joined(v);
    f->refused = v->refused;
    view_steps_figures(v, now_s, f);
    view_history_skews(v, f);
    view_share_figures(v, f);
    limit_figures(v, f);
    worst_figures(v, f);
    if (view_stands_still(v))
        forget_pace(f);
}

bool view_called(const struct view *v)
{
    uint32_t r = 0;

    while (r < view_rank_limit(v) && !view_ranks_at(v, r)->events)
        r++;
    return r < view_rank_limit(v) || view_comms_joined(v);
}

double view_newest_steps_s(const struct view *v, double now_s)
{
    return view_steps_mean_s(v, now_s);
}

bool view_rank_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_figures *f)
{
    const struct view_rank *k = rank < view_rank_limit(v) ? view_ranks_at(v, rank) : NULL;
    struct rank_waiting waiting;
    struct rank_steps steps;
    double last_ratio;
    struct cell c;

    if (!k || !k->known)
        return false;
    c = view_history_recent(v, rank);
    last_ratio = diagnosis_last_ratio(v->diagnosis, rank);
    steps = view_steps_rank(v, rank);
    waiting = view_sums_waiting(v, rank);
    *f = (struct view_rank_figures){
        .rank = rank,
        .node = view_place_name(v, k->node),
        .switch_name = view_place_name(v, k->switch_id),
        .ended = k->ended,
        .lateness_s = c.joined ? c.lateness_s / c.joined : NAN,
        .last_ratio = !isnan(last_ratio) ? last_ratio : c.joined ? (double)c.last / c.joined : NAN,
        .wait_s = waiting.own_s,
        .delay_s = waiting.caused_s,
        .compute_s = steps.compute_s > 0 ? steps.compute_s : NAN,
        .stay_s = steps.stay_s > 0 ? steps.stay_s : NAN,
        .slowdown = (1 + diagnosis_excess(v->diagnosis, rank)) * view_calls_of_others(v, rank),
        .inside_op = k->live_at_s + LIVE_VALID_S > now_s ? k->inside_op : RING_OP_NONE,
        .inside_comm = k->inside_comm,
        .inside_seq = k->inside_seq,
        .inside_s = now_s - k->inside_since_s,
        .partner = view_rank_partner(k),
        .process = view_rank_process(k, now_s),
        .process_s = now_s - k->process_since_s,
    };
    view_history_quantiles(v, rank, f);
    if (view_stands_still(v))
        forget_rank_pace(f);
    return true;
}

static bool has_part(const struct view *v, const struct finding *f, uint32_t rank)
{
    const struct view_rank *k = view_ranks_at(v, rank);

    switch (f->scope) {
    case SCOPE_RANK:
        return rank == f->place;
    case SCOPE_NODE:
        return k->node == f->place;
    case SCOPE_SWITCH:
        return k->switch_id == f->place;
    case SCOPE_RANKS:
        return view_calls_role(v, rank) == f->place;
    case SCOPE_LINK:
        return k->node == f->place || k->node == f->other;
    case SCOPE_NONE:
    case SCOPES:
        break;
    }
    return false;
}

bool view_latest_get(const struct view *v, double now_s, struct view_rank_figures *f)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_get(v, &d);
    bool any = false;

    while (n && (d->minor || d->finding.scope == SCOPE_NONE)) {
        d++;
        n--;
    }
    for (uint32_t r = 0; n && r < view_rank_limit(v); r++) {
        struct view_rank_figures k;

        if (!has_part(v, &d->finding, r) || !view_rank_get(v, now_s, r, &k))
            continue;
        if (!any || k.last_ratio > f->last_ratio || (!(k.last_ratio < f->last_ratio) && k.lateness_s > f->lateness_s))
            *f = k;
        any = true;
    }
    return any;
}
