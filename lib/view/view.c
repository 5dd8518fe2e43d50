/* view.c - a view's parts together: where items go, and what follows when a collective was joined, a step
 * ended, a column of history is over or a rank ended. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls/updates.h"
#include "common/config.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "view/switches.h"
#include "view/view_private.h"

struct view_params view_params_of(const struct config_policy *policy)
{
    return (struct view_params){ .min_slowdown = policy->min_slowdown_ratio,
                                 .hang_timeout_s = policy->hang_timeout_s };
}

/* What samples, counts and calls show of what ranks call. */
static void note_use(struct view *v, uint64_t comm, bool various)
{
    struct call_use *u = &v->call_use;

    u->comm = u->comm ? u->comm : comm;
    u->various = u->various || various || comm != u->comm;
}

/* ---- what follows ---- */

/* A collective was joined of which it is seen who waited for whom. */
static struct joined_sums on_joined(void *arg, const struct joined *j, uint32_t size, bool main)
{
    struct view *v = arg;

    if (!presence_stood_still(v->presence, v->now_s, j->stay_max_s))
        columns_take_joined(v->columns, j, main);
    if (main)
        arrivals_take(&v->arrivals, j);
    scaling_take_joined(v->scaling, steps_count(v->steps)->period, size, j);
    shortfalls_take_joined(v->shortfalls, size, j);
    return sums_take_joined(v->sums, j);
}

/* A step was judged, as the program's newest one. */
static void take_tempo(struct view *v)
{
    const struct work_step *step = diagnosis_newest(v->diagnosis);

    if (!step->pause)
        tempo_take(&v->tempo, steps_count(v->steps)->done - 1,
                   &(struct tempo_step){ step->duration_s, step->typical_s, step->transfer_s });
}

/* Steps ended that ranks reported. */
static void on_step(void *arg, double now_s, const struct step_done *d)
{
    struct view *v = arg;

    if (presence_was_suspended(v->presence, now_s, d->duration_s * d->steps))
        return;
    if (steps_keep(v->steps, now_s, d->duration_s))
        columns_take_step(v->columns, d->duration_s);
    if (!updates_found(call_steps_updates(v->calls)))
        path_shares_take_work(v->path_shares, now_s, d->own_s, d->ranks);
    diagnosis_step(v->diagnosis,
                   &(struct diagnosis_step){ .seq = d->last_seq,
                                             .period = d->period,
                                             .own_s = d->own_s,
                                             .n = d->ranks,
                                             .duration_s = d->duration_s,
                                             .transfer_s = d->transfer_s,
                                             .wait_s = d->wait_s,
                                             .ended_s = now_s,
                                             .began_s = v->watched_s },
                   v->params.min_slowdown);
    take_tempo(v);
    scaling_take_steps(v->scaling, d->steps);
    phases_take_step(v->phases, now_s, diagnosis_newest(v->diagnosis), steps_count(v->steps)->block == 1,
                     d->first_seq, d->last_seq);
}

/* Steps ended that were put together from their calls. */
static void on_steps_of_calls(struct view *v, double now_s)
{
    struct call_step k;
    uint64_t judged;

    while (call_steps_next(v->calls, &k)) {
        struct path *path;

        steps_count_whole(v->steps, now_s, &k);
        if (steps_keep(v->steps, now_s, k.duration_s))
            columns_take_step(v->columns, k.duration_s);
        scaling_take_steps(v->scaling, k.steps);
        path = path_new(call_steps_graph(v->calls), k.back, k.ranks);
        if (path)
            path_shares_take_path(v->path_shares, now_s, path);
        path_free(path);
        judged = diagnosis_steps(v->diagnosis);
        call_steps_judge(v->calls, now_s, v->watched_s, v->params.min_slowdown, &k);
        if (diagnosis_steps(v->diagnosis) > judged)
            take_tempo(v);
    }
}

/* What is counted as a step is something else from now on. */
static void on_restart(void *arg, bool other_period)
{
    struct view *v = arg;

    diagnosis_restart(v->diagnosis);
    phases_forget(v->phases);
    if (!other_period)
        return;
    scaling_forget(v->scaling);
    v->tempo = (struct tempo){ 0 };
}

