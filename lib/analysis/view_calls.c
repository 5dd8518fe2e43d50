/* view_calls.c - a view's calls one by one: put together into steps, and what each complete step shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boundary.h"
#include "analysis/links.h"
#include "analysis/longer.h"
#include "analysis/path.h"
#include "analysis/pieces.h"
#include "analysis/price.h"
#include "analysis/roles.h"
#include "analysis/starved.h"
#include "analysis/straggler.h"
#include "analysis/view_private.h"
#include "common/xalloc.h"
#include "model/deviate.h"
#include "ring/ring.h"

#define STARVED_SPREAD 0.3 /* of the log of slow transfers: they are slow now and then */
#define STARVED_EXCESS 1.5 /* times the excess of the work */
#define TOGETHER       8
#define LINK_STEPS     2u /* after its first slow step a link is reported */
#define ROLES_STEPS    32u
#define ROLES_EXCESS   0.06
#define ROLES_LET_GO   0.04
#define ORDINARY_NOISE 1.05
#define ORDINARY_STEPS 32u
#define STRUCK         0.1    /* of a step's work */
#define DOUBTED_MIN 4u /* steps that an interval stands on; it is looked at again when there are twice as many */
#define PRICED_OPS     16384u /* a step */
#define TRY_AGAIN      4u     /* steps after something was found too cheap */
#define PRICED         64u    /* newest steps that a slowdown of now stands on */

/* What a detector suspects, and its latest price. */
struct suspicion {
    bool tried, stood; /* tried: it has a price; stood: it was reported with that price */
    uint32_t step;     /* number of steps that had been judged when it was priced */
    uint32_t from;     /* this and the following ones as in struct diagnosis_other */
    double slowdown, saved_s, of_s;
    struct interval cost;
    uint32_t doubted; /* steps since it began, of its newest interval; 0: it has none */
};

struct view_calls {
    struct graph *graph;
    struct roles *roles;
    struct links *links;
    struct longer *links_longer; /* the transfers of the links that are slow */
    struct pieces pieces;
    struct expected *expected;
    struct suspicion slow_links, heavy_role, uneven_pieces, strikes;
    struct links_slow looked_at; /* the place that links_longer is about */
    struct starved *starved; /* stragglers whose transfers are slow, too */
    bool was_starved;        /* one of them was in the step before */
    struct boundary *boundary;
    uint32_t n;         /* ranks */
    bool active;        /* steps are judged by the graph: they are more than meetings of one communicator */
    uint32_t delivered; /* number of the newest step that was judged */
    uint32_t judged;    /* steps */
    bool last;          /* no more calls come: all prices are taken once more */
    bool any;
    double end_s;               /* of that step */
    float *own_s;               /* by rank, of the step being judged */
    struct price_work *without; /* by rank, of a price */
    float *slower;              /* excess by kind, of a price */
    bool *held;                 /* by rank: it is slow */
    size_t own_cap, without_cap, slower_cap, held_cap;
};

static uint32_t members_of(uint64_t comm, void *arg)
{
    return view_comms_size(arg, comm);
}

static struct view_calls *calls_new(struct view *v)
{
    struct view_calls *s = xcalloc(1, sizeof(*s));

    s->graph = graph_new();
    s->roles = roles_new();
    s->links = links_new();
    s->links_longer = longer_new();
    s->expected = expected_new();
    s->boundary = boundary_new(members_of, v);
    s->starved = starved_new();
    return s;
}

/* Of a kind of transfer what the detectors keep of it, beside the graph. */
#define KIND_BYTES 160.0

double view_calls_bytes(const struct view_calls *s)
{
    return s ? (double)graph_held_bytes(s->graph) + (double)boundary_bytes(s->boundary) + KIND_BYTES * graph_kinds(s->graph)
             : 0;
}

