#include "detect/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "detect/onset.h"
#include "detect/recurrence.h"
#include "model/interval.h"
#include "model/statistics.h"

/* What labelled episodes say when one of these is halved or doubled: doc/constants.md. */

/* Where "chosen" is said, the value is between two that were tried on the labelled traces of tests/analysis
 * (22 programs, 48 episodes): with either of the two in brackets all of them were judged alike, unless
 * something else is said. */

/* Steps in a row above the limit. Chosen (1, 4): 1 names sooner, and trusts a single step; 4 names later. */
#define CONFIRM_STEPS 2u
/* It is let go when this share of its excess is left over PLACES_MEDIAN_STEPS for LET_GO_STEPS in a row.
 * Chosen (0.15, 0.6): a larger share lets go of a fault that comes and goes, a smaller one holds what noise
 * keeps up. */
#define LET_GO_SHARE 0.35
/* chosen: half of the window of that median; fewer would let go of what pauses */
#define LET_GO_STEPS 8u
/* It may be over when as little is left over the newest steps, at least so many: it is not described by them,
 * nor do they count for its price.  Of a small excess more are needed, so that a median of noise (its
 * standard error is sqrt(pi / 2) of a mean's) comes to be as little in one case of 40 only. */
#define FADING_STEPS 4u
#define FADING_Z     (2 * 1.2533)
/* Of the latest part of a place: what each part must have. Chosen (0.25, 0.8): halfway between parts that
 * have nothing and parts that are alike, so that noise is least likely to take one for the other. */
#define PART_SHARE 0.5
/* Steps between two looks at onset and shape. Every fourth step a look at each place was 5 % of judging 64
 * ranks that pass messages. */
#define REFIT       4u
#define REFIT_LATER 16u /* ... and at what is settled, of which a step is a small part */
/* Evidence for another scope over that of the one named, for OTHER_STEPS in a row. Chosen (1, 1.5): with 1
 * two scopes whose evidence is about the same may take turns; a large one leaves a node named by its rank. */
#define OTHER_SCOPE 1.15
#define OTHER_STEPS 4u
/* steps between two onsets that may be one; chosen: an onset is known to a few steps (onset.h) */
#define SAME_ONSET 8u
/* newest steps that a price stands on: DIAGNOSIS_RECENT, as the price that is reported ... */
#define PRICE_STEPS 64u
#define PRICE_MIN   4u /* ... and the fewest: PRICING_DOUBT_MIN */
/* Of the smallest price is enough for a drift that still grows: it will cost more. Chosen: with a larger
 * share a slow drift is named later. */
#define GROWING 0.25
/* Steps after which a candidate that was found too cheap is priced again; half as many as it has lasted,
 * where these are fewer, as its price stands on those. Chosen: each price is a replay. */
#define REFUSED_STEPS 4u
/* Steps since the onset, after which it stays what it is: half of those that are remembered, of which as many
 * are from before. Of a drift, this many before its onset is no longer remembered; chosen: less would be lost
 * with one late look (REFIT_LATER). */
#define SETTLED       (WORK_STEPS / 2)
#define SETTLED_DRIFT REFIT_LATER
/* of 16 steps: about as long as the onsets and drifts that are looked for */
#define SHAPE_WINDOW 2
/* Who is late in fewer than this share of the steps is late now and then. Chosen: a fault that all steps show
 * may be missing in some, whose records were lost. */
#define NOW_AND_THEN 0.7
/* Without a late step, and times the usual distance: over. As DETOUR_QUIET of variability.c. */
#define QUIET_STEPS  64u
#define QUIET_WAITS  4.0
#define FADING_WAITS 2.0

struct named {
    struct straggler straggler;
    size_t track;
    uint32_t below, other, fitted;
    bool fitted_once, joined, recurs;
    uint64_t last; /* recurs: the newest late step */
    size_t rival;
};

/* One that is over, and since which step: what the same place had before is that one's. */
struct ended {
    struct track track;
    uint64_t over;
};