/* Time passes: columns of history are over. */
static void on_columns(struct view *v, double now_s)
{
    struct column c;
    bool closed = false;

    for (; columns_close(v->columns, now_s, &c); closed = true) {
        outlook_take(v->outlook, &c);
        if (!(c.all.work_s + c.all.stay_s > 0)) /* no sample came: what was recent remains so */
            continue;
        sums_fade(v->sums);
        communicators_fade(v->communicators);
    }
    columns_fit(v->columns, steps_median_s(v->steps, now_s), closed);
}

void view_rank_end(struct view *v, uint32_t rank, uint16_t app, bool vanished)
{
    if (!roster_end(v->roster, rank, app, vanished))
        return;
    steps_end_rank(v->steps, rank);
    communicators_end_rank(v->communicators, rank);
    if (v->calls)
        call_steps_end_rank(v->calls, rank);
}

/* ---- calls one by one ---- */

static uint32_t members_of(uint64_t comm, void *arg)
{
    const struct view *v = arg;

    return communicators_size(v->communicators, comm);
}

static bool runs(const struct view *v, uint32_t rank)
{
    const struct view_rank *k = roster_at(v->roster, rank);

    return k->known && !k->ended;
}

static void add_to_calls(struct view *v, uint32_t rank)
{
    uint32_t node = roster_at(v->roster, rank)->node;

    /* Ranks of a node share its clock; one whose node is unknown has a clock of its own. */
    call_steps_add_rank(v->calls, rank, node == WORK_PLACE_NONE ? VIEW_RANKS_MAX + rank : node);
}

/* ---- a view ---- */

struct view *view_new(const struct view_params *p, double now_s)
{
    struct view *v = xcalloc(1, sizeof(*v));

    *v = (struct view){
        .params = *p, .quota.bytes = INFINITY, .now_s = now_s, .watched_s = NAN, .item_s = -INFINITY
    };
    v->events = events_new();
    v->diagnosis = diagnosis_new();
    v->roster = roster_new(&v->quota, now_s);
    v->sums = sums_new(v->roster);
    v->communicators = communicators_new(&v->quota, v->roster, v->sums, on_joined, v);
    v->presence = presence_new(v->roster, v->communicators);
    v->steps = steps_new(&v->quota, v->roster, v->communicators, v->presence, v->events,
                         &(struct steps_hooks){ on_step, on_restart, v });
    v->columns = columns_new(v->roster, now_s);
    v->path_shares = path_shares_new(v->roster, v->steps, v->events);
    v->phases = phases_new(v->events);
    v->outlook = outlook_new();
    v->health = view_health_new(&v->quota, v->roster, v->columns);
    v->connections = connections_new(&v->quota, v->roster);
    v->marks = step_marks_new(&v->quota, v->roster, v->presence, v->events);
    v->scaling = scaling_new();
    v->shortfalls = shortfalls_new(v->roster, v->communicators, v->events);
    v->switches = switches_new();
    v->picture = newest_picture_new();
    v->verdicts = view_verdicts_new();
    return v;
}

void view_free(struct view *v)
{
    if (!v)
        return;
    free(v->run);
    view_verdicts_free(v->verdicts);
    newest_picture_free(v->picture);
    switches_free(v->switches);
    shortfalls_free(v->shortfalls);
    scaling_free(v->scaling);
    step_marks_free(v->marks);
    connections_free(v->connections);
    view_health_free(v->health);
    call_steps_free(v->calls);
    outlook_free(v->outlook);
    phases_free(v->phases);
    path_shares_free(v->path_shares);
    arrivals_forget(&v->arrivals);
    columns_free(v->columns);
    steps_free(v->steps);
    presence_free(v->presence);
    communicators_free(v->communicators);
    sums_free(v->sums);
    roster_free(v->roster);
    diagnosis_free(v->diagnosis);
    events_free(v->events);
    free(v);
}

void view_params_set(struct view *v, const struct view_params *p)
{
    v->params = *p;
}

void view_bound(struct view *v, double bytes)
{
    v->quota.bytes = bytes;
}

double view_bytes(const struct view *v)
{
    return quota_held(&v->quota);
}

struct view_rejected view_rejected_get(const struct view *v)
{
    return v->quota.rejected;
}

bool view_event_take(struct view *v, struct view_event *e)
{
    return events_take(v->events, e);
}

