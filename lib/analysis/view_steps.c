/* view_steps.c - a view's training steps: what the ranks report of them is put together, and the ranks are
 * compared with each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define STEPS_OPEN     16u /* steps being put together */
#define STEPS_ITEM_MAX 4096u
#define STEPS_KEPT     600u
#define P99_MIN        100u
#define STEPS_LATE     4u  /* a step is given up when one so much newer is complete */
#define VOTED_MAX      16u  /* different periods that ranks report at a time and that are counted */
#define CHANGES_MAX    16.0 /* of the period, one after another; ... */
#define CHANGES_PER_S  1.0  /* ... and as many more a second */
#define SETTLE_S       1.0 /* after a rank was added more may follow: a step that seems complete may not be */

struct open_step { /* a stretch of steps being put together */
    bool used;
    uint32_t number;        /* of its first step */
    uint32_t present, full; /* ranks that reported some of it, all of it */
    uint32_t timed, cap;    /* timed: steps whose duration is known */
    uint32_t last_seq;
    double duration_sum_s;
    float stay_s[STEP_PARTS_MAX]; /* of the last arrivers, by part; infinite: not reported */
    uint32_t parts;
    struct {
        float work_s;
        uint16_t steps;  /* reported ... */
        bool incomplete; /* ... with records missing */
    } * rank;
};

struct view_steps {
    struct step_count count;
    uint32_t counted; /* the collective after the newest step that was counted, ... */
    bool counts;      /* ... if any was */
    bool catches_up;  /* steps were given up, here or in the view before: they are counted with the next ones */
    struct open_step open[STEPS_OPEN];
    struct {
        struct rank_steps mean;
        uint32_t period; /* that it reported last, when it was not the view's */
        uint64_t comm;   /* of its newest steps, ... */
        uint32_t end;    /* ... and the collective after them */
    } * rank;
    struct {
        uint32_t period, n; /* n: running ranks that reported it last */
    } voted[VOTED_MAX];
    double changes, changed_s; /* changes of the period that are left, and when they were counted */
    float *work_s; /* by rank: of the stretch being judged */
    size_t rank_cap, work_cap;
    struct {
        float duration_s;
        double at_s;
    } kept[STEPS_KEPT];
    size_t n_kept;
};

struct view_steps *view_steps_new(void)
{
    struct view_steps *s = xcalloc(1, sizeof(*s));

    s->changes = CHANGES_MAX;
    return s;
}

void view_steps_free(struct view_steps *s)
{
    for (size_t i = 0; i < STEPS_OPEN; i++)
        free(s->open[i].rank);
    free(s->rank);
    free(s->work_s);
    free(s);
}

void view_steps_reserve(struct view *v, uint32_t ranks)
{
    struct view_steps *s = v->steps;

    s->rank = xgrow(s->rank, &s->rank_cap, ranks, sizeof(*s->rank));
    s->work_s = xgrow(s->work_s, &s->work_cap, ranks, sizeof(*s->work_s));
}

static void forget_open(struct view_steps *s)
{
    for (size_t i = 0; i < STEPS_OPEN; i++)
        s->open[i].used = false;
}

void view_steps_forget(struct view *v)
{
    struct view_steps *s = v->steps;

    forget_open(s);
    if (s->rank_cap)
        memset(s->rank, 0, s->rank_cap * sizeof(*s->rank));
    memset(s->voted, 0, sizeof(s->voted));
    s->count.comm = s->count.size = s->count.period = 0;
    s->counts = s->catches_up = false;
    s->n_kept = 0;
}

void view_steps_restart(struct view *v)
{
    view_steps_forget(v);
    v->steps->count.done = v->steps_before;
}

void view_steps_take_seq(struct view *v, uint64_t comm, uint32_t seq)
{
    struct step_count *c = &v->steps->count;

    if (comm != c->comm || seq <= c->newest_seq)
        return;
    c->newest_seq = seq;
    v->moved_s = v->now_s;
}

void view_steps_position(const struct view *v, struct view_position *p)
{
    const struct view_steps *s = v->steps;

    p->steps = s->count.done;
    p->comm = s->count.comm;
    p->size = s->count.size;
    p->period = s->count.period;
    p->counted = s->counted;
    p->counts = s->counts;
}

