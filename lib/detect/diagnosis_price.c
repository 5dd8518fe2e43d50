/* diagnosis_price.c - what findings cost: since their onset, in the newest steps, and how sure that is. */
#include <math.h>

#include "detect/diagnosis_private.h"

#define SHORTER_Z           2.0  /* standard errors by which a mean is certainly smaller */
#define PRICED_AT_ONCE      512u /* ranks that are priced at every step */
#define RESIDUAL_BEFORE_MIN 12u  /* steps that show what was before */
/* Stragglers that hide one another cost at least this many times together what they cost one by one ... */
#define HIDDEN 1.5
#define COSTS  0.01 /* ... and this share of the time */
#define PART   0.1  /* of what they cost together: who adds less has no part in it */
/* slowdown that people read as 1.00x */
#define COSTS_NOTHING 1.005
/* Prices in a row.  Chosen: of several hundred looks at jobs without a fault one was wrong, and the next was
 * not. */
#define SURE_LOOKS 2u

double diagnosis_mean_slowdown(const struct work *w, uint64_t onset, double saved_s)
{
    uint32_t n = work_steps_since(w, onset, WORK_STEPS);

    return n ? finding_slowdown(work_time_s(w, n) * (double)(w->steps - onset) / n, saved_s) : NAN;
}

/* Who works slower in the steps that were judged does so in those between (an evaluation), and what was there
 * when the first was judged has been there before, while the steps' length was still looked for: that time is
 * taken to have been lost alike. */
double diagnosis_with_unseen(const struct diagnosis *d, bool early, double saved_s)
{
    /* Steps come later than they end, many at a time: what that adds to the time before the first is missing
     * between the next. */
    double unseen_s = fmax(0, d->between_s + (early ? d->unseen_s : 0));

    return d->seen_s > 0 ? saved_s * (1 + unseen_s / d->seen_s) : saved_s;
}

/* A step should take its longest work and its transfer.  What steps take beyond that since the onset, and did
 * not before, the finding may have cost as well, unseen: the work of a slow rank whose records are missing,
 * waits inside of a step.  Where there was no before, it may be that or its opposite. */
struct interval diagnosis_unexplained(const struct work *w, uint64_t onset, double lost_ratio)
{
    double residual_s[2] = { 0 }, since_s = 0, more;
    uint32_t n[2] = { 0 };

    for (uint32_t b = 0; b < work_kept(w); b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];
        bool since = w->steps - 1 - b >= onset;

        if (step->pause || isnan(step->transfer_s))
            continue;
        residual_s[since] += step->duration_s - step->longest_s - step->transfer_s;
        since_s += since ? step->duration_s : 0;
        n[since]++;
    }
    more = (residual_s[1] - (n[0] >= RESIDUAL_BEFORE_MIN ? residual_s[0] * n[1] / n[0] : 0)) /
           (lost_ratio * since_s);
    if (!n[1] || !(lost_ratio > 0))
        return (struct interval){ 1, 1 };
    if (n[0] >= RESIDUAL_BEFORE_MIN)
        return (struct interval){ 1 + fmin(0, more), 1 + fmax(0, more) };
    return (struct interval){ 1 - fabs(more), 1 + fabs(more) };
}

double diagnosis_paused_s(const struct work *w, uint64_t onset, double max_s)
{
    uint32_t n = work_steps_since(w, onset, WORK_STEPS), pauses = 0, b = 0;
    double all_s = 0, pauses_s = 0;

    for (; b < n && all_s < max_s; b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];

        all_s += step->duration_s;
        pauses += step->pause;
        pauses_s += step->pause ? step->duration_s : 0;
    }
    return pauses < b ? fmax(0, pauses_s - (all_s - pauses_s) * pauses / (b - pauses)) : 0;
}

/* Mean time of those of the newest n steps in which not all paused; NaN: there are none. */
static double step_time(const struct work *w, uint32_t n, double *variance)
{
    double sum = 0, squares = 0;
    uint32_t plain = 0;

    for (uint32_t b = 0; b < n; b++) {
        const struct work_step *step = &w->step[work_slot(w, b)];

        if (step->pause)
            continue;
        sum += step->duration_s;
        squares += (double)step->duration_s * step->duration_s;
        plain++;
    }
    *variance = fmax(0, squares / plain - sum / plain * (sum / plain));
    return sum / plain;
}

/* For which share of the time before its onset was it there, too?  An onset among the first steps that were
 * judged may only be when it could be seen: for all of it.  But where the steps before certainly took less,
 * for as much of it as they took more than steps without it do; saved_s of of_s is what it cost.  The first
 * step is not counted, as it began before its first item came.  Where its own work is known in some of the
 * steps before, that says it (earlier).  Half of the time without it, and less, is no step's: the job was not
 * seen from its beginning, and the steps before say nothing. */
