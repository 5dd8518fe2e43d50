#include "calls/price.h"

#include <math.h>

#include "detect/work.h"

/* The share of a growing excess that stood in a step. */
static double grown(uint32_t number, uint32_t from, uint32_t until)
{
    return number >= until ? 1 : number < from ? 0 : (number - from) / (double)(until - from);
}

static bool is_on(const struct price_work *k, const struct graph_step *s)
{
    return s->number >= k->from && (!k->on || k->on[s->number % GRAPH_STEPS]);
}

static bool is_late(const struct graph_op *op, const struct graph_step *s, void *arg)
{
    const struct price_work *k = &((const struct price_work *)arg)[op->rank];

    return k->late && is_on(k, s) && k->late[s->number % GRAPH_STEPS];
}

/* What all ranks do more of in that step is longer by the excess, too; a pause, which hides how much that is,
 * is not. */
static double without_excess(const struct graph_op *op, const struct graph_step *s,
                             const struct price_change *c, double work_s)
{
    const struct price_work *k = &c->work[op->rank];
    double excess = k->excess, base = work_s, slow_s;

    if (c->place_excess && op->place >= c->places)
        excess = 0;
    else if (c->place_excess && !isnan(c->place_excess[op->place]))
        excess = c->place_excess[op->place];
    if (excess == 0 || !is_on(k, s))
        return work_s;
    excess *= grown(s->number, k->from, k->until);
    slow_s = op->usual_s * (1 + excess) * (s->pause_s > 0 && s->factor > WORK_PAUSE_RATIO ? 1 : s->factor);
    if (slow_s > 0 && base > WORK_PAUSE_RATIO * slow_s)
        base = slow_s;
    return work_s - base * (excess / (1 + excess));
}

struct changed_replay {
    const struct price_change *change;
    const struct graph *graph;
};

bool price_is_detour(const struct graph_op *op, const struct graph_step *s, double more, double detour_min_s)
{
    double usual_s = op->usual_s * s->factor * more;

    return usual_s > 0 && op->work_s > usual_s + detour_min_s + (op->work_s > s->pause_s ? s->pause_s : 0);
}

/* What a piece takes in steps in which its rank is not late; NaN: not known.  Of programs that do very many
 * different things not all steps are looked at. */
static double mostly_s(const struct changed_replay *r, const struct graph_op *op, const struct graph_step *s)
{
    struct expected *mostly = r->change->mostly;
    double factor = s->pause_s > 0 || !(s->factor > 0) ? 1 : s->factor;
    double is_s = expected_s(mostly, r->graph, op, s);

    if (isnan(is_s))
        is_s = expected_elsewhere_s(mostly, op, factor);
    if (isnan(is_s))
        is_s = op->usual_s * factor;
    return is_s > 0 ? is_s + s->pause_s : NAN;
}

/* What of a piece's noise lasts as long as its step, as a share of what the piece should take. */
static double lasting_of(const struct price_change *c, const struct graph_op *op, const struct graph_step *s)
{
    if (!c->lasting)
        return 0;
    return lasting_noise_off(c->lasting, op->rank, s->number) *
           (c->lasting_most ? lasting_noise_most(c->lasting) : lasting_noise_sigma(c->lasting));
}

static double changed_work(const struct graph_op *op, const struct graph_step *s, void *arg)
{
    const struct changed_replay *r = arg;
    const struct price_change *c = r->change;
    double work_s = op->work_s, usual_s = op->usual_s * s->factor, more = 1, should_s;

    if (s->number < c->from)
        return work_s;
    if (c->work && is_late(op, s, (void *)c->work))
        return fmin(work_s, mostly_s(r, op, s));
    if (c->work && c->work[op->rank].late)
        return work_s;
    if (c->work)
        work_s = without_excess(op, s, c, work_s);
    if (!(usual_s > 0))
        return work_s;
    if (c->other && is_late(op, s, (void *)c->other))
        return work_s;
    if (c->other && is_on(&c->other[op->rank], s) && !c->other[op->rank].late)
        more = 1 + c->other[op->rank].excess;
    if (c->detour_min_s > 0 && price_is_detour(op, s, more, c->detour_min_s))
        work_s = more * usual_s + (work_s > s->pause_s ? s->pause_s : 0);
    if (c->hot) {
        should_s = hot_even_s(c->hot, op);
        return isnan(should_s) ? work_s : should_s + (work_s - op->work_s);
    }
    if (!c->expected)
        return work_s;
    /* What it would take if pieces of work were even; detours and pauses stay. */
    should_s = more * expected_s(c->expected, r->graph, op, s);
    if (!(work_s < expected_most(c->expected) * should_s))
        return work_s;
    return should_s * (1 + lasting_of(c, op, s)) + c->even * (work_s - should_s);
}

