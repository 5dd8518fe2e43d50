#include "analysis/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/oscillation.h"
#include "analysis/price.h"
#include "analysis/rhythm.h"
#include "analysis/variability.h"
#include "analysis/straggler.h"
#include "analysis/transfer.h"
#include "analysis/work.h"
#include "common/xalloc.h"

#define ALWAYS         6.0 /* as many strikes were to be expected before the first; by chance one in 400 has none */
#define SAME_TIME      0.99 /* of a time that is added up in another way */
#define CERTAIN_Z      2.0  /* standard errors by which a mean is certainly smaller */
#define EARLY          4u   /* steps after which an onset is still the beginning */
#define BETWEEN_MAX    16.0 /* steps' time */
#define SHORT_STEP_S   0.010
#define LASTING_S      1.0
#define PRICED_AT_ONCE 512u /* ranks that are priced at every step */
#define TOGETHER       24u  /* steps between two that began, or were named, together */
#define BEFORE_MIN     12u  /* steps that show what was before */
#define DOUBTED_MIN 4u /* steps that an interval stands on; it is looked at again when there are twice as many */
#define RECENT         64u  /* steps that the slowdown of now stands on, at the most */

/* A finding is known to its detector by one of these; stragglers have their own numbers from STRAGGLER_KEY
 * on. */
enum key { KEY_JITTER, KEY_IMBALANCE, KEY_OSCILLATION, KEY_TRANSFER, KEY_ROLE, STRAGGLER_KEY };

struct entry {
    uint64_t key;
    double found_s; /* the caller's clock */
    struct reported {
        enum finding_class class;
        uint64_t step; /* 0: not yet */
        uint32_t seq;
    } reported[2];              /* each class that was reported of it, and when first */
    struct straggler straggler; /* as it last was */
    double expired_s;           /* saved in steps that are no longer remembered */
    uint64_t doubted;           /* steps since the onset, of a straggler's newest interval; 0: it has none */
};

struct diagnosis {
    struct work *work;
    struct stragglers *stragglers;
    struct variability *variability;
    struct oscillation oscillation;
    struct transfer transfer;
    struct finding finding[FINDINGS_MAX];
    struct entry entry[FINDINGS_MAX];
    size_t n;
    uint32_t next_id;
    double unseen_s, seen_s; /* before the first step that was judged; of those since */
    double unseen_steps;     /* there were before it, as far as it is known when the job began */
    double between_s;        /* between those: steps of another kind (evaluation) */
    double began_s, ended_s; /* when the first item came, and when the newest step ended */
    uint64_t priced;         /* the step at which the stragglers' prices were taken */
    uint32_t price_every;    /* steps */
    size_t priced_n;         /* findings then */
};

struct diagnosis *diagnosis_new(void)
{
    struct diagnosis *d = xcalloc(1, sizeof(*d));

    d->work = work_new();
    d->stragglers = stragglers_new();
    d->variability = variability_new();
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

void diagnosis_price(struct diagnosis *d, work_price *price, work_price_steps *steps, void *arg)
{
    d->work->price = price;
    d->work->price_steps = steps;
    d->work->price_arg = arg;
}

void diagnosis_place(struct diagnosis *d, uint32_t rank, uint32_t node, uint32_t switch_id)
{
    work_place(d->work, rank, node, switch_id);
}

/* ---- the list ---- */

static size_t find(const struct diagnosis *d, uint64_t key)
{
    for (size_t i = d->n; i-- > 0;)
        if (d->finding[i].standing && d->entry[i].key == key)
            return i;
    return d->n;
}

static size_t add(struct diagnosis *d, uint64_t key)
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
    d->finding[at] = (struct finding){ .id = d->next_id++,
                                       .scope = SCOPE_NONE,
                                       .place = WORK_PLACE_NONE,
                                       .standing = true,
                                       .onset_s = NAN,
                                       .slowdown = NAN,
                                       .cost = INTERVAL_UNKNOWN,
                                       .last_ratio = NAN,
                                       .rate = NAN,
                                       .z = NAN };
    d->entry[at] = (struct entry){ .key = key, .found_s = d->ended_s };
    return at;
}

