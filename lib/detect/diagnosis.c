#include "detect/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "detect/diagnosis_private.h"
#include "detect/rhythm.h"

/* as many detours were to be expected before the first; by chance one in 400 has none */
#define ALWAYS_DETOURS 6.0
#define BETWEEN_MAX    16.0 /* steps' time */
#define SHORT_STEP_S   0.010
#define LASTING_S      1.0
#define LEADER_STEPS   24u /* steps between two that began, or were named, together */

struct diagnosis *diagnosis_new(void)
{
    struct diagnosis *d = xcalloc(1, sizeof(*d));

    d->work = work_new();
    d->stragglers = stragglers_new();
    d->variability = variability_new();
    diagnosis_price_by_work(d);
    return d;
}

void diagnosis_free(struct diagnosis *d)
{
    if (!d)
        return;
    work_free(d->work);
    stragglers_free(d->stragglers);
    variability_free(d->variability);
    free(d);
}

void diagnosis_price_by_work(struct diagnosis *d)
{
    d->pricing = (struct pricing){ .method = &diagnosis_by_work, .work = d->work };
}

void diagnosis_price_by_replays(struct diagnosis *d, const struct replays *replays)
{
    d->pricing = (struct pricing){ .method = &diagnosis_by_replays, .work = d->work, .replays = *replays };
}

void diagnosis_place(struct diagnosis *d, uint32_t rank, uint32_t node, uint32_t switch_id)
{
    work_place(d->work, rank, node, switch_id);
}

/* ---- the list ---- */

static size_t find_entry(const struct diagnosis *d, uint64_t key)
{
    for (size_t i = d->n; i-- > 0;)
        if (d->finding[i].standing && d->entry[i].key == key)
            return i;
    return d->n;
}

static size_t add_entry(struct diagnosis *d, uint64_t key)
{
    size_t at = d->n;

    if (d->n == FINDINGS_MAX) {
        at = 0;
        while (at < d->n && d->finding[at].standing)
            at++;
        if (at == d->n)
            return d->n;
        memmove(&d->finding[at], &d->finding[at + 1], (d->n - at - 1) * sizeof(d->finding[0]));
        memmove(&d->entry[at], &d->entry[at + 1], (d->n - at - 1) * sizeof(d->entry[0]));
        at = d->n - 1;
    } else {
        d->n++;
    }
    d->finding[at] = (struct finding){ .id = d->next_id,
                                       .with = d->next_id,
                                       .scope = SCOPE_NONE,
                                       .place = WORK_PLACE_NONE,
                                       .standing = true,
                                       .onset_s = NAN,
                                       .slowdown = NAN,
                                       .alone = NAN,
                                       .cost = INTERVAL_UNKNOWN,
                                       .last_ratio = NAN,
                                       .rate = NAN,
                                       .z = NAN };
    d->next_id++;
    d->entry[at] = (struct entry){ .key = key, .found_s = d->ended_s };
    return at;
}

static void end_finding(struct finding *f, uint64_t step)
{
    f->standing = false;
    f->over_step = step;
}

/* What it was found by turned out to be another's: it never was. */
static void withdraw(struct diagnosis *d, uint64_t key)
{
    size_t at = find_entry(d, key);

    if (at == d->n)
        return;
    end_finding(&d->finding[at], d->work->steps);
    d->finding[at].withdrawn = true;
}

/* When step `number` began.  The oldest remembered one stands for all before it, so that its time is unknown
 * once others were forgotten. */
static double began_s(const struct work *w, uint64_t number)
{
    uint64_t back = w->steps - number;
    const struct work_step *s;

    if (back >= work_kept(w) || (back == work_kept(w) - 1 && w->steps > work_kept(w)))
        return NAN;
    s = &w->step[work_slot(w, (uint32_t)back)];
    return s->ended_s - s->duration_s;
}

/* Steps so short may be parts of what the program would call one, such as the columns of a panel that ranks
 * factorise in turn: what holds for some of them is over with the turn. */
static bool is_unconfirmed(const struct diagnosis *d, const struct entry *e)
{
    uint32_t n = work_kept(d->work);

    return work_time_s(d->work, n) < SHORT_STEP_S * n && d->ended_s - e->found_s < LASTING_S;
}