void view_calls_free(struct view_calls *s)
{
    if (!s)
        return;
    graph_free(s->graph);
    boundary_free(s->boundary);
    roles_free(s->roles);
    links_free(s->links);
    longer_free(s->links_longer);
    expected_free(s->expected);
    starved_free(s->starved);
    free(s->slower);
    free(s->held);
    free(s->own_s);
    free(s->without);
    free(s);
}

/* Do slow transfers come from a straggler, because it has no CPU?  They do where they go through its node and became slow when it did.
 * Where all are slow, they look like it: slow now and then, by much, or by about as much as the work. */
static bool comes_from(const struct view *v, const struct links_slow *l, const struct straggler *g)
{
    const struct work *w = diagnosis_work(v->diagnosis);
    struct view_calls *s = v->calls;
    int64_t onset = diagnosis_seq(v->diagnosis, g->onset), stood = g->drift ? diagnosis_seq(v->diagnosis, g->ramp_end) : onset;
    bool ends = (l->nodes && straggler_is_on(g, w, l->node[0])) ||
                (l->nodes == 2 && straggler_is_on(g, w, l->node[1]));

    if (!l->standing || g->scope != SCOPE_NODE || (l->nodes && !ends))
        return false;
    if (l->nodes == 2 && starved_not(s->starved, s->graph, w, g, (uint32_t)onset, s->delivered, l))
        return false;
    if (l->nodes && starved_is(s->starved, g->id))
        return true;
    if (l->nodes == 1)
        return l->from >= onset - TOGETHER && l->from <= stood + TOGETHER;
    return l->spread > STARVED_SPREAD || l->excess < STARVED_EXCESS * g->excess / (1 + g->before);
}

/* Links that are slow for another reason; NULL: none are. */
static const struct links_slow *other_links(const struct view *v, const struct straggler *g)
{
    const struct links_slow *l = links_get(v->calls->links);

    return l->standing && v->calls->slow_links.stood && !comes_from(v, l, g) ? l : NULL;
}

/* Adds what this one makes transfers longer by; returns whether it does. */
static bool add_slower(const struct view *v, const struct straggler *g)
{
    struct view_calls *s = v->calls;
    const struct links_slow *other = other_links(v, g);

    starved_look(s->starved, s->graph, diagnosis_work(v->diagnosis), g, diagnosis_seq(v->diagnosis, g->onset),
                 s->delivered, other);
    if (!starved_is(s->starved, g->id))
        return false;
    for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
        if (!other || !links_has(other, graph_kind_get(s->graph, k)))
            s->slower[k] = fmaxf(s->slower[k], (float)starved_excess(s->starved, g->id, k));
    return true;
}

/* How much longer transfers take because of any of these, by kind; NULL: none does. */
static const float *slower_by(const struct view *v, const struct straggler *list, size_t n)
{
    struct view_calls *s = v->calls;
    bool any = false;

    s->slower = xgrow(s->slower, &s->slower_cap, graph_kinds(s->graph), sizeof(*s->slower));
    memset(s->slower, 0, graph_kinds(s->graph) * sizeof(*s->slower));
    for (size_t i = 0; i < n; i++)
        any = add_slower(v, &list[i]) || any;
    return any ? s->slower : NULL;
}

/* The excess of each rank that belongs to one of these. */
static void excess_of(const struct view *v, const struct straggler *list, size_t n)
{
    struct view_calls *s = v->calls;
    const struct work *w = diagnosis_work(v->diagnosis);

    for (uint32_t r = 0; r < s->n; r++) {
        s->without[r] = (struct price_work){ 0 };
        for (size_t i = 0; i < n && r < w->n; i++)
            if (straggler_has(&list[i], w, r))
                s->without[r] = (struct price_work){
                    .excess = (float)(list[i].excess / (1 + list[i].before)),
                    .from = diagnosis_seq(v->diagnosis, list[i].onset),
                    .until = list[i].drift ? diagnosis_seq(v->diagnosis, list[i].ramp_end) : 0
                };
    }
}