struct stragglers {
    struct places places;
    struct named named[STRAGGLERS_MAX];
    struct straggler list[STRAGGLERS_MAX];
    size_t n_named;
    struct recurrence recurrence;
    uint64_t again;             /* a candidate was found too cheap: none is priced before this step */
    uint64_t refused_recurring; /* the step at which one late now and then was too cheap; 0: none was */
    uint32_t next_id;
    struct ended ended[STRAGGLERS_MAX];
    uint64_t n_ended; /* ever; the newest is ended[(n_ended - 1) % STRAGGLERS_MAX] */
    uint32_t let_go;  /* times that it was looked whether one that was let go of is late now and then */
};

struct stragglers *stragglers_new(void)
{
    return xcalloc(1, sizeof(struct stragglers));
}

void stragglers_free(struct stragglers *s)
{
    if (!s)
        return;
    places_free(&s->places);
    free(s);
}

void stragglers_reset(struct stragglers *s)
{
    places_reset(&s->places);
    s->n_named = 0;
    s->recurrence.n = 0;
    s->again = s->refused_recurring = 0;
    s->let_go = 0;
    s->n_ended = 0;
}

bool straggler_has(const struct straggler *straggler, const struct work *w, uint32_t rank)
{
    return place_of(w, straggler->scope, rank) == straggler->place;
}

bool straggler_is_one(uint32_t rank, const void *ranks)
{
    const struct straggler_ranks *r = ranks;

    return rank < r->work->n && straggler_has(r->straggler, r->work, rank);
}

bool straggler_is_on(const struct straggler *straggler, const struct work *w, uint32_t node)
{
    for (uint32_t r = 0; r < w->n; r++)
        if (w->rank[r].node == node && straggler_has(straggler, w, r))
            return true;
    return false;
}

/* ---- onset and shape ---- */

/* Since when it lasts, and what was before, is not looked for again when that is about to be forgotten: what
 * lasts would become what is usual. */
static bool is_settled(const struct straggler *straggler, const struct work *w)
{
    return w->steps - straggler->onset >= (straggler->drift ? WORK_STEPS - SETTLED_DRIFT : SETTLED);
}

/* How uncertain the excess is.  y[n]: the place's excess step by step, without what single steps may not
 * show. */
static void set_error(const struct stragglers *s, struct straggler *straggler, const struct track *track,
                      const float *y, const struct onset *o, uint32_t n)
{
    double off[WORK_STEPS], noise, mean = 0, square, n_since = n - o->from;

    for (uint32_t i = 0; i < n; i++) {
        double excess = o->height * onset_rise(o->from, o->to, i);

        off[i] = y[i] - o->before - excess;
        mean += excess / n_since;
    }
    noise = interval_mean_error(off, n, &straggler->freedom) *
            sqrt(n); /* of one step, as far as it does not average out */
    square = noise * noise / n_since;
    if (o->from)
        square += noise * noise / o->from;
    else
        square += pow(places_lasting_error(&s->places, track), 2);
    straggler->error = mean > 0 ? sqrt(square) / mean : NAN;
    straggler->onset_error = o->from ? interval_change_error(o->height / noise) : 0;
}

/* Remembered steps that say what it is: those since another finding of the same place was over. */
static uint32_t steps_of(const struct stragglers *s, const struct work *w, const struct track *track)
{
    uint32_t n = work_kept(w);

    for (uint64_t i = 0; i < s->n_ended && i < STRAGGLERS_MAX; i++)
        if (track_overlaps(&s->ended[i].track, track, w) && w->steps - s->ended[i].over < n)
            n = (uint32_t)(w->steps - s->ended[i].over);
    return n;
}

/* What the step in that slot took; NaN: a pause is in it.  What the program's rhythm adds is left out. */
static float step_time_s(const struct work *w, uint32_t slot)
{
    const struct work_step *step = &w->step[slot];

    return step->pause ? NAN : step->duration_s / work_beat(w, step->seq);
}

