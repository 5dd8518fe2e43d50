/* diagnosis_by_replays.c - what stragglers cost where steps are replayed without them; see pricing.h. */
#include <math.h>

#include "detect/diagnosis_private.h"

/* Stragglers that hide one another cost at least this many times together what they cost one by one ... */
#define HIDDEN 1.5
#define COSTS  0.01 /* ... and this share of the time */
#define PART   0.1  /* of what they cost together: who adds less has no part in it */

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

/* Each is priced as if it were alone. */
static struct cost cost(struct diagnosis *d, size_t at, uint32_t recent)
{
    const struct work *w = d->work;
    const struct straggler *straggler = &d->entry[at].straggler;
    struct cost cost = { .saved_s = d->entry[at].expired_s };
    struct prices p;

    if (!recent)
        return cost;
    p = d->pricing.replays.all(d->pricing.replays.arg, straggler, 1, work_seq_of(w, straggler->onset + 1),
                               w->step[work_slot(w, recent - 1)].seq);
    diagnosis_look_before(d, at);
    cost.saved_s = diagnosis_since_onset(d, straggler->onset, &d->finding[at],
                                         diagnosis_with_missed(d, at, p.all), p.all.of_s);
    cost.recent = (struct price){ p.recent.of_s, diagnosis_with_missed(d, at, p.recent) };
    return cost;
}

/* ---- several that hide one another ---- */

/* Findings that are priced together, the oldest first. */
struct together {
    size_t at[STRAGGLERS_MAX], n;
    uint64_t latest; /* onset */
    size_t earliest; /* of at: whose onset is */
};

static void add_to(struct together *t, const struct diagnosis *d, size_t at)
{
    const struct straggler *straggler = &d->entry[at].straggler;

    if (!t->n || straggler->onset > t->latest)
        t->latest = straggler->onset;
    if (!t->n || straggler->onset < d->entry[t->at[t->earliest]].straggler.onset)
        t->earliest = t->n;
    t->at[t->n++] = at;
}

/* What they would save, without the one of number `but`; SIZE_MAX: all of them.  The newest steps are those
 * since the latest began. */
static struct prices price_of(const struct diagnosis *d, const struct together *t, size_t but)
{
    const struct work *w = d->work;
    uint32_t recent = work_steps_since(w, t->latest, DIAGNOSIS_RECENT);
    uint64_t onset = d->entry[t->at[t->earliest]].straggler.onset;
    struct straggler list[STRAGGLERS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (i != but)
            list[n++] = d->entry[t->at[i]].straggler;
    return d->pricing.replays.all(d->pricing.replays.arg, list, n, work_seq_of(w, onset + 1),
                                  w->step[work_slot(w, recent - 1)].seq);
}

/* Those without which the others would cost clearly less. */
static struct together parts_of(const struct diagnosis *d, const struct together *all, double saved_s)
{
    struct together t = { .n = 0 };

    for (size_t i = 0; i < all->n; i++)
        if (saved_s - price_of(d, all, i).recent.saved_s > PART * saved_s)
            add_to(&t, d, all->at[i]);
    return t;
}

static double last_ratio(const struct diagnosis *d, const struct together *t)
{
    const struct work *w = d->work;
    uint32_t recent = work_steps_since(w, t->latest, DIAGNOSIS_RECENT), last = 0;

    for (uint32_t b = 0; b < recent; b++) {
        bool any = false;

        for (size_t i = 0; i < t->n; i++)
            any = any || straggler_was_last(&d->entry[t->at[i]].straggler, w, work_slot(w, b));
        last += any;
    }
    return last / (double)recent;
}

/* Mending one of two equally slow nodes gains nothing, so each alone has no price.  Where all that stand cost
 * far more together than the sum of what each costs alone, the oldest is reported with their common price and
 * stands for the others. */
static void share(struct diagnosis *d, double alone_ratio)
{
    struct together t = { .n = 0 };
    struct prices p;
    struct finding *f;

    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i) && !(d->entry[i].straggler.late_min > 0) && t.n < STRAGGLERS_MAX)
            add_to(&t, d, i);
    if (t.n < 2 || !work_steps_since(d->work, t.latest, DIAGNOSIS_RECENT))
        return;
    p = price_of(d, &t, SIZE_MAX);
    if (p.recent.saved_s <= fmax(HIDDEN * alone_ratio, COSTS) * p.recent.of_s)
        return;
    t = parts_of(d, &t, p.recent.saved_s);
    if (t.n < 2)
        return;
    p = price_of(d, &t, SIZE_MAX);
    f = &d->finding[t.at[0]];
    f->slowdown = finding_slowdown(p.recent.of_s, p.recent.saved_s);
    f->saved_s = diagnosis_since_onset(d, d->entry[t.at[t.earliest]].straggler.onset,
                                       &d->finding[t.at[t.earliest]], p.all.saved_s, p.all.of_s);
    f->last_ratio = last_ratio(d, &t);
    for (size_t i = 1; i < t.n; i++)
        d->finding[t.at[i]].with = f->id;
}

const struct pricing_method diagnosis_by_replays = {
    .newest = newest,
    .each = each,
    .cost = cost,
    .unseen = diagnosis_missed_cost,
    .share = share,
    /* The replay remembers as many steps as it prices, and what it cost before is taken to be alike; see
     * diagnosis_since_onset(). */
    .expire = NULL,
    .again = pricing_again,
    .prices_others = false,
};