/* Until when all of what these make slower grows; 0: some stood at once. */
static uint32_t grows_until(const struct view *v, const struct straggler *list, size_t n)
{
    uint32_t until = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t end = list[i].drift ? diagnosis_seq(v->diagnosis, list[i].ramp_end) : 0;

        if (!end)
            return 0;
        until = end > until ? end : until;
    }
    return until;
}

static struct prices price_stragglers(void *arg, const struct straggler *list, size_t n, uint32_t from,
                                      uint32_t recent)
{
    struct view *v = arg;
    struct view_calls *s = v->calls;
    struct price_change change = { .from = from,
                                   .work = s->without,
                                   .transfer_excess = slower_by(v, list, n),
                                   .transfer_until = grows_until(v, list, n) };

    excess_of(v, list, n);
    return price_take(s->graph, &change, recent);
}

static uint32_t price_each(void *arg, const struct straggler *list, size_t n, uint32_t from, double *saved_s, double *more)
{
    struct view *v = arg;
    struct view_calls *s = v->calls;
    struct price_change change = { .from = from,
                                   .work = s->without,
                                   .ranks = s->n,
                                   .transfer_excess = slower_by(v, list, n),
                                   .transfer_until = grows_until(v, list, n) };

    excess_of(v, list, n);
    return price_steps(s->graph, &change, saved_s, more);
}

void view_calls_add_rank(struct view *v, uint32_t rank)
{
    uint32_t node = view_ranks_at(v, rank)->node;
    struct view_calls *s = v->calls;

    if (!s)
        return;
    s->without = xgrow(s->without, &s->without_cap, rank + 1, sizeof(*s->without));
    s->own_s = xgrow(s->own_s, &s->own_cap, rank + 1, sizeof(*s->own_s));
    s->held = xgrow(s->held, &s->held_cap, rank + 1, sizeof(*s->held));
    s->n = rank >= s->n ? rank + 1 : s->n;
    boundary_rank(s->boundary, rank);
    graph_rank(s->graph, rank, node == WORK_PLACE_NONE ? VIEW_RANKS_MAX + rank : node); /* its own clock */
}

void view_calls_end_rank(struct view *v, uint32_t rank)
{
    if (!v->calls)
        return;
    boundary_rank_end(v->calls->boundary, rank);
    graph_rank_end(v->calls->graph, rank);
}

void view_calls_forget(struct view *v)
{
    view_calls_free(v->calls);
    v->calls = NULL;
    v->call_use = (struct call_use){ 0 };
    diagnosis_price(v->diagnosis, NULL, NULL, NULL);
}

static void begin(struct view *v)
{
    v->calls = calls_new(v);
    for (uint32_t r = 0; r < view_rank_limit(v); r++)
        if (view_ranks_at(v, r)->known && !view_ranks_at(v, r)->ended)
            view_calls_add_rank(v, r);
}

/* ---- are they wanted ---- */

static void note_use(struct view *v, uint64_t comm, bool various)
{
    struct call_use *u = &v->call_use;

    u->comm = u->comm ? u->comm : comm;
    u->various = u->various || various || comm != u->comm;
}

void view_calls_take_sample(struct view *v, const struct sample *s)
{
    note_use(v, s->comm, s->flags & SAMPLE_NONBLOCKING);
}

void view_calls_take_counts(struct view *v, const struct counts *c)
{
    v->call_use.various = v->call_use.various || c->p2p_calls;
}

bool view_calls_wanted(const struct view *v)
{
    return v->call_use.various;
}

bool view_calls_found(const struct view *v)
{
    return v->calls && boundary_period(v->calls->boundary);
}

/* ---- steps ---- */

static void forget_steps(struct view *v)
{
    struct view_calls *s = v->calls;

    graph_reset(s->graph);
    roles_reset(s->roles);
    links_reset(s->links);
    longer_reset(s->links_longer);
    starved_reset(s->starved);
    s->pieces = (struct pieces){ 0 };
    s->slow_links = s->heavy_role = s->uneven_pieces = s->strikes = (struct suspicion){ 0 };
    s->was_starved = false;
    s->any = false;
    view_steps_restart(v);
    view_course_forget(v);
    diagnosis_restart(v->diagnosis);
}