static void describe_named(struct stragglers *s, const struct work *w, struct named *named)
{
    struct track *track = &s->places.track[named->track];
    struct straggler *straggler = &named->straggler;
    uint32_t n = steps_of(s, w, track);
    uint32_t since = work_steps_since(w, straggler->onset, n);
    float y[WORK_STEPS], whole_s[WORK_STEPS], scratch[WORK_STEPS], median;
    struct onset o;

    for (uint32_t i = 0; i < n; i++) {
        y[i] = places_excess(&s->places, w, track, work_slot(w, n - 1 - i));
        whole_s[i] = step_time_s(w, work_slot(w, n - 1 - i));
    }
    if (n == w->steps)
        y[0] = whole_s[0] = NAN; /* the first one that was judged may be half of a step */
    median = (float)statistics_known_medianf(y + n - since, since, scratch);
    o = onset_find(y, whole_s, n, s->places.inflate[SHAPE_WINDOW], places_lasting(&s->places, track),
                   straggler->drift);
    named->fitted = 0;
    straggler->scope = track->scope;
    straggler->place = track->place;
    straggler->ranks = track->ranks;
    straggler->z = track->z;
    if (named->fitted_once && is_settled(straggler, w)) {
        straggler->excess = (straggler->drift ? o.before + o.height : median) - straggler->before;
        straggler->ramp_end = straggler->drift && o.ramp ? w->steps - n + o.to : straggler->ramp_end;
        return;
    }
    named->fitted_once = true;
    straggler->late_min = 0;
    straggler->drift = o.ramp;
    straggler->onset = w->steps - n + o.from;
    straggler->ramp_end = w->steps - n + o.to;
    straggler->before = o.before;
    straggler->excess = o.height;
    set_error(s, straggler, track, y, &o, n);
}

/* ---- price ---- */

bool straggler_is_away(const struct straggler *straggler, uint64_t step)
{
    return straggler->away[step % WORK_STEPS / 64] >> (step % 64) & 1;
}

bool straggler_is_sometimes_away(const struct straggler *straggler)
{
    uint64_t any = 0;

    for (size_t i = 0; i < ARRAY_SIZE(straggler->away); i++)
        any |= straggler->away[i];
    return any;
}

static void set_away(struct straggler *straggler, uint64_t from, uint64_t to, bool away)
{
    for (uint64_t step = from; step < to; step++) {
        uint64_t bit = 1ull << (step % 64), *word = &straggler->away[step % WORK_STEPS / 64];

        *word = away ? *word | bit : *word & ~bit;
    }
}

double straggler_excess(const struct straggler *straggler, uint64_t step)
{
    uint64_t full = straggler->drift ? straggler->ramp_end : straggler->onset;

    return straggler_is_away(straggler, step) ? 0
                                              : straggler->excess * onset_rise(straggler->onset, full, step);
}

double straggler_excess_in(const struct straggler *straggler, const struct work *w, uint32_t slot,
                           uint64_t step)
{
    double most = 0;

    if (!(straggler->late_min > 0))
        return straggler_excess(straggler, step);
    for (uint32_t r = 0; r < w->n && step >= straggler->onset; r++)
        if (straggler_has(straggler, w, r))
            most = fmax(most, work_excess(w, slot, r) - straggler->before);
    return most > straggler->late_min ? most : 0;
}

/* Own work of one of its ranks, as it would be without it in a step in which it is late now and then. */
static float without_lateness(const struct straggler *straggler, const struct work_step *s, float own_s)
{
    double base_s = s->pause ? s->usual_s : s->typical_s,
           mostly_s = s->typical_s + straggler->before * base_s;

    return own_s > mostly_s + straggler->late_min * base_s ? (float)mostly_s : own_s;
}

/* The longest work in the step without any of them; of_each[n], if not NULL: that of each of them as it was,
 * 0 where it is not slow in the step.  False: none is. */