void view_steps_go_on(struct view *v, const struct view_position *p)
{
    struct view_steps *s = v->steps;

    v->steps_before = s->count.done = p->steps;
    if (!p->counts) /* what it was putting together is lost: how many there were is known by the number of the next one */
        return;
    s->count.comm = p->comm;
    s->count.size = p->size;
    s->count.period = p->period;
    s->count.block = 1;
    s->count.seen_s = v->now_s;
    s->counted = p->counted;
    s->counts = s->catches_up = true;
}

const struct step_count *view_steps_count(const struct view *v)
{
    return &v->steps->count;
}

struct rank_steps view_steps_rank(const struct view *v, uint32_t rank)
{
    return v->steps->rank[rank].mean;
}

/* ---- durations ---- */

/* A step with a long standstill does not count towards the pace; measuring starts over with the next step. */
static void keep_duration(struct view *v, double now_s, double duration_s)
{
    struct view_steps *s = v->steps;

    if (view_stood_still(v, now_s, duration_s)) {
        s->n_kept = 0;
        return;
    }
    s->kept[s->n_kept % STEPS_KEPT].duration_s = (float)duration_s;
    s->kept[s->n_kept % STEPS_KEPT].at_s = now_s;
    s->n_kept++;
    view_history_take_step(v, duration_s);
}

double view_steps_window_s(const struct view *v, double now_s)
{
    return fmin(VIEW_MINUTE_S, now_s - fmax(v->steady_s, v->began_s));
}

/* Durations of the window's steps (at most STEPS_KEPT); at least 8, however old. */
static size_t recent_steps(const struct view *v, double now_s, double out[STEPS_KEPT])
{
    const struct view_steps *s = v->steps;
    size_t n = 0, have = s->n_kept < STEPS_KEPT ? s->n_kept : STEPS_KEPT;
    double from_s = now_s - view_steps_window_s(v, now_s);

    for (size_t i = 1; i <= have; i++) {
        size_t at = (s->n_kept - i) % STEPS_KEPT;

        if (s->kept[at].at_s < from_s && n >= 8)
            break;
        out[n++] = s->kept[at].duration_s;
    }
    return n;
}

double view_steps_mean_s(const struct view *v, double now_s)
{
    double d[STEPS_KEPT];

    return statistics_mean(d, recent_steps(v, now_s, d)).mean;
}

double view_steps_median_s(const struct view *v, double now_s)
{
    double d[STEPS_KEPT];

    return statistics_quantile(d, recent_steps(v, now_s, d), 0.5);
}

/* The tail needs more steps than a minute may have. */
static double p99_s(const struct view *v, uint32_t *steps)
{
    const struct view_steps *s = v->steps;
    double d[STEPS_KEPT];
    size_t n = s->n_kept < STEPS_KEPT ? s->n_kept : STEPS_KEPT;

    *steps = (uint32_t)n;
    if (n < P99_MIN)
        return NAN;
    for (size_t i = 0; i < n; i++)
        d[i] = s->kept[(s->n_kept - 1 - i) % STEPS_KEPT].duration_s;
    return statistics_quantile(d, n, 0.99);
}

void view_steps_figures(const struct view *v, double now_s, struct view_figures *f)
{
    double d[STEPS_KEPT];
    size_t n = recent_steps(v, now_s, d);
    struct statistics_mean m = statistics_mean(d, n);

    f->step_mean_s = m.mean;
    f->step_cv = m.sd / m.mean;
    f->step_p50_s = statistics_quantile(d, n, 0.5);
    f->step_p95_s = statistics_quantile(d, n, 0.95);
    f->steps_per_s = 1 / f->step_mean_s;
    f->step_p99_s = p99_s(v, &f->p99_steps);
}

/* ---- stretches ---- */

static double smooth(double old, double now)
{
    return old > 0 ? old + (now - old) / 8 : now;
}

/* What the last arrivers stayed in the collectives of a step, all of them together. */
static double transfer_s(const struct open_step *o, uint32_t steps)
{
    double sum = 0;

    for (uint32_t p = 0; p < o->parts; p++)
        sum += o->stay_s[p];
    return isfinite(sum) && steps ? sum / steps : NAN;
}

