#include "calls/call_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/already.h"
#include "calls/hot.h"
#include "calls/lasting_noise.h"
#include "calls/links.h"
#include "calls/mixed.h"
#include "calls/parts.h"
#include "calls/pieces.h"
#include "calls/price.h"
#include "calls/roles.h"
#include "calls/starvation.h"
#include "calls/told_phases.h"
#include "calls/transfer_excess.h"
#include "calls/updates.h"
#include "common/xalloc.h"
#include "detect/detours.h"
#include "detect/straggler.h"
#include "model/deviate.h"

/* What labelled episodes say when one of these is halved or doubled: doc/constants.md. */

/* Where "chosen" is said, the value is between the two in brackets, which were tried on the labelled traces
 * of tests/analysis (22 programs, 48 episodes): with either all of them were judged alike, unless something
 * else is said. */

/* Of the log of slow transfers: they are slow now and then. Chosen (0.1, 1): a smaller one takes a slow
 * network for a starved node's. */
#define STARVATION_SPREAD 0.3
/* Times the excess of the work. Chosen (0.5, 5): a larger one takes a slow network for a starved node's. */
#define STARVATION_EXCESS 1.5
/* Of what the transfers of a starved place take longer by than its work: what that varies by, at the least.
 * Waits for a processor vary: those of one that is given in turns are uniform, and their standard deviation
 * is 1 / sqrt(3) of their mean; of waits by chance it is all of it.  Chosen: below half of the former. */
#define STARVATION_VARIES 0.25
/* steps between the onsets of both; chosen: as SAME_ONSET of detect/straggler.c, each is known to a few steps
 */
#define STARVATION_ONSET 8
/* after its first slow step a link is reported: one may be chance */
#define LINK_STEPS 2u
/* decision 0025: what was there in the first steps is the program's; of jobs that end before, what is sure */
#define ROLES_STEPS 32u
/* Excess of a role. Chosen (0.02, 0.15); let go at two thirds, so that an excess near the limit does not come
 * and go. */
#define ROLES_EXCESS 0.06
#define ROLES_LET_GO 0.04
/* of a step's work, as DETOUR_RATIO of detect/variability.c. Chosen (0.03, 0.3) */
#define DETOUR_SHARE 0.1
/* a step; chosen: it bounds what prices cost, a larger one takes more time */
#define PRICED_OPS 16384u
/* after something was found too cheap; chosen: as REFUSED_STEPS of detect/straggler.c */
#define RETRY_STEPS 4u
/* newest steps that a slowdown of now stands on, as DIAGNOSIS_RECENT */
#define PRICED_STEPS 64u

/* What a detector suspects, and its latest price. */
struct suspicion {
    bool tried, stood; /* tried: it has a price; stood: it was reported with that price */
    uint32_t step;     /* number of steps that had been judged when it was priced */
    uint32_t from;     /* this and the following ones as in struct diagnosis_other */
    double slowdown, saved_s, of_s;
    struct interval cost;
    uint32_t doubted;      /* steps since it began, of its newest interval; 0: it has none */
    struct interval level; /* of the cost, for the level of work that it is the excess over */
    uint32_t over; /* number of the first step after the latest that was reported and is over; 0: none is */
};

struct call_steps {
    struct diagnosis *diagnosis;
    double min_slowdown; /* findings that cost less are not reported */
    struct graph *graph;
    struct roles *roles;
    struct links *links;
    struct mixed *mixed;
    struct transfer_excess *links_excess; /* the transfers of the links that are slow */
    struct pieces pieces;
    struct hot hot;
    struct hot_even *even;
    bool by_hot; /* uneven pieces are those */
    struct expected *expected;
    struct lasting_noise *lasting;
    struct suspicion slow_links, mixed_link, heavy_role, uneven_pieces, detours;
    struct links_slow looked_at; /* the place that links_longer is about */
    struct told_phases *phases;
    struct starvation *starvation; /* stragglers whose transfers are slow, too */
    bool slowed_transfers;         /* one of them was in the step before */
    struct boundary *boundary;
    struct updates *updates;
    uint32_t n;         /* ranks */
    bool active;        /* steps are judged by the graph: they are more than meetings of one communicator */
    uint32_t delivered; /* number of the newest step that was judged */
    uint32_t judged;    /* steps */
    bool last;          /* no more calls come: all prices are taken once more */
    bool any;
    double end_s;               /* of that step */
    float *own_s;               /* by rank, of the step being judged */
    struct price_work *without; /* by rank, of a price */
    /* by straggler, of a price: the steps in which it is late; where that is in all, those that show it */
    bool late[STRAGGLERS_MAX][GRAPH_STEPS];
    float *slower;           /* excess by kind, of a price */
    struct price_slow *slow; /* by kind, of a price */
    float *place_excess;     /* by place, likewise */
    bool *held;              /* by rank: it is slow */
    size_t own_cap, without_cap, slower_cap, held_cap, slow_cap, place_cap;
};

struct call_steps *call_steps_new(uint32_t (*members)(uint64_t comm, void *arg), void *arg,
                                  struct diagnosis *diagnosis)
{
    struct call_steps *s = xcalloc(1, sizeof(*s));