/* ---- complete steps ---- */

/* The number of the first of the newest steps, which a slowdown of now stands on. */
static uint32_t recent_from(const struct view_calls *s)
{
    uint32_t n = graph_steps(s->graph) < PRICED ? graph_steps(s->graph) : PRICED;

    return graph_step_about(s->graph, n - 1).number;
}

/* Steps between two prices of what stands: the replay of all remembered steps then costs at most PRICED_OPS operations a step. */
static uint32_t price_every(const struct view_calls *s)
{
    return (uint32_t)(graph_ops(s->graph) / PRICED_OPS);
}

/* Is the price of a few steps ago good enough?  What was found too cheap is looked at again sooner. */
static bool is_priced(const struct view_calls *s, const struct suspicion *k)
{
    uint32_t every = price_every(s), steps = s->delivered - k->from, again;

    again = price_again(steps < graph_steps(s->graph) ? steps : graph_steps(s->graph));
    every = every > again ? every : again;
    if (!k->stood && every > TRY_AGAIN)
        every = TRY_AGAIN;
    return k->tried && !s->last && s->judged - k->step < every;
}

/* How a price is doubted: by replays with what is taken as ordinary at the other end of what it may be. */
struct bounds {
    void (*set)(struct view *v, struct price_change *c, double by); /* to that value; NULL: there are none */
    double low, high;       /* values: with which it costs least, most */
    bool lasts;             /* a fault that should cost about as much in each step */
    struct interval beside; /* of the cost, for what replays do not show */
};

static double saved_by(struct view *v, struct price_change *c, const struct bounds *b, double by)
{
    b->set(v, c, by);
    return price_take(v->calls->graph, c, c->from).all.saved_s;
}

/* The interval of the cost since it began.  It becomes narrower with the square root of the steps, so that most prices leave it as it is. */
static void doubt(struct view *v, uint32_t from, double saved_s, struct price_change *change,
                  const struct bounds *b, struct suspicion *k)
{
    struct view_calls *s = v->calls;
    uint32_t since = graph_step_about(s->graph, 0).number - from + 1, n;
    double each_s[GRAPH_STEPS], more[GRAPH_STEPS], error, freedom;

    if (!s->last && (since < DOUBTED_MIN || (k->doubted && since >= k->doubted && since < 2 * k->doubted)))
        return;
    k->doubted = since;
    k->cost = b->beside;
    change->from = from;
    if (b->lasts) {
        n = price_steps(s->graph, change, each_s, more);
        error = interval_ratio_error(each_s, more, n, &freedom);
        k->cost = interval_product(k->cost, interval_of(1, error, freedom));
    }
    if (b->set)
        k->cost = interval_product(k->cost, (struct interval){ saved_by(v, change, b, b->low) / saved_s,
                                                               saved_by(v, change, b, b->high) / saved_s });
}

static void report(struct view *v, struct diagnosis_other *o, struct price_change *change,
                   const struct bounds *b, struct suspicion *k)
{
    struct view_calls *s = v->calls;
    struct prices p;
    double least;

    if (!o->standing) {
        *k = (struct suspicion){ 0 };
    } else if (is_priced(s, k)) {
        o->standing = k->stood;
        o->from = k->from;
        o->slowdown = k->slowdown;
        o->saved_s = k->saved_s;
        o->of_s = k->of_s;
    } else {
        change->from = o->from;
        p = price_take(s->graph, change, recent_from(s));
        o->saved_s = p.all.saved_s;
        o->of_s = p.all.of_s;
        o->slowdown = finding_slowdown(p.recent.of_s, p.recent.saved_s);
        least = fmax(v->params.min_slowdown, o->least);
        o->standing = o->slowdown >= (k->stood ? 1 + (least - 1) / 2 : least);
        *k = (struct suspicion){ true,       o->standing, s->judged, o->from,   o->slowdown,
                                 o->saved_s, o->of_s,     k->cost,   k->doubted };
        if (o->standing)
            doubt(v, o->from, o->saved_s, change, b, k);
    }
    if (k->doubted && k->cost.low <= 0) /* a fault that may cost nothing is not reported */
        o->standing = k->stood = false;
    o->cost = k->doubted ? k->cost : INTERVAL_UNKNOWN;
    diagnosis_other(v->diagnosis, o);
}