/* How many of the steps that end here are new. Ranks whose agent connects late report steps that the others reported long ago. */
static uint32_t count_fresh(struct view_steps *s, uint32_t last_seq, uint32_t steps)
{
    uint32_t end = last_seq + 1, passed = end - s->counted;

    if (s->counts && (int32_t)passed <= 0)
        return 0;
    if (s->catches_up)
        s->count.done += passed / s->count.period > steps ? passed / s->count.period - steps : 0;
    s->catches_up = false;
    if (s->counts && passed / s->count.period < steps)
        steps = passed / s->count.period;
    s->counted = end;
    s->counts = true;
    return steps;
}

/* Too few ranks reported it, or none all of it: it is not judged. */
static void give_up(struct view_steps *s, struct open_step *o)
{
    o->used = false;
    s->catches_up = s->catches_up || (s->counts && (int32_t)(o->last_seq + 1 - s->counted) > 0);
}

/* Judge a stretch of steps by the ranks that reported it. */
static void deliver_step(struct view *v, double now_s, struct open_step *o)
{
    uint32_t limit = view_rank_limit(v) < o->cap ? view_rank_limit(v) : o->cap, most = 0;
    struct view_steps *s = v->steps;
    struct step_count *c = &s->count;
    struct diagnosis_step step = { .seq = o->last_seq,
                                   .period = c->period * c->block,
                                   .own_s = s->work_s,
                                   .n = limit,
                                   .ended_s = now_s,
                                   .began_s = v->watched_s };

    if (o->present * 2 < view_ranks_count(v)->most || !o->timed) {
        give_up(s, o);
        return;
    }
    o->used = false;
    for (uint32_t r = 0; r < limit; r++)
        most = o->rank[r].steps > most ? o->rank[r].steps : most;
    most = count_fresh(s, o->last_seq, most);
    if (!most)
        return;
    for (uint32_t r = 0; r < limit; r++)
        s->work_s[r] =
            o->rank[r].steps && !o->rank[r].incomplete ? o->rank[r].work_s / (float)o->rank[r].steps : NAN;
    c->done += most;
    c->seen_s = now_s;
    step.duration_s = o->duration_sum_s / o->timed;
    step.transfer_s = transfer_s(o, most);
    if (view_was_suspended(v, now_s, step.duration_s * most))
        return;
    keep_duration(v, now_s, step.duration_s);
    view_course_take_work(v, now_s, s->work_s, limit);
    diagnosis_step(v->diagnosis, &step, v->params.min_slowdown);
    view_scaling_take_steps(v, most);
    view_phases_take_step(v, now_s, o->last_seq + 1 - c->period * most, o->last_seq);
}

static struct open_step *oldest_open(struct view_steps *s)
{
    struct open_step *oldest = NULL;

    for (struct open_step *o = s->open; o < s->open + STEPS_OPEN; o++)
        if (o->used && (!oldest || o->number < oldest->number))
            oldest = o;
    return oldest;
}

/* In order: those before a complete stretch first. One that is not complete is waited for a little. */
static void deliver_up_to(struct view *v, double now_s, uint32_t complete)
{
    for (;;) {
        struct open_step *o = oldest_open(v->steps);

        if (!o || o->number > complete ||
            (o->full < view_ranks_count(v)->running &&
             o->number + STEPS_LATE * v->steps->count.block > complete))
            return;
        deliver_step(v, now_s, o);
    }
}

static struct open_step *open_step_get(struct view *v, double now_s, uint32_t number)
{
    struct open_step *slot = NULL;

    for (struct open_step *o = v->steps->open; o < v->steps->open + STEPS_OPEN; o++) {
        if (o->used && o->number == number)
            return o;
        if (!o->used)
            slot = o;
    }
    if (!slot) {
        slot = oldest_open(v->steps);
        if (number < slot->number)
            return NULL;
        deliver_step(v, now_s, slot);
    }
    if (slot->cap < view_rank_limit(v)) {
        slot->cap = view_rank_limit(v);
        slot->rank = xrealloc(slot->rank, slot->cap, sizeof(*slot->rank));
    }
    memset(slot->rank, 0, slot->cap * sizeof(*slot->rank));
    slot->used = true;
    slot->number = number;
    slot->present = slot->full = slot->timed = slot->last_seq = slot->parts = 0;
    slot->duration_sum_s = 0;
    for (uint32_t p = 0; p < STEP_PARTS_MAX; p++)
        slot->stay_s[p] = INFINITY;
    return slot;
}