static double share_before(const struct diagnosis *d, uint64_t onset, const struct finding *f, double saved_s,
                           double of_s, double earlier)
{
    double before = d->unseen_steps + (double)onset - 1, before_s = (f->onset_s - d->began_s) / before;
    uint32_t n = work_steps_since(d->work, onset, WORK_STEPS);
    double variance, with_s, without_s, error_s;

    if (onset > ONSET_EARLY)
        return 0;
    if (!isnan(earlier))
        return before > 0 ? fmin(1, earlier / before) : 0;
    with_s = step_time(d->work, n, &variance);
    without_s = with_s - saved_s / of_s * work_time_s(d->work, n) / n;
    error_s = sqrt(variance * (1 / before + 1.0 / n));
    if (!(before_s > without_s / 2 && before_s < with_s - SHORTER_Z * error_s))
        return 1;
    return fmax(0, (before_s - without_s) / (with_s - without_s));
}

double diagnosis_over_s(const struct diagnosis *d, const struct straggler *straggler)
{
    return straggler->over ? work_time_s(d->work, d->work->steps - straggler->over) : 0;
}

/* In the other steps it cost as much a second as in the newest ones, but for the pauses.  Where a replay
 * takes these for longer than they were, it takes what they lost for longer, too. */
double diagnosis_since_onset(const struct diagnosis *d, uint64_t onset, const struct finding *f,
                             double saved_s, double of_s, double over_s, double earlier)
{
    double before = share_before(d, onset, f, saved_s, of_s, earlier);
    double all_s = d->ended_s - over_s - f->onset_s + (before > 0 ? before * (f->onset_s - d->began_s) : 0);
    double paused = diagnosis_paused_s(d->work, onset, SAME_TIME * of_s), unpriced_s;
    double took_s = work_time_s(d->work, work_steps_since(d->work, onset, WORK_STEPS));

    if (of_s > took_s && took_s > 0) {
        saved_s *= took_s / of_s;
        of_s = took_s;
    }
    of_s -= over_s;
    unpriced_s = all_s - of_s - (diagnosis_paused_s(d->work, onset, INFINITY) - paused);
    return of_s > paused && unpriced_s > 0 ? saved_s + saved_s / (of_s - paused) * unpriced_s : saved_s;
}

/* ---- the price of stragglers ---- */

bool diagnosis_is_straggler(const struct diagnosis *d, size_t at)
{
    return d->finding[at].standing && d->entry[at].key >= STRAGGLER_KEY;
}

/* What the newest steps would be shorter without any of list[n], were their excess `times` as much. */
static double saved_with(const struct pricing *p, const struct straggler *list, size_t n, double times,
                         uint32_t steps)
{
    struct straggler scaled[STRAGGLERS_MAX];

    for (size_t i = 0; i < n; i++) {
        scaled[i] = list[i];
        scaled[i].excess *= fmax(0, times);
    }
    return p->method->newest(p, scaled, n, steps).saved_s;
}

/* The finding's own, and those that are reported with it; returns how many. */
static size_t reported_with(const struct diagnosis *d, size_t at, struct straggler list[STRAGGLERS_MAX])
{
    size_t n = 0;

    list[n++] = d->entry[at].straggler;
    for (size_t i = 0; i < d->n && n < STRAGGLERS_MAX; i++)
        if (i != at && d->finding[i].standing && d->finding[i].with == d->finding[at].id)
            list[n++] = d->entry[i].straggler;
    return n;
}

/* The interval of a straggler's cost: of its excess, by which the steps are replayed again; of its onset; and
 * of what its cost differs from step to step, since a fault that lasts should cost as much in each: calls
 * that are missing hide some of it.  It becomes narrower with the square root of the steps, so that most
 * prices leave it as it is. */