    s->diagnosis = diagnosis;
    s->graph = graph_new();
    s->roles = roles_new();
    s->links = links_new();
    s->mixed = mixed_new();
    s->links_excess = transfer_excess_new();
    s->expected = expected_new();
    s->lasting = lasting_noise_new();
    s->boundary = boundary_new(members, arg);
    s->updates = updates_new();
    s->starvation = starvation_new();
    s->phases = told_phases_new();
    s->even = hot_even_new();
    return s;
}

/* Of a kind of transfer what the detectors keep of it, beside the graph. */
#define KIND_BYTES 380.0

double call_steps_bytes(const struct call_steps *s)
{
    return (double)graph_held_bytes(s->graph) + (double)boundary_bytes(s->boundary) +
           (double)updates_bytes(s->updates) + KIND_BYTES * graph_kinds(s->graph);
}

void call_steps_free(struct call_steps *s)
{
    if (!s)
        return;
    graph_free(s->graph);
    boundary_free(s->boundary);
    updates_free(s->updates);
    roles_free(s->roles);
    links_free(s->links);
    mixed_free(s->mixed);
    transfer_excess_free(s->links_excess);
    expected_free(s->expected);
    lasting_noise_free(s->lasting);
    starvation_free(s->starvation);
    told_phases_free(s->phases);
    hot_reset(&s->hot);
    hot_even_free(s->even);
    free(s->slower);
    free(s->slow);
    free(s->place_excess);
    free(s->held);
    free(s->own_s);
    free(s->without);
    free(s);
}

/* Does all that goes through the place take longer alike, by more than the work does?  Then it is slow for
 * another reason: who has no CPU takes part sooner or later, as it comes. */
static bool is_steadily_slow(const struct links_slow *l, const struct straggler *g)
{
    double work = g->excess / (1 + g->before);
    double more = (l->excess - work) / (1 + l->excess); /* of what transfers take now */

    return l->spread > 0 && l->excess > STARVATION_EXCESS * work &&
           l->spread * l->spread - l->spread_before * l->spread_before <
               STARVATION_VARIES * STARVATION_VARIES * more * more;
}

/* Do slow transfers come from a straggler, because it has no CPU?  They do where they go through its node and
 * became slow when it did, unless they are so steadily. Those of one communicator do where they became slow
 * when it did.  Where all are slow, they look like it: slow now and then, by much, or by about as much as the
 * work. */
static bool comes_from(struct call_steps *s, const struct links_slow *l, const struct straggler *g)
{
    const struct work *w = diagnosis_work(s->diagnosis);
    int64_t onset = diagnosis_seq(s->diagnosis, g->onset),
            stood = g->drift ? diagnosis_seq(s->diagnosis, g->ramp_end) : onset;
    bool since = l->from >= onset - STARVATION_ONSET && l->from <= stood + STARVATION_ONSET;
    bool ends = (l->nodes && straggler_is_on(g, w, l->node[0])) ||
                (l->nodes == 2 && straggler_is_on(g, w, l->node[1]));

    if (l->standing && l->of_comm) /* it may be a member */
        return since;
    if (!l->standing || g->scope != SCOPE_NODE || (l->nodes && !ends))
        return false;
    if (l->nodes && is_steadily_slow(l, g))
        return false;
    if (l->nodes == 2 && starvation_refuted(s->starvation, s->graph, w, g, (uint32_t)onset, s->delivered, l))
        return false;
    if (l->nodes && starvation_has(s->starvation, g->id))
        return true;
    if (l->nodes == 1)
        return since;
    return l->spread > STARVATION_SPREAD || l->excess < STARVATION_EXCESS * g->excess / (1 + g->before);
}

/* How much longer transfers take because of any of these, by kind; NULL: none does. */
static const float *slower_by(struct call_steps *s, const struct straggler *list, size_t n)
{
    const struct links_slow *l = links_get(s->links);
    bool any = false;

    s->slower = xgrow(s->slower, &s->slower_cap, graph_kinds(s->graph), sizeof(*s->slower));
    memset(s->slower, 0, graph_kinds(s->graph) * sizeof(*s->slower));
    for (size_t i = 0; i < n; i++) {
        const struct straggler *g = &list[i];
        /* links that are slow for another reason; NULL: none are */
        const struct links_slow *other =
            l->standing && s->slow_links.stood && !comes_from(s, l, g) ? l : NULL;

        starvation_update(s->starvation, s->graph, diagnosis_work(s->diagnosis), g,
                          diagnosis_seq(s->diagnosis, g->onset), s->delivered, other);
        if (!starvation_has(s->starvation, g->id))
            continue;
        any = true;
        for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
            if (!other || !links_has(other, graph_kind_get(s->graph, k)))
                s->slower[k] = fmaxf(s->slower[k], (float)starvation_excess(s->starvation, g->id, k));
    }
    return any ? s->slower : NULL;
}

/* In which steps one is late that is so now and then, or which show one that was away in some
 * (detect/straggler.h); by their numbers, modulo GRAPH_STEPS. */