static uint32_t *votes_for(struct view_steps *s, uint32_t period)
{
    size_t at = VOTED_MAX;

    for (size_t i = 0; i < VOTED_MAX; i++)
        if (s->voted[i].n && s->voted[i].period == period)
            return &s->voted[i].n;
        else if (!s->voted[i].n)
            at = i;
    if (at == VOTED_MAX)
        return NULL;
    s->voted[at].period = period;
    return &s->voted[at].n;
}

/* Counted as votes come, because a look at all ranks for each of them lets one rank that alternates use up the time. */
static uint32_t vote(struct view_steps *s, uint32_t rank, uint32_t period)
{
    uint32_t *n;

    if (s->rank[rank].period == period && period)
        return (n = votes_for(s, period)) ? *n : 0;
    if (s->rank[rank].period && (n = votes_for(s, s->rank[rank].period)) && *n)
        --*n;
    n = period ? votes_for(s, period) : NULL;
    s->rank[rank].period = n ? period : 0;
    return n ? ++*n : 0;
}

void view_steps_end_rank(struct view *v, uint32_t rank)
{
    vote(v->steps, rank, 0);
}

/* Each rank finds the step on its own, and one in a hundred thousand errs: do at least half agree? */
static bool most_agree(struct view *v, const struct step *s)
{
    return !view_ranks_at(v, s->rank)->ended &&
           2 * vote(v->steps, s->rank, s->period) >= view_ranks_count(v)->running;
}

/* Each change begins all measurements again, in a time that grows with the number of ranks. */
static bool may_change(struct view_steps *s, double now_s)
{
    s->changes = fmin(CHANGES_MAX, s->changes + fmax(0, now_s - s->changed_s) * CHANGES_PER_S);
    s->changed_s = now_s;
    if (s->changes < 1)
        return false;
    s->changes--;
    return true;
}

/* Is it of the communicator that steps are counted on?  That is the first one with steps, then a larger one, or
 * any other when it fell silent. */
static bool counts_steps(struct view *v, double now_s, const struct step *s)
{
    struct step_count *c = &v->steps->count;
    uint32_t size = view_comms_size(v, s->comm);

    if (!size)
        return false;
    if (s->comm != c->comm && (size > c->size || c->seen_s + 10 < now_s)) {
        c->comm = s->comm;
        c->size = size;
        c->done = s->seq / s->period;
        v->steps->counts = v->steps->catches_up = false;
        c->seen_s = now_s;
    }
    if (size != c->size)
        return false;
    if (s->comm == c->comm && c->period != s->period && most_agree(v, s) && may_change(v->steps, now_s)) {
        c->period = s->period;
        c->block = 1;
        forget_open(v->steps);
        diagnosis_restart(v->diagnosis);
        view_phases_forget(v);
        view_scaling_forget(v);
        view_event(v, now_s, "", "a step is %u collective%s on %u ranks", s->period, s->period == 1 ? "" : "s",
                   size);
    }
    return s->period == c->period;
}

/* Fast steps come several an item, not always as many from every rank: they are put together over stretches
 * as long as the longest item. */
static void widen_stretch(struct view *v, double now_s, uint32_t n_steps)
{
    uint32_t *block = &v->steps->count.block;

    if (n_steps <= *block)
        return;
    /* What most ranks reported was steps; what the others report of them later is too little to be counted
     * again. */
    for (struct open_step *o; (o = oldest_open(v->steps));)
        if (2 * o->present > view_ranks_count(v)->most)
            deliver_step(v, now_s, o);
        else
            give_up(v->steps, o);
    while (*block < n_steps)
        *block *= 2;
    diagnosis_restart(v->diagnosis);
    view_phases_forget(v);
}

