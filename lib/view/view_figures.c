/* view_figures.c - figures of a view as a whole and of each rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/regime.h"
#include "ring/ring.h"
#include "view/comms.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/view_stall_private.h"

static void worst_figures(const struct view *v, struct view_figures *f)
{
    f->worst_lateness_s = f->worst_last_ratio = NAN;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);
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
        c = columns_recent(v->columns, r);
        if (!c.joined || !(isnan(f->worst_lateness_s) || c.lateness_s / c.joined > f->worst_lateness_s))
            continue;
        f->worst_rank = r;
        f->worst_lateness_s = c.lateness_s / c.joined;
        f->worst_last_ratio = (double)c.last / c.joined;
    }
}

/* What the detectors could tell from noise, or, where that is more, what is worth naming.  Whoever waits for
 * others waits for their work: that is all of a step but its transfers. */
static void limit_figures(const struct view *v, struct view_figures *f)
{
    double more = v->params.min_slowdown - 1, worth = more / (f->communication_ratio + f->p2p_ratio),
           of_work = f->compute_ratio + f->synchronisation_ratio + f->p2p_ratio;
    double *mds[] = { &f->transfer_mds, &f->transfer_node_mds, &f->transfer_link_mds };

    for (uint32_t nodes = 0; nodes < ARRAY_SIZE(mds); nodes++) {
        double limit = call_steps_active(v->calls) ? call_steps_limit(v->calls, nodes)
                       : nodes                     ? NAN
                                                   : diagnosis_transfer_limit(v->diagnosis);

        *mds[nodes] = 1 + limit < 1 + worth ? 1 + worth : 1 + limit;
        if (isnan(worth)) /* what they cost is not known */
            *mds[nodes] = NAN;
    }
    f->mds = isnan(f->mds) ? NAN : fmax(f->mds, 1 + more / (isnan(of_work) ? 1 : of_work));
    f->mds_from_start = 1 + diagnosis_limit_from_start(v->diagnosis);
    f->mds_from_start = isnan(f->mds) ? NAN : fmax(f->mds, f->mds_from_start);
}

void view_figures_get(const struct view *v, double now_s, struct view_figures *f)
{
    memset(f, 0, sizeof(*f));
    f->messages_unplaced = v->unplaced;
    f->comms_disputed = communicators_disputes(v->communicators);
    f->ranks = roster_count(v->roster)->running;
    f->steps = steps_count(v->steps)->done;
    f->period = steps_count(v->steps)->period;
    f->by_messages = steps_count(v->steps)->messages;
    f->regime = view_regime_get(v);
    f->mds = 1 + diagnosis_limit(v->diagnosis);
    f->collectives = communicators_joined(v->communicators);
    f->refused = v->quota.refused;
    steps_figures(v->steps, now_s, f);
    columns_skews(v->columns, &f->skew_p50_s, &f->skew_p95_s);
    view_shares(v, f);
    limit_figures(v, f);
    worst_figures(v, f);
    if (!presence_stands_still(v->presence))
        return;
    /* Nothing of before is a figure of a job that stands still. */
    f->step_mean_s = f->step_p50_s = f->step_p95_s = f->step_p99_s = f->step_cv = f->steps_per_s = NAN;
    f->skew_p50_s = f->skew_p95_s = NAN;
    f->compute_ratio = f->communication_ratio = f->synchronisation_ratio = f->p2p_ratio = NAN;
    f->transfer_mds = f->transfer_node_mds = f->transfer_link_mds = NAN;
    f->mds = f->mds_from_start = f->worst_lateness_s = f->worst_last_ratio = NAN;
}

bool view_called(const struct view *v)
{
    uint32_t r = 0;

    while (r < roster_limit(v->roster) && !roster_at(v->roster, r)->events)
        r++;
    return r < roster_limit(v->roster) || communicators_joined(v->communicators);
}

double view_newest_steps_s(const struct view *v, double now_s)
{
    return steps_mean_s(v->steps, now_s);
}