static void find_steps_with(const struct work *w, const struct straggler *g, bool with[GRAPH_STEPS])
{
    bool seldom = g->late_min > 0;

    memset(with, !seldom, GRAPH_STEPS * sizeof(with[0]));
    for (uint32_t b = 0; b < work_kept(w); b++) {
        uint32_t slot = work_slot(w, b);
        uint64_t step = w->steps - 1 - b;

        with[w->step[slot].seq % GRAPH_STEPS] =
            seldom ? straggler_excess_in(g, w, slot, step) > 0 : !straggler_is_away(g, step);
    }
}

/* The excess of each rank that belongs to one of these.  true: some are late in some steps only. */
static bool excess_of(struct call_steps *s, const struct straggler *list, size_t n)
{
    const struct work *w = diagnosis_work(s->diagnosis);
    bool seldom = false;

    for (size_t i = 0; i < n; i++) {
        find_steps_with(w, &list[i], s->late[i]);
        seldom = seldom || list[i].late_min > 0;
    }
    for (uint32_t r = 0; r < s->n; r++) {
        s->without[r] = (struct price_work){ 0 };
        for (size_t i = 0; i < n && r < w->n; i++)
            if (straggler_has(&list[i], w, r))
                s->without[r] = (struct price_work){
                    .excess = (float)(list[i].excess / (1 + list[i].before)),
                    .from = diagnosis_seq(s->diagnosis, list[i].onset),
                    .until = list[i].drift ? diagnosis_seq(s->diagnosis, list[i].ramp_end) : 0,
                    .on = straggler_is_sometimes_away(&list[i]) ? s->late[i] : NULL,
                    .late = list[i].late_min > 0 ? s->late[i] : NULL,
                };
    }
    return seldom;
}

/* Until when all of what these make slower grows; 0: some stood at once. */
static uint32_t grows_until(const struct call_steps *s, const struct straggler *list, size_t n)
{
    uint32_t until = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t end = list[i].drift ? diagnosis_seq(s->diagnosis, list[i].ramp_end) : 0;

        if (!end)
            return 0;
        until = end > until ? end : until;
    }
    return until;
}

/* The steps from one on, without what these make slower. */
static struct price_change without_all(struct call_steps *s, const struct straggler *list, size_t n,
                                       uint32_t from)
{
    bool seldom = excess_of(s, list, n);

    return (struct price_change){ .from = from,
                                  .work = s->without,
                                  .ranks = s->n,
                                  .place_excess = told_phases_excess(s->phases, s->graph,
                                                                     diagnosis_work(s->diagnosis), list, n),
                                  .places = graph_places(s->graph),
                                  .transfer_excess = slower_by(s, list, n),
                                  .transfer_until = grows_until(s, list, n),
                                  .mostly = seldom ? s->expected : NULL };
}

static struct prices replay_all(void *arg, const struct straggler *list, size_t n, uint32_t from,
                                uint32_t recent)
{
    struct call_steps *s = arg;
    struct price_change change = without_all(s, list, n, from);

    return price_take(s->graph, &change, recent);
}

static uint32_t replay_each(void *arg, const struct straggler *list, size_t n, uint32_t from, double *saved_s,
                            double *more)
{
    struct call_steps *s = arg;
    struct price_change change = without_all(s, list, n, from);

    return price_steps(s->graph, &change, saved_s, more);
}

static double look_earlier(void *arg, const struct straggler *straggler, uint32_t from)
{
    struct call_steps *s = arg;

    return already_steps(s->graph, from, straggler->excess / (1 + straggler->before), s->n, straggler_is_one,
                         &(struct straggler_ranks){ straggler, diagnosis_work(s->diagnosis) });
}

void call_steps_activate(struct call_steps *s)
{
    s->active = true;
    diagnosis_price_by_replays(
        s->diagnosis,
        &(struct replays){ .all = replay_all, .each = replay_each, .earlier = look_earlier, .arg = s });
}

void call_steps_add_rank(struct call_steps *s, uint32_t rank, uint32_t clock)
{
    s->without = xgrow(s->without, &s->without_cap, rank + 1, sizeof(*s->without));
    s->own_s = xgrow(s->own_s, &s->own_cap, rank + 1, sizeof(*s->own_s));
    s->held = xgrow(s->held, &s->held_cap, rank + 1, sizeof(*s->held));
    s->n = rank >= s->n ? rank + 1 : s->n;
    boundary_rank(s->boundary, rank);
    graph_rank(s->graph, rank, clock);
    updates_clock(s->updates, rank, clock);
}

void call_steps_end_rank(struct call_steps *s, uint32_t rank)
{
    boundary_rank_end(s->boundary, rank);
    graph_rank_end(s->graph, rank);
    updates_end_rank(s->updates, rank);
}

bool call_steps_found(const struct call_steps *s)
{
    return s && (boundary_period(s->boundary) || updates_found(s->updates));
}

/* ---- complete steps ---- */

/* Steps between two prices of what stands: the replay of all remembered steps then costs at most PRICED_OPS
 * operations a step. */
static uint32_t price_every(const struct call_steps *s)
{
    return (uint32_t)(graph_ops(s->graph) / PRICED_OPS);
}

