#include "analysis/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/join.h"
#include "analysis/straggler.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#include "analysis/view_private.h"

static const char *const regimes[] = { "starting", "compute", "communication", "synchronisation", "stalled" };
static const char *const classes[] = { "straggler", "hang" };
static const char *const scopes[] = { "none", "rank", "node", "switch" };

const char *view_regime_name(enum view_regime r)
{
    return r < ARRAY_SIZE(regimes) ? regimes[r] : "unknown";
}

const char *view_class_name(enum view_class c)
{
    return c < ARRAY_SIZE(classes) ? classes[c] : "unknown";
}

const char *view_scope_name(enum view_scope s)
{
    return s < ARRAY_SIZE(scopes) ? scopes[s] : "unknown";
}

struct view *view_new(const struct view_params *p, double now_s)
{
    struct view *v = xcalloc(1, sizeof(*v));

    v->params = *p;
    v->straggler = straggler_new();
    v->column_s = 1;
    v->column_begin_s = v->start_s = v->now_s = v->added_s = now_s;
    v->n_columns = 1;
    return v;
}

static void forget_open_steps(struct view *v)
{
    for (size_t i = 0; i < STEPS_OPEN; i++)
        v->open[i].used = false;
}

static void forget_comms(struct view *v)
{
    for (size_t i = 0; i < v->n_comms; i++)
        join_free(v->comm[i].join);
    v->n_comms = 0;
}

void view_free(struct view *v)
{
    if (!v)
        return;
    forget_comms(v);
    for (size_t i = 0; i < STEPS_OPEN; i++)
        free(v->open[i].rank);
    for (size_t i = 0; i < v->n_names; i++)
        free(v->name[i]);
    free(v->name);
    free(v->work_s);
    free(v->comm);
    free(v->rank);
    straggler_free(v->straggler);
    free(v);
}

void view_params_set(struct view *v, const struct view_params *p)
{
    v->params = *p;
}

void view_event(struct view *v, double now_s, const char *fmt, ...)
{
    struct view_event *e = &v->event[v->events_in++ % EVENTS];
    va_list ap;

    e->at_s = now_s;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof(e->text), fmt, ap);
    va_end(ap);
    if (v->events_in - v->events_out > EVENTS)
        v->events_out = v->events_in - EVENTS;
}

bool view_event_take(struct view *v, struct view_event *e)
{
    if (v->events_out == v->events_in)
        return false;
    *e = v->event[v->events_out++ % EVENTS];
    return true;
}

/* ---- ranks ---- */

/* Names of nodes and switches, each kept once; their number is the place the straggler search works with. */
static uint32_t intern(struct view *v, const char *name)
{
    if (!name || !*name)
        return STRAGGLER_PLACE_NONE;
    for (size_t i = 0; i < v->n_names; i++)
        if (!strcmp(v->name[i], name))
            return (uint32_t)i;
    v->name = xgrow(v->name, &v->names_cap, v->n_names + 1, sizeof(*v->name));
    v->name[v->n_names] = xstrdup(name);
    return (uint32_t)v->n_names++;
}

const char *view_place_name(const struct view *v, uint32_t place)
{
    return place < v->n_names ? v->name[place] : "";
}

/* Another program began: what was measured of the one before does not apply. */
static void next_app(struct view *v, uint16_t app)
{
    v->app = app;
    forget_comms(v);
    straggler_reset(v->straggler);
    for (uint32_t r = 0; r < v->n_ranks; r++)
        v->rank[r] = (struct view_rank){ .node = STRAGGLER_PLACE_NONE, .leaf = STRAGGLER_PLACE_NONE };
    forget_open_steps(v);
    v->ranks = v->ranks_most = 0;
    v->period = 0;
    v->step_comm = 0;
    v->steps_kept = 0;
    v->skews_kept = 0;
}