/* A finding's class as its detector has it now. */
static struct finding *refresh_finding(struct diagnosis *d, uint64_t key, enum finding_class class,
                                       uint64_t onset)
{
    const struct work *w = d->work;
    size_t at = find_entry(d, key);
    struct finding *f;
    struct entry *e;

    if (at == d->n && (at = add_entry(d, key)) == d->n)
        return NULL;
    f = &d->finding[at];
    e = &d->entry[at];
    f->class = class;
    f->unconfirmed = !e->reported[0].step && is_unconfirmed(d, e);
    if (!f->unconfirmed) {
        /* A finding has one of two classes, and may be taken for the other for a while. */
        struct reported *reported =
            e->reported[0].step && e->reported[0].class != class ? &e->reported[1] : &e->reported[0];

        if (!reported->step)
            *reported = (struct reported){ class, w->steps, work_seq_of(w, w->steps) };
        f->named_step = reported->step;
        f->named_seq = reported->seq;
    }
    if (onset + 1 != f->onset_step) {
        f->onset_step = onset + 1;
        f->onset_seq = work_seq_of(w, f->onset_step);
        f->onset_s = began_s(w, f->onset_step);
    }
    return f;
}

/* ---- what each detector reports ---- */

/* The finding of that key, which stands or has ended; NULL: it does not stand, or there is no room. */
static struct finding *settle_finding(struct diagnosis *d, enum key key, enum finding_class class,
                                      bool standing, uint64_t onset)
{
    size_t at = find_entry(d, key);

    if (standing)
        return refresh_finding(d, key, class, onset);
    if (at < d->n)
        end_finding(&d->finding[at], d->work->steps);
    return NULL;
}

static void take_simple(struct diagnosis *d, enum key key, enum finding_class class, bool standing,
                        uint64_t onset, double saved_s, struct interval cost, double excess, double rate)
{
    struct finding *f = settle_finding(d, key, class, standing, onset);

    if (!f)
        return;
    f->saved_s = key == KEY_TRANSFER ? saved_s : diagnosis_with_unseen(d, onset <= ONSET_EARLY, saved_s);
    f->slowdown = diagnosis_mean_slowdown(d->work, onset, saved_s);
    f->cost = key == KEY_TRANSFER
                  ? cost
                  : interval_product(cost, diagnosis_unexplained(d->work, onset, 1 - 1 / f->slowdown));
    f->excess = excess;
    f->rate = rate;
}

static void take_stragglers(struct diagnosis *d)
{
    const struct straggler *straggler;
    size_t n = stragglers_get(d->stragglers, &straggler);

    for (size_t i = 0; i < n; i++) {
        struct finding *f =
            refresh_finding(d, STRAGGLER_KEY + straggler[i].id,
                            straggler[i].drift ? FINDING_DRIFT : FINDING_STRAGGLER, straggler[i].onset);

        if (!f)
            continue;
        d->entry[f - d->finding].straggler = straggler[i];
        f->scope = straggler[i].scope;
        f->place = straggler[i].place;
        f->excess = straggler[i].excess / (1 + straggler[i].before);
        f->z = straggler[i].z;
        f->rate = straggler[i].late_min > 0 ? straggler[i].late_share : NAN;
        f->period = straggler[i].period;
    }
    for (size_t i = 0; i < d->n; i++) {
        bool named = d->entry[i].key < STRAGGLER_KEY;

        for (size_t j = 0; j < n; j++)
            named = named || d->entry[i].key == STRAGGLER_KEY + straggler[j].id;
        if (d->finding[i].standing && !named)
            end_finding(&d->finding[i], d->work->steps);
    }
}

size_t diagnosis_stragglers(const struct diagnosis *d, const struct straggler **list)
{
    return stragglers_get(d->stragglers, list);
}

bool diagnosis_jitter(const struct diagnosis *d, struct diagnosis_other *o)
{
    const struct variability *c = d->variability;

    *o = (struct diagnosis_other){ .class = FINDING_JITTER };
    o->scope = SCOPE_NONE;
    o->place = WORK_PLACE_NONE;
    o->standing = c->jitter;
    o->from = c->jitter ? diagnosis_seq(d, c->jitter_onset) : 0;
    o->excess = c->detour_ratio;
    o->rate = c->detours_per_step;
    o->early = !c->increased && (double)c->jitter_onset < ALWAYS_DETOURS / c->detours_per_step;
    o->redrawn = c->redrawn;
    return c->jitter;
}

uint32_t diagnosis_delays(const struct diagnosis *d, double min_slowdown, double *saved_s)
{
    const struct detours *all = &d->variability->detours;
    uint32_t n = detours_long(all, saved_s);
    double of_s = all->seen_s - all->over_s;

    if (!d->variability->jitter && of_s >= min_slowdown * (of_s - *saved_s))
        return n;
    *saved_s = 0;
    return 0;
}