static bool longest_without(const struct straggler *list, size_t n, const struct work *w, uint32_t slot,
                            uint64_t step, float *without, float *of_each)
{
    const struct work_step *at_slot = &w->step[slot];
    float share[STRAGGLERS_MAX];
    bool any = false;

    *without = 0;

    for (size_t i = 0; i < n; i++) {
        double more = straggler_excess(&list[i], step) / (1 + list[i].before);

        share[i] = list[i].late_min > 0 ? 0 : (float)fmax(0, more / (1 + more));
        any = any || more > 0;
        if (of_each)
            of_each[i] = 0;
    }
    for (uint32_t r = 0; any && r < w->n; r++) {
        float was_s = work_own_s(w, slot, r), own_s = was_s;

        if (isnan(own_s))
            continue;
        for (size_t i = 0; i < n; i++) {
            float before_s = own_s;

            if (!straggler_has(&list[i], w, r))
                continue;
            if (!(list[i].late_min > 0))
                own_s -= (at_slot->pause ? at_slot->usual_s : own_s) * share[i];
            else if (step >= list[i].onset)
                own_s = without_lateness(&list[i], at_slot, own_s);
            if (of_each && own_s < before_s)
                of_each[i] = fmaxf(of_each[i], was_s);
        }
        *without = fmaxf(*without, own_s);
    }
    return any;
}

double straggler_saved_s(const struct straggler *list, size_t n, const struct work *w, uint32_t slot,
                         uint64_t step)
{
    float without;

    return longest_without(list, n, w, slot, step, &without, NULL)
               ? fmaxf(0, w->step[slot].longest_s - without)
               : 0;
}

double straggler_share_s(const struct straggler *list, size_t n, const struct work *w, uint32_t slot,
                         uint64_t step)
{
    float without, of_each[STRAGGLERS_MAX];
    double share_s = 0, below_s = 0;

    if (!longest_without(list, n, w, slot, step, &without, of_each))
        return 0;
    /* From the longest work without them upwards: what lies between two of them is shared by the longer ones.
     */
    for (size_t shared_by = n; shared_by > 0 && below_s < of_each[0] - without; shared_by--) {
        double next_s = INFINITY;
        size_t longer = 0;

        for (size_t i = 0; i < n; i++)
            if (of_each[i] - without > below_s) {
                next_s = fmin(next_s, of_each[i] - without);
                longer++;
            }
        share_s += (next_s - below_s) / (double)longer;
        below_s = next_s;
    }
    return share_s;
}

bool straggler_was_last(const struct straggler *straggler, const struct work *w, uint32_t slot)
{
    float longest = 0, of_it = 0;

    for (uint32_t r = 0; r < w->n; r++) {
        float own_s = work_own_s(w, slot, r);

        longest = fmaxf(longest, own_s);
        if (straggler_has(straggler, w, r))
            of_it = fmaxf(of_it, own_s);
    }
    return of_it >= longest;
}

/* Over the newest steps, up to the window, since the last of list[n] began: the step time over the step time
 * without them. */
static double slowdown(const struct straggler *list, size_t n, const struct work *w,
                       const struct pricing *pricing)
{
    uint64_t onset = 0;
    struct price p;
    uint32_t steps, max = PRICE_STEPS;

    for (size_t i = 0; i < n; i++) {
        onset = list[i].onset > onset ? list[i].onset : onset;
        max = list[i].late_min > 0 ? WORK_STEPS : max;
    }
    steps = (uint32_t)(w->steps - onset);
    steps = steps < PRICE_MIN ? PRICE_MIN : steps < max ? steps : max;
    steps = steps < work_kept(w) ? steps : work_kept(w);
    if (!n || !steps)
        return 1;
    p = pricing->method->newest(pricing, list, n, steps);
    return fmax(1, finding_slowdown(p.of_s, p.saved_s));
}

/* ---- judging ---- */

static bool is_claimed(const struct stragglers *s, const struct work *w, size_t t)
{
    for (size_t i = 0; i < s->n_named; i++)
        if (track_overlaps(&s->places.track[s->named[i].track], &s->places.track[t], w))
            return true;
    return false;
}

static void drop_named(struct stragglers *s, size_t i)
{
    memmove(&s->named[i], &s->named[i + 1], (s->n_named - i - 1) * sizeof(s->named[0]));
    s->n_named--;
}

/* Is a node late as a whole, or only one of its ranks (a switch, or one of its nodes)? The part of it that
 * is, where the least late part is not half as late; else the place itself. */