int view_rank_add(struct view *v, uint32_t rank, uint16_t app, const char *node, const char *leaf)
{
    struct view_rank *k;

    if (rank >= VIEW_RANKS_MAX || app < v->app)
        return -1;
    if (app > v->app)
        next_app(v, app);
    if (rank >= v->n_ranks) {
        v->rank = xgrow(v->rank, &v->ranks_cap, rank + 1, sizeof(*v->rank));
        for (; v->n_ranks <= rank; v->n_ranks++)
            v->rank[v->n_ranks].node = v->rank[v->n_ranks].leaf = STRAGGLER_PLACE_NONE;
    }
    k = &v->rank[rank];
    v->ranks += !k->known || k->ended;
    v->ranks_most = v->ranks > v->ranks_most ? v->ranks : v->ranks_most;
    k->known = true;
    k->ended = k->vanished = false;
    k->node = intern(v, node);
    k->leaf = intern(v, leaf);
    straggler_place(v->straggler, rank, k->node, k->leaf);
    v->added_s = v->now_s;
    return 0;
}

void view_rank_end(struct view *v, uint32_t rank, uint16_t app, bool vanished)
{
    struct view_rank *k = app == v->app && rank < v->n_ranks ? &v->rank[rank] : NULL;

    if (!k || !k->known || k->ended)
        return;
    k->ended = true;
    k->vanished = vanished;
    k->inside_op = RING_OP_NONE;
    v->ranks--;
    for (size_t i = 0; i < v->n_comms; i++)
        join_leave(v->comm[i].join, rank);
}

static struct view_rank *rank_get(struct view *v, uint32_t rank, uint16_t app)
{
    if (app != v->app || rank >= v->n_ranks || !v->rank[rank].known) {
        v->refused++;
        return NULL;
    }
    return &v->rank[rank];
}

/* ---- communicators and their collectives ---- */

struct comm *view_comm_find(const struct view *v, uint64_t name)
{
    size_t low = 0, high = v->n_comms;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (v->comm[mid].name < name)
            low = mid + 1;
        else
            high = mid;
    }
    return low < v->n_comms && v->comm[low].name == name ? &v->comm[low] : NULL;
}

static struct comm *comm_add(struct view *v, const struct comm_item *c)
{
    struct join *join;
    size_t at = 0;

    if (v->n_comms >= VIEW_COMMS_MAX || !(join = join_new(c)))
        return NULL;
    while (at < v->n_comms && v->comm[at].name < c->name)
        at++;
    v->comm = xgrow(v->comm, &v->comms_cap, v->n_comms + 1, sizeof(*v->comm));
    memmove(&v->comm[at + 1], &v->comm[at], (v->n_comms - at) * sizeof(*v->comm));
    v->comm[at] = (struct comm){
        .name = c->name, .size = c->size, .first = c->first, .instance = c->instance, .join = join
    };
    v->n_comms++;
    return &v->comm[at];
}

static void take_comm(struct view *v, const struct comm_item *c)
{
    struct comm *k = view_comm_find(v, c->name);

    if (!rank_get(v, c->rank, c->app) || c->size < 2)
        return;
    if (!k)
        k = comm_add(v, c);
    if (!k || k->size != c->size) {
        v->refused++;
        return;
    }
    join_member(k->join, c->rank, c->comm_rank);
}

/* Lateness spans decades: buckets of a constant ratio, from a microsecond up. */
#define BUCKET_RATIO 1.8

static unsigned bucket_of(double s)
{
    double b = s > 1e-6 ? log(s * 1e6) / log(BUCKET_RATIO) : 0;

    return b < BUCKETS - 1 ? (unsigned)b : BUCKETS - 1;
}

static void bucket_add(struct view_rank *k, double s)
{
    unsigned b = bucket_of(s);

    if (++k->bucket[b] == UINT16_MAX || ++k->bucketed >= 4096) {
        k->bucketed = 0;
        for (b = 0; b < BUCKETS; b++)
            k->bucketed += k->bucket[b] /= 2;
    }
}

static double bucket_quantile(const struct view_rank *k, double q)
{
    double want = q * k->bucketed, sum = 0;

    if (!k->bucketed)
        return NAN;
    for (unsigned b = 0; b < BUCKETS; b++) {
        if (sum + k->bucket[b] >= want && k->bucket[b])
            return b ? 1e-6 * pow(BUCKET_RATIO, b + (want - sum) / k->bucket[b]) : 1e-6;
        sum += k->bucket[b];
    }
    return NAN;
}

static void remember_skew(struct view *v, double skew_s)
{
    v->skew_s[v->skews_kept++ % SKEWS] = (float)skew_s;
}