/* Is the price of a few steps ago good enough?  What was found too cheap is looked at again sooner. */
static bool is_priced(const struct call_steps *s, const struct suspicion *k)
{
    uint32_t every = price_every(s), steps = s->delivered - k->from, again;

    again = pricing_again(steps < graph_steps(s->graph) ? steps : graph_steps(s->graph));
    every = every > again ? every : again;
    if (!k->stood && every > RETRY_STEPS)
        every = RETRY_STEPS;
    return k->tried && !s->last && s->judged - k->step < every;
}

/* How a price is doubted: by replays with what is taken as ordinary at the other end of what it may be. */
struct cost_bounds {
    /* to that value; NULL: there are none */
    void (*set)(struct call_steps *s, struct price_change *c, double by);
    double low, high;       /* values: with which it costs least, most */
    bool lasts;             /* a fault that should cost about as much in each step */
    struct interval beside; /* of the cost, for what replays do not show */
};

static double saved_by(struct call_steps *s, struct price_change *c, const struct cost_bounds *b, double by)
{
    b->set(s, c, by);
    return price_take(s->graph, c, c->from).all.saved_s;
}

/* Of the n newest steps, those that the change is for: none after transfer_to, where that is set. */
static uint32_t steps_of(const struct call_steps *s, const struct price_change *change, uint32_t n)
{
    uint32_t after = 0;

    while (change->transfer_to && after < n && graph_step_about(s->graph, after).number > change->transfer_to)
        after++;
    return n - after;
}

/* The interval of the cost since it began.  It becomes narrower with the square root of the steps, so that
 * most prices leave it as it is. */
static void doubt_price(struct call_steps *s, const struct diagnosis_other *o, struct price_change *change,
                        const struct cost_bounds *b, struct suspicion *k)
{
    uint32_t since = graph_step_about(s->graph, 0).number - o->from + 1, n;
    double each_s[GRAPH_STEPS], more[GRAPH_STEPS], error, freedom;

    if (!s->last &&
        (since < PRICING_DOUBT_MIN || (k->doubted && since >= k->doubted && since < 2 * k->doubted)))
        return;
    k->doubted = since;
    k->cost = b->beside;
    k->level = (struct interval){ 1, 1 };
    change->from = o->from;
    /* By chance all may have had more to do, or less, than they would without it. */
    if (change->expected)
        k->level =
            interval_of(1, expected_error(change->expected) * (o->of_s - o->saved_s) / o->saved_s, INFINITY);
    if (b->lasts) {
        n = steps_of(s, change, price_steps(s->graph, change, each_s, more));
        error = interval_ratio_error(each_s, more, n, &freedom);
        k->cost = interval_product(k->cost, interval_of(1, error, freedom));
    }
    if (b->set)
        k->cost =
            interval_product(k->cost, (struct interval){ saved_by(s, change, b, b->low) / o->saved_s,
                                                         saved_by(s, change, b, b->high) / o->saved_s });
}

/* Are there steps before that one that are remembered, and of which more is known than of the first?  They
 * were not judged, but had delays been in them that belong to it, it would have begun there. */
static bool is_begun(const struct call_steps *s, uint32_t from)
{
    uint32_t steps = graph_steps(s->graph);

    return steps > 2 && from >= diagnosis_seq(s->diagnosis, 0) &&
           graph_step_about(s->graph, steps - 2).number < from;
}

static void report_suspicion(struct call_steps *s, struct diagnosis_other *o, struct price_change *change,
                             const struct cost_bounds *b, struct suspicion *k)
{
    uint32_t recent = graph_steps(s->graph) < PRICED_STEPS ? graph_steps(s->graph) : PRICED_STEPS;
    struct prices p;
    double min_slowdown;
    bool stood = k->stood, sure;

    /* What an earlier one cost, which is over, is counted there. */
    if (o->standing && o->from < k->over)
        o->from = k->over;
    if (!o->standing) {
        *k = (struct suspicion){ .over = k->over };
    } else if (is_priced(s, k)) {
        o->standing = k->stood;
        o->from = k->from;
        o->slowdown = k->slowdown;
        o->saved_s = k->saved_s;
        o->of_s = k->of_s;
    } else {
        change->from = o->from;
        p = price_take(s->graph, change, graph_step_about(s->graph, recent - 1).number);
        o->saved_s = p.all.saved_s;
        o->of_s = p.all.of_s;
        o->slowdown = finding_slowdown(p.recent.of_s, p.recent.saved_s);
        min_slowdown = fmax(s->min_slowdown, o->min_slowdown);
        o->standing = o->slowdown >= (k->stood ? 1 + (min_slowdown - 1) / 2 : min_slowdown) &&
                      (k->stood || finding_slowdown(o->of_s, o->saved_s) >= o->min_slowdown);
        *k = (struct suspicion){ true,    o->standing, s->judged,  o->from,  o->slowdown, o->saved_s,
                                 o->of_s, k->cost,     k->doubted, k->level, k->over };
        if (o->standing)
            doubt_price(s, o, change, b, k);
    }
    o->begun = o->class == FINDING_JITTER && is_begun(s, o->from);
    sure = !k->doubted || !(k->cost.low <= 0);
    /* A fault that may cost nothing is not reported.  One that was goes on: if it were over, and then were
     * found again, its first steps would be priced twice. */
    if (!sure && !stood)
        o->standing = k->stood = false;
    if (stood && !k->stood && !o->redrawn)
        k->over = s->delivered + 1;
    o->cost = k->doubted && sure ? interval_product(k->cost, k->level) : INTERVAL_UNKNOWN;
    if (o->cost.low < 0)
        o->cost.low = 0;
    diagnosis_other(s->diagnosis, o);
}

