#include "view/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define STEPS_OPEN     16u /* steps being put together */
#define STEPS_ITEM_MAX 4096u
#define STEPS_KEPT     600u
#define P99_MIN        100u
#define STEPS_LATE     4u /* a step is given up when one so much newer is complete */
/* different periods that ranks report at a time and that are counted */
#define VOTED_MAX     16u
#define CHANGES_MAX   16.0 /* of the period, one after another; ... */
#define CHANGES_PER_S 1.0  /* ... and as many more a second */
/* after a rank was added more may follow: a step that seems complete may not be */
#define SETTLE_S 1.0

struct open_step { /* a stretch of steps being put together */
    bool used;
    uint32_t number;        /* of its first step */
    uint32_t present, full; /* ranks that reported some of it, all of it */
    uint32_t timed, cap;    /* timed: steps whose duration is known */
    uint32_t last_seq;
    double duration_sum_s, stay_sum_s; /* of these; stay: in all parts */
    float stay_s[STEP_PARTS_MAX];      /* of the last arrivers, by part; infinite: not reported */
    uint32_t parts;
    struct {
        float work_s;
        uint16_t steps;  /* reported ... */
        bool incomplete; /* ... with records missing */
    } * rank;
};

struct steps {
    struct quota *quota;
    struct roster *roster;
    const struct communicators *communicators;
    const struct presence *presence;
    struct events *events;
    struct steps_hooks hooks;
    struct step_count count;
    uint64_t before;  /* steps that another view counted */
    uint32_t counted; /* the collective after the newest step that was counted, ... */
    bool counts;      /* ... if any was */
    /* steps were given up, here or in the view before: they are counted with the next ones */
    bool catches_up;
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
    double changes, changes_s; /* changes of the period that are left, and when they were counted */
    float *work_s;             /* by rank: of the stretch being judged */
    size_t rank_cap, work_cap;
    struct {
        float duration_s;
        double at_s;
    } kept[STEPS_KEPT];
    size_t n_kept;
};

struct steps *steps_new(struct quota *quota, struct roster *roster, const struct communicators *communicators,
                        const struct presence *presence, struct events *events,
                        const struct steps_hooks *hooks)
{
    struct steps *s = xcalloc(1, sizeof(*s));

    s->quota = quota;
    s->roster = roster;
    s->communicators = communicators;
    s->presence = presence;
    s->events = events;
    s->hooks = *hooks;
    s->count.changed_s = -INFINITY;
    s->changes = CHANGES_MAX;
    return s;
}

void steps_free(struct steps *s)
{
    for (size_t i = 0; i < STEPS_OPEN; i++)
        free(s->open[i].rank);
    free(s->rank);
    free(s->work_s);
    free(s);
}

void steps_reserve(struct steps *s, uint32_t ranks)
{
    s->rank = xgrow(s->rank, &s->rank_cap, ranks, sizeof(*s->rank));
    s->work_s = xgrow(s->work_s, &s->work_cap, ranks, sizeof(*s->work_s));
}

static void forget_open(struct steps *s)
{
    for (size_t i = 0; i < STEPS_OPEN; i++)
        s->open[i].used = false;
}

void steps_forget(struct steps *s)
{
    forget_open(s);
    if (s->rank_cap)
        memset(s->rank, 0, s->rank_cap * sizeof(*s->rank));
    memset(s->voted, 0, sizeof(s->voted));
    s->count.comm = s->count.size = s->count.period = 0;
    s->count.messages = false;
    s->counts = s->catches_up = false;
    s->n_kept = 0;
}

void steps_restart(struct steps *s)
{
    steps_forget(s);
    s->count.done = s->before;
}

void steps_take_seq(struct steps *s, double now_s, uint64_t comm, uint32_t seq)
{
    struct step_count *c = &s->count;

    if (comm != c->comm || seq <= c->newest_seq)
        return;
    c->newest_seq = seq;
    c->moved_s = now_s;
}

void steps_position(const struct steps *s, struct view_position *p)
{
    p->steps = s->count.done;
    p->comm = s->count.comm;
    p->size = s->count.size;
    p->period = s->count.period;
    p->counted = s->counted;
    p->counts = s->counts;
}

void steps_go_on(struct steps *s, double now_s, const struct view_position *p)
{
    s->before = s->count.done = p->steps;
    /* what it was putting together is lost: how many there were is known by the number of the next one */
    if (!p->counts)
        return;
    s->count.comm = p->comm;
    s->count.size = p->size;
    s->count.period = p->period;
    s->count.block = 1;
    s->count.seen_s = now_s;
    s->counted = p->counted;
    s->counts = s->catches_up = true;
}