static void set_cost_interval(struct diagnosis *d, size_t at)
{
    const struct pricing *p = &d->pricing;
    struct entry *e = &d->entry[at];
    struct straggler list[STRAGGLERS_MAX];
    const struct straggler *straggler = &list[0];
    size_t n_list = reported_with(d, at, list);
    uint64_t since = d->work->steps - straggler->onset, last = e->doubted_n == n_list ? e->doubted : 0;
    struct interval excess = interval_of(1, straggler->error, straggler->freedom), cost;
    double saved_s[WORK_STEPS], more[WORK_STEPS], all_s = 0, error, freedom;
    uint32_t n, m = 0, steps = work_steps_since(d->work, straggler->onset, WORK_STEPS);

    if (steps < PRICING_DOUBT_MIN || (last && since >= last && since < 2 * last))
        return;
    e->doubted = since;
    e->doubted_n = n_list;
    n = p->method->each(p, list, n_list, saved_s, more);
    for (uint32_t i = 0; i < n; i++) {
        all_s += saved_s[i];
        if (more[i] > 0 || !(straggler->late_min > 0)) { /* in the others it is not late */
            saved_s[m] = saved_s[i];
            more[m++] = more[i];
        }
    }
    cost.low = saved_with(p, list, n_list, excess.low, steps) / all_s;
    cost.high = saved_with(p, list, n_list, excess.high, steps) / all_s;
    error = interval_ratio_error(saved_s, more, m, &freedom);
    cost = interval_product(cost, interval_of(1, straggler->onset_error / (double)since, INFINITY));
    cost = interval_product(cost, interval_of(1, error, freedom));
    cost = interval_product(cost, p->method->unseen(d, at));
    d->finding[at].cost = cost;
}

/* What it costs will not be seen better. */
static bool keeps_price(const struct diagnosis *d, size_t at)
{
    return d->entry[at].straggler.fading && d->finding[at].slowdown > 1;
}

static void price_straggler(struct diagnosis *d, size_t at)
{
    const struct work *w = d->work;
    struct finding *f = &d->finding[at];
    const struct straggler *straggler = &d->entry[at].straggler;
    /* what comes now and then may not have come in the newest */
    uint32_t recent =
        work_steps_since(w, straggler->onset, straggler->late_min > 0 ? WORK_STEPS : DIAGNOSIS_RECENT);
    uint32_t last = 0;
    struct cost cost;

    if (keeps_price(d, at) && !straggler->over)
        return;
    cost = d->pricing.method->cost(d, at, recent);
    if (keeps_price(d, at)) { /* but for what it cost since the last price, until it was over */
        f->saved_s = cost.saved_s;
        return;
    }
    for (uint32_t b = 0; b < recent; b++)
        last += straggler_was_last(straggler, w, work_slot(w, b));
    f->saved_s = cost.saved_s;
    f->slowdown = finding_slowdown(cost.recent.of_s, cost.recent.saved_s);
    d->entry[at].alone_ratio = recent ? cost.alone_s / cost.recent.of_s : 0;
    f->last_ratio = recent ? last / (double)recent : NAN;
}

/* ---- several that hide one another ---- */

static bool is_together(const struct diagnosis *d, size_t at)
{
    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i) && d->finding[i].with != d->finding[i].id &&
            (i == at || d->finding[i].with == d->finding[at].id))
            return true;
    return false;
}

/* Findings that are priced together, the oldest first. */
struct together {
    size_t at[STRAGGLERS_MAX], n;
    uint32_t recent; /* newest steps since the latest of them began */
};

/* What they cost in these steps, without the one of number `but`; SIZE_MAX: all of them. */
static struct price price_of(const struct diagnosis *d, const struct together *t, size_t but)
{
    struct straggler list[STRAGGLERS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (i != but)
            list[n++] = d->entry[t->at[i]].straggler;
    return d->pricing.method->newest(&d->pricing, list, n, t->recent);
}

static void look_back(const struct diagnosis *d, struct together *t)
{
    uint64_t latest = 0;

    for (size_t i = 0; i < t->n; i++)
        latest = d->entry[t->at[i]].straggler.onset > latest ? d->entry[t->at[i]].straggler.onset : latest;
    t->recent = work_steps_since(d->work, latest, DIAGNOSIS_RECENT);
}

/* Those without which the others would cost clearly less. */
static struct together parts_of(const struct diagnosis *d, const struct together *all, double saved_s)
{
    struct together t = { .n = 0 };