static bool is_explained(struct call_steps *s, const struct links_slow *l)
{
    const struct straggler *list;
    size_t n = diagnosis_stragglers(s->diagnosis, &list);

    for (size_t i = 0; i < n; i++)
        if (comes_from(s, l, &list[i]))
            return true;
    return false;
}

static uint32_t is_of_links(const struct graph_kind_info *k, void *arg)
{
    return links_has(arg, k) ? 0 : TRANSFER_EXCESS_NONE;
}

/* As if the transfers took `times` as long. */
static void set_transfers(struct call_steps *s, struct price_change *c, double times)
{
    for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
        if (transfer_excess_of_kind(s->links_excess, k) > 0)
            s->slower[k] = (float)fmax(0, times * (1 + transfer_excess_of_kind(s->links_excess, k)) - 1);
    c->transfer_excess = s->slower;
}

static void judge_links(struct call_steps *s)
{
    struct links_slow l = *links_get(s->links);
    double away = l.standing ? deviate_normal(INTERVAL_SIDE) * l.error : 0;
    struct diagnosis_other o = { .class = FINDING_COMMUNICATION,
                                 .scope = l.nodes == 2 ? SCOPE_LINK
                                          : l.nodes    ? SCOPE_NODE
                                                       : SCOPE_NONE,
                                 .place = l.nodes ? l.node[0] : WORK_PLACE_NONE,
                                 .other = l.node[1],
                                 .comm = l.of_comm ? l.comm : 0,
                                 .from = l.from };
    struct price_change change = { 0 };

    if (!links_same_place(&l, &s->looked_at)) { /* its kinds are others */
        transfer_excess_reset(s->links_excess);
        s->slow_links.over = 0;
    }
    if (l.from != s->looked_at.from) { /* what its price stands on is of other steps */
        s->slow_links.tried = false;
        s->slow_links.doubted = 0;
    }
    s->looked_at = l;
    if (l.standing)
        transfer_excess_update(s->links_excess, s->graph, l.from, l.to, is_of_links, &l, NULL);
    else
        transfer_excess_reset(s->links_excess);
    o.excess = transfer_excess_of_way(s->links_excess, 0);
    if (l.standing && l.fading) /* its last price is from slow steps, and would be taken for these, too */
        s->slow_links.tried = false;
    o.standing = l.standing && o.excess > 0 && graph_step_about(s->graph, 0).number >= l.from + LINK_STEPS &&
                 !is_explained(s, &l);
    s->slower = xgrow(s->slower, &s->slower_cap, graph_kinds(s->graph), sizeof(*s->slower));
    for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
        s->slower[k] = (float)transfer_excess_of_kind(s->links_excess, k);
    change.transfer_excess = s->slower;
    change.transfer_to = l.to;
    report_suspicion(
        s, &o, &change,
        &(struct cost_bounds){ .set = set_transfers,
                               .low = exp(-away),
                               .high = exp(away),
                               .lasts = true,
                               .beside = isnan(away) ? INTERVAL_UNKNOWN : (struct interval){ 1, 1 } },
        &s->slow_links);
}

/* Is something else that was found the cause, at the node or one of the ends of the link? */
static bool is_other(struct call_steps *s, const struct mixed_link *m)
{
    const struct work *w = diagnosis_work(s->diagnosis);
    const struct links_slow *l = links_get(s->links);
    const struct straggler *list;
    size_t n = diagnosis_stragglers(s->diagnosis, &list);
    bool is = false;

    for (uint32_t end = 0; end < 2 && m->node[end] != GRAPH_NONE; end++) {
        for (size_t i = 0; i < n; i++)
            is = is || straggler_is_on(&list[i], w, m->node[end]);
        is = is || (l->standing && (!l->nodes || l->node[0] == m->node[end] ||
                                    (l->nodes == 2 && l->node[1] == m->node[end])));
    }
    return is;
}

/* A link of which some messages are slow from the start, or a node of which all are. */
static void judge_mixed(struct call_steps *s)
{
    const struct mixed_link *m = mixed_get(s->mixed);
    struct diagnosis_other o = { .class = FINDING_COMMUNICATION,
                                 .scope = m->node[1] == GRAPH_NONE ? SCOPE_NODE : SCOPE_LINK,
                                 .place = m->node[0],
                                 .other = m->node[1],
                                 .mixed = true,
                                 .standing = m->standing && (s->mixed_link.stood || !is_other(s, m)),
                                 .from = 0,
                                 .excess = m->times - 1,
                                 .rate = m->share };
    struct price_change change = { 0 };

    if (o.standing) {
        s->slow = xgrow(s->slow, &s->slow_cap, graph_kinds(s->graph), sizeof(*s->slow));
        mixed_instead(s->mixed, s->slow, graph_kinds(s->graph));
        change.slow = s->slow;
    }
    report_suspicion(s, &o, &change, &(struct cost_bounds){ .lasts = true, .beside = { 1, 1 } },
                     &s->mixed_link);
}