static void end(struct finding *f, uint64_t step)
{
    f->standing = false;
    f->over_step = step;
}

/* The collective with which step `number` (from 1) ended; the oldest remembered where it is further back. */
static uint32_t seq_of(const struct work *w, uint64_t number)
{
    uint64_t back = w->steps - number;

    return w->step[work_slot(w, back < work_kept(w) ? (uint32_t)back : work_kept(w) - 1)].seq;
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

/* When that class was first reported of it: a finding has one of two, and may be taken for the other for a
 * while. */
static const struct reported *first_reported(const struct work *w, struct entry *e, enum finding_class class)
{
    struct reported *reported =
        e->reported[0].step && e->reported[0].class != class ? &e->reported[1] : &e->reported[0];

    if (!reported->step)
        *reported = (struct reported){ class, w->steps, seq_of(w, w->steps) };
    return reported;
}

/* Steps so short may be parts of what the program would call one, such as the columns of a panel that ranks factorise in turn: what holds
 * for some of them is over with the turn. */
static bool is_young(const struct diagnosis *d, const struct entry *e)
{
    uint32_t n = work_kept(d->work);

    return work_time_s(d->work, n) < SHORT_STEP_S * n && d->ended_s - e->found_s < LASTING_S;
}

/* A finding's class as its detector has it now. */
static struct finding *refresh(struct diagnosis *d, uint64_t key, enum finding_class class, uint64_t onset)
{
    const struct work *w = d->work;
    size_t at = find(d, key);
    const struct reported *reported;
    struct finding *f;

    if (at == d->n && (at = add(d, key)) == d->n)
        return NULL;
    f = &d->finding[at];
    f->class = class;
    f->young = !d->entry[at].reported[0].step && is_young(d, &d->entry[at]);
    if (!f->young) {
        reported = first_reported(w, &d->entry[at], class);
        f->named_step = reported->step;
        f->named_seq = reported->seq;
    }
    if (onset + 1 != f->onset_step) {
        f->onset_step = onset + 1;
        f->onset_seq = seq_of(w, f->onset_step);
        f->onset_s = began_s(w, f->onset_step);
    }
    return f;
}

/* Number of remembered steps since the onset, at most the limit. */
static uint32_t steps_since(const struct work *w, uint64_t onset, uint32_t most)
{
    uint64_t since = w->steps - onset;
    uint32_t kept = work_kept(w) < most ? work_kept(w) : most;

    return since < kept ? (uint32_t)since : kept;
}

/* Slowdown over the newest steps, from what all steps since the onset lost on average. */
static double mean_slowdown(const struct work *w, uint64_t onset, double saved_s)
{
    uint32_t n = steps_since(w, onset, WORK_STEPS);

    return n ? finding_slowdown(work_time_s(w, n) * (double)(w->steps - onset) / n, saved_s) : NAN;
}

/* Who works slower in the steps that were judged does so in those between (an evaluation), and what was there
 * when the first was judged has been there before, while the steps' length was still looked for: that time is
 * taken to have been lost alike. */
static double with_unseen(const struct diagnosis *d, uint64_t onset, double saved_s)
{
    double unseen_s = fmax(0, d->between_s) + (onset <= EARLY ? d->unseen_s : 0);

    return d->seen_s > 0 ? saved_s * (1 + unseen_s / d->seen_s) : saved_s;
}

static void follow_time(struct diagnosis *d, const struct diagnosis_step *s)
{
    double gap_s = s->ended_s - s->duration_s - d->ended_s;

    if (!d->work->steps) {
        d->unseen_s = fmax(0, s->ended_s - s->duration_s - s->began_s);
        d->unseen_steps = ((double)s->seq + 1) / s->period - 1;
        d->seen_s = d->between_s = 0;
    } else if (gap_s < BETWEEN_MAX * s->duration_s) { /* longer: nobody worked */
        d->between_s += gap_s;
    }
    d->began_s = s->began_s;
    d->ended_s = s->ended_s;
    d->seen_s += s->duration_s;
}

/* A step should take its longest work and its transfer.  What steps take beyond that since the onset, and did not before, the finding may
 * have cost as well, unseen: the work of a slow rank whose records are missing, waits inside of a step.  Where there was no before, it may
 * be that or its opposite.  The interval of the cost for that; lost_ratio: the share of the steps' time that the finding is said to cost. */
static struct interval unexplained(const struct work *w, uint64_t onset, double lost_ratio)
{
    double rest_s[2] = { 0 }, since_s = 0, more;
    uint32_t n[2] = { 0 };

    for (uint32_t b = 0; b < work_kept(w); b++) {
        const struct work_step *k = &w->step[work_slot(w, b)];
        bool since = w->steps - 1 - b >= onset;

        if (k->pause || isnan(k->transfer_s))
            continue;
        rest_s[since] += k->duration_s - k->longest_s - k->transfer_s;
        since_s += since ? k->duration_s : 0;
        n[since]++;
    }
    more = (rest_s[1] - (n[0] >= BEFORE_MIN ? rest_s[0] * n[1] / n[0] : 0)) / (lost_ratio * since_s);
    if (!n[1] || !(lost_ratio > 0))
        return (struct interval){ 1, 1 };
    if (n[0] >= BEFORE_MIN)
        return (struct interval){ 1 + fmin(0, more), 1 + fmax(0, more) };
    return (struct interval){ 1 - fabs(more), 1 + fabs(more) };
}

/* ---- what each detector reports ---- */

/* The finding of that key, which stands or has ended; NULL: it does not stand, or there is no room. */
static struct finding *settle(struct diagnosis *d, enum key key, enum finding_class class, bool standing,
                              uint64_t onset)
{
    size_t at = find(d, key);

    if (standing)
        return refresh(d, key, class, onset);
    if (at < d->n)
        end(&d->finding[at], d->work->steps);
    return NULL;
}

static void take_simple(struct diagnosis *d, enum key key, enum finding_class class, bool standing,
                        uint64_t onset, double saved_s, struct interval cost, double excess, double rate)
{
    struct finding *f = settle(d, key, class, standing, onset);

    if (!f)
        return;
    f->saved_s = key == KEY_TRANSFER ? saved_s : with_unseen(d, onset, saved_s);
    f->slowdown = mean_slowdown(d->work, onset, saved_s);
    f->cost =
        key == KEY_TRANSFER ? cost : interval_product(cost, unexplained(d->work, onset, 1 - 1 / f->slowdown));
    f->excess = excess;
    f->rate = rate;
}

static void take_stragglers(struct diagnosis *d)
{
    const struct straggler *g;
    size_t n = stragglers_get(d->stragglers, &g);

    for (size_t i = 0; i < n; i++) {
        struct finding *f =
            refresh(d, STRAGGLER_KEY + g[i].id, g[i].drift ? FINDING_DRIFT : FINDING_STRAGGLER, g[i].onset);

        if (!f)
            continue;
        d->entry[f - d->finding].straggler = g[i];
        f->scope = g[i].scope;
        f->place = g[i].place;
        f->excess = g[i].excess / (1 + g[i].before);
        f->z = g[i].z;
    }
    for (size_t i = 0; i < d->n; i++) {
        bool named = d->entry[i].key < STRAGGLER_KEY;

        for (size_t j = 0; j < n; j++)
            named = named || d->entry[i].key == STRAGGLER_KEY + g[j].id;
        if (d->finding[i].standing && !named)
            end(&d->finding[i], d->work->steps);
    }
}

/* Of the newest steps since the onset, as many as took most_s, what they took beyond what they usually do, because all paused in them. */
static double paused_s(const struct work *w, uint64_t onset, double most_s)
{
    uint32_t n = steps_since(w, onset, WORK_STEPS), pauses = 0, b = 0;
    double all_s = 0, pauses_s = 0;

    for (; b < n && all_s < most_s; b++) {
        const struct work_step *k = &w->step[work_slot(w, b)];

        all_s += k->duration_s;
        pauses += k->pause;
        pauses_s += k->pause ? k->duration_s : 0;
    }
    return pauses < b ? fmax(0, pauses_s - (all_s - pauses_s) * pauses / (b - pauses)) : 0;
}

/* For which share of the time before its onset was it there, too?  An onset among the first steps that were judged may only be when it
 * could be seen: for all of it.  But where the steps before certainly took less, for as much of it as they took more than steps without it
 * do; saved_s of of_s is what it cost.  The first step is not counted, as it began before its first item came.  Half of the time without it,
 * and less, is no step's: the job was not seen from its beginning, and the steps before say nothing. */
static double share_before(const struct diagnosis *d, uint64_t onset, const struct finding *f, double saved_s,
                           double of_s)
{
    double before = d->unseen_steps + (double)onset - 1, before_s = (f->onset_s - d->began_s) / before;
    uint32_t n = steps_since(d->work, onset, WORK_STEPS);
    double with_s = work_time_s(d->work, n) / n, without_s = with_s * (1 - saved_s / of_s), squares = 0, error_s;

    if (onset > EARLY)
        return 0;
    for (uint32_t b = 0; b < n; b++)
        squares += pow(d->work->step[work_slot(d->work, b)].duration_s - with_s, 2);
    error_s = sqrt(squares / n * (1 / before + 1.0 / n));
    if (!(before_s > without_s / 2 && before_s < with_s - CERTAIN_Z * error_s))
        return 1;
    return fmax(0, (before_s - without_s) / (with_s - without_s));
}

/* What it cost since its onset, and before it was seen, from what it cost in the newest steps, which took of_s: in the others it cost as
 * much a second, but for the pauses. */
static double since_onset(const struct diagnosis *d, uint64_t onset, const struct finding *f, double saved_s,
                          double of_s)
{
    double before = share_before(d, onset, f, saved_s, of_s);
    double all_s = d->ended_s - f->onset_s + (before > 0 ? before * (f->onset_s - d->began_s) : 0);
    double paused = paused_s(d->work, onset, SAME_TIME * of_s), rest_s;

    rest_s = all_s - of_s - (paused_s(d->work, onset, INFINITY) - paused);
    return of_s > paused && rest_s > 0 ? saved_s + saved_s / (of_s - paused) * rest_s : saved_s;
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
    o->excess = c->strike_ratio;
    o->rate = c->strikes_per_step;
    o->early = (double)c->jitter_onset < ALWAYS / c->strikes_per_step;
    return c->jitter;
}

struct interval diagnosis_jitter_cost(const struct diagnosis *d)
{
    return d->variability->jitter_cost;
}

void diagnosis_other(struct diagnosis *d, const struct diagnosis_other *o)
{
    enum key key = o->class == FINDING_COMMUNICATION ? KEY_TRANSFER
                   : o->class == FINDING_JITTER      ? KEY_JITTER
                   : o->scope == SCOPE_NONE          ? KEY_IMBALANCE
                                                     : KEY_ROLE;
    uint64_t onset = o->from ? d->work->steps : 0;
    size_t at = find(d, key);
    struct finding *f;

    while (onset && d->work->steps - onset < work_kept(d->work) &&
           d->work->step[work_slot(d->work, (uint32_t)(d->work->steps - onset))].seq >= o->from)
        onset--;
    /* Began before all that is remembered: when that was is known from before. */
    if (d->work->steps - onset == work_kept(d->work) && at < d->n && d->finding[at].onset_step <= onset)
        onset = d->finding[at].onset_step - 1;
    f = settle(d, key, o->class, o->standing, onset);
    if (!f)
        return;
    f->scope = o->scope;
    f->place = o->place;
    f->other = o->other;
    f->excess = o->excess;
    f->rate = o->rate;
    f->slowdown = o->slowdown;
    f->cost = o->cost;
    f->saved_s = since_onset(d, onset, f, o->saved_s, o->of_s);
}

/* Whose CPU is taken away is late, and slow to take part when it has come: collectives that became slow
 * together with somebody's own work are its doing. */
static void find_leader(struct diagnosis *d)
{
    size_t at = find(d, KEY_TRANSFER);
    bool any = false;

    if (at == d->n)
        return;
    for (size_t i = 0; i < d->n; i++) {
        const struct finding *f = &d->finding[i], *t = &d->finding[at];

        if (!f->standing || d->entry[i].key < STRAGGLER_KEY)
            continue;
        any = true;
        if (llabs((long long)(f->onset_step - t->onset_step)) <= TOGETHER ||
            llabs((long long)(f->named_step - t->named_step)) <= TOGETHER)
            d->finding[at].follows = true;
    }
    d->finding[at].follows = d->finding[at].follows && any;
}

/* ---- the price of stragglers ---- */

/* Those that stand, the asked for one first; returns how many. */
static size_t standing(const struct diagnosis *d, size_t asked, struct straggler list[STRAGGLERS_MAX])
{
    size_t n = 0;

    list[n++] = d->entry[asked].straggler;
    for (size_t i = 0; i < d->n && n < STRAGGLERS_MAX; i++)
        if (i != asked && d->finding[i].standing && d->entry[i].key >= STRAGGLER_KEY)
            list[n++] = d->entry[i].straggler;
    return n;
}

/* What one costs in a step. Of several at a time it is the mean of what it costs alone and of what it adds to
 * the others (Shapley 1953, for two). */
static double saved_in(const struct straggler *list, size_t n, const struct work *w, uint32_t slot,
                       uint64_t step)
{
    double alone_s = straggler_saved_s(list, 1, w, slot, step);

    if (n == 1)
        return alone_s;
    return (alone_s + straggler_saved_s(list, n, w, slot, step) -
            straggler_saved_s(list + 1, n - 1, w, slot, step)) /
           2;
}

/* Before the newest step overwrites the oldest: what that one cost is kept as it is known now. */
static void keep_expiring(struct diagnosis *d)
{
    const struct work *w = d->work;
    struct straggler list[STRAGGLERS_MAX];

    if (w->steps < WORK_STEPS || w->price)
        return;
    for (size_t i = 0; i < d->n; i++)
        if (d->finding[i].standing && d->entry[i].key >= STRAGGLER_KEY)
            d->entry[i].expired_s += saved_in(list, standing(d, i, list), w,
                                              (uint32_t)(w->steps % WORK_STEPS), w->steps - WORK_STEPS);
}

/* What a straggler alone cost in each step since its onset that is remembered, oldest first, and how much work it had. */
static uint32_t saved_each(const struct diagnosis *d, const struct straggler *g, double *saved_s,
                           double *more)
{
    const struct work *w = d->work;
    uint32_t n = steps_since(w, g->onset, WORK_STEPS);

    if (w->price)
        return w->price_steps(w->price_arg, g, seq_of(w, w->steps - n + 1), saved_s, more);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = work_slot(w, n - 1 - i);
        const struct work_step *k = &w->step[slot];

        saved_s[i] = straggler_saved_s(g, 1, w, slot, w->steps - n + i);
        more[i] = (k->pause ? k->usual_s : k->typical_s) * straggler_excess(g, w->steps - n + i);
    }
    return n;
}