static size_t late_part(struct stragglers *s, const struct work *w, size_t t)
{
    const struct track *track = &s->places.track[t];
    enum finding_scope within = track->scope == SCOPE_SWITCH ? SCOPE_NODE : SCOPE_RANK;
    double max = -INFINITY, min = INFINITY, noise;
    size_t latest = t;
    uint32_t parts = 0;

    if (track->scope == SCOPE_RANK || track->ranks < 2)
        return t;
    for (size_t i = 0; i < s->places.n_tracks; i++) {
        const struct track *part = &s->places.track[i];
        double late;

        if (part->scope != within || !track_overlaps(part, track, w))
            continue;
        late = places_recent_excess(&s->places, w, part, track->window) - (part->past_n ? part->past : 0);
        parts++;
        min = fmin(min, late);
        if (late > max) {
            max = late;
            latest = i;
        }
    }
    noise = w->sigma / sqrt(track->window);
    if (parts < 2 || min + 2 * noise >= PART_SHARE * (max - 2 * noise))
        return t;
    return late_part(s, w, latest);
}

/* A rank alone on its node and the node are the same to us; people take nodes out of service. */
static size_t whole_node(const struct stragglers *s, size_t t)
{
    uint32_t node = t < s->places.n ? s->places.around[2 * t] : UINT32_MAX;

    return node != UINT32_MAX && s->places.track[node].ranks == 1 ? node : t;
}

/* Where the newest steps do not show what is named: do they show it at that place? */
static bool is_still_late(struct stragglers *s, const struct work *w, const struct straggler *straggler,
                          const struct track *track)
{
    return places_recent_excess(&s->places, w, track, FADING_STEPS) - straggler->before >
           LET_GO_SHARE * straggler->excess;
}

/* Another scope that has part in it: which explains more?  After a fault is over, its places lose their
 * evidence one sooner than another. */
static void look_at_rivals(struct stragglers *s, const struct work *w, size_t i)
{
    struct named *named = &s->named[i];
    const struct track *mine = &s->places.track[named->track];
    size_t best = named->track;

    for (size_t t = 0; t < s->places.n_tracks; t++)
        if (s->places.track[t].z > s->places.track[best].z && s->places.track[t].scope != mine->scope &&
            track_overlaps(mine, &s->places.track[t], w))
            best = t;
    best = whole_node(s, best);
    if (best == named->track || (named->joined && s->places.track[best].scope < mine->scope) ||
        s->places.track[best].z < OTHER_SCOPE * mine->z ||
        (named->straggler.fading && !is_still_late(s, w, &named->straggler, &s->places.track[best])) ||
        late_part(s, w, best) != best) {
        named->other = 0;
        return;
    }
    named->other = best == named->rival ? named->other + 1 : 1;
    named->rival = best;
    if (named->other < OTHER_STEPS)
        return;
    named->track = best;
    named->other = 0;
    describe_named(s, w, named);
    for (size_t j = s->n_named; j-- > 0;)
        if (j != i && track_overlaps(&s->places.track[s->named[j].track], &s->places.track[best], w)) {
            drop_named(s, j);
            i -= j < i;
        }
}

/* The place that a rank or a node is part of: its node, its switch; UINT32_MAX: none that is known. */
static uint32_t whole_of(const struct stragglers *s, const struct named *named)
{
    const struct track *track = &s->places.track[named->track];

    if (named->recurs || track->scope > SCOPE_NODE)
        return UINT32_MAX;
    return s->places.around[2 * track->first + (track->scope == SCOPE_NODE)];
}

static bool is_part_of(const struct stragglers *s, const struct named *named, uint32_t whole,
                       const struct named *like)
{
    uint64_t a = named->straggler.onset, b = like->straggler.onset;

    return named->straggler.scope == like->straggler.scope && whole_of(s, named) == whole &&
           (a > b ? a - b : b - a) <= SAME_ONSET;
}

/* Ranks of a node that are named one by one, or nodes of a switch: when these are all, or as many as can be
 * named, and no part of it is much less late, it is the whole. */