static bool is_explained(const struct view *v, const struct links_slow *l)
{
    const struct straggler *list;
    size_t n = diagnosis_stragglers(v->diagnosis, &list);

    for (size_t i = 0; i < n; i++)
        if (comes_from(v, l, &list[i]))
            return true;
    return false;
}

static uint32_t is_of_links(const struct graph_kind_info *k, void *arg)
{
    return links_has(arg, k) ? 0 : LONGER_NONE;
}

static bool is_same_place(const struct links_slow *a, const struct links_slow *b)
{
    return a->collectives == b->collectives && a->nodes == b->nodes && a->node[0] == b->node[0] &&
           a->node[1] == b->node[1];
}

/* As if the transfers took `times` as long. */
static void set_transfers(struct view *v, struct price_change *c, double times)
{
    struct view_calls *s = v->calls;

    for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
        if (longer_excess_of(s->links_longer, k) > 0)
            s->slower[k] = (float)fmax(0, times * (1 + longer_excess_of(s->links_longer, k)) - 1);
    c->transfer_excess = s->slower;
}

static void judge_links(struct view *v)
{
    struct view_calls *s = v->calls;
    struct links_slow l = *links_get(s->links);
    double away = l.standing ? deviate_normal(INTERVAL_SIDE) * l.error : 0;
    struct diagnosis_other o = { .class = FINDING_COMMUNICATION,
                                 .scope = l.nodes == 2 ? SCOPE_LINK
                                          : l.nodes    ? SCOPE_NODE
                                                       : SCOPE_NONE,
                                 .place = l.nodes ? l.node[0] : WORK_PLACE_NONE,
                                 .other = l.node[1],
                                 .from = l.from };
    struct price_change change = { 0 };

    if (!is_same_place(&l, &s->looked_at)) /* its kinds are others */
        longer_reset(s->links_longer);
    s->looked_at = l;
    if (l.standing)
        longer_look(s->links_longer, s->graph, l.from, s->delivered, is_of_links, &l, NULL);
    else
        longer_reset(s->links_longer);
    o.excess = longer_excess(s->links_longer, 0);
    o.standing = l.standing && o.excess > 0 && graph_step_about(s->graph, 0).number >= l.from + LINK_STEPS &&
                 !is_explained(v, &l);
    s->slower = xgrow(s->slower, &s->slower_cap, graph_kinds(s->graph), sizeof(*s->slower));
    for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
        s->slower[k] = (float)longer_excess_of(s->links_longer, k);
    change.transfer_excess = s->slower;
    report(v, &o, &change,
           &(struct bounds){ .set = set_transfers,
                             .low = exp(-away),
                             .high = exp(away),
                             .lasts = true,
                             .beside = isnan(away) ? INTERVAL_UNKNOWN : (struct interval){ 1, 1 } },
           &s->slow_links);
}

/* Are all ranks of a role slow now? */
static bool is_held(const struct view_calls *s, uint32_t role)
{
    for (uint32_t r = 0; r < s->n; r++)
        if (graph_role(s->graph, r) == role && !s->held[r])
            return false;
    return true;
}

static void set_role(struct view *v, struct price_change *c, double excess)
{
    struct view_calls *s = v->calls;
    double of_role;
    uint32_t role = roles_heaviest(s->roles, &of_role);

    (void)c;
    for (uint32_t r = 0; r < s->n; r++)
        s->without[r] = (struct price_work){ .excess = graph_role(s->graph, r) == role ? (float)excess : 0 };
}