/* The same of all steps, were its excess `times` as much. */
static double saved_with(const struct diagnosis *d, const struct straggler *g, double times, uint32_t steps)
{
    const struct work *w = d->work;
    struct straggler k = *g;
    double saved_s = 0;
    uint32_t from = seq_of(w, w->steps - steps + 1);

    k.excess *= fmax(0, times);
    if (w->price)
        return w->price(w->price_arg, &k, 1, from, from).all.saved_s;
    for (uint32_t b = 0; b < steps; b++)
        saved_s += straggler_saved_s(&k, 1, w, work_slot(w, b), w->steps - 1 - b);
    return saved_s;
}

/* The interval of a straggler's cost: of its excess, by which the steps are replayed again; of its onset; and of what its cost differs
 * from step to step, since a fault that lasts should cost as much in each: calls that are missing hide some of it.  It becomes
 * narrower with the square root of the steps, so that most prices leave it as it is. */
static void doubt(struct diagnosis *d, size_t at)
{
    const struct straggler *g = &d->entry[at].straggler;
    uint64_t since = d->work->steps - g->onset, last = d->entry[at].doubted;
    struct interval excess = interval_of(1, g->error, g->freedom), cost;
    double saved_s[WORK_STEPS], more[WORK_STEPS], all_s = 0, error, freedom;
    uint32_t n, steps = steps_since(d->work, g->onset, WORK_STEPS);

    if (steps < DOUBTED_MIN || (last && since >= last && since < 2 * last))
        return;
    d->entry[at].doubted = since;
    n = saved_each(d, g, saved_s, more);
    for (uint32_t i = 0; i < n; i++)
        all_s += saved_s[i];
    cost.low = saved_with(d, g, excess.low, steps) / all_s;
    cost.high = saved_with(d, g, excess.high, steps) / all_s;
    error = interval_ratio_error(saved_s, more, n, &freedom);
    cost = interval_product(cost, interval_of(1, g->onset_error / (double)since, INFINITY));
    cost = interval_product(cost, interval_of(1, error, freedom));
    if (!d->work->price)
        cost = interval_product(cost, unexplained(d->work, g->onset, 1 - 1 / d->finding[at].slowdown));
    d->finding[at].cost = cost;
}