static void join_parts(struct stragglers *s, const struct work *w)
{
    for (size_t i = 0; i < s->n_named; i++) {
        struct named *named = &s->named[i];
        uint32_t whole = whole_of(s, named), ranks = 0, parts = 0;

        if (whole == UINT32_MAX || s->places.track[whole].ranks == w->n)
            continue;
        for (size_t j = 0; j < s->n_named; j++)
            if (is_part_of(s, &s->named[j], whole, named)) {
                ranks += s->named[j].straggler.ranks;
                parts++;
            }
        if (parts < 2 || (ranks < s->places.track[whole].ranks && parts < STRAGGLERS_MAX) ||
            late_part(s, w, whole) != whole)
            continue;
        for (size_t j = s->n_named; j-- > i + 1;)
            if (is_part_of(s, &s->named[j], whole, named))
                drop_named(s, j);
        named->track = whole;
        named->joined = true;
        describe_named(s, w, named);
    }
}

/* Does it cost enough, or will it soon? One of several equally slow ones costs nothing alone: what counts is
 * what it adds to the others, and what all cost together. */
static void refuse_cheap(struct stragglers *s, const struct work *w, const struct pricing *pricing,
                         size_t from, double min_slowdown)
{
    struct straggler all[STRAGGLERS_MAX];

    for (size_t i = s->n_named; i-- > from;) {
        const struct straggler *one = &s->named[i].straggler;
        double with, without, min = min_slowdown;

        for (size_t j = 0; j < s->n_named; j++)
            all[j] = s->named[j].straggler;
        with = slowdown(all, s->n_named, w, pricing);
        memmove(&all[i], &all[i + 1], (s->n_named - i - 1) * sizeof(all[0]));
        without = slowdown(all, s->n_named - 1, w, pricing);
        /* It still grows, to within the accuracy that a ramp's end is known. */
        if (one->drift && 4 * (w->steps - one->ramp_end) < one->ramp_end - one->onset)
            min = 1 + GROWING * (min - 1);
        if (with < without * min)
            drop_named(s, i);
    }
}

/* ---- late now and then ---- */

static void describe_recurring(const struct stragglers *s, const struct work *w, struct named *named,
                               const struct recurring *found)
{
    struct straggler *straggler = &named->straggler;
    double waits = (double)(w->steps - found->last) * found->share;

    *straggler = (struct straggler){ .id = straggler->id,
                                     .scope = found->scope,
                                     .place = found->place,
                                     .ranks = s->places.track[named->track].ranks,
                                     .onset = named->recurs ? straggler->onset : found->onset,
                                     .excess = found->excess,
                                     .before = named->recurs ? straggler->before : found->before,
                                     .z = named->recurs ? straggler->z : found->z,
                                     .freedom = INFINITY,
                                     .fading = waits > FADING_WAITS,
                                     .late_min = found->late_min,
                                     .late_share = found->share,
                                     .period = found->period };
    named->recurs = true;
    named->last = found->last;
}

/* In which share of its steps from its onset to that one was it late by a good part of what it is late by? */
static double late_share(struct stragglers *s, const struct work *w, const struct straggler *straggler,
                         size_t track, uint64_t to, uint32_t max)
{
    uint32_t back = (uint32_t)(w->steps - 1 - to), n = work_steps_since(w, straggler->onset, back + max);
    uint32_t late = 0;

    for (uint32_t b = back; b < n; b++)
        late += places_excess(&s->places, w, &s->places.track[track], work_slot(w, b)) - straggler->before >
                LET_GO_SHARE * straggler->excess;
    return n > back ? late / (double)(n - back) : 0;
}

static bool is_late_in_most(struct stragglers *s, const struct work *w, const struct straggler *straggler,
                            size_t track)
{
    return late_share(s, w, straggler, track, w->steps - 1, PLACES_MEDIAN_STEPS) > NOW_AND_THEN;
}

static bool recurs_still(struct stragglers *s, const struct work *w, struct named *named)
{
    struct recurring found;
    uint64_t since;

    if (!recurrence_of(&s->recurrence, w, named->straggler.scope, named->straggler.place, &found))
        return false;
    describe_recurring(s, w, named, &found);
    since = w->steps - named->last;
    return !(since > QUIET_STEPS && (double)since * found.share > QUIET_WAITS);
}

static size_t track_at(const struct stragglers *s, enum finding_scope scope, uint32_t rank)
{
    return scope == SCOPE_RANK ? rank : s->places.around[2 * rank + (scope == SCOPE_SWITCH)];
}