/* A role that has more to do than the others.  None is found while its ranks are slow for another reason. */
static void judge_roles(struct view *v)
{
    struct view_calls *s = v->calls;
    double excess, freedom;
    uint32_t role = roles_heaviest(s->roles, &excess);
    bool stood = s->heavy_role.stood;
    struct diagnosis_other o = { .class = FINDING_IMBALANCE,
                                 .scope = SCOPE_RANKS,
                                 .place = role,
                                 .standing = role != GRAPH_NONE && roles_steps(s->roles) >= ROLES_STEPS &&
                                             excess > (stood ? ROLES_LET_GO : ROLES_EXCESS) &&
                                             (stood || !is_held(s, role)),
                                 .from = 0,
                                 .excess = excess,
                                 .rate = NAN };
    struct price_change change = { .work = s->without, .ranks = s->n };
    double error = roles_error(s->roles, s->graph, role, &freedom);
    struct interval wide = interval_of(excess, error, freedom);

    set_role(v, &change, excess);
    report(v, &o, &change,
           &(struct bounds){ .set = set_role,
                             .low = fmax(0, wide.low),
                             .high = wide.high,
                             .lasts = true,
                             .beside = interval_known(wide) ? (struct interval){ 1, 1 } : INTERVAL_UNKNOWN },
           &s->heavy_role);
}

static void set_even(struct view *v, struct price_change *c, double even)
{
    (void)v;
    c->even = (float)even;
}

static void judge_pieces(struct view *v)
{
    struct view_calls *s = v->calls;
    struct diagnosis_other o = { .class = FINDING_IMBALANCE,
                                 .scope = SCOPE_NONE,
                                 .place = WORK_PLACE_NONE,
                                 .standing = s->pieces.wide,
                                 .from = s->pieces.from,
                                 .excess = s->pieces.sigma,
                                 .rate = NAN };
    struct price_change change = { .other = s->without,
                                   .expected = s->expected,
                                   .even = (float)fmin(1, PIECES_ORDINARY / s->pieces.sigma) };

    report(
        v, &o, &change,
        &(struct bounds){
            .set = set_even, .low = fmin(1, PIECES_NARROW / s->pieces.sigma), .high = 0, .beside = { 1, 1 } },
        &s->uneven_pieces);
}

static bool has_struck(const struct view_calls *s, const struct graph_step *step, float struck_s)
{
    for (size_t i = 0; i < step->n; i++)
        if (price_is_struck(&step->op[i], step, 1 + s->without[step->op[i].rank].excess, struck_s))
            return true;
    return false;
}

/* Number of the step at which strikes began to be no farther from one another than they are on the mean since `from`. */
static uint32_t strikes_from(const struct view_calls *s, uint32_t from, float struck_s)
{
    uint32_t back = 0, struck = 0, gap = 0;

    for (; back < graph_steps(s->graph); back++) {
        struct graph_step step = graph_step_get(s->graph, back);

        if (step.number < from)
            break;
        struck += has_struck(s, &step, struck_s);
    }
    for (uint32_t since = back; back < graph_steps(s->graph) && struck * gap < since; back++, gap++) {
        struct graph_step step = graph_step_get(s->graph, back);

        if (!has_struck(s, &step, struck_s))
            continue;
        from = step.number;
        since += gap + 1;
        struck++;
        gap = 0;
    }
    return from;
}

static void judge_jitter(struct view *v)
{
    struct view_calls *s = v->calls;
    struct diagnosis_other o;
    struct price_change change = { .other = s->without };
    struct price p;

    diagnosis_jitter(v->diagnosis, &o);
    change.struck_s = (float)(STRUCK * diagnosis_work(v->diagnosis)->usual_s);
    if (o.standing && o.early) { /* the machine's own noise, unless it costs much for long */
        o.least = ORDINARY_NOISE;
        if (!s->strikes.stood && !is_priced(s, &s->strikes)) {
            p = price_take(s->graph, &change, 0).all;
            o.standing = diagnosis_steps(v->diagnosis) >= ORDINARY_STEPS &&
                         finding_slowdown(p.of_s, p.saved_s) >= ORDINARY_NOISE;
        }
    }
    if (o.standing && !is_priced(s, &s->strikes))
        o.from = strikes_from(s, o.from, change.struck_s);
    report(v, &o, &change, &(struct bounds){ .beside = diagnosis_jitter_cost(v->diagnosis) }, &s->strikes);
}