static void add_steps(struct view *v, double now_s, const struct step *s, double work_s)
{
    uint32_t block = v->steps->count.block, number = s->seq / s->period / block * block, before;
    uint32_t last = s->seq + s->period * s->n_steps - 1;
    const struct rank_count *ranks = view_ranks_count(v);
    struct open_step *o = open_step_get(v, now_s, number);

    if (!o || s->rank >= o->cap || o->rank[s->rank].steps + s->n_steps > UINT16_MAX)
        return;
    before = o->rank[s->rank].steps;
    o->present += !before;
    o->rank[s->rank].steps = (uint16_t)(before + s->n_steps);
    o->full += before < block && before + s->n_steps >= block;
    o->last_seq = last > o->last_seq ? last : o->last_seq;
    o->parts = s->parts;
    for (uint32_t p = 0; p < s->parts && s->n_steps == block; p++)
        o->stay_s[p] = fminf(o->stay_s[p], isnan(s->stay_s[p]) ? INFINITY : s->stay_s[p]);
    if (s->flags & STEP_INCOMPLETE) {
        o->rank[s->rank].incomplete = true;
    } else {
        o->rank[s->rank].work_s += (float)(work_s * s->n_steps);
        o->duration_sum_s += (double)s->duration_ns * 1e-9;
        o->timed += s->n_steps;
    }
    if (ranks->running && o->full >= ranks->running && now_s >= ranks->added_s + SETTLE_S)
        deliver_up_to(v, now_s, number);
}

static bool believable(const struct step *s)
{
    return s->period && s->n_steps && s->n_steps <= STEPS_ITEM_MAX && s->parts &&
           s->parts <= STEP_PARTS_MAX && s->gap_ns <= TIME_MAX_NS && s->p2p_ns <= s->gap_ns &&
           s->stay_ns <= TIME_MAX_NS && s->duration_ns <= TIME_MAX_NS &&
           (s->duration_ns || (s->flags & STEP_INCOMPLETE));
}

/* Agents send again what was not acknowledged, which may have arrived. */
static bool came_before(struct view_steps *steps, const struct step *s)
{
    uint32_t end = s->seq + s->period * s->n_steps;
    bool known = steps->rank[s->rank].comm == s->comm;

    if (known && (int32_t)(end - steps->rank[s->rank].end) <= 0)
        return true;
    steps->rank[s->rank].comm = s->comm;
    steps->rank[s->rank].end = end;
    return false;
}

void view_steps_take(struct view *v, double now_s, const struct step *s)
{
    struct rank_steps *k;
    double work_s;

    if (!view_ranks_find(v, s->rank, s->app) || view_calls_active(v))
        return;
    if (!believable(s)) {
        v->refused++;
        return;
    }
    if (!counts_steps(v, now_s, s) || came_before(v->steps, s))
        return;
    work_s = (double)(s->gap_ns - s->p2p_ns) * 1e-9 / s->n_steps;
    k = &v->steps->rank[s->rank].mean;
    if (!(s->flags & STEP_INCOMPLETE) && !view_was_suspended(v, now_s, (double)s->duration_ns * 1e-9)) {
        k->compute_s = smooth(k->compute_s, work_s);
        k->stay_s = smooth(k->stay_s, (double)s->stay_ns * 1e-9 / s->n_steps);
    }
    widen_stretch(v, now_s, s->n_steps);
    add_steps(v, now_s, s, work_s);
}

void view_steps_take_whole(struct view *v, double now_s, uint32_t steps, uint32_t period, double duration_s,
                           const float *own_s, uint32_t n)
{
    struct view_steps *s = v->steps;

    if (!s->count.period) {
        s->count.period = period;
        s->count.block = 1;
    }
    s->count.done += steps;
    s->count.seen_s = now_s;
    keep_duration(v, now_s, duration_s);
    for (uint32_t r = 0; r < n; r++)
        if (!isnan(own_s[r])) {
            s->rank[r].mean.compute_s = smooth(s->rank[r].mean.compute_s, own_s[r]);
            s->rank[r].mean.stay_s = smooth(s->rank[r].mean.stay_s, fmax(0, duration_s - own_s[r]));
        }
    view_scaling_take_steps(v, steps);
}

void view_steps_finish(struct view *v, double now_s)
{
    struct open_step *o;

    while ((o = oldest_open(v->steps)))
        deliver_step(v, now_s, o);
}
