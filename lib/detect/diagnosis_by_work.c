/* diagnosis_by_work.c - what stragglers cost where a step ends with its last rank; see pricing.h. */
#include "detect/diagnosis_private.h"

#define CHANGE_MIN 2u

static struct price newest(const struct pricing *p, const struct straggler *list, size_t n, uint32_t steps)
{
    const struct work *w = p->work;
    struct price price = { work_time_s(w, steps), 0 };

    for (uint32_t b = 0; b < steps; b++)
        price.saved_s += straggler_saved_s(list, n, w, work_slot(w, b), w->steps - 1 - b);
    return price;
}

static uint32_t each(const struct pricing *p, const struct straggler *list, size_t n, double *saved_s,
                     double *more)
{
    const struct work *w = p->work;
    uint32_t steps = work_steps_since(w, list[0].onset, WORK_STEPS);

    for (uint32_t i = 0; i < steps; i++) {
        uint32_t slot = work_slot(w, steps - 1 - i);
        const struct work_step *step = &w->step[slot];

        saved_s[i] = straggler_saved_s(list, n, w, slot, w->steps - steps + i);
        more[i] = (step->pause ? step->usual_s : step->typical_s) *
                  straggler_excess_in(&list[0], w, slot, w->steps - steps + i);
    }
    return steps;
}

/* The stragglers that stand, the asked for one first; returns how many. */
static size_t standing(const struct diagnosis *d, size_t asked, struct straggler list[STRAGGLERS_MAX])
{
    size_t n = 0;

    list[n++] = d->entry[asked].straggler;
    for (size_t i = 0; i < d->n && n < STRAGGLERS_MAX; i++)
        if (i != asked && diagnosis_is_straggler(d, i))
            list[n++] = d->entry[i].straggler;
    return n;
}

static struct cost cost(struct diagnosis *d, size_t at, uint32_t recent)
{
    const struct work *w = d->work;
    struct straggler list[STRAGGLERS_MAX];
    size_t n = standing(d, at, list);
    struct cost cost = { d->entry[at].expired_s, { work_time_s(w, recent), 0 }, 0 };

    for (uint32_t b = 0; b < work_kept(w); b++) {
        double saved_s = straggler_share_s(list, n, w, work_slot(w, b), w->steps - 1 - b);

        cost.saved_s += saved_s;
        if (b >= recent)
            continue;
        cost.recent.saved_s += saved_s;
        cost.alone_s += n == 1 ? saved_s : straggler_saved_s(list, 1, w, work_slot(w, b), w->steps - 1 - b);
    }
    /* A change after two steps or more is one that these certainly did not have (onset.h): it was not there
     * before them either. */
    cost.saved_s = diagnosis_with_unseen(d, list[0].onset < CHANGE_MIN, cost.saved_s);
    return cost;
}

/* Their shares add up to it. */
static double together_s(struct diagnosis *d, const size_t *at, size_t n)
{
    double saved_s = 0;

    for (size_t i = 0; i < n; i++)
        saved_s += d->finding[at[i]].saved_s;
    return saved_s;
}

/* Steps are longer than their longest work and their transfer. */
static struct interval unseen(const struct diagnosis *d, size_t at)
{
    return diagnosis_unexplained(d->work, d->entry[at].straggler.onset, 1 - 1 / d->finding[at].slowdown);
}

/* What the oldest step cost is kept as it is known now. */
static void expire(struct diagnosis *d)
{
    const struct work *w = d->work;
    struct straggler list[STRAGGLERS_MAX];

    if (w->steps < WORK_STEPS)
        return;
    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i))
            d->entry[i].expired_s += straggler_share_s(
                list, standing(d, i, list), w, (uint32_t)(w->steps % WORK_STEPS), w->steps - WORK_STEPS);
}

const struct pricing_method diagnosis_by_work = {
    .newest = newest,
    .each = each,
    .cost = cost,
    .unseen = unseen,
    .together_s = together_s,
    .expire = expire,
    .again = NULL, /* it is cheap */
    .prices_others = true,
};