/* After diagnosis_step(): what is not the own work of some ranks. */
static void judge_others(struct view *v)
{
    struct view_calls *s = v->calls;
    const struct straggler *named;
    size_t n_named = diagnosis_stragglers(v->diagnosis, &named);
    bool starved;

    starved_keep(s->starved, named, n_named);
    starved = slower_by(v, named, n_named);
    /* Its price was taken without its transfers, and the next one may be many steps away. */
    if (starved && !s->was_starved)
        diagnosis_price_now(v->diagnosis);
    s->was_starved = starved;
    judge_links(v);
    judge_roles(v);
    /* Ranks that are slower for longer: their pieces are neither strikes nor uneven. */
    excess_of(v, named, n_named);
    judge_pieces(v);
    judge_jitter(v);
}

static void follow_path(struct view *v, double now_s, uint32_t back)
{
    struct path *p = path_new(v->calls->graph, back, v->calls->n);

    if (p)
        view_course_take_path(v, now_s, p);
    path_free(p);
}

/* What is usual of a slow rank is what was before. */
static void hold_slow(struct view *v)
{
    struct view_calls *s = v->calls;
    const struct work *w = diagnosis_work(v->diagnosis);
    const struct straggler *named;
    size_t n = diagnosis_stragglers(v->diagnosis, &named);

    for (uint32_t r = 0; r < s->n; r++) {
        s->held[r] = false;
        for (size_t i = 0; i < n && r < w->n; i++)
            s->held[r] = s->held[r] || straggler_has(&named[i], w, r);
    }
}

/* steps: since the one before it. */
static void judge_step(struct view *v, double now_s, const struct graph_step *step, uint32_t back,
                       uint32_t steps)
{
    struct view_calls *s = v->calls;
    /* Nothing is known of the steps between two sampled stretches; and once the ranks' clocks are realigned, the end of the step before is on
     * another time base. */
    double from_s = s->any && step->begin_s <= s->end_s && s->end_s < step->end_s ? s->end_s : step->begin_s;

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
    s->any = true;
    s->end_s = step->end_s;
    view_steps_take_whole(v, now_s, steps, boundary_period(s->boundary), step->end_s - from_s, s->own_s,
                          s->n);
    follow_path(v, now_s, back);
    pieces_step(&s->pieces, s->graph, step);
    links_step(s->links, s->graph, back); /* after which step may have no operations any more */
    hold_slow(v);
    if (!roles_take(s->roles, s->graph, s->own_s, s->n, s->held))
        return;
    s->judged++;
    diagnosis_price_every(v->diagnosis, price_every(s));
    diagnosis_step(v->diagnosis,
                   &(struct diagnosis_step){ .seq = step->number,
                                             .period = 1,
                                             .own_s = s->own_s,
                                             .n = s->n,
                                             .duration_s = step->end_s - from_s,
                                             .transfer_s = NAN,
                                             .ended_s = now_s,
                                             .began_s = v->watched_s },
                   v->params.min_slowdown);
    judge_others(v);
}

static void judge_new(struct view *v, double now_s)
{
    struct view_calls *s = v->calls;
    uint32_t back = 0;

    while (back < graph_steps(s->graph) && (!s->any || graph_step_about(s->graph, back).number > s->delivered))
        back++;
    while (back-- > 0) {
        struct graph_step step = graph_step_get(s->graph, back);
        uint32_t steps = s->any ? step.number - s->delivered : 1;

        s->delivered = step.number;
        judge_step(v, now_s, &step, back, steps);
    }
}

bool view_calls_active(const struct view *v)
{
    return v->calls && v->calls->active;
}