/* Late steps gather at a place that is not named, or is named as if it were late in all. */
static void name_recurring(struct stragglers *s, const struct work *w, const struct pricing *pricing,
                           double min_slowdown)
{
    struct recurring found;
    struct named named = { 0 };
    size_t n;

    if (s->n_named == STRAGGLERS_MAX ||
        (s->refused_recurring && w->steps < s->refused_recurring + REFUSED_STEPS) ||
        !recurrence_find(&s->recurrence, w, &found) || found.share > NOW_AND_THEN)
        return;
    named.track = whole_node(s, track_at(s, found.scope, w->step[work_slot(w, 0)].last));
    found.scope = s->places.track[named.track].scope;
    found.place = s->places.track[named.track].place;
    describe_recurring(s, w, &named, &found);
    if (is_late_in_most(s, w, &named.straggler, named.track))
        return;
    for (size_t i = 0; i < s->n_named; i++) {
        struct named *other = &s->named[i];

        if (!track_overlaps(&s->places.track[other->track], &s->places.track[named.track], w))
            continue;
        if (other->recurs || found.before > LET_GO_SHARE * found.excess)
            return;
        other->track = named.track;
        describe_recurring(s, w, other, &found);
        return;
    }
    named.straggler.id = s->next_id++;
    n = s->n_named;
    s->named[s->n_named++] = named;
    refuse_cheap(s, w, pricing, n, min_slowdown);
    s->refused_recurring = s->n_named == n ? w->steps : 0;
}

enum ending { OVER, RECURS, UNSETTLED };

/* It is not late in most steps: is it over, or was it only late now and then all along? Then it is so still,
 * the same finding; and what it was late in before it was taken for one that is late in all is its own, too.
 * As long as late steps come, too few of them to say so, it is neither. */
static enum ending end_of(struct stragglers *s, const struct work *w, struct named *named)
{
    const struct track *track = &s->places.track[named->track];
    struct recurring found;
    bool is_new;

    if (!recurrence_of(&s->recurrence, w, track->scope, track->place, &found))
        return OVER;
    is_new = named->below == LET_GO_STEPS || found.last == w->steps - 1;
    /* What all steps show becomes what it mostly has (recurrence.c): then few of them count as late. */
    if (is_new && found.share <= NOW_AND_THEN &&
        late_share(s, w, &named->straggler, named->track, found.last, WORK_STEPS) <= NOW_AND_THEN &&
        (double)(w->steps - found.last) * found.share <= FADING_WAITS &&
        recurrence_gathers(&s->recurrence, w, track->scope, track->place, ++s->let_go)) {
        if (found.onset > named->straggler.onset)
            found.onset = named->straggler.onset;
        describe_recurring(s, w, named, &found);
        named->below = 0;
        return RECURS;
    }
    return w->steps - found.last <= LET_GO_STEPS ? UNSETTLED : OVER;
}

/* Do the newest steps show it?  Where they do not, it may have been over since about half of them. */
static void look_for_end(struct stragglers *s, const struct work *w, struct straggler *straggler,
                         const struct track *track)
{
    double error = FADING_Z * w->sigma / sqrt(track->ranks) / ((1 - LET_GO_SHARE) * straggler->excess);
    uint32_t min = error * error < PLACES_MEDIAN_STEPS ? (uint32_t)(error * error) : PLACES_MEDIAN_STEPS;
    uint32_t steps = work_steps_since(w, straggler->onset, min > FADING_STEPS ? min : FADING_STEPS);
    double left = places_recent_excess(&s->places, w, track, steps) - straggler->before;

    straggler->fading = left < LET_GO_SHARE * straggler->excess;
    if (straggler->fading && !straggler->over)
        straggler->over = w->steps - (steps / 2 + 1);
    set_away(straggler, straggler->fading ? straggler->over : w->steps - steps / 2, w->steps,
             straggler->fading);
    straggler->over = straggler->fading ? straggler->over : 0;
}

