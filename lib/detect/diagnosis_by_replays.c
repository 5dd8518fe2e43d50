/* diagnosis_by_replays.c - what stragglers cost where steps are replayed without them; see pricing.h. */
#include <math.h>

#include "detect/diagnosis_private.h"

static struct price newest(const struct pricing *p, const struct straggler *list, size_t n, uint32_t steps)
{
    uint32_t from = p->work->step[work_slot(p->work, steps - 1)].seq;

    return p->replays.all(p->replays.arg, list, n, from, from).all;
}

static uint32_t each(const struct pricing *p, const struct straggler *list, size_t n, double *saved_s,
                     double *more)
{
    uint32_t steps = work_steps_since(p->work, list[0].onset, WORK_STEPS);

    return p->replays.each(p->replays.arg, list, n, work_seq_of(p->work, p->work->steps - steps + 1), saved_s,
                           more);
}

/* Looked at again when twice as many steps are known, and kept when the first are no longer remembered. */
static double earlier(struct diagnosis *d, size_t at)
{
    const struct work *w = d->work;
    const struct replays *r = &d->pricing.replays;
    const struct straggler *straggler = &d->entry[at].straggler;
    struct earlier *e = &d->entry[at].earlier;
    uint32_t since = work_steps_since(w, straggler->onset, WORK_STEPS);
    double steps;

    if (!r->earlier || straggler->onset > ONSET_EARLY || straggler->drift || straggler->late_min > 0)
        return NAN;
    if (e->since && diagnosis_asked_of(&e->of, straggler) && since < 2 * e->since)
        return e->steps;
    steps = since == w->steps - straggler->onset
                ? r->earlier(r->arg, straggler, work_seq_of(w, straggler->onset + 1))
                : PRICING_FORGOTTEN;
    if (steps != PRICING_FORGOTTEN)
        e->steps = steps;
    else if (!e->since || !diagnosis_asked_of(&e->of, straggler))
        e->steps = NAN;
    e->of = diagnosis_ask(straggler);
    e->since = since;
    return e->steps;
}

/* Each is priced as if it were alone. */
static struct cost cost(struct diagnosis *d, size_t at, uint32_t recent)
{
    const struct work *w = d->work;
    const struct straggler *straggler = &d->entry[at].straggler;
    struct cost cost = { .saved_s = d->entry[at].expired_s };
    double over_s = diagnosis_over_s(d, straggler);
    struct prices p;

    if (!recent)
        return cost;
    p = d->pricing.replays.all(d->pricing.replays.arg, straggler, 1, work_seq_of(w, straggler->onset + 1),
                               w->step[work_slot(w, recent - 1)].seq);
    diagnosis_look_before(d, at);
    cost.saved_s = diagnosis_since_onset(
        d, straggler->onset, &d->finding[at],
        diagnosis_with_missed(d, at, (struct price){ p.all.of_s - over_s, p.all.saved_s }), p.all.of_s,
        over_s, earlier(d, at));
    cost.recent = (struct price){ p.recent.of_s, diagnosis_with_missed(d, at, p.recent) };
    cost.alone_s = cost.recent.saved_s;
    return cost;
}

static double together_s(struct diagnosis *d, const size_t *at, size_t n)
{
    const struct work *w = d->work;
    struct straggler list[STRAGGLERS_MAX];
    size_t earliest = 0;
    uint32_t from;
    struct price p;

    for (size_t i = 0; i < n; i++) {
        list[i] = d->entry[at[i]].straggler;
        earliest = list[i].onset < list[earliest].onset ? i : earliest;
    }
    from = work_seq_of(w, list[earliest].onset + 1);
    p = d->pricing.replays.all(d->pricing.replays.arg, list, n, from, from).all;
    return diagnosis_since_onset(d, list[earliest].onset, &d->finding[at[earliest]], p.saved_s, p.of_s, 0,
                                 earlier(d, at[earliest]));
}

const struct pricing_method diagnosis_by_replays = {
    .newest = newest,
    .each = each,
    .cost = cost,
    .unseen = diagnosis_missed_cost,
    .together_s = together_s,
    /* The replay remembers as many steps as it prices, and what it cost before is taken to be alike; see
     * diagnosis_since_onset(). */
    .expire = NULL,
    .again = pricing_again,
    .prices_others = false,
};