static void price(struct diagnosis *d, size_t at)
{
    const struct work *w = d->work;
    struct finding *f = &d->finding[at];
    struct straggler list[STRAGGLERS_MAX];
    size_t n = standing(d, at, list);
    uint32_t recent = steps_since(w, list[0].onset, RECENT), last = 0;
    double newest_s = 0, all_s = work_time_s(w, recent);

    if (list[0].fading && f->slowdown > 1) /* what it has cost will not be seen better */
        return;
    f->saved_s = d->entry[at].expired_s;
    if (w->price && recent) {
        struct prices p = w->price(w->price_arg, list, 1, seq_of(w, list[0].onset + 1),
                                   w->step[work_slot(w, recent - 1)].seq);

        newest_s = p.recent.saved_s;
        all_s = p.recent.of_s;
        f->saved_s = since_onset(d, list[0].onset, f, p.all.saved_s, p.all.of_s);
    }
    for (uint32_t b = 0; b < work_kept(w); b++) {
        double saved_s = w->price ? 0 : saved_in(list, n, w, work_slot(w, b), w->steps - 1 - b);

        f->saved_s += saved_s;
        if (b < recent) {
            newest_s += saved_s;
            last += straggler_was_last(&list[0], w, work_slot(w, b));
        }
    }
    if (!w->price)
        f->saved_s = with_unseen(d, list[0].onset, f->saved_s);
    f->slowdown = finding_slowdown(all_s, newest_s);
    f->last_ratio = recent ? last / (double)recent : NAN;
    doubt(d, at);
}