static void review_named(struct stragglers *s, const struct work *w)
{
    for (size_t i = 0; i < s->n_named;) {
        struct named *named = &s->named[i];
        const struct track *track = &s->places.track[named->track];
        uint32_t steps = work_steps_since(w, named->straggler.onset, PLACES_MEDIAN_STEPS);
        enum ending ending;
        double left;

        if (named->recurs) {
            if (!recurs_still(s, w, named)) {
                recurrence_forget(&s->recurrence, w, named->straggler.scope, named->straggler.place);
                drop_named(s, i);
                continue;
            }
            if (!is_late_in_most(s, w, &named->straggler, named->track)) {
                i++;
                continue;
            }
            named->recurs = false;
            describe_named(s, w, named);
        }
        left = places_recent_excess(&s->places, w, track, steps) - named->straggler.before;
        named->straggler.z = track->z;
        named->below = left < LET_GO_SHARE * named->straggler.excess ? named->below + 1 : 0;
        ending = named->below >= LET_GO_STEPS ? end_of(s, w, named) : UNSETTLED;
        if (ending == OVER) {
            s->ended[s->n_ended++ % STRAGGLERS_MAX] =
                (struct ended){ *track, named->straggler.over ? named->straggler.over : w->steps };
            places_forget(&s->places, w, track);
            recurrence_forget(&s->recurrence, w, track->scope, track->place);
            drop_named(s, i);
            continue;
        }
        if (ending == RECURS) {
            i++;
            continue;
        }
        look_for_end(s, w, &named->straggler, track);
        named->straggler.fading = named->straggler.fading || named->below;
        if (++named->fitted >= (is_settled(&named->straggler, w) ? REFIT_LATER : REFIT) &&
            !named->straggler.fading)
            describe_named(s, w, named);
        look_at_rivals(s, w, i++);
    }
}

/* The strongest place above the limit that has no part in what is named already. */
static size_t find_candidate(const struct stragglers *s, const struct work *w)
{
    size_t best = s->places.n_tracks;

    for (size_t t = 0; t < s->places.n_tracks; t++)
        if (s->places.track[t].above >= CONFIRM_STEPS &&
            (best == s->places.n_tracks || s->places.track[t].z > s->places.track[best].z) &&
            !is_claimed(s, w, t))
            best = t;
    return best;
}

static void name_new(struct stragglers *s, const struct work *w, const struct pricing *pricing,
                     double min_slowdown)
{
    size_t before = s->n_named, found;
    uint64_t wait = REFUSED_STEPS, young;

    if (w->steps < s->again)
        return;
    while (s->n_named < STRAGGLERS_MAX) {
        struct named named = { .track = find_candidate(s, w) };

        if (named.track == s->places.n_tracks)
            break;
        named.track = whole_node(s, late_part(s, w, named.track));
        describe_named(s, w, &named);
        named.straggler.id = s->next_id++;
        s->named[s->n_named++] = named;
        young = (w->steps - named.straggler.onset) / 2;
        wait = young < wait ? (young ? young : 1) : wait;
    }
    found = s->n_named;
    refuse_cheap(s, w, pricing, before, min_slowdown);
    s->again = s->n_named < found ? w->steps + wait : 0;
}

void stragglers_step(struct stragglers *s, const struct work *w, const struct pricing *pricing,
                     double min_slowdown)
{
    bool late;

    if (!places_current(&s->places, w))
        stragglers_reset(s); /* what is named speaks of places as they were */
    late = recurrence_step(&s->recurrence, w);
    if (!places_step(&s->places, w))
        return;
    review_named(s, w);
    name_new(s, w, pricing, min_slowdown);
    if (late)
        name_recurring(s, w, pricing, min_slowdown);
    join_parts(s, w);
    for (size_t i = 0; i < s->n_named; i++)
        s->list[i] = s->named[i].straggler;
    for (size_t t = 0; t < s->places.n_tracks; t++)
        s->places.track[t].named = is_claimed(s, w, t);
}

size_t stragglers_get(const struct stragglers *s, const struct straggler **list)
{
    *list = s->list;
    return s->n_named;
}

double stragglers_limit(const struct stragglers *s, const struct work *w)
{
    return places_limit(&s->places, w);
}

double stragglers_limit_from_start(const struct stragglers *s, const struct work *w)
{
    return places_limit_from_start(&s->places, w);
}