/* Are all ranks of a role slow now? */
static bool is_held(const struct call_steps *s, uint32_t role)
{
    for (uint32_t r = 0; r < s->n; r++)
        if (graph_role(s->graph, r) == role && !s->held[r])
            return false;
    return true;
}

static void set_role(struct call_steps *s, struct price_change *c, double excess)
{
    double of_role;
    uint32_t role = roles_heaviest(s->roles, &of_role);

    c->places = graph_places(s->graph);
    s->place_excess = xgrow(s->place_excess, &s->place_cap, c->places, sizeof(*s->place_excess));
    c->place_excess =
        parts_excess(s->graph, role, s->n, excess / of_role, s->place_excess) ? s->place_excess : NULL;
    for (uint32_t r = 0; r < s->n; r++)
        s->without[r] = (struct price_work){ .excess = graph_role(s->graph, r) == role ? (float)excess : 0 };
}

/* Is a role on nodes that would all have to be slow to look like it? */
static bool is_spread(const struct call_steps *s, uint32_t role)
{
    const struct work *w = diagnosis_work(s->diagnosis);
    uint32_t first = GRAPH_NONE;

    for (uint32_t r = 0; r < w->n; r++) {
        if (graph_role(s->graph, r) != role)
            continue;
        if (first == GRAPH_NONE)
            first = r;
        else if (w->rank[r].node == WORK_PLACE_NONE || w->rank[r].node != w->rank[first].node)
            return true;
    }
    return false;
}

/* Do few steps show already that a role has more to do, by how they and how its ranks differ? */
static bool is_sure(const struct call_steps *s, uint32_t role, struct interval of_ranks)
{
    struct interval of_steps = roles_first_steps(s->roles, s->graph, role);

    return interval_known(of_ranks) && of_ranks.low > ROLES_EXCESS && interval_known(of_steps) &&
           of_steps.low > ROLES_EXCESS && is_spread(s, role);
}

/* A role that has more to do than the others.  None is found while its ranks are slow for another reason. */
static void judge_roles(struct call_steps *s)
{
    double excess, freedom;
    uint32_t role = roles_heaviest(s->roles, &excess);
    bool stood = s->heavy_role.stood, heavy = excess > (stood ? ROLES_LET_GO : ROLES_EXCESS);
    double error = roles_error(s->roles, s->graph, role, &freedom);
    struct interval wide = interval_of(excess, error, freedom);
    struct diagnosis_other o = { .class = FINDING_IMBALANCE,
                                 .scope = SCOPE_RANKS,
                                 .place = role,
                                 .standing = role != GRAPH_NONE && heavy && (stood || !is_held(s, role)) &&
                                             (stood || roles_steps(s->roles) >= ROLES_STEPS ||
                                              (s->last && is_sure(s, role, wide))),
                                 .from = 0,
                                 .excess = excess,
                                 .rate = NAN };
    struct price_change change = { .work = s->without, .ranks = s->n };

    if (o.standing)
        set_role(s, &change, excess);
    report_suspicion(s, &o, &change,
                     &(struct cost_bounds){ .set = set_role,
                                            .low = fmax(0, wide.low),
                                            .high = wide.high,
                                            .lasts = true,
                                            .beside = interval_known(wide) ? (struct interval){ 1, 1 }
                                                                           : INTERVAL_UNKNOWN },
                     &s->heavy_role);
}

/* With no noise at all no other noise lasts; with as much as is ordinary at the most it is the most that may
 * be. */
static void set_even(struct call_steps *s, struct price_change *c, double even)
{
    c->even = (float)even;
    c->lasting = even > 0 ? s->lasting : NULL;
    c->lasting_most = true;
}

static void judge_pieces(struct call_steps *s)
{
    const struct pieces *pieces = &s->pieces;
    const struct hot *hot = &s->hot;
    bool by_hot = hot->standing; /* which says more: of few ranks in a group all pieces vary, too */
    struct diagnosis_other o = { .class = FINDING_IMBALANCE,
                                 .scope = SCOPE_NONE,
                                 .place = WORK_PLACE_NONE,
                                 .standing = pieces->wide || hot->standing,
                                 .from = by_hot ? hot->from : pieces->from,
                                 .excess = by_hot ? hot->excess : pieces->sigma,
                                 .rate = by_hot ? hot->share : NAN };
    struct price_change change = { .other = s->without };
    struct cost_bounds bounds = { .beside = { 1, 1 } };

    if (by_hot != s->by_hot) { /* it has another price */
        s->uneven_pieces.tried = false;
        s->uneven_pieces.doubted = 0;
    }
    s->by_hot = by_hot;
    if (by_hot) {
        change.hot = s->even;
        change.hot_excess = hot->excess;
        change.held = s->held;
        bounds.lasts = true;
    } else {
        change.expected = s->expected;
        change.lasting = s->lasting;
        change.even = (float)fmin(1, PIECES_ORDINARY / 2 / pieces->sigma);
        bounds.set = set_even;
        bounds.low = fmin(1, PIECES_NARROW / pieces->sigma);
    }
    report_suspicion(s, &o, &change, &bounds, &s->uneven_pieces);
}