double view_calls_limit(const struct view *v, uint32_t nodes)
{
    return v->calls ? links_limit(v->calls->links, nodes) : NAN;
}

struct graph *view_calls_graph(const struct view *v)
{
    return view_calls_active(v) ? v->calls->graph : NULL;
}

/* From the first message, nonblocking call or second communicator on; what was judged before, as meetings of all ranks, is over. */
static bool is_active(struct view *v, const struct graph_call *c)
{
    struct view_calls *s = v->calls;

    if (s->active)
        return true;
    note_use(v, c->comm, c->kind != GRAPH_COLLECTIVE || c->begin_ns);
    if (!v->call_use.various)
        return false;
    s->active = true;
    view_steps_forget(v);
    view_course_forget(v);
    diagnosis_restart(v->diagnosis);
    diagnosis_price(v->diagnosis, price_stragglers, price_each, v);
    return true;
}

void view_call(struct view *v, double now_s, const struct graph_call *of)
{
    struct graph_call call = *of, *c = &call;
    struct view_calls *s = v->calls;
    struct boundary_at at;

    if (!view_has_room(v, 0))
        return;
    if (!s) {
        begin(v);
        s = v->calls;
    }
    if (c->rank >= s->n || !view_ranks_at(v, c->rank)->known || view_ranks_at(v, c->rank)->ended)
        return;
    view_begin(v, now_s);
    if (!is_active(v, c))
        return;
    call.series = view_comms_series(v, c->comm);
    graph_call(s->graph, c);
    at = boundary_call(s->boundary, c);
    if (at.moved)
        forget_steps(v);
    if (at.ends) {
        graph_step_end(s->graph, c->rank, at.number);
        judge_new(v, now_s);
    }
}

uint32_t view_calls_role(const struct view *v, uint32_t rank)
{
    return v->calls ? graph_role(v->calls->graph, rank) : GRAPH_NONE;
}

double view_calls_of_mean(const struct view *v, uint32_t rank)
{
    return view_calls_active(v) ? roles_of_mean(v->calls->roles, view_calls_role(v, rank)) : 1;
}

double view_calls_of_others(const struct view *v, uint32_t rank)
{
    return view_calls_active(v) ? roles_of_others(v->calls->roles, view_calls_role(v, rank)) : 1;
}

void view_call_lost(struct view *v, uint32_t rank)
{
    if (v->calls)
        graph_lost(v->calls->graph, rank);
}

void view_calls_take(struct view *v, double now_s, const struct call_item *c)
{
    struct graph_call call = { .rank = c->rank,
                               .kind = c->op == RING_OP_SEND   ? GRAPH_SEND
                                       : c->op == RING_OP_RECV ? GRAPH_RECV
                                                               : GRAPH_COLLECTIVE,
                               .op = c->op,
                               .comm = c->comm,
                               .seq = c->seq,
                               .peer = c->peer,
                               .tag = c->tag,
                               .bytes = c->bytes,
                               .begin_ns = c->flags & SAMPLE_NONBLOCKING ? c->begin_ns : 0,
                               .enter_ns = c->enter_ns,
                               .leave_ns = c->leave_ns };

    if (!view_ranks_find(v, c->rank, c->app))
        return;
    if (c->op == RING_OP_NONE || view_was_suspended(v, now_s, (double)(c->leave_ns - c->begin_ns) * 1e-9)) {
        if (v->calls)
            graph_gap(v->calls->graph, c->rank);
        return;
    }
    if (c->leave_ns - c->begin_ns > TIME_MAX_NS ||
        (ring_op_is_message(c->op) && c->peer >= view_rank_limit(v))) {
        v->refused++;
        return;
    }
    view_call(v, now_s, &call);
}

void view_calls_finish(struct view *v, double now_s)
{
    graph_finish(v->calls->graph);
    judge_new(v, now_s);
    if (!v->calls->judged)
        return;
    v->calls->last = true;
    diagnosis_price_now(v->diagnosis);
    judge_others(v);
}