struct interval diagnosis_jitter_cost(const struct diagnosis *d)
{
    return d->variability->jitter_cost;
}

void diagnosis_other(struct diagnosis *d, const struct diagnosis_other *o)
{
    enum key key = o->mixed                            ? KEY_MIXED
                   : o->class == FINDING_COMMUNICATION ? KEY_TRANSFER
                   : o->class == FINDING_JITTER        ? KEY_JITTER
                   : o->scope == SCOPE_NONE            ? KEY_IMBALANCE
                                                       : KEY_ROLE;
    uint64_t onset = o->from ? d->work->steps : 0;
    size_t at = find_entry(d, key);
    /* Transfers are slow over those of steps before, which were not: it was not there from the beginning. */
    double earlier = key == KEY_TRANSFER || o->begun ? 0 : NAN;
    struct finding *f;

    while (onset && d->work->steps - onset < work_kept(d->work) &&
           d->work->step[work_slot(d->work, (uint32_t)(d->work->steps - onset))].seq >= o->from)
        onset--;
    /* Began before all that is remembered: when that was is known from before. */
    if (d->work->steps - onset == work_kept(d->work) && at < d->n && d->finding[at].onset_step <= onset)
        onset = d->finding[at].onset_step - 1;
    if (o->redrawn && !o->standing)
        withdraw(d, key);
    /* What it has cost is what its newest price says, not what the one before would come to until now. */
    if (!o->standing && o->of_s > 0 && at < d->n && d->finding[at].standing)
        d->finding[at].saved_s =
            diagnosis_since_onset(d, onset, &d->finding[at], o->saved_s, o->of_s, 0, earlier);
    f = settle_finding(d, key, o->class, o->standing, onset);
    if (!f)
        return;
    f->scope = o->scope;
    f->place = o->place;
    f->other = o->other;
    f->comm = o->comm;
    f->excess = o->excess;
    f->rate = o->rate;
    f->slowdown = o->slowdown;
    f->cost = o->cost;
    f->saved_s = diagnosis_since_onset(d, onset, f, o->saved_s, o->of_s, 0, earlier);
}

/* Whose CPU is taken away is late, and slow to take part when it has come: collectives that became slow
 * together with somebody's own work are its doing. */
static void find_leader(struct diagnosis *d)
{
    size_t at = find_entry(d, KEY_TRANSFER);
    struct finding *t = &d->finding[at];
    bool any = false;

    if (at == d->n)
        return;
    for (size_t i = 0; i < d->n; i++) {
        const struct finding *f = &d->finding[i];

        if (!diagnosis_is_straggler(d, i))
            continue;
        any = true;
        if (llabs((long long)(f->onset_step - t->onset_step)) <= LEADER_STEPS ||
            llabs((long long)(f->named_step - t->named_step)) <= LEADER_STEPS)
            t->follows = true;
    }
    t->follows = t->follows && any;
}

/* ---- all together ---- */