static void on_joined(const struct joined *j, void *arg)
{
    struct joined_arg *a = arg;
    struct view *v = a->view;
    struct comm *c = a->comm;
    double skew_s = j->stay_max_s - j->stay_min_s, wait_s = j->stay_sum_s - j->present * j->stay_min_s;
    bool tells = j->complete && !(j->flags & SAMPLE_UNWAITED);

    v->collectives++;
    c->now.collectives += j->n;
    c->now.bytes += (double)j->bytes * j->n;
    c->now.joined++;
    c->now.skew_s += skew_s;
    c->now.transfer_s += j->stay_min_s;
    if (!tells)
        return;
    v->now.wait_s += wait_s * j->n;
    v->now.transfer_s += j->stay_min_s * j->present * j->n;
    if (c->size == v->main_size) {
        v->now.skew_sum_s += skew_s;
        v->now.skews++;
        remember_skew(v, skew_s);
    }
    for (uint32_t i = 0; i < j->slots; i++) {
        uint32_t r = j->rank[i];

        if (r >= v->n_ranks || isnan(j->stay_s[i]))
            continue;
        double late_s = j->stay_max_s - j->stay_s[i];

        v->rank[r].now.lateness_s += (float)late_s;
        v->rank[r].now.joined++;
        bucket_add(&v->rank[r], late_s);
    }
    if (j->last < v->n_ranks)
        v->rank[j->last].now.last++;
}

static void take_sample(struct view *v, const struct sample *s)
{
    struct joined_arg arg = { .view = v };
    struct view_rank *k = rank_get(v, s->rank, s->app);

    if (!k)
        return;
    if (!s->n || s->n > 65536 || s->gap_sum_ns > TIME_MAX_NS || s->stay_sum_ns > TIME_MAX_NS ||
        s->stay_ns > TIME_MAX_NS || s->p2p_sum_ns > s->gap_sum_ns) {
        v->refused++;
        return;
    }
    k->inside_op = RING_OP_NONE; /* it left a collective since it was told to be inside of something */
    if (s->flags & SAMPLE_WHOLE)
        return; /* its block tells it too; whole ones are for traces */
    v->now.work_s += (double)(s->gap_sum_ns - s->p2p_sum_ns) * 1e-9;
    v->now.p2p_s += (double)s->p2p_sum_ns * 1e-9;
    v->now.stay_s += (double)s->stay_sum_ns * 1e-9;
    arg.comm = view_comm_find(v, s->comm);
    if (!arg.comm || !ring_op_synchronises(s->op) || (s->flags & (SAMPLE_INTER | SAMPLE_FAILED)))
        return;
    if (arg.comm->size > v->main_size)
        v->main_size = arg.comm->size;
    join_sample(arg.comm->join, s, on_joined, &arg);
}

/* ---- steps ---- */

static void remember_step(struct view *v, double now_s, double duration_s)
{
    v->step[v->steps_kept % STEPS_KEPT].duration_s = (float)duration_s;
    v->step[v->steps_kept % STEPS_KEPT].at_s = now_s;
    v->steps_kept++;
    v->now.step_sum_s += duration_s;
    v->now.steps++;
}

static double smooth(double old, double now)
{
    return old > 0 ? old + (now - old) / 8 : now;
}

/* All that told of a stretch of steps: hold its ranks against each other. */
static void deliver_step(struct view *v, double now_s, struct open_step *o)
{
    uint32_t limit = v->n_ranks < o->cap ? v->n_ranks : o->cap, most = 0;
    double duration_s = o->told ? o->duration_sum_s / o->told : 0;

    o->used = false;
    if (o->present * 2 < v->ranks_most || !o->told)
        return;
    for (uint32_t r = 0; r < limit; r++) {
        most = o->rank[r].steps > most ? o->rank[r].steps : most;
        v->work_s[r] = o->rank[r].steps ? o->rank[r].work_s / (float)o->rank[r].steps : NAN;
    }
    v->steps += most;
    v->steps_seen_s = now_s;
    remember_step(v, now_s, duration_s);
    straggler_step(v->straggler, v->steps, v->work_s, limit, duration_s);
}

/* A complete stretch, after those before it: in order, and none left behind. */
static void deliver_up_to(struct view *v, double now_s, struct open_step *complete)
{
    uint32_t end = complete->number;

    for (;;) {
        struct open_step *oldest = complete;

        for (struct open_step *o = v->open; o < v->open + STEPS_OPEN; o++)
            if (o->used && o->number + STEPS_LATE * v->step_block < end && o->number < oldest->number)
                oldest = o;
        deliver_step(v, now_s, oldest);
        if (oldest == complete)
            return;
    }
}