/* Another program began: what was measured of the one before does not apply. */
static void forget_program(struct view *v, uint16_t app)
{
    roster_forget(v->roster, app);
    communicators_forget(v->communicators);
    steps_forget(v->steps);
    columns_forget(v->columns);
    sums_forget(v->sums);
    outlook_forget(v->outlook);
    v->tempo = (struct tempo){ 0 };
    arrivals_forget(&v->arrivals);
    view_health_forget(v->health);
    connections_forget(v->connections);
    step_marks_forget(v->marks);
    scaling_forget(v->scaling);
    shortfalls_forget(v->shortfalls);
    call_steps_free(v->calls);
    v->calls = NULL;
    v->call_use = (struct call_use){ 0 };
    v->unplaced = 0;
    diagnosis_price_by_work(v->diagnosis);
    path_shares_forget(v->path_shares);
    newest_picture_free(v->picture);
    v->picture = newest_picture_new();
    diagnosis_restart(v->diagnosis);
}

void view_switches_add(struct view *v, const char *path)
{
    switches_add(v->switches, path);
}

const struct switches *view_switches(const struct view *v)
{
    return v->switches;
}

int view_rank_add(struct view *v, uint32_t rank, uint16_t app, const char *node, const char *switch_name)
{
    if (rank >= VIEW_RANKS_MAX || app < roster_count(v->roster)->app)
        return -1;
    /* The arrays are as long as the largest number of a rank needs. */
    if (rank >= roster_limit(v->roster) && !quota_allows(&v->quota, roster_more_bytes(v->roster, rank)))
        return -1;
    if (app > roster_count(v->roster)->app)
        forget_program(v, app);
    roster_add(v->roster, v->now_s, rank, node, switch_name);
    steps_reserve(v->steps, rank + 1);
    columns_reserve(v->columns, rank + 1);
    sums_reserve(v->sums, rank + 1);
    diagnosis_place(v->diagnosis, rank, roster_at(v->roster, rank)->node,
                    roster_at(v->roster, rank)->switch_id);
    if (v->calls)
        add_to_calls(v, rank);
    return 0;
}

void view_rank_process(struct view *v, uint32_t rank, uint16_t app, int64_t pid)
{
    roster_process_set(v->roster, rank, app, pid);
}

void view_comm_call(struct view *v, uint64_t name, const char *label)
{
    communicators_call(v->communicators, name, label);
}

void view_comm_forget(struct view *v, uint64_t name)
{
    communicators_forget_one(v->communicators, name);
}

void view_comm_reached(struct view *v, uint64_t name, uint32_t rank, uint32_t left, uint32_t called)
{
    communicators_reached(v->communicators, name, rank, left, called);
}

void view_rank_record(struct view *v, uint32_t rank, bool recorded, uint32_t queued)
{
    roster_record(v->roster, rank, recorded, queued);
}

void view_node_silent(struct view *v, const char *node, double since_s)
{
    presence_node_silent(v->presence, node, since_s);
}

void view_slurm_set(struct view *v, double now_s, enum view_slurm slurm, const char *state)
{
    if (!presence_slurm_set(v->presence, now_s, slurm, state))
        return;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++)
        call_steps_lost(v->calls, r);
}

/* ---- items ---- */

static void begin_watch(struct view *v, double now_s)
{
    presence_begin(v->presence, now_s);
    if (isnan(v->watched_s))
        v->watched_s = now_s;
}

static void take_sample(struct view *v, const struct sample *i)
{
    if (!roster_find(v->roster, i->rank, i->app))
        return;
    if (!i->n || i->n > 65536 || i->gap_sum_ns > QUOTA_TIME_MAX_NS || i->stay_sum_ns > QUOTA_TIME_MAX_NS ||
        i->stay_ns > QUOTA_TIME_MAX_NS || i->p2p_sum_ns > i->gap_sum_ns) {
        v->quota.refused++;
        return;
    }
    steps_take_seq(v->steps, v->now_s, i->comm, i->seq + i->n - 1);
    roster_take_sample(v->roster, v->now_s, i);
    note_use(v, i->comm, i->flags & RING_EVENT_NONBLOCKING);
    if (i->flags & SAMPLE_WHOLE)
        return; /* the sample of its block has its times, too; whole ones are for traces */
    if (!presence_stood_still(v->presence, v->now_s, (double)(i->gap_sum_ns + i->stay_sum_ns) * 1e-9)) {
        columns_take_sample(v->columns, i);
        sums_take_sample(v->sums, i);
    }
    /* it is a collective all the same: what such ones show is known from it, too */
    communicators_take_sample(v->communicators, i);
}

