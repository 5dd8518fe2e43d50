/* view_steps.c - a view's training steps: what the ranks tell of them, put together and held against each
 * other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/xalloc.h"

void view_forget_steps(struct view *v)
{
    for (size_t i = 0; i < STEPS_OPEN; i++)
        v->open[i].used = false;
}

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

/* What the last arrivers stayed in the collectives of a step, all of them together. */
static double transfer_s(const struct open_step *o, uint32_t steps)
{
    double sum = 0;

    for (uint32_t p = 0; p < o->parts; p++)
        sum += o->stay_s[p];
    return isfinite(sum) && steps ? sum / steps : NAN;
}

/* All that told of a stretch of steps: hold its ranks against each other. */
static void deliver_step(struct view *v, double now_s, struct open_step *o)
{
    uint32_t limit = v->n_ranks < o->cap ? v->n_ranks : o->cap, most = 0;
    double duration_s = o->told ? o->duration_sum_s / o->told : 0;
    struct diagnosis_step step = { .seq = o->last_seq, .period = v->period * v->step_block, .n = limit };

    o->used = false;
    if (o->present * 2 < v->ranks_most || !o->told)
        return;
    for (uint32_t r = 0; r < limit; r++) {
        most = o->rank[r].steps > most ? o->rank[r].steps : most;
        v->work_s[r] =
            o->rank[r].steps && !o->rank[r].holed ? o->rank[r].work_s / (float)o->rank[r].steps : NAN;
    }
    v->steps += most;
    v->steps_seen_s = now_s;
    remember_step(v, now_s, duration_s);
    step.own_s = v->work_s;
    step.duration_s = duration_s;
    step.ended_s = now_s;
    step.begun_s = v->begun_s;
    step.transfer_s = transfer_s(o, most);
    diagnosis_step(v->diagnosis, &step, v->params.min_slowdown);
    view_scaling_steps(v, most);
    view_phases_step(v, now_s, o->last_seq + 1 - v->period * most, o->last_seq);
}

static struct open_step *oldest_open(struct view *v)
{
    struct open_step *oldest = NULL;

    for (struct open_step *o = v->open; o < v->open + STEPS_OPEN; o++)
        if (o->used && (!oldest || o->number < oldest->number))
            oldest = o;
    return oldest;
}