static void reserve_step(struct view *v, struct open_step *o)
{
    if (v->work_cap < v->n_ranks)
        v->work_s = xgrow(v->work_s, &v->work_cap, v->n_ranks, sizeof(*v->work_s));
    if (o->cap >= v->n_ranks)
        return;
    o->cap = v->n_ranks;
    o->rank = xrealloc(o->rank, o->cap, sizeof(*o->rank));
}

static struct open_step *open_step_get(struct view *v, double now_s, uint32_t number)
{
    struct open_step *slot = NULL, *oldest = &v->open[0];

    for (struct open_step *o = v->open; o < v->open + STEPS_OPEN; o++) {
        if (o->used && o->number == number)
            return o;
        if (!o->used)
            slot = o;
        else if (o->number < oldest->number)
            oldest = o;
    }
    if (!slot) {
        if (number < oldest->number)
            return NULL;
        slot = oldest;
        deliver_step(v, now_s, slot);
    }
    reserve_step(v, slot);
    memset(slot->rank, 0, slot->cap * sizeof(*slot->rank));
    slot->used = true;
    slot->number = number;
    slot->present = slot->full = slot->told = 0;
    slot->duration_sum_s = 0;
    return slot;
}

/* The communicator that steps are counted on: the first told of, a larger one instead, any other when it fell
 * silent. */
static bool counts_steps(struct view *v, double now_s, const struct step *s)
{
    struct comm *c = view_comm_find(v, s->comm);

    if (!c)
        return false;
    if (s->comm != v->step_comm && (c->size > v->step_size || v->steps_seen_s + 10 < now_s)) {
        v->step_comm = s->comm;
        v->step_size = c->size;
        v->steps = s->seq / s->period;
        v->steps_seen_s = now_s;
    }
    if (c->size != v->step_size)
        return false;
    if (s->comm == v->step_comm && v->period != s->period) {
        v->period = s->period;
        v->step_block = 1;
        forget_open_steps(v);
        view_event(v, now_s, "a step is %u collectives on %u ranks", s->period, c->size);
    }
    return s->period == v->period;
}

/* Fast steps come several an item, not always as many from every rank: they are put together over stretches
 * as long as the longest item. */
static void widen_stretch(struct view *v, uint32_t n_steps)
{
    if (n_steps <= v->step_block)
        return;
    while (v->step_block < n_steps)
        v->step_block *= 2;
    forget_open_steps(v);
}

static void add_steps(struct view *v, double now_s, const struct step *s, double work_s)
{
    uint32_t number = s->seq / s->period / v->step_block * v->step_block;
    struct open_step *o = open_step_get(v, now_s, number);

    if (!o || s->rank >= o->cap)
        return;
    o->present += !o->rank[s->rank].steps;
    o->rank[s->rank].steps += s->n_steps;
    o->rank[s->rank].work_s += (float)(work_s * s->n_steps);
    o->full += o->rank[s->rank].steps >= v->step_block && o->rank[s->rank].steps - s->n_steps < v->step_block;
    o->duration_sum_s += (double)s->duration_ns * 1e-9;
    o->told += s->n_steps;
    if (v->ranks && o->full >= v->ranks && now_s >= v->added_s + SETTLE_S)
        deliver_up_to(v, now_s, o);
}

static void take_step(struct view *v, double now_s, const struct step *s)
{
    struct view_rank *k = rank_get(v, s->rank, s->app);
    double work_s;

    if (!k)
        return;
    if (!s->period || !s->n_steps || s->n_steps > STEPS_ITEM_MAX || s->duration_ns > TIME_MAX_NS ||
        !s->duration_ns || s->gap_ns > TIME_MAX_NS || s->p2p_ns > s->gap_ns || s->stay_ns > TIME_MAX_NS) {
        v->refused++;
        return;
    }
    if (!counts_steps(v, now_s, s))
        return;
    work_s = (double)(s->gap_ns - s->p2p_ns) * 1e-9 / s->n_steps;
    k->compute_s = smooth(k->compute_s, work_s);
    k->stay_s = smooth(k->stay_s, (double)s->stay_ns * 1e-9 / s->n_steps);
    widen_stretch(v, s->n_steps);
    add_steps(v, now_s, s, work_s);
}