static double changed_transfer(const struct graph_meeting *m, const struct graph_step *s, void *arg)
{
    const struct changed_replay *r = arg;
    const struct price_change *c = r->change;
    const struct price_slow *slow = c->slow ? &c->slow[m->kind] : NULL;

    if (s->number < c->from)
        return m->over_s;
    if (slow && slow->above_s > 0 && m->over_s > slow->above_s)
        return slow->instead_s;
    if (!c->transfer_excess || (c->transfer_to && s->number > c->transfer_to))
        return m->over_s;
    return m->over_s / (1 + c->transfer_excess[m->kind] * grown(s->number, c->from, c->transfer_until));
}

static struct price price_of(double of_s, double changed_s)
{
    return (struct price){ of_s, fmax(0, of_s - changed_s) };
}

/* Ranks that are slower for another reason are so for longer than a step. */
static bool is_slower(const struct graph_op *op, const struct graph_step *s, void *arg)
{
    const struct price_change *c = arg;

    (void)s;
    return c->other && c->other[op->rank].excess != 0;
}

/* Replay the steps from c->from on, as they were and changed; returns how many. */
static uint32_t replay_both(struct graph *g, const struct price_change *c, struct graph_ends *ends)
{
    struct changed_replay replay = { c, g };
    struct graph_change change = { .work = changed_work,
                                   .transfer = c->transfer_excess || c->slow ? changed_transfer : NULL,
                                   .arg = &replay };
    uint32_t steps = 0, max = expected_steps_max(g);

    while (steps < graph_steps(g) && graph_step_about(g, steps).number >= c->from)
        steps++;
    if (!steps)
        return 0;
    if (c->expected)
        expected_take(c->expected, g, steps, NULL, NULL);
    if (c->expected && c->lasting)
        lasting_noise_take(c->lasting, c->expected, g, steps, is_slower, (void *)c);
    if (c->hot)
        hot_even_take(c->hot, g, steps, c->hot_excess, c->held);
    if (c->mostly)
        expected_take(c->mostly, g, steps < max ? steps : max, is_late, (void *)c->work);
    return graph_replay_both(g, steps, &change, ends);
}

struct prices price_take(struct graph *g, const struct price_change *c, uint32_t recent)
{
    struct graph_ends ends[GRAPH_STEPS], last, before = { 0 };
    uint32_t steps = replay_both(g, c, ends), old;

    if (!steps)
        return (struct prices){ 0 };
    last = ends[steps - 1];
    for (old = 0; old < steps - 1 && graph_step_about(g, steps - 1 - old).number < recent; old++)
        before = ends[old];
    return (struct prices){ price_of(last.was_s, last.changed_s),
                            price_of(last.was_s - before.was_s, last.changed_s - before.changed_s) };
}

uint32_t price_steps(struct graph *g, const struct price_change *c, double *saved_s, double *more)
{
    struct graph_ends ends[GRAPH_STEPS];
    const struct price_work *grows = NULL, *seldom = NULL;
    uint32_t steps = replay_both(g, c, ends);
    double before_s = 0;

    for (uint32_t r = 0; c->work && r < c->ranks; r++) {
        if (c->work[r].until)
            grows = &c->work[r];
        if (c->work[r].late)
            seldom = &c->work[r];
    }
    for (uint32_t i = 0; i < steps; i++) {
        struct graph_step s = graph_step_about(g, steps - 1 - i);
        double until_s = ends[i].was_s - ends[i].changed_s;

        saved_s[i] = until_s - before_s;
        before_s = until_s;
        more[i] = (s.factor > 0 && s.factor < WORK_PAUSE_RATIO ? s.factor : 1) *
                  (grows ? grown(s.number, grows->from, grows->until) : 1);
        if (seldom)
            more[i] = seldom->late[s.number % GRAPH_STEPS];
    }
    return steps;
}