const struct step_count *steps_count(const struct steps *s)
{
    return &s->count;
}

struct rank_steps steps_rank(const struct steps *s, uint32_t rank)
{
    return s->rank[rank].mean;
}

/* ---- durations ---- */

bool steps_keep(struct steps *s, double now_s, double duration_s)
{
    if (presence_stood_still(s->presence, now_s, duration_s)) {
        s->n_kept = 0;
        return false;
    }
    s->kept[s->n_kept % STEPS_KEPT].duration_s = (float)duration_s;
    s->kept[s->n_kept % STEPS_KEPT].at_s = now_s;
    s->n_kept++;
    return true;
}

void steps_change(struct steps *s, double at_s)
{
    s->count.changed_s = fmax(s->count.changed_s, at_s);
}

double steps_window_s(const struct steps *s, double now_s)
{
    return fmin(STEPS_MINUTE_S, now_s - fmax(s->count.changed_s, presence_began_s(s->presence)));
}

/* Durations of the window's steps (at most STEPS_KEPT); at least 8, however old. */
static size_t recent_steps(const struct steps *s, double now_s, double out[STEPS_KEPT])
{
    size_t n = 0, have = s->n_kept < STEPS_KEPT ? s->n_kept : STEPS_KEPT;
    double from_s = now_s - steps_window_s(s, now_s);

    for (size_t i = 1; i <= have; i++) {
        size_t at = (s->n_kept - i) % STEPS_KEPT;

        if (s->kept[at].at_s < from_s && n >= 8)
            break;
        out[n++] = s->kept[at].duration_s;
    }
    return n;
}

double steps_mean_s(const struct steps *s, double now_s)
{
    double d[STEPS_KEPT];

    return statistics_mean(d, recent_steps(s, now_s, d)).mean;
}

double steps_median_s(const struct steps *s, double now_s)
{
    double d[STEPS_KEPT];

    return statistics_quantile(d, recent_steps(s, now_s, d), 0.5);
}

void steps_figures(const struct steps *s, double now_s, struct view_figures *f)
{
    double d[STEPS_KEPT];
    size_t n = recent_steps(s, now_s, d);
    struct statistics_mean m = statistics_mean(d, n);

    f->step_mean_s = m.mean;
    f->step_cv = m.sd / m.mean;
    f->step_p50_s = statistics_quantile(d, n, 0.5);
    f->step_p95_s = statistics_quantile(d, n, 0.95);
    f->steps_per_s = 1 / f->step_mean_s;
    /* The tail needs more steps than a minute may have. */
    n = s->n_kept < STEPS_KEPT ? s->n_kept : STEPS_KEPT;
    for (size_t i = 0; i < n; i++)
        d[i] = s->kept[(s->n_kept - 1 - i) % STEPS_KEPT].duration_s;
    f->p99_steps = (uint32_t)n;
    f->step_p99_s = n < P99_MIN ? NAN : statistics_quantile(d, n, 0.99);
}

/* ---- stretches ---- */

static double smoothed(double old, double now)
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

/* How many of the steps that end here are new. Ranks whose agent connects late report steps that the others
 * reported long ago. */
static uint32_t count_fresh(struct steps *s, uint32_t last_seq, uint32_t steps)
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
static void give_up(struct steps *s, struct open_step *o)
{
    o->used = false;
    s->catches_up = s->catches_up || (s->counts && (int32_t)(o->last_seq + 1 - s->counted) > 0);
}