/* Steps that the price of the latest straggler stands on. */
static uint32_t priced_steps(const struct diagnosis *d)
{
    uint32_t steps = WORK_STEPS;

    for (size_t i = 0; i < d->n; i++)
        if (d->finding[i].standing && d->entry[i].key >= STRAGGLER_KEY)
            steps = steps_since(d->work, d->finding[i].onset_step - 1, steps);
    return steps;
}

/* Steps between two prices of what stands.  Of very many ranks it is not priced at every step: that takes WORK_STEPS times as long as they
 * are many. */
static uint32_t price_every(const struct diagnosis *d)
{
    uint32_t every = d->work->n / PRICED_AT_ONCE, again = d->work->price ? price_again(priced_steps(d)) : 0;

    every = every > again ? every : again;
    return every > d->price_every ? every : d->price_every;
}

static void price_stragglers(struct diagnosis *d)
{
    if (d->priced_n == d->n && d->work->steps <= d->priced + price_every(d))
        return;
    d->priced = d->work->steps;
    d->priced_n = d->n;
    for (size_t i = 0; i < d->n; i++)
        if (d->finding[i].standing && d->entry[i].key >= STRAGGLER_KEY)
            price(d, i);
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
    price_stragglers(d);
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

    keep_expiring(d);
    follow_time(d, s);
    work_take(w, s->seq, s->own_s, s->n, s->duration_s, s->transfer_s);
    w->step[work_slot(w, 0)].ended_s = s->ended_s;
    rhythm_step(w, s->period);
    variability_step(d->variability, w, named, before, min_slowdown);
    stragglers_step(d->stragglers, w, min_slowdown);
    oscillation_step(&d->oscillation, w, s->period, min_slowdown);
    transfer_step(&d->transfer, w, min_slowdown);
    if (stragglers_get(d->stragglers, &named) < before)
        price_stragglers(d); /* what is over keeps its last price */
    take_stragglers(d);
    take_simple(d, KEY_OSCILLATION, FINDING_OSCILLATION, o->standing, o->onset, o->saved_s, o->cost,
                o->ratio - 1, o->period);
    if (w->price) /* the graph says more of all others */
        return;
    take_simple(d, KEY_JITTER, FINDING_JITTER, c->jitter, c->jitter_onset, c->jitter_saved_s, c->jitter_cost,
                c->strike_ratio, c->strikes_per_step);
    take_simple(d, KEY_IMBALANCE, FINDING_IMBALANCE, c->imbalance, c->imbalance_onset, c->imbalance_saved_s,
                c->imbalance_cost, w->sigma, NAN);
    take_simple(d, KEY_TRANSFER, t->congestion ? FINDING_CONGESTION : FINDING_COMMUNICATION, t->standing,
                t->onset, t->saved_s + fmax(0, t->stretch_s), transfer_cost(t), t->tall, t->bursts);
    find_leader(d);
}