/* ---- the rest of the items ---- */

static void take_live(struct view *v, double now_s, const struct live *l)
{
    struct view_rank *k = rank_get(v, l->rank, l->app);

    if (!k)
        return;
    if (l->age_ns > TIME_MAX_NS || l->op >= RING_OP_MAX) {
        v->refused++;
        return;
    }
    k->live_op = l->op;
    k->inside_op = l->op;
    k->inside_comm = l->comm;
    k->inside_ns = l->enter_ns;
    k->inside_seq = l->seq;
    k->inside_since_s = now_s - (double)l->age_ns * 1e-9;
    k->live_at_s = now_s;
}

static void take_counts(struct view *v, const struct counts *c)
{
    struct view_rank *k = rank_get(v, c->rank, c->app);

    if (!k)
        return;
    k->events = c->events;
    k->dropped = c->dropped;
    k->missed = c->missed;
}

void view_item(struct view *v, double now_s, const struct telemetry_item *item)
{
    v->now_s = now_s;
    switch (item->kind) {
    case TELEMETRY_SAMPLE:
        take_sample(v, &item->sample);
        break;
    case TELEMETRY_STEP:
        take_step(v, now_s, &item->step);
        break;
    case TELEMETRY_LIVE:
        take_live(v, now_s, &item->live);
        break;
    case TELEMETRY_COUNTS:
        take_counts(v, &item->counts);
        break;
    case TELEMETRY_COMM:
        take_comm(v, &item->comm);
        break;
    }
}

/* ---- columns of history ---- */

static void add_totals(struct totals *a, const struct totals *b)
{
    a->wait_s += b->wait_s;
    a->transfer_s += b->transfer_s;
    a->work_s += b->work_s;
    a->p2p_s += b->p2p_s;
    a->stay_s += b->stay_s;
    a->skew_sum_s += b->skew_sum_s;
    a->step_sum_s += b->step_sum_s;
    a->skews += b->skews;
    a->steps += b->steps;
}

static void add_cell(struct cell *a, const struct cell *b)
{
    a->lateness_s += b->lateness_s;
    a->joined += b->joined;
    a->last += b->last;
}

static size_t column_at(const struct view *v, size_t back)
{
    return (v->column + VIEW_COLUMNS - back) % VIEW_COLUMNS;
}

/* The newest column is kept in `now` while it fills, and laid down when it is over. */
static void next_column(struct view *v)
{
    v->columns[v->column] = v->now;
    memset(&v->now, 0, sizeof(v->now));
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        v->rank[r].columns[v->column] = v->rank[r].now;
        memset(&v->rank[r].now, 0, sizeof(v->rank[r].now));
    }
    v->column = (v->column + 1) % VIEW_COLUMNS;
    if (v->n_columns < VIEW_COLUMNS)
        v->n_columns++;
    v->column_begin_s += v->column_s;
}

/* Slow steps leave holes in columns of a second: double the column, two old ones become one. */
static void widen_columns(struct view *v)
{
    size_t kept = (v->n_columns - 1) / 2;

    for (size_t i = 0; i < kept; i++) {
        size_t to = column_at(v, i + 1), a = column_at(v, 2 * i + 1), b = column_at(v, 2 * i + 2);
        struct totals sum = v->columns[a];

        add_totals(&sum, &v->columns[b]);
        v->columns[to] = sum;
        for (uint32_t r = 0; r < v->n_ranks; r++) {
            struct cell cell = v->rank[r].columns[a];

            add_cell(&cell, &v->rank[r].columns[b]);
            v->rank[r].columns[to] = cell;
        }
    }
    v->n_columns = kept + 1;
    v->column_s *= 2;
}

static void roll_comm_rates(struct view *v, double now_s)
{
    if (now_s < v->comms_since_s + COMM_WINDOW_S)
        return;
    for (size_t i = 0; i < v->n_comms; i++) {
        v->comm[i].before = v->comm[i].now;
        v->comm[i].before.over_s = now_s - v->comms_since_s;
        memset(&v->comm[i].now, 0, sizeof(v->comm[i].now));
    }
    v->comms_since_s = now_s;
}