void diagnosis_step(struct diagnosis *d, const struct diagnosis_step *s, double min_slowdown)
{
    struct work *w = d->work;
    const struct variability *c = d->variability;
    const struct oscillation *o = &d->oscillation;
    const struct transfer *t = &d->transfer;
    const struct straggler *named;
    size_t before = stragglers_get(d->stragglers, &named);
    double gap_s = s->ended_s - s->duration_s - d->ended_s;

    if (d->pricing.method->expire)
        d->pricing.method->expire(d);

    /* What was not seen before the first step, and between others: stragglers cost their share of it, too. */
    if (!w->steps) {
        d->unseen_s = fmax(0, s->ended_s - s->duration_s - s->began_s);
        d->unseen_steps = ((double)s->seq + 1) / s->period - 1;
        d->seen_s = d->between_s = 0;
    } else if (gap_s < BETWEEN_MAX * s->duration_s) { /* longer: nobody worked */
        d->between_s += gap_s;
    }
    d->began_s = s->began_s;
    d->ended_s = s->ended_s;
    d->seen_s += s->duration_s;

    work_take(w, s->seq, s->own_s, s->n, s->duration_s, s->transfer_s);
    w->step[work_slot(w, 0)].ended_s = s->ended_s;
    w->step[work_slot(w, 0)].wait_s = s->wait_s;
    rhythm_step(w, s->period);
    variability_step(d->variability, w, s->period, named, before, min_slowdown);
    stragglers_step(d->stragglers, w, &d->pricing, min_slowdown);
    oscillation_step(&d->oscillation, w, s->period, min_slowdown);
    transfer_step(&d->transfer, w, min_slowdown);

    if (stragglers_get(d->stragglers, &named) < before) {
        d->priced_n = SIZE_MAX; /* what is over has its last price now, whenever the one before was taken */
        diagnosis_price_stragglers(d);
    }
    take_stragglers(d);
    take_simple(d, KEY_OSCILLATION, FINDING_OSCILLATION, o->standing, o->onset, o->saved_s, o->cost,
                o->ratio - 1, o->period);
    if (!d->pricing.method->prices_others)
        return;
    if (c->redrawn && !c->jitter)
        withdraw(d, KEY_JITTER);
    take_simple(d, KEY_JITTER, FINDING_JITTER, c->jitter, c->jitter_onset, c->jitter_saved_s, c->jitter_cost,
                c->detour_ratio, c->detours_per_step);
    take_simple(d, KEY_IMBALANCE, FINDING_IMBALANCE, c->imbalance, c->imbalance_onset, c->imbalance_saved_s,
                c->imbalance_cost, c->noise, NAN);
    take_simple(d, KEY_TRANSFER, t->congestion ? FINDING_CONGESTION : FINDING_COMMUNICATION, t->standing,
                t->onset, t->saved_s + fmax(0, t->stretch_s), transfer_cost(t), t->tall, t->bursts);
    find_leader(d);
}

void diagnosis_restart(struct diagnosis *d)
{
    diagnosis_price_stragglers(d);
    for (size_t i = 0; i < d->n; i++)
        if (d->finding[i].standing)
            end_finding(&d->finding[i], d->work->steps);
    work_reset(d->work);
    stragglers_reset(d->stragglers);
    variability_reset(d->variability);
    memset(&d->oscillation, 0, sizeof(d->oscillation));
    memset(&d->transfer, 0, sizeof(d->transfer));
    d->priced = 0;
}

uint32_t diagnosis_seq(const struct diagnosis *d, uint64_t step)
{
    return work_seq_of(d->work, step < d->work->steps ? step + 1 : d->work->steps);
}

uint64_t diagnosis_steps(const struct diagnosis *d)
{
    return d->work->steps;
}

size_t diagnosis_findings(struct diagnosis *d, const struct finding **list)
{
    diagnosis_price_stragglers(d);
    *list = d->finding;
    return d->n;
}

const struct work *diagnosis_work(const struct diagnosis *d)
{
    return d->work;
}

const struct work_step *diagnosis_newest(const struct diagnosis *d)
{
    return &d->work->step[work_slot(d->work, 0)];
}

double diagnosis_limit(const struct diagnosis *d)
{
    return stragglers_limit(d->stragglers, d->work);
}

double diagnosis_limit_from_start(const struct diagnosis *d)
{
    return stragglers_limit_from_start(d->stragglers, d->work);
}

double diagnosis_transfer_limit(const struct diagnosis *d)
{
    return transfer_limit(&d->transfer);
}

double diagnosis_excess(const struct diagnosis *d, uint32_t rank)
{
    return work_recent_excess(d->work, rank);
}

double diagnosis_last_ratio(const struct diagnosis *d, uint32_t rank)
{
    const struct finding *costliest = NULL;
    uint32_t n, last = 0;

    for (size_t i = 0; i < d->n; i++)
        if (diagnosis_is_straggler(d, i) && (!costliest || d->finding[i].slowdown > costliest->slowdown))
            costliest = &d->finding[i];
    n = work_steps_since(d->work, costliest ? costliest->onset_step - 1 : 0, DIAGNOSIS_RECENT);
    for (uint32_t b = 0; b < n; b++)
        last += d->work->step[work_slot(d->work, b)].last == rank;
    return n ? last / (double)n : NAN;
}

double diagnosis_finding_step_s(const struct diagnosis *d, const struct finding *f)
{
    /* the latest of those that are reported with it: of what its slowdown stands on */
    uint64_t onset = f->onset_step;
    uint32_t n;

    for (size_t i = 0; i < d->n; i++)
        if (d->finding[i].standing && d->finding[i].with == f->id && d->finding[i].onset_step > onset)
            onset = d->finding[i].onset_step;
    n = work_steps_since(d->work, onset - 1, DIAGNOSIS_RECENT);
    return n ? work_time_s(d->work, n) / n : NAN;
}