/* Hand over a stretch of steps by what the ranks reported of it. */
static void deliver_step(struct steps *s, double now_s, struct open_step *o)
{
    uint32_t limit = roster_limit(s->roster) < o->cap ? roster_limit(s->roster) : o->cap, most = 0;
    struct step_count *c = &s->count;

    if (o->present * 2 < roster_count(s->roster)->most || !o->timed) {
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
    s->hooks.on_done(s->hooks.arg, now_s,
                     &(struct step_done){ .steps = most,
                                          .duration_s = o->duration_sum_s / o->timed,
                                          .transfer_s = transfer_s(o, most),
                                          .wait_s = o->stay_sum_s / o->timed - transfer_s(o, most),
                                          .period = c->period * c->block,
                                          .first_seq = o->last_seq + 1 - c->period * most,
                                          .last_seq = o->last_seq,
                                          .own_s = s->work_s,
                                          .ranks = limit });
}

static struct open_step *oldest_open(struct steps *s)
{
    struct open_step *oldest = NULL;

    for (struct open_step *o = s->open; o < s->open + STEPS_OPEN; o++)
        if (o->used && (!oldest || o->number < oldest->number))
            oldest = o;
    return oldest;
}

/* In order: those before a complete stretch first. One that is not complete is waited for a little. */
static void deliver_up_to(struct steps *s, double now_s, uint32_t complete)
{
    for (;;) {
        struct open_step *o = oldest_open(s);

        if (!o || o->number > complete ||
            (o->full < roster_count(s->roster)->running &&
             o->number + STEPS_LATE * s->count.block > complete))
            return;
        deliver_step(s, now_s, o);
    }
}

static struct open_step *open_step_get(struct steps *s, double now_s, uint32_t number)
{
    struct open_step *slot = NULL;

    for (struct open_step *o = s->open; o < s->open + STEPS_OPEN; o++) {
        if (o->used && o->number == number)
            return o;
        if (!o->used)
            slot = o;
    }
    if (!slot) {
        slot = oldest_open(s);
        if (number < slot->number)
            return NULL;
        deliver_step(s, now_s, slot);
    }
    if (slot->cap < roster_limit(s->roster)) {
        slot->cap = roster_limit(s->roster);
        slot->rank = xrealloc(slot->rank, slot->cap, sizeof(*slot->rank));
    }
    memset(slot->rank, 0, slot->cap * sizeof(*slot->rank));
    *slot = (struct open_step){ .used = true, .number = number, .cap = slot->cap, .rank = slot->rank };
    for (uint32_t p = 0; p < STEP_PARTS_MAX; p++)
        slot->stay_s[p] = INFINITY;
    return slot;
}

static uint32_t *votes_for(struct steps *s, uint32_t period)
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

/* Counted as votes come, because a look at all ranks for each of them lets one rank that alternates use up
 * the time. */
static uint32_t count_vote(struct steps *s, uint32_t rank, uint32_t period)
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

void steps_end_rank(struct steps *s, uint32_t rank)
{
    count_vote(s, rank, 0);
}

/* Each change begins all measurements again, in a time that grows with the number of ranks. */
static bool may_change(struct steps *s, double now_s)
{
    s->changes = fmin(CHANGES_MAX, s->changes + fmax(0, now_s - s->changes_s) * CHANGES_PER_S);
    s->changes_s = now_s;
    if (s->changes < 1)
        return false;
    s->changes--;
    return true;
}

/* Is it of the communicator that steps are counted on?  That is the first one with steps, then a larger one,
 * or any other when it fell silent. */
static bool counts_steps(struct steps *s, double now_s, const struct step *i)
{
    struct step_count *c = &s->count;
    uint32_t size = communicators_size(s->communicators, i->comm);

    if (!size)
        return false;
    if (i->comm != c->comm && (size > c->size || c->seen_s + 10 < now_s)) {
        c->comm = i->comm;
        c->size = size;
        c->done = i->seq / i->period;
        s->counts = s->catches_up = false;
        c->seen_s = now_s;
    }
    if (size != c->size)
        return false;
    /* Each rank finds the step on its own, and one in a hundred thousand errs: at least half must agree. */
    if (i->comm == c->comm && c->period != i->period && !roster_at(s->roster, i->rank)->ended &&
        2 * count_vote(s, i->rank, i->period) >= roster_count(s->roster)->running && may_change(s, now_s)) {
        c->period = i->period;
        c->block = 1;
        forget_open(s);
        s->hooks.on_restart(s->hooks.arg, true);
        events_add(s->events, now_s, "", "a step is %u collective%s on %u ranks", i->period,
                   text_plural(i->period), size);
    }
    return i->period == c->period;
}

/* Fast steps come several an item, not always as many from every rank: they are put together over stretches
 * as long as the longest item. */
static void widen_stretch(struct steps *s, double now_s, uint32_t n_steps)
{
    uint32_t *block = &s->count.block;

    if (n_steps <= *block)
        return;
    /* What most ranks reported was steps; what the others report of them later is too little to be counted
     * again. */
    for (struct open_step *o; (o = oldest_open(s));)
        if (2 * o->present > roster_count(s->roster)->most)
            deliver_step(s, now_s, o);
        else
            give_up(s, o);
    while (*block < n_steps)
        *block *= 2;
    s->hooks.on_restart(s->hooks.arg, false);
}

static void add_steps(struct steps *s, double now_s, const struct step *i, double work_s)
{
    uint32_t block = s->count.block, number = i->seq / i->period / block * block, before;
    uint32_t last = i->seq + i->period * i->n_steps - 1;
    const struct rank_count *ranks = roster_count(s->roster);
    struct open_step *o = open_step_get(s, now_s, number);

    if (!o || i->rank >= o->cap || o->rank[i->rank].steps + i->n_steps > UINT16_MAX)
        return;
    before = o->rank[i->rank].steps;
    o->present += !before;
    o->rank[i->rank].steps = (uint16_t)(before + i->n_steps);
    o->full += before < block && before + i->n_steps >= block;
    o->last_seq = last > o->last_seq ? last : o->last_seq;
    o->parts = i->parts;
    for (uint32_t p = 0; p < i->parts && i->n_steps == block; p++)
        o->stay_s[p] = fminf(o->stay_s[p], isnan(i->stay_s[p]) ? INFINITY : i->stay_s[p]);
    if (i->flags & STEP_INCOMPLETE) {
        o->rank[i->rank].incomplete = true;
    } else {
        o->rank[i->rank].work_s += (float)(work_s * i->n_steps);
        o->duration_sum_s += (double)i->duration_ns * 1e-9;
        for (uint32_t p = 0; p < i->parts; p++)
            o->stay_sum_s += i->stay_s[p];
        o->timed += i->n_steps;
    }
    if (ranks->running && o->full >= ranks->running && now_s >= ranks->added_s + SETTLE_S)
        deliver_up_to(s, now_s, number);
}

static bool is_believable(const struct step *s)
{
    return s->period && s->n_steps && s->n_steps <= STEPS_ITEM_MAX && s->parts &&
           s->parts <= STEP_PARTS_MAX && s->gap_ns <= QUOTA_TIME_MAX_NS && s->p2p_ns <= s->gap_ns &&
           s->stay_ns <= QUOTA_TIME_MAX_NS && s->duration_ns <= QUOTA_TIME_MAX_NS &&
           (s->duration_ns || (s->flags & STEP_INCOMPLETE));
}

/* Agents send again what was not acknowledged, which may have arrived. */
static bool came_before(struct steps *s, const struct step *i)
{
    uint32_t end = i->seq + i->period * i->n_steps;
    bool known = s->rank[i->rank].comm == i->comm;

    if (known && (int32_t)(end - s->rank[i->rank].end) <= 0)
        return true;
    s->rank[i->rank].comm = i->comm;
    s->rank[i->rank].end = end;
    return false;
}

void steps_take(struct steps *s, double now_s, const struct step *i)
{
    struct rank_steps *k;
    double work_s;

    if (!is_believable(i)) {
        s->quota->refused++;
        return;
    }
    if (!counts_steps(s, now_s, i) || came_before(s, i))
        return;
    work_s = (double)(i->gap_ns - i->p2p_ns) * 1e-9 / i->n_steps;
    k = &s->rank[i->rank].mean;
    if (!(i->flags & STEP_INCOMPLETE) &&
        !presence_was_suspended(s->presence, now_s, (double)i->duration_ns * 1e-9)) {
        k->compute_s = smoothed(k->compute_s, work_s);
        k->stay_s = smoothed(k->stay_s, (double)i->stay_ns * 1e-9 / i->n_steps);
    }
    widen_stretch(s, now_s, i->n_steps);
    add_steps(s, now_s, i, work_s);
}

void steps_count_whole(struct steps *s, double now_s, const struct call_step *k)
{
    if (!s->count.period) {
        s->count.period = k->period;
        s->count.messages = k->messages;
        s->count.block = 1;
    }
    s->count.done += k->steps;
    if (s->count.done < k->number) /* steps were made before it was known what a step is */
        s->count.done = k->number;
    s->count.seen_s = now_s;
    for (uint32_t r = 0; r < k->ranks; r++) {
        struct rank_steps *mean = &s->rank[r].mean;

        if (isnan(k->own_s[r]))
            continue;
        mean->compute_s = smoothed(mean->compute_s, k->own_s[r]);
        mean->stay_s = smoothed(mean->stay_s, fmax(0, k->duration_s - k->own_s[r]));
    }
}

void steps_finish(struct steps *s, double now_s)
{
    struct open_step *o;

    while ((o = oldest_open(s)))
        deliver_step(s, now_s, o);
}