bool view_call_place(struct view *v, struct call *c)
{
    uint32_t rank;

    if (!call_is_message(c) || !(c->flags & RING_EVENT_MEMBER))
        return true;
    if (!roster_find(v->roster, c->rank, c->app))
        return false;
    rank = communicators_rank(v->communicators, c->comm, c->peer);
    if (rank == UINT32_MAX) {
        v->unplaced++;
        view_call_lost(v, c->rank);
        return false;
    }
    c->peer = rank;
    c->flags &= (uint8_t)~RING_EVENT_MEMBER;
    return true;
}

/* The message that a call in progress lasts for.  Where its other end is not known yet, it comes again. */
static void take_member(struct view *v, const struct member_item *i)
{
    struct partner_item p = {
        .rank = i->rank, .app = i->app, .op = i->op, .tag = i->tag, .enter_ns = i->enter_ns
    };

    p.peer = communicators_rank(v->communicators, i->comm, i->place);
    if (p.peer != UINT32_MAX)
        roster_take_partner(v->roster, &p);
}

static void take_placed_call(struct view *v, double now_s, const struct call *i)
{
    if (i->op == RING_OP_NONE ||
        presence_was_suspended(v->presence, now_s, (double)(i->leave_ns - call_begin_ns(i)) * 1e-9)) {
        call_steps_gap(v->calls, i->rank);
        return;
    }
    if (i->leave_ns - call_begin_ns(i) > QUOTA_TIME_MAX_NS ||
        (call_is_pairwise(i) && i->peer >= roster_limit(v->roster))) {
        v->quota.refused++;
        return;
    }
    if (!call_is_pairwise(i) && communicators_disputed(v->communicators, i->comm)) {
        view_call_lost(v, i->rank);
        return;
    }
    view_call(v, now_s, i);
}

static void take_call(struct view *v, double now_s, const struct call *i)
{
    struct call c = *i;

    if (roster_find(v->roster, i->rank, i->app) && view_call_place(v, &c))
        take_placed_call(v, now_s, &c);
}

void view_item(struct view *v, double now_s, const struct telemetry_item *item)
{
    v->now_s = now_s;
    v->item_s = now_s;
    begin_watch(v, now_s);
    switch (item->kind) {
    case TELEMETRY_SAMPLE:
        take_sample(v, &item->sample);
        break;
    case TELEMETRY_STEP:
        if (roster_find(v->roster, item->step.rank, item->step.app) && !call_steps_active(v->calls) &&
            !communicators_disputed(v->communicators, item->step.comm))
            steps_take(v->steps, now_s, &item->step);
        break;
    case TELEMETRY_LIVE:
        if (roster_take_live(v->roster, now_s, &item->live) && item->live.op != RING_OP_NONE)
            steps_take_seq(v->steps, now_s, item->live.comm, item->live.seq);
        break;
    case TELEMETRY_COUNTS:
        if (roster_take_counts(v->roster, now_s, &item->counts))
            v->call_use.various = v->call_use.various || item->counts.p2p_calls;
        break;
    case TELEMETRY_COMM:
        communicators_take(v->communicators, &item->comm);
        break;
    case TELEMETRY_COMM_END:
        communicators_take_end(v->communicators, &item->comm_end);
        break;
    case TELEMETRY_LOSSES:
        roster_take_losses(v->roster, &item->losses);
        break;
    case TELEMETRY_SIGNALS:
        roster_take_signals(v->roster, &item->signals);
        break;
    case TELEMETRY_NODE:
        view_health_take_node(v->health, now_s, &item->node);
        break;
    case TELEMETRY_TASK:
        view_health_take_task(v->health, now_s, &item->task);
        break;
    case TELEMETRY_GPU:
        view_health_take_gpu(v->health, now_s, &item->gpu);
        break;
    case TELEMETRY_GPU_STATE:
        view_health_take_gpu_state(v->health, now_s, &item->gpu_state);
        break;
    case TELEMETRY_PROCESS:
        roster_take_process(v->roster, now_s, &item->process);
        break;
    case TELEMETRY_PARTNER:
        roster_take_partner(v->roster, &item->partner);
        break;
    case TELEMETRY_MEMBER:
        take_member(v, &item->member);
        break;
    case TELEMETRY_LEFT:
        roster_take_left(v->roster, now_s, &item->left);
        break;
    case TELEMETRY_TRAFFIC:
        connections_take(v->connections, now_s, &item->traffic);
        break;
    case TELEMETRY_CALL:
    case TELEMETRY_ONESIDED:
        take_call(v, now_s, &item->call);
        break;
    case TELEMETRY_PHASES:
        step_marks_take_phases(v->marks, now_s, &item->phases);
        break;
    case TELEMETRY_VALUE:
        step_marks_take_value(v->marks, &item->value);
        break;
    }
}