void view_tick(struct view *v, double now_s)
{
    v->now_s = now_s;
    if (now_s > v->column_begin_s + VIEW_COLUMNS * v->column_s) /* a long silence */
        v->column_begin_s = now_s - VIEW_COLUMNS * v->column_s;
    while (now_s >= v->column_begin_s + v->column_s)
        next_column(v);
    if (v->column_s < 64 && view_step_mean_s(v, now_s) > 0.7 * v->column_s)
        widen_columns(v);
    roll_comm_rates(v, now_s);
    view_judge(v, now_s);
}

void view_finish(struct view *v, double now_s)
{
    for (;;) {
        struct open_step *oldest = NULL;

        for (struct open_step *o = v->open; o < v->open + STEPS_OPEN; o++)
            if (o->used && (!oldest || o->number < oldest->number))
                oldest = o;
        if (!oldest)
            break;
        deliver_step(v, now_s, oldest);
    }
    view_tick(v, now_s);
}

double view_column_s(const struct view *v)
{
    return v->column_s;
}

size_t view_rank_columns(const struct view *v, uint32_t rank, float *lateness_s)
{
    for (size_t i = 0; i < v->n_columns; i++) {
        size_t back = v->n_columns - 1 - i;
        const struct cell *c = back ? &v->rank[rank].columns[column_at(v, back)] : &v->rank[rank].now;

        lateness_s[i] = c->joined ? c->lateness_s / (float)c->joined : NAN;
    }
    return v->n_columns;
}

static float lost_ratio(const struct totals *t)
{
    double all = t->work_s + t->p2p_s + t->stay_s;
    double joined = t->wait_s + t->transfer_s;

    return all > 0 && joined > 0 ? (float)(t->stay_s / all * t->wait_s / joined) : NAN;
}

size_t view_columns_get(const struct view *v, struct view_columns *c)
{
    for (size_t i = 0; i < v->n_columns; i++) {
        size_t back = v->n_columns - 1 - i;
        const struct totals *t = back ? &v->columns[column_at(v, back)] : &v->now;

        c->step_s[i] = t->steps ? (float)(t->step_sum_s / t->steps) : NAN;
        c->steps_per_s[i] = t->steps ? (float)(t->steps / t->step_sum_s) : NAN;
        c->skew_s[i] = t->skews ? (float)(t->skew_sum_s / t->skews) : NAN;
        c->lost_ratio[i] = lost_ratio(t);
    }
    return v->n_columns;
}

/* ---- figures ---- */

#define RECENT 10u /* columns that "now" means */

void view_recent_totals(const struct view *v, struct totals *sum)
{
    *sum = v->now;
    for (size_t back = 1; back < v->n_columns && back <= RECENT; back++)
        add_totals(sum, &v->columns[column_at(v, back)]);
}

void view_recent_cell(const struct view *v, uint32_t rank, struct cell *sum)
{
    *sum = v->rank[rank].now;
    for (size_t back = 1; back < v->n_columns && back <= RECENT; back++)
        add_cell(sum, &v->rank[rank].columns[column_at(v, back)]);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static double quantile(const float *sorted, size_t n, double q)
{
    return n ? sorted[(size_t)(q * (double)(n - 1) + 0.5)] : NAN;
}

/* Durations of the last minute's steps (at most STEPS_KEPT); at least 8, however old. */
static size_t recent_steps(const struct view *v, double now_s, float out[STEPS_KEPT])
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
    float d[STEPS_KEPT];
    size_t n = recent_steps(v, now_s, d);
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += d[i];
    return n ? sum / (double)n : NAN;
}

static void step_figures(const struct view *v, double now_s, struct view_figures *f)
{
    float d[STEPS_KEPT];
    size_t n = recent_steps(v, now_s, d);
    double sum = 0, squares = 0;

    f->step_mean_s = f->step_p50_s = f->step_p95_s = f->step_cv = f->steps_per_s = NAN;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        sum += d[i];
    f->step_mean_s = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (d[i] - f->step_mean_s) * (d[i] - f->step_mean_s);
    if (n > 1)
        f->step_cv = sqrt(squares / (double)(n - 1)) / f->step_mean_s;
    qsort(d, n, sizeof(d[0]), by_value);
    f->step_p50_s = quantile(d, n, 0.5);
    f->step_p95_s = quantile(d, n, 0.95);
    f->steps_per_s = 1 / f->step_mean_s;
}