    for (size_t i = 0; i < all->n; i++)
        if (saved_s - price_of(d, all, i).saved_s > PART * saved_s)
            t.at[t.n++] = all->at[i];
    look_back(d, &t);
    return t;
}

static double last_ratio(const struct diagnosis *d, const struct together *t)
{
    const struct work *w = d->work;
    uint32_t last = 0;

    for (uint32_t b = 0; b < t->recent; b++) {
        bool any = false;

        for (size_t i = 0; i < t->n; i++)
            any = any || straggler_was_last(&d->entry[t->at[i]].straggler, w, work_slot(w, b));
        last += any;
    }
    return last / (double)t->recent;
}

/* Mending one of two equally slow nodes gains nothing, so each alone has no price.  Where all that stand cost
 * far more together than the sum of what each costs alone, the oldest is reported with their common price and
 * stands for the others. */
static void price_together(struct diagnosis *d)
{
    struct together t = { .n = 0 };
    double alone_ratio = 0, alone = 0;
    struct finding *f;
    struct price p;

    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i) && isnan(d->finding[i].slowdown))
            return;
    for (size_t i = 0; i < d->n; i++) {
        if (!diagnosis_is_straggler(d, i))
            continue;
        d->finding[i].with = d->finding[i].id;
        d->finding[i].alone = NAN;
        alone_ratio += d->entry[i].alone_ratio;
        if (!(d->entry[i].straggler.late_min > 0) && t.n < STRAGGLERS_MAX)
            t.at[t.n++] = i;
    }
    look_back(d, &t);
    if (t.n < 2 || !t.recent)
        return;
    p = price_of(d, &t, SIZE_MAX);
    if (p.saved_s <= fmax(HIDDEN * alone_ratio, COSTS) * p.of_s)
        return;
    t = parts_of(d, &t, p.saved_s);
    if (t.n < 2)
        return;
    p = price_of(d, &t, SIZE_MAX);
    f = &d->finding[t.at[0]];
    f->saved_s = d->pricing.method->together_s(d, t.at, t.n);
    f->slowdown = finding_slowdown(p.of_s, p.saved_s);
    f->last_ratio = last_ratio(d, &t);
    for (size_t i = 0; i < t.n; i++) {
        d->finding[t.at[i]].with = f->id;
        alone = fmax(alone, d->entry[t.at[i]].alone_ratio);
    }
    f->alone = finding_slowdown(1, alone);
}

/* ---- may it cost nothing? ---- */

/* As long as its interval reaches down to nothing, chance may have found it.  One look above that may be
 * chance, too, as many are taken of a long run; where the first price already is, there was none before it.
 * What was reported once stays so. */
static void look_for_doubt(struct diagnosis *d, size_t at)
{
    struct finding *f = &d->finding[at];
    struct entry *e = &d->entry[at];
    struct interval i = finding_slowdown_interval(f);

    if (e->sure == SURE_LOOKS || !interval_known(i))
        return;
    if (!(i.low > COSTS_NOTHING))
        e->sure = 0;
    else
        e->sure = f->doubtful ? e->sure + 1 : SURE_LOOKS;
    if (f->doubtful && e->sure == SURE_LOOKS) { /* it is first reported now */
        f->named_step = d->work->steps;
        f->named_seq = work_seq_of(d->work, f->named_step);
        e->reported[0] = (struct reported){ f->class, f->named_step, (uint32_t)f->named_seq };
        e->reported[1] = (struct reported){ 0 };
    }
    f->doubtful = e->sure < SURE_LOOKS;
}

/* ---- when ---- */

/* Steps between two prices of what stands.  Of very many ranks it is not priced at every step: that takes
 * WORK_STEPS times as long as they are many. */
static uint32_t price_every(const struct diagnosis *d)
{
    uint32_t every = d->work->n / PRICED_AT_ONCE, again;
    uint32_t steps = WORK_STEPS; /* that the price of the latest straggler stands on */

    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i))
            steps = work_steps_since(d->work, d->finding[i].onset_step - 1, steps);
    again = d->pricing.method->again ? d->pricing.method->again(steps) : 0;
    every = every > again ? every : again;
    return every > d->price_every ? every : d->price_every;
}

void diagnosis_price_stragglers(struct diagnosis *d)
{
    /* Those that are priced together keep their price as long as one of them may be over. */
    bool keep = false;

    if (d->priced_n == d->n && d->work->steps <= d->priced + price_every(d))
        return;
    d->priced = d->work->steps;
    d->priced_n = d->n;
    for (size_t i = 0; i < d->n; i++)
        keep = keep || (diagnosis_is_straggler(d, i) && keeps_price(d, i));
    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i) && !(keep && is_together(d, i)))
            price_straggler(d, i);
    if (!keep)
        price_together(d);
    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i) && d->finding[i].with == d->finding[i].id && !keeps_price(d, i))
            set_cost_interval(d, i);
    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i))
            look_for_doubt(d, i);
}

void diagnosis_price_every(struct diagnosis *d, uint32_t steps)
{
    d->price_every = steps;
}

void diagnosis_price_now(struct diagnosis *d)
{
    d->priced_n = SIZE_MAX;
    for (size_t i = 0; i < d->n; i++)
        d->entry[i].doubted = 0;
    diagnosis_price_stragglers(d);
}