static bool has_detour(const struct call_steps *s, const struct graph_step *step, float detour_min_s)
{
    for (size_t i = 0; i < step->n; i++)
        if (price_is_detour(&step->op[i], step, 1 + s->without[step->op[i].rank].excess, detour_min_s))
            return true;
    return false;
}

/* Number of the step at which detours began to be as many as they are, `from` at the latest. */
static uint32_t detours_from(const struct call_steps *s, uint32_t from, float detour_min_s)
{
    bool had[GRAPH_STEPS];
    uint32_t n = graph_steps(s->graph), latest = 0, began;

    for (uint32_t i = 0; i < n; i++) {
        struct graph_step step = graph_step_get(s->graph, n - 1 - i);

        had[i] = has_detour(s, &step, detour_min_s);
        latest = step.number <= from ? i : latest;
    }
    began = detours_began(had, n, latest);
    return began < latest ? graph_step_about(s->graph, n - 1 - began).number : from;
}

static void judge_jitter(struct call_steps *s)
{
    struct diagnosis_other o;
    struct price_change change = { .other = s->without };

    diagnosis_jitter(s->diagnosis, &o);
    change.detour_min_s = (float)(DETOUR_SHARE * diagnosis_work(s->diagnosis)->usual_s);
    s->detours.tried = s->detours.tried && !o.redrawn;
    if (o.early) /* the machine's own noise, unless it costs much by replays, too */
        o.min_slowdown = 1 + DETOURS_NOISE;
    if (o.standing && !is_priced(s, &s->detours))
        o.from = detours_from(s, o.from, change.detour_min_s);
    report_suspicion(s, &o, &change, &(struct cost_bounds){ .beside = diagnosis_jitter_cost(s->diagnosis) },
                     &s->detours);
}

bool call_steps_phase(const struct call_steps *s, enum finding_scope scope, uint32_t place,
                      struct slow_phase *found)
{
    return s && told_phases_get(s->phases, scope, place, found);
}

/* After diagnosis_step(): what is not the own work of some ranks. */
static void judge_others(struct call_steps *s)
{
    const struct straggler *named;
    size_t n_named = diagnosis_stragglers(s->diagnosis, &named);
    bool slows_transfers;

    starvation_keep(s->starvation, named, n_named);
    slows_transfers = slower_by(s, named, n_named);
    /* Its price was taken without its transfers, and the next one may be many steps away. */
    if (slows_transfers && !s->slowed_transfers)
        diagnosis_price_now(s->diagnosis);
    s->slowed_transfers = slows_transfers;
    judge_links(s);
    judge_mixed(s);
    judge_roles(s);
    /* Ranks that are slower for longer: their pieces are neither detours nor uneven. */
    excess_of(s, named, n_named);
    judge_pieces(s);
    judge_jitter(s);
    told_phases_look(s->phases, s->graph, diagnosis_work(s->diagnosis), named, n_named, s->judged, s->last);
}

/* Each rank's own work in the step; NaN where some of it is not known. */
static void own_work(struct call_steps *s, const struct graph_step *step)
{
    for (uint32_t r = 0; r < s->n; r++)
        s->own_s[r] = NAN;
    for (size_t i = 0; i < step->n; i++) {
        const struct graph_op *op = &step->op[i];
        float *own_s = &s->own_s[op->rank];

        if (!op->known)
            *own_s = INFINITY;
        else
            *own_s = isnan(*own_s) ? op->work_s : *own_s + op->work_s;
    }
    for (uint32_t r = 0; r < s->n; r++)
        if (isinf(s->own_s[r]))
            s->own_s[r] = NAN;
}

bool call_steps_next(struct call_steps *s, struct call_step *out)
{
    uint32_t back = 0;
    double from_s;

    while (back < graph_steps(s->graph) &&
           (!s->any || graph_step_about(s->graph, back).number > s->delivered))
        back++;
    if (!back--)
        return false;
    *out = (struct call_step){ .step = graph_step_get(s->graph, back),
                               .back = back,
                               .period = boundary_period(s->boundary),
                               .messages = boundary_on_messages(s->boundary),
                               .own_s = s->own_s,
                               .ranks = s->n };
    /* Nothing is known of the steps between two sampled stretches; and once the ranks' clocks are realigned,
     * the end of the step before is on another time base. */
    from_s =
        s->any && out->step.begin_s <= s->end_s && s->end_s < out->step.end_s ? s->end_s : out->step.begin_s;
    out->duration_s = out->step.end_s - from_s;
    out->steps = s->any ? out->step.number - s->delivered : 1;
    out->number = out->step.number + 1;
    own_work(s, &out->step);
    s->any = true;
    s->delivered = out->step.number;
    s->end_s = out->step.end_s;
    return true;
}