bool view_rank_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_figures *f)
{
    const struct view_rank *k = rank < roster_limit(v->roster) ? roster_at(v->roster, rank) : NULL;
    struct totals recent = columns_totals(v->columns);
    struct rank_waiting waiting;
    struct rank_steps steps;
    double last_ratio;
    struct cell c;

    if (!k || !k->known)
        return false;
    c = columns_recent(v->columns, rank);
    last_ratio = diagnosis_last_ratio(v->diagnosis, rank);
    steps = steps_rank(v->steps, rank);
    waiting = sums_waiting(v->sums, rank, &recent);
    *f = (struct view_rank_figures){
        .rank = rank,
        .node = roster_place_name(v->roster, k->node),
        .switch_name = roster_place_name(v->roster, k->switch_id),
        .pid = k->pid,
        .ended = k->ended,
        .gone = k->vanished,
        .heard = !k->ended && isinf(presence_silent_since_s(v->presence, k->node)),
        .lateness_s = c.joined ? c.lateness_s / c.joined : NAN,
        .last_ratio = !isnan(last_ratio) ? last_ratio
                      : c.joined         ? (double)c.last / c.joined
                                         : NAN,
        .wait_s = waiting.own_s,
        .delay_s = waiting.caused_s,
        .compute_s = steps.compute_s > 0 ? steps.compute_s : NAN,
        .stay_s = steps.stay_s > 0 ? steps.stay_s : NAN,
        .slowdown = (1 + diagnosis_excess(v->diagnosis, rank)) * call_steps_of_others(v->calls, rank),
        .inside_op = k->live_at_s + LIVE_VALID_S > now_s ? k->inside_op : RING_OP_NONE,
        .inside_comm = k->inside_comm,
        .inside_seq = k->inside_seq,
        .inside_s = now_s - k->inside_since_s,
        .outside_s = view_stall_doing(v, k, now_s) == STALL_OUTSIDE ? now_s - k->inside_since_s : NAN,
        .partner = roster_partner(k),
        .process = roster_process(k, now_s),
        .process_s = now_s - k->process_since_s,
    };
    columns_quantiles(v->columns, rank, &f->lateness_p50_s, &f->lateness_p95_s, &f->lateness_p99_s);
    if (presence_stands_still(v->presence)) {
        f->lateness_s = f->lateness_p50_s = f->lateness_p95_s = f->lateness_p99_s = f->last_ratio = NAN;
        f->wait_s = f->delay_s = f->compute_s = f->stay_s = f->slowdown = NAN;
    }
    return true;
}

static bool has_part(const struct view *v, const struct finding *f, uint32_t rank)
{
    const struct view_rank *k = roster_at(v->roster, rank);

    switch (f->scope) {
    case SCOPE_RANK:
        return rank == f->place;
    case SCOPE_NODE:
        return k->node == f->place;
    case SCOPE_SWITCH:
        return k->switch_id == f->place;
    case SCOPE_RANKS:
        return call_steps_role(v->calls, rank) == f->place;
    case SCOPE_LINK:
        return k->node == f->place || k->node == f->other;
    case SCOPE_NONE:
    case SCOPES:
        break;
    }
    return false;
}

bool view_rank_holds_up(const struct view *v, uint32_t rank)
{
    return v->verdicts->regime == VIEW_STALLED && rank < roster_limit(v->roster) &&
           view_stall_names(&v->verdicts->stalled, v, rank);
}

bool view_latest_get(const struct view *v, double now_s, struct view_rank_figures *f)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_get(v, &d);
    bool any = false, stops = v->verdicts->regime == VIEW_STALLED;

    for (size_t i = 0; i < n; i++)
        stops |= finding_stops(d[i].finding.class);
    if (stops) /* nobody is late for a step while none goes on */
        return false;
    /* whom nobody waits for in a step is not late for one */
    while (n && (d->minor || d->finding.scope == SCOPE_NONE || d->finding.duty != DUTY_STEPS)) {
        d++;
        n--;
    }
    for (uint32_t r = 0; n && r < roster_limit(v->roster); r++) {
        struct view_rank_figures k;

        if (!has_part(v, &d->finding, r) || !view_rank_get(v, now_s, r, &k))
            continue;
        if (!any || k.last_ratio > f->last_ratio ||
            (!(k.last_ratio < f->last_ratio) && k.lateness_s > f->lateness_s))
            *f = k;
        any = true;
    }
    return any;
}