/* In order: those before a complete stretch first. One that is not complete is waited for a little. */
static void deliver_up_to(struct view *v, double now_s, uint32_t complete)
{
    for (;;) {
        struct open_step *o = oldest_open(v);

        if (!o || o->number > complete ||
            (o->full < v->ranks && o->number + STEPS_LATE * v->step_block > complete))
            return;
        deliver_step(v, now_s, o);
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
    struct open_step *slot = NULL;

    for (struct open_step *o = v->open; o < v->open + STEPS_OPEN; o++) {
        if (o->used && o->number == number)
            return o;
        if (!o->used)
            slot = o;
    }
    if (!slot) {
        slot = oldest_open(v);
        if (number < slot->number)
            return NULL;
        deliver_step(v, now_s, slot);
    }
    reserve_step(v, slot);
    memset(slot->rank, 0, slot->cap * sizeof(*slot->rank));
    slot->used = true;
    slot->number = number;
    slot->present = slot->full = slot->told = slot->last_seq = slot->parts = 0;
    slot->duration_sum_s = 0;
    for (uint32_t p = 0; p < STEP_PARTS_MAX; p++)
        slot->stay_s[p] = INFINITY;
    return slot;
}

/* Each rank finds the step on its own, and one in a hundred thousand errs: do at least half say so? */
static bool most_say(struct view *v, const struct step *s)
{
    uint32_t n = 0;

    v->rank[s->rank].period = s->period;
    for (uint32_t r = 0; r < v->n_ranks; r++)
        n += v->rank[r].known && !v->rank[r].ended && v->rank[r].period == s->period;
    return 2 * n >= v->ranks;
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
    if (s->comm == v->step_comm && v->period != s->period && most_say(v, s)) {
        v->period = s->period;
        v->step_block = 1;
        view_forget_steps(v);
        diagnosis_restart(v->diagnosis);
        view_forget_phases(v);
        view_forget_scaling(v);
        view_event(v, now_s, "a step is %u collectives on %u ranks", s->period, c->size);
    }
    return s->period == v->period;
}

/* Fast steps come several an item, not always as many from every rank: they are put together over stretches
 * as long as the longest item. */
static void widen_stretch(struct view *v, double now_s, uint32_t n_steps)
{
    if (n_steps <= v->step_block)
        return;
    /* What most ranks told of was steps; what the others tell of them later is too little to be counted
     * again. */
    for (struct open_step *o; (o = oldest_open(v));)
        if (2 * o->present > v->ranks_most)
            deliver_step(v, now_s, o);
        else
            o->used = false;
    while (v->step_block < n_steps)
        v->step_block *= 2;
    diagnosis_restart(v->diagnosis);
    view_forget_phases(v);
}

static void add_steps(struct view *v, double now_s, const struct step *s, double work_s)
{
    uint32_t number = s->seq / s->period / v->step_block * v->step_block, before;
    uint32_t last = s->seq + s->period * s->n_steps - 1;
    struct open_step *o = open_step_get(v, now_s, number);

    if (!o || s->rank >= o->cap || o->rank[s->rank].steps + s->n_steps > UINT16_MAX)
        return;
    before = o->rank[s->rank].steps;
    o->present += !before;
    o->rank[s->rank].steps = (uint16_t)(before + s->n_steps);
    o->full += before < v->step_block && before + s->n_steps >= v->step_block;
    o->last_seq = last > o->last_seq ? last : o->last_seq;
    o->parts = s->parts;
    for (uint32_t p = 0; p < s->parts && s->n_steps == v->step_block; p++)
        o->stay_s[p] = fminf(o->stay_s[p], isnan(s->stay_s[p]) ? INFINITY : s->stay_s[p]);
    if (s->flags & STEP_HOLED) {
        o->rank[s->rank].holed = true;
    } else {
        o->rank[s->rank].work_s += (float)(work_s * s->n_steps);
        o->duration_sum_s += (double)s->duration_ns * 1e-9;
        o->told += s->n_steps;
    }
    if (v->ranks && o->full >= v->ranks && now_s >= v->added_s + SETTLE_S)
        deliver_up_to(v, now_s, number);
}

static bool believable(const struct step *s)
{
    return s->period && s->n_steps && s->n_steps <= STEPS_ITEM_MAX && s->parts &&
           s->parts <= STEP_PARTS_MAX && s->gap_ns <= TIME_MAX_NS && s->p2p_ns <= s->gap_ns &&
           s->stay_ns <= TIME_MAX_NS && s->duration_ns <= TIME_MAX_NS &&
           (s->duration_ns || (s->flags & STEP_HOLED));
}

void view_take_step(struct view *v, double now_s, const struct step *s)
{
    struct view_rank *k = view_rank_told(v, s->rank, s->app);
    double work_s;

    if (!k)
        return;
    if (!believable(s)) {
        v->refused++;
        return;
    }
    if (!counts_steps(v, now_s, s))
        return;
    work_s = (double)(s->gap_ns - s->p2p_ns) * 1e-9 / s->n_steps;
    if (!(s->flags & STEP_HOLED)) {
        k->compute_s = smooth(k->compute_s, work_s);
        k->stay_s = smooth(k->stay_s, (double)s->stay_ns * 1e-9 / s->n_steps);
    }
    widen_stretch(v, now_s, s->n_steps);
    add_steps(v, now_s, s, work_s);
}

void view_finish_steps(struct view *v, double now_s)
{
    struct open_step *o;

    while ((o = oldest_open(v)))
        deliver_step(v, now_s, o);
}