void call_steps_judge(struct call_steps *s, double now_s, double began_s, double min_slowdown,
                      const struct call_step *k)
{
    const struct work *w = diagnosis_work(s->diagnosis);
    const struct straggler *named;
    size_t n_named = diagnosis_stragglers(s->diagnosis, &named);

    s->min_slowdown = min_slowdown;
    for (uint32_t r = 0; r < s->n; r++) {
        s->held[r] = false;
        for (size_t i = 0; i < n_named && r < w->n; i++)
            s->held[r] = s->held[r] || straggler_has(&named[i], w, r);
    }
    pieces_step(&s->pieces, s->graph, &k->step);
    hot_step(&s->hot, &k->step, s->held);
    mixed_step(s->mixed, s->graph, k->back);
    links_step(s->links, s->graph, k->back); /* after which step may have no operations any more */
    /* What is usual of a slow rank is what was before. */
    if (!roles_take(s->roles, s->graph, s->own_s, s->n, s->held))
        return;
    s->judged++;
    diagnosis_price_every(s->diagnosis, price_every(s));
    diagnosis_step(s->diagnosis,
                   &(struct diagnosis_step){ .seq = k->step.number,
                                             .period = 1,
                                             .own_s = s->own_s,
                                             .n = s->n,
                                             .duration_s = k->duration_s,
                                             .transfer_s = NAN,
                                             .ended_s = now_s,
                                             .began_s = began_s },
                   min_slowdown);
    judge_others(s);
}

void call_steps_finish(struct call_steps *s)
{
    graph_finish(s->graph);
}

void call_steps_settle(struct call_steps *s, double min_slowdown)
{
    if (!s->judged)
        return;
    s->min_slowdown = min_slowdown;
    s->last = true;
    diagnosis_price_now(s->diagnosis);
    judge_others(s);
}

/* ---- what is known ---- */

bool call_steps_active(const struct call_steps *s)
{
    return s && s->active;
}

double call_steps_limit(const struct call_steps *s, uint32_t nodes)
{
    return s ? links_limit(s->links, nodes) : NAN;
}

struct updates *call_steps_updates(const struct call_steps *s)
{
    return s ? s->updates : NULL;
}

struct graph *call_steps_graph(const struct call_steps *s)
{
    return call_steps_active(s) ? s->graph : NULL;
}

uint32_t call_steps_role(const struct call_steps *s, uint32_t rank)
{
    return s ? graph_role(s->graph, rank) : GRAPH_NONE;
}

bool call_steps_is_part(const struct call_steps *s, uint32_t role)
{
    return s && parts_is_one(s->graph, role, s->n);
}

double call_steps_of_mean(const struct call_steps *s, uint32_t rank)
{
    return call_steps_active(s) ? roles_of_mean(s->roles, call_steps_role(s, rank)) : 1;
}

double call_steps_of_others(const struct call_steps *s, uint32_t rank)
{
    return call_steps_active(s) ? roles_of_others(s->roles, call_steps_role(s, rank)) : 1;
}

/* ---- calls ---- */

void call_steps_lost(struct call_steps *s, uint32_t rank)
{
    if (!s)
        return;
    graph_lost(s->graph, rank);
    updates_gap(s->updates, rank);
}

void call_steps_gap(struct call_steps *s, uint32_t rank)
{
    if (!s)
        return;
    graph_gap(s->graph, rank);
    updates_gap(s->updates, rank);
}

static void forget_steps(struct call_steps *s)
{
    graph_reset(s->graph);
    roles_reset(s->roles);
    links_reset(s->links);
    mixed_reset(s->mixed);
    transfer_excess_reset(s->links_excess);
    starvation_reset(s->starvation);
    s->pieces = (struct pieces){ 0 };
    hot_reset(&s->hot);
    s->slow_links = s->mixed_link = s->heavy_role = s->uneven_pieces = s->detours = (struct suspicion){ 0 };
    s->slowed_transfers = false;
    told_phases_reset(s->phases);
    s->any = false;
}

/* Ranks that do not wait for one another have no steps in common; none are looked for before it is known. */
static bool have_no_steps(const struct call_steps *s)
{
    return updates_found(s->updates) || updates_undecided(s->updates);
}

struct boundary_at call_steps_take(struct call_steps *s, const struct call *c, uint64_t series)
{
    bool had_steps = !have_no_steps(s);
    struct boundary_at at;

    updates_call(s->updates, c);
    if (have_no_steps(s)) {
        if (had_steps)
            forget_steps(s);
        return (struct boundary_at){ .moved = had_steps };
    }
    if (call_is_access(c)) /* in a step it is a part of the rank's own work */
        return (struct boundary_at){ 0 };
    for (uint32_t r = 0; !had_steps && r < s->n; r++)
        graph_gap(s->graph, r);
    graph_call(s->graph, c, series);
    at = boundary_call(s->boundary, c, series);
    if (at.moved)
        forget_steps(s);
    if (at.ends)
        graph_step_end(s->graph, c->rank, at.number);
    return at;
}