static void skew_figures(const struct view *v, struct view_figures *f)
{
    size_t n = v->skews_kept < SKEWS ? v->skews_kept : SKEWS;
    float skew[SKEWS];

    memcpy(skew, v->skew_s, n * sizeof(skew[0]));
    qsort(skew, n, sizeof(skew[0]), by_value);
    f->skew_p50_s = quantile(skew, n, 0.5);
    f->skew_p95_s = quantile(skew, n, 0.95);
}

static void share_figures(const struct view *v, struct view_figures *f)
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
    f->mds = straggler_mds(v->straggler);
    f->collectives = v->collectives;
    f->refused = v->refused;
    step_figures(v, now_s, f);
    skew_figures(v, f);
    share_figures(v, f);
    worst_figures(v, f);
}

uint32_t view_rank_limit(const struct view *v)
{
    return v->n_ranks;
}

bool view_rank_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_figures *f)
{
    const struct view_rank *k;
    struct cell c;

    if (rank >= v->n_ranks || !v->rank[rank].known)
        return false;
    k = &v->rank[rank];
    view_recent_cell(v, rank, &c);
    *f = (struct view_rank_figures){
        .rank = rank,
        .node = view_place_name(v, k->node),
        .leaf = view_place_name(v, k->leaf),
        .ended = k->ended,
        .lateness_s = c.joined ? c.lateness_s / c.joined : NAN,
        .last_ratio = c.joined ? (double)c.last / c.joined : NAN,
        .lateness_p95_s = bucket_quantile(k, 0.95),
        .compute_s = k->compute_s > 0 ? k->compute_s : NAN,
        .stay_s = k->stay_s > 0 ? k->stay_s : NAN,
        .slowdown = 1 + straggler_excess(v->straggler, rank),
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

char *view_comm_label(const struct view *v, uint64_t name, char *buf, size_t size)
{
    const struct comm *c = view_comm_find(v, name);
    char dup[16] = "";

    if (c && c->instance)
        snprintf(dup, sizeof(dup), ".%u", c->instance);
    if (!c)
        snprintf(buf, size, "%016llx", (unsigned long long)name);
    else if (c->size == v->n_ranks)
        snprintf(buf, size, "world%s", dup);
    else
        snprintf(buf, size, "%u@%u%s", c->size, c->first, dup);
    return buf;
}

uint32_t view_comm_size(const struct view *v, uint64_t name)
{
    const struct comm *c = view_comm_find(v, name);

    return c ? join_announced(c->join) : 0;
}

static const struct comm_totals *comm_totals(const struct comm *c)
{
    return c->before.over_s > 0 ? &c->before : &c->now;
}

static int by_size(const void *a, const void *b)
{
    const struct view_comm *x = a, *y = b;

    return x->size == y->size ? 0 : x->size < y->size ? 1 : -1;
}

/* Adds c to the row of its size; false: no row yet and no room. */
static bool comm_row(const struct view *v, const struct comm *c, double now_s, struct view_comm *out,
                     size_t *n, size_t max)
{
    const struct comm_totals *t = comm_totals(c);
    double over_s = t->over_s > 0 ? t->over_s : now_s - v->comms_since_s;
    struct view_comm *row = out;

    while (row < out + *n && row->size != c->size)
        row++;
    if (row == out + max)
        return false;
    if (row == out + *n) {
        *row = (struct view_comm){ .name = c->name, .size = c->size, .main = c->name == v->step_comm };
        (*n)++;
    }
    row->instances++;
    row->main = row->main || c->name == v->step_comm;
    if (over_s > 0) {
        row->collectives_per_s += t->collectives / over_s;
        row->bytes_per_s += t->bytes / over_s;
    }
    row->skew_s += t->joined ? t->skew_s / (double)t->joined : 0;
    row->transfer_s += t->joined ? t->transfer_s / (double)t->joined : 0;
    return true;
}

size_t view_comms_get(const struct view *v, double now_s, struct view_comm *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_comms; i++)
        if (v->comm[i].now.joined || v->comm[i].before.joined)
            comm_row(v, &v->comm[i], now_s, out, &n, max);
    for (size_t i = 0; i < n; i++) {
        out[i].collectives_per_s /= out[i].instances;
        out[i].bytes_per_s /= out[i].instances;
        out[i].skew_s /= out[i].instances;
        out[i].transfer_s /= out[i].instances;
    }
    qsort(out, n, sizeof(*out), by_size);
    return n;
}