uint32_t view_rank_limit(const struct view *v)
{
    return roster_limit(v->roster);
}

uint32_t view_ranks_running(const struct view *v)
{
    return roster_count(v->roster)->running;
}

uint64_t view_rank_inside_ns(const struct view *v, uint32_t rank)
{
    return rank < roster_limit(v->roster) ? roster_at(v->roster, rank)->inside_ns : 0;
}

bool view_rank_ended_by(const struct view *v, int signal, uint32_t *rank)
{
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);

        if (k->known && !k->ended && k->signals_known && !(k->endured >> (signal - 1) & 1)) {
            *rank = r;
            return true;
        }
    }
    return false;
}

const char *view_place_name(const struct view *v, uint32_t place)
{
    return roster_place_name(v->roster, place);
}

char *view_comm_label(const struct view *v, uint64_t name, char *buf, size_t size)
{
    return communicators_label(v->communicators, name, buf, size);
}

uint32_t view_comm_size(const struct view *v, uint64_t name)
{
    return communicators_announced(v->communicators, name);
}

size_t view_comms_get(const struct view *v, double now_s, struct view_comm *out, size_t max)
{
    return communicators_rows(v->communicators, now_s, steps_count(v->steps)->comm, out, max);
}

double view_column_s(const struct view *v)
{
    return columns_width_s(v->columns);
}

size_t view_rank_columns(const struct view *v, uint32_t rank, float *lateness_s)
{
    return columns_rank(v->columns, rank, lateness_s);
}

size_t view_columns_get(const struct view *v, struct view_columns *c)
{
    return columns_get(v->columns, c);
}

size_t view_stretches_get(const struct view *v, struct view_stretches *s)
{
    return outlook_stretches(v->outlook, s);
}

void view_projection_get(const struct view *v, double now_s, struct view_projection *p)
{
    struct totals now = columns_totals(v->columns);
    double waiting = presence_stands_still(v->presence) ? NAN : totals_synchronisation(&now);

    outlook_get(v->outlook, now_s, waiting,
                v->params.sync_limit > 0 ? v->params.sync_limit : REGIME_SYNC_SHARE, p);
}

enum trend_direction view_trend(const struct view *v, double now_s)
{
    const struct view_verdict *worst;
    struct view_projection p;

    if (presence_stands_still(v->presence))
        return TREND_UNKNOWN;
    if (view_verdicts_get(v, &worst) && worst->finding.class == FINDING_DRIFT)
        return TREND_RISING;
    view_projection_get(v, now_s, &p);
    if (p.trend > TREND_NONE)
        return p.trend;
    return p.trend == TREND_NONE || p.step_trend > TREND_NONE ? p.step_trend : TREND_UNKNOWN;
}

void view_phases_get(const struct view *v, struct view_phases *p)
{
    const struct work_rhythm *rhythm = &diagnosis_work(v->diagnosis)->rhythm;

    phases_get(v->phases, p);
    p->delays = diagnosis_delays(v->diagnosis, VIEW_MINOR_SLOWDOWN, &p->delays_s);
    p->rhythm_steps = rhythm->period;
    p->rhythm_heavy = rhythm->heavy;
    p->rhythm_ratio = rhythm->period ? rhythm->ratio : NAN;
}

size_t view_shortfalls_get(const struct view *v, const struct view_shortfall **list)
{
    return shortfalls_get(v->shortfalls, list);
}

bool view_marked_get(const struct view *v, struct view_marked *m)
{
    return step_marks_get(v->marks, m);
}

enum marks_phase view_rank_phase(const struct view *v, double now_s, uint32_t rank, double *age_s)
{
    return step_marks_phase(v->marks, now_s, rank, age_s);
}

bool view_value_get(const struct view *v, enum marks_value value, struct view_value *out)
{
    return step_marks_value(v->marks, value, out);
}

bool view_values_known(const struct view *v)
{
    return step_marks_values_known(v->marks);
}

bool view_non_finite(const struct view *v)
{
    return step_marks_any_non_finite(v->marks);
}

bool view_non_finite_get(const struct view *v, struct view_non_finite *n)
{
    return step_marks_non_finite(v->marks, n);
}