void diagnosis_restart(struct diagnosis *d)
{
    price_stragglers(d);
    for (size_t i = 0; i < d->n; i++)
        if (d->finding[i].standing)
            end(&d->finding[i], d->work->steps);
    work_reset(d->work);
    stragglers_reset(d->stragglers);
    variability_reset(d->variability);
    memset(&d->oscillation, 0, sizeof(d->oscillation));
    memset(&d->transfer, 0, sizeof(d->transfer));
    d->priced = 0;
}

uint32_t diagnosis_seq(const struct diagnosis *d, uint64_t step)
{
    return seq_of(d->work, step < d->work->steps ? step + 1 : d->work->steps);
}

uint32_t diagnosis_next_id(const struct diagnosis *d)
{
    return d->next_id;
}

uint64_t diagnosis_steps(const struct diagnosis *d)
{
    return d->work->steps;
}

size_t diagnosis_findings(struct diagnosis *d, const struct finding **list)
{
    price_stragglers(d);
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
        if (d->finding[i].standing && d->entry[i].key >= STRAGGLER_KEY &&
            (!costliest || d->finding[i].slowdown > costliest->slowdown))
            costliest = &d->finding[i];
    n = steps_since(d->work, costliest ? costliest->onset_step - 1 : 0, RECENT);
    for (uint32_t b = 0; b < n; b++)
        last += d->work->step[work_slot(d->work, b)].last == rank;
    return n ? last / (double)n : NAN;
}

double diagnosis_finding_step_s(const struct diagnosis *d, const struct finding *f)
{
    uint32_t n = steps_since(d->work, f->onset_step - 1, RECENT);

    return n ? work_time_s(d->work, n) / n : NAN;
}