void view_call(struct view *v, double now_s, const struct call *c)
{
    struct boundary_at at;

    if (!quota_allows(&v->quota, 0))
        return;
    if (!v->calls) {
        v->calls = call_steps_new(members_of, v, v->diagnosis);
        for (uint32_t r = 0; r < roster_limit(v->roster); r++)
            if (runs(v, r))
                add_to_calls(v, r);
    }
    if (c->rank >= roster_limit(v->roster) || !runs(v, c->rank))
        return;
    begin_watch(v, now_s);
    /* They are judged by calls from the first message, nonblocking call or second communicator on; what was
     * judged before, as meetings of all ranks, is over. */
    if (!call_steps_active(v->calls)) {
        note_use(v, c->comm, call_is_pairwise(c) || call_is_nonblocking(c));
        if (!v->call_use.various)
            return;
        steps_forget(v->steps);
        path_shares_forget(v->path_shares);
        diagnosis_restart(v->diagnosis);
        call_steps_activate(v->calls);
    }
    at = call_steps_take(v->calls, c, communicators_series(v->communicators, c->comm));
    if (at.moved) {
        steps_restart(v->steps);
        path_shares_forget(v->path_shares);
        diagnosis_restart(v->diagnosis);
    }
    if (at.ends)
        on_steps_of_calls(v, now_s);
}

void view_call_lost(struct view *v, uint32_t rank)
{
    call_steps_lost(v->calls, rank);
}

bool view_calls_wanted(const struct view *v)
{
    return v->call_use.various;
}

bool view_calls_found(const struct view *v)
{
    return call_steps_found(v->calls);
}

/* ---- from one view to the next ---- */

void view_position_get(const struct view *v, struct view_position *p)
{
    double began_s = presence_began_s(v->presence);

    *p = (struct view_position){ .began_s = began_s,
                                 .judged = !isnan(diagnosis_limit(v->diagnosis)),
                                 .app = roster_count(v->roster)->app };
    p->suspended_s = v->now_s - began_s - presence_run_s(v->presence, v->now_s);
    steps_position(v->steps, p);
    p->spent = sums_all(v->sums, true);
    communicators_position(v->communicators, p->of_size);
}

void view_position_set(struct view *v, const struct view_position *p, const struct view_verdict *verdict,
                       size_t n)
{
    if (p->app > roster_count(v->roster)->app)
        roster_forget(v->roster, p->app);
    if (!p->judged)
        v->watched_s = p->began_s;
    steps_go_on(v->steps, v->now_s, p);
    sums_go_on(v->sums, &p->spent);
    communicators_go_on(v->communicators, p->of_size);
    presence_go_on(v->presence, p->began_s, p->suspended_s);
    view_verdicts_go_on(v, verdict, n);
}

/* ---- time ---- */

void view_tick(struct view *v, double now_s)
{
    unsigned adapters;
    double adapter_bytes_per_s = view_adapter_get(v, &adapters);

    v->now_s = now_s;
    on_columns(v, now_s);
    communicators_roll(v->communicators, now_s);
    view_health_roll(v, now_s);
    step_marks_roll(v->marks, now_s);
    shortfalls_judge(v->shortfalls, now_s, adapter_bytes_per_s * adapters);
    view_judge(v, now_s);
    v->quota.held[QUOTA_CALLS] = v->calls ? call_steps_bytes(v->calls) : 0;
    if (presence_finished(v->presence))
        view_run_take(v, now_s);
}

void view_unseen_set(struct view *v, bool quiet, const char *text)
{
    snprintf(v->unseen, sizeof(v->unseen), "%s", text);
    v->unseen_quiet = quiet;
}

void view_finish(struct view *v, double now_s)
{
    presence_finish(v->presence);
    communicators_finish(v->communicators);
    if (v->calls) {
        call_steps_finish(v->calls);
        on_steps_of_calls(v, now_s);
        call_steps_settle(v->calls, v->params.min_slowdown);
    }
    steps_finish(v->steps, now_s);
    view_tick(v, now_s);
}
