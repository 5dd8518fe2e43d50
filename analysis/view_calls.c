/* view_calls.c - a view's calls one by one: where a step ends in them, and what each complete step shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cycle.h"
#include "analysis/links.h"
#include "analysis/pieces.h"
#include "analysis/price.h"
#include "analysis/roles.h"
#include "analysis/straggler.h"
#include "analysis/view_private.h"
#include "common/hash.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#define BEGUN_MAX      64u   /* newest calls among which it is counted how many ended since one was begun */
#define PATIENCE       8192u /* calls of a rank after which its steps need not repeat to be known */
#define TOKENS_MAX     1024u /* different calls of a rank */
#define STARVED_SPREAD 0.3   /* of the log of slow transfers: they are slow now and then */
#define STARVED_EXCESS 1.5   /* times the excess of the work */
#define STARVED_MIN    0.15
#define TOGETHER       8
#define LINK_STEPS     2u /* after its first slow step a link is reported */
#define ROLES_STEPS    32u
#define ROLES_EXCESS   0.06
#define ORDINARY_NOISE 1.05
#define ORDINARY_STEPS 32u
#define STRUCK         0.1 /* of a step's work */
#define PRICED         64u /* newest steps that a slowdown of now stands on */
#define TRIED_MAX      64u /* places where a step may end */

/* What a rank's calls of one kind are. */
struct call_kind {
    uint32_t token;
    uint8_t kind;
    uint64_t comm;
    uint32_t peer;
    int32_t tag;
};

/* The calls that end a step: those of one kind whose number is `phase`, modulo `every`. */
struct anchor {
    bool known;
    struct call_kind k;
    uint32_t every;
};

struct caller { /* a rank */
    bool known;
    struct cycle cycle;
    struct call_kind *kind;
    size_t n_kinds, kinds_cap;
    struct anchor anchor;
    uint64_t left_ns;
    uint64_t left[BEGUN_MAX]; /* when it left the newest calls */
    uint32_t calls;
};

/* Where in a cycle of several equal collectives does the step end?  Where nothing is begun that goes on, and before the longest work. */
struct place {
    double work_s;
    bool inside; /* of a nonblocking call */
};

struct view_calls {
    struct graph *graph;
    struct roles *roles;
    struct links *links;
    struct pieces pieces;
    bool stood_links, stood_roles, stood_pieces, stood_jitter; /* reported after the newest step */
    uint32_t starved; /* the node that is slow in its own work and in its transfers; WORK_PLACE_NONE */
    struct caller *rank;
    size_t cap;
    uint32_t n;
    bool active;   /* steps are judged by the graph: they are more than meetings of one communicator */
    uint64_t comm; /* of the first collective; 0: none yet */
    bool found;    /* the cycles of all ranks are known */
    bool anchored, phased; /* ... and where a step ends */
    uint32_t lookout;      /* the rank that the phase is looked for on */
    uint32_t phase, seen;
    struct place place[TRIED_MAX];
    uint64_t ended_ns[TRIED_MAX]; /* the lookout's newest anchors */
    uint32_t delivered;           /* number of the newest step that was judged */
    bool any;
    double end_s;               /* of that step */
    float *own_s;               /* by rank, of the step being judged */
    struct price_work *without; /* by rank, of a price */
    float *slower;              /* by kind, of a price */
    size_t own_cap, without_cap, slower_cap;
};

struct view_calls *view_calls_new(void)
{
    struct view_calls *s = xcalloc(1, sizeof(*s));

    s->graph = graph_new();
    s->roles = roles_new();
    s->links = links_new();
    s->starved = WORK_PLACE_NONE;
    return s;
}

void view_calls_free(struct view_calls *s)
{
    if (!s)
        return;
    for (uint32_t r = 0; r < s->n; r++) {
        cycle_free(&s->rank[r].cycle);
        free(s->rank[r].kind);
    }
    graph_free(s->graph);
    roles_free(s->roles);
    links_free(s->links);
    free(s->slower);
    free(s->rank);
    free(s->own_s);
    free(s->without);
    free(s);
}

static bool reaches(const struct graph_kind_info *k, uint32_t node)
{
    for (uint32_t i = 0; i < k->nodes; i++)
        if (k->node[i] == node)
            return true;
    return false;
}

/* What the transfers that this node takes part in took before, by kind; those between its own ranks too. */
static const float *slower_of_node(struct view_calls *s, uint32_t node)
{
    s->slower = xgrow(s->slower, &s->slower_cap, graph_kinds(s->graph), sizeof(*s->slower));
    for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
        s->slower[k] = reaches(graph_kind_get(s->graph, k), node) ? (float)links_usual_s(s->links, k) : 0;
    return s->slower;
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

static double price_stragglers(void *arg, const struct straggler *list, size_t n, uint32_t from, double *of_s)
{
    struct view *v = arg;
    struct view_calls *s = v->calls;
    struct price_change change = { .from = from, .work = s->without, .even = -1 };

    for (size_t i = 0; i < n && s->starved != WORK_PLACE_NONE; i++)
        if (list[i].scope == SCOPE_NODE && list[i].place == s->starved)
            change.transfer_s = slower_of_node(s, s->starved);
    excess_of(v, list, n);
    return price_saved_s(s->graph, &change, of_s);
}

void view_calls_begin(struct view *v, uint32_t rank)
{
    uint32_t node = view_ranks_at(v, rank)->node;
    struct view_calls *s;

    if (!v->calls) {
        v->calls = view_calls_new();
    }
    s = v->calls;
    s->without = xgrow(s->without, &s->without_cap, rank + 1, sizeof(*s->without));
    s->rank = xgrow(s->rank, &s->cap, rank + 1, sizeof(*s->rank));
    s->own_s = xgrow(s->own_s, &s->own_cap, rank + 1, sizeof(*s->own_s));
    s->n = rank >= s->n ? rank + 1 : s->n;
    s->rank[rank].known = true;
    graph_rank(s->graph, rank, node == WORK_PLACE_NONE ? VIEW_RANKS_MAX + rank : node); /* its own clock */
}

/* ---- where a step ends ---- */

/* How many calls the rank has left since it began this one: buckets that are awaited one after another differ in nothing else. */
static uint32_t left_since(const struct caller *k, uint64_t begin_ns)
{
    uint32_t n = 0;

    while (begin_ns && n < k->calls && n < BEGUN_MAX && k->left[(k->calls - 1 - n) % BEGUN_MAX] > begin_ns)
        n++;
    return n;
}

/* Not of the other rank, and not of sizes that may vary: what is done alike shall look alike. */
static uint32_t token_of(const struct caller *k, const struct graph_call *c)
{
    bool collective = c->kind == GRAPH_COLLECTIVE;
    uint64_t words[] = { c->kind,
                         collective ? c->op : (uint64_t)(int64_t)c->tag,
                         collective && !ring_op_irregular(c->op) ? c->bytes : 0,
                         collective ? c->comm : 0,
                         c->begin_ns != 0,
                         left_since(k, c->begin_ns) };

    return (uint32_t)hash_bytes(HASH_START, words, sizeof(words)) & 0x7fffffff;
}

static void take_kind(struct caller *k, const struct graph_call *c, uint32_t token)
{
    for (size_t i = 0; i < k->n_kinds; i++)
        if (k->kind[i].token == token)
            return;
    if (k->n_kinds == TOKENS_MAX)
        return;
    k->kind = xgrow(k->kind, &k->kinds_cap, k->n_kinds + 1, sizeof(*k->kind));
    k->kind[k->n_kinds++] = (struct call_kind){
        .token = token, .kind = c->kind, .comm = c->comm, .peer = c->peer, .tag = c->tag
    };
}

/* Do all ranks do the same inner cycle?  Then that is the step. */
static bool inner_is_step(const struct view_calls *s)
{
    uint64_t name = 0;

    for (uint32_t r = 0; r < s->n; r++) {
        if (!s->rank[r].known)
            continue;
        if (!s->rank[r].cycle.inner_name || (name && s->rank[r].cycle.inner_name != name))
            return false;
        name = s->rank[r].cycle.inner_name;
    }
    return name != 0;
}

/* Of a rank whose calls don't repeat, any. */
static bool in_cycle(const struct caller *k, const struct call_kind *c)
{
    return !k->cycle.length || cycle_count(&k->cycle, c->token);
}

/* The message that is least in the order of tokens, which is the same on all ranks. */
static void anchor_on_message(struct caller *k)
{
    const struct call_kind *best = NULL;

    for (size_t i = 0; i < k->n_kinds; i++) {
        const struct call_kind *c = &k->kind[i];

        if (c->kind == GRAPH_COLLECTIVE || !in_cycle(k, c))
            continue;
        if (!best || c->token < best->token)
            best = c;
    }
    if (best)
        k->anchor = (struct anchor){ true, *best, 1 };
}

/* The largest communicator's collectives: a step has `every` of them. */
static void anchor_on_comm(const struct view *v, struct caller *k)
{
    uint64_t comm = 0;
    uint32_t size = 0, every = 0;

    for (size_t i = 0; i < k->n_kinds; i++) {
        const struct call_kind *c = &k->kind[i];

        if (c->kind != GRAPH_COLLECTIVE || !in_cycle(k, c) || view_comms_size(v, c->comm) <= size)
            continue;
        comm = c->comm;
        size = view_comms_size(v, comm);
    }
    for (size_t i = 0; i < k->n_kinds; i++)
        if (k->kind[i].kind == GRAPH_COLLECTIVE && k->kind[i].comm == comm)
            every += cycle_count(&k->cycle, k->kind[i].token);
    if (size)
        k->anchor = (struct anchor){ true, { .kind = GRAPH_COLLECTIVE, .comm = comm }, every ? every : 1 };
    else
        anchor_on_message(k);
}

static void forget_steps(struct view *v)
{
    struct view_calls *s = v->calls;

    graph_reset(s->graph);
    roles_reset(s->roles);
    links_reset(s->links);
    s->pieces = (struct pieces){ 0 };
    s->any = false;
    s->seen = 0;
    memset(s->ended_ns, 0, sizeof(s->ended_ns));
    diagnosis_restart(v->diagnosis);
}

static int by_comm(const void *a, const void *b)
{
    const struct anchor *x = *(struct anchor *const *)a, *y = *(struct anchor *const *)b;

    if (x->k.comm != y->k.comm)
        return x->k.comm < y->k.comm ? -1 : 1;
    return (x->every > y->every) - (x->every < y->every);
}

/* Of the ranks that count on one communicator the shortest cycle holds: where calls are missing, several look like one. */
static void agree(struct view_calls *s)
{
    struct anchor **list = xcalloc(s->n, sizeof(*list));
    size_t n = 0;

    for (uint32_t r = 0; r < s->n; r++)
        if (s->rank[r].anchor.known && s->rank[r].anchor.k.kind == GRAPH_COLLECTIVE)
            list[n++] = &s->rank[r].anchor;
    qsort(list, n, sizeof(*list), by_comm);
    for (size_t i = 1; i < n; i++)
        if (list[i]->k.comm == list[i - 1]->k.comm)
            list[i]->every = list[i - 1]->every;
    free(list);
}

static void look_for_anchors(struct view *v)
{
    struct view_calls *s = v->calls;
    bool inner, again = s->anchored;

    for (uint32_t r = 0; r < s->n; r++)
        if (s->rank[r].known && !s->rank[r].cycle.length && s->rank[r].calls < PATIENCE)
            return;
    inner = inner_is_step(s);
    s->found = true;
    if (again && inner) /* they were steps before the first collective came */
        return;
    for (uint32_t r = s->n; r-- > 0;) {
        struct caller *k = &s->rank[r];

        if (!k->known)
            continue;
        if (inner)
            anchor_on_message(k);
        else
            anchor_on_comm(v, k);
        s->lookout = r;
    }
    agree(s);
    if (again)
        forget_steps(v);
    s->anchored = true;
    s->phase = 0;
    s->phased = s->rank[s->lookout].anchor.every <= 1 || s->rank[s->lookout].anchor.every > TRIED_MAX;
    memset(s->place, 0, sizeof(s->place));
}

/* Until the cycles of all ranks are known; and again when a rank's first collective comes: what repeated before it was less than a
 * step. */
static void look_for_steps(struct view *v, struct caller *k, const struct graph_call *c)
{
    struct view_calls *s = v->calls;
    uint32_t token;

    if (s->found && (c->kind != GRAPH_COLLECTIVE || k->cycle.marked))
        return;
    s->found = false;
    token = token_of(k, c);
    take_kind(k, c, token);
    cycle_push(&k->cycle, token, c->kind == GRAPH_COLLECTIVE);
    if (k->cycle.length || k->calls >= PATIENCE)
        look_for_anchors(v);
}

static bool is_anchor(const struct caller *k, const struct graph_call *c)
{
    const struct call_kind *a = &k->anchor.k;

    if (!k->anchor.known || c->kind != a->kind || c->comm != a->comm)
        return false;
    return c->kind == GRAPH_COLLECTIVE || (c->peer == a->peer && c->tag == a->tag);
}

/* On the lookout: the work that follows an anchor, and what was begun before it and goes on. */
static void look_for_phase(struct view_calls *s, const struct caller *k, const struct graph_call *c)
{
    uint32_t every = k->anchor.every, best = 0;
    uint64_t begin_ns = c->begin_ns ? c->begin_ns : c->enter_ns;

    for (uint32_t i = 0; i < every; i++)
        s->place[i].inside = s->place[i].inside || (s->ended_ns[i] && begin_ns < s->ended_ns[i]);
    for (uint32_t i = 0; i < every; i++)
        if (s->ended_ns[i] == k->left_ns && c->enter_ns > k->left_ns)
            s->place[i].work_s += (double)(c->enter_ns - k->left_ns) * 1e-9;
    if (!is_anchor(k, c))
        return;
    s->ended_ns[c->seq % every] = c->leave_ns;
    if (++s->seen < 2 * every + 1)
        return;
    for (uint32_t i = 1; i < every; i++)
        if (s->place[i].inside != s->place[best].inside ? s->place[best].inside
                                                        : s->place[i].work_s > s->place[best].work_s)
            best = i;
    s->phase = best;
    s->phased = true;
}

/* ---- complete steps ---- */

static double ratio(double of_s, double saved_s)
{
    return of_s > saved_s ? of_s / (of_s - saved_s) : NAN;
}

/* The number of the first of the newest steps, which a slowdown of now stands on. */
static uint32_t recent_from(const struct view_calls *s)
{
    uint32_t n = graph_steps(s->graph) < PRICED ? graph_steps(s->graph) : PRICED;

    return graph_step_get(s->graph, n - 1).number;
}

static void report(struct view *v, struct diagnosis_other *o, struct price_change *change, bool *stood)
{
    struct view_calls *s = v->calls;
    double saved_s, of_s, least;

    if (o->standing) {
        change->from = o->from;
        saved_s = o->saved_s = price_saved_s(s->graph, change, &o->of_s);
        of_s = o->of_s;
        if (recent_from(s) > o->from) {
            change->from = recent_from(s);
            saved_s = price_saved_s(s->graph, change, &of_s);
        }
        o->slowdown = ratio(of_s, saved_s);
        least = fmax(v->params.min_slowdown, o->least);
        o->standing = o->slowdown >= (*stood ? 1 + (least - 1) / 2 : least);
    }
    *stood = o->standing;
    diagnosis_other(v->diagnosis, o);
}

/* Do slow transfers come from a node that is slow in its own work, because it has no CPU?  They do where they go through it and
 * became slow when it did.  Where all are slow, they look like it: slow now and then, by much, or by about as much as the work. */
static bool comes_from(const struct links_slow *l, const struct finding *f)
{
    if (l->nodes == 1 && l->node[0] == f->place)
        return llabs((int64_t)l->from - f->onset_seq) <= TOGETHER;
    if (l->nodes == 2 && l->node[0] != f->place && l->node[1] != f->place)
        return false;
    return l->nodes != 1 && (l->spread > STARVED_SPREAD || l->excess < STARVED_EXCESS * f->excess);
}

static uint32_t starved_node(const struct view *v, const struct links_slow *l)
{
    const struct finding *f;
    size_t n = diagnosis_findings(v->diagnosis, &f);

    for (size_t i = 0; i < n; i++) {
        if (!f[i].standing || f[i].class != FINDING_STRAGGLER || f[i].scope != SCOPE_NODE)
            continue;
        if ((l->standing && comes_from(l, &f[i])) ||
            (!(l->standing && l->nodes == 0) &&
             links_of_node(v->calls->links, v->calls->graph, f[i].place) > STARVED_MIN))
            return f[i].place;
    }
    return WORK_PLACE_NONE;
}

static bool is_explained(const struct links_slow *l, uint32_t starved)
{
    return starved != WORK_PLACE_NONE &&
           (!l->nodes || l->node[0] == starved || (l->nodes == 2 && l->node[1] == starved));
}

static void judge_links(struct view *v)
{
    struct view_calls *s = v->calls;
    const struct links_slow *l = links_get(s->links);
    struct diagnosis_other o = { .class = FINDING_COMMUNICATION,
                                 .scope = l->nodes == 2 ? SCOPE_LINK
                                          : l->nodes    ? SCOPE_NODE
                                                        : SCOPE_NONE,
                                 .place = l->nodes ? l->node[0] : WORK_PLACE_NONE,
                                 .other = l->node[1],
                                 .standing = l->standing &&
                                             graph_step_get(s->graph, 0).number >= l->from + LINK_STEPS &&
                                             !is_explained(l, s->starved),
                                 .from = l->from,
                                 .excess = l->excess };
    struct price_change change = { .even = -1 };

    s->slower = xgrow(s->slower, &s->slower_cap, graph_kinds(s->graph), sizeof(*s->slower));
    for (uint32_t k = 0; k < graph_kinds(s->graph); k++)
        s->slower[k] =
            l->standing && links_has(l, graph_kind_get(s->graph, k)) ? (float)links_usual_s(s->links, k) : 0;
    change.transfer_s = s->slower;
    report(v, &o, &change, &v->calls->stood_links);
}

/* A role that has more to do than the others. */
static void judge_roles(struct view *v)
{
    struct view_calls *s = v->calls;
    double excess;
    uint32_t role = roles_heaviest(s->roles, &excess);
    struct diagnosis_other o = { .class = FINDING_IMBALANCE,
                                 .scope = SCOPE_RANKS,
                                 .place = role,
                                 .standing = role != GRAPH_NONE && roles_steps(s->roles) >= ROLES_STEPS &&
                                             excess > ROLES_EXCESS,
                                 .from = 0,
                                 .excess = excess,
                                 .rate = NAN };
    struct price_change change = { .work = s->without, .even = -1 };

    for (uint32_t r = 0; r < s->n; r++)
        s->without[r] = (struct price_work){ .excess = graph_role(s->graph, r) == role ? (float)excess : 0 };
    report(v, &o, &change, &v->calls->stood_roles);
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
                                   .even = (float)fmin(1, PIECES_ORDINARY / s->pieces.sigma) };

    report(v, &o, &change, &v->calls->stood_pieces);
}

static void judge_jitter(struct view *v)
{
    struct diagnosis_other o;
    struct price_change change = { .other = v->calls->without, .even = -1 };

    if (diagnosis_jitter(v->diagnosis, &o) &&
        o.early) { /* the machine's own noise, unless it costs much for long */
        o.least = ORDINARY_NOISE;
        o.standing = diagnosis_steps(v->diagnosis) >= ORDINARY_STEPS;
    }
    change.struck_s = (float)(STRUCK * diagnosis_work(v->diagnosis)->usual_s);
    report(v, &o, &change, &v->calls->stood_jitter);
}

static void judge_step(struct view *v, double now_s, const struct graph_step *step, uint32_t back)
{
    struct view_calls *s = v->calls;
    double from_s = s->any ? s->end_s : step->begin_s;
    const struct straggler *named;
    size_t n_named;

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
    view_steps_take_whole(v, now_s, s->rank[s->lookout].anchor.every, step->end_s - from_s, s->own_s, s->n);
    links_step(s->links, s->graph, back);
    pieces_step(&s->pieces, step);
    if (!roles_take(s->roles, s->graph, s->own_s, s->n))
        return;
    diagnosis_step(v->diagnosis,
                   &(struct diagnosis_step){ .seq = step->number,
                                             .period = 1,
                                             .own_s = s->own_s,
                                             .n = s->n,
                                             .duration_s = step->end_s - from_s,
                                             .transfer_s = NAN,
                                             .ended_s = now_s,
                                             .began_s = v->began_s },
                   v->params.min_slowdown);
    s->starved = starved_node(v, links_get(s->links));
    judge_links(v);
    judge_roles(v);
    /* Ranks that are slower for longer: their pieces are neither strikes nor uneven. */
    n_named = diagnosis_stragglers(v->diagnosis, &named);
    excess_of(v, named, n_named);
    judge_pieces(v);
    judge_jitter(v);
}

static void judge_new(struct view *v, double now_s)
{
    struct view_calls *s = v->calls;
    uint32_t back = 0;

    while (back < graph_steps(s->graph) && (!s->any || graph_step_get(s->graph, back).number > s->delivered))
        back++;
    while (back-- > 0) {
        struct graph_step step = graph_step_get(s->graph, back);

        s->delivered = step.number;
        judge_step(v, now_s, &step, back);
    }
}

bool view_calls_active(const struct view *v)
{
    return v->calls && v->calls->active;
}

/* From the first message, nonblocking call or second communicator on; what was judged before, as meetings of all ranks, is over. */
static bool is_active(struct view *v, const struct graph_call *c)
{
    struct view_calls *s = v->calls;

    if (s->active)
        return true;
    if (c->kind == GRAPH_COLLECTIVE && !c->begin_ns && (!s->comm || c->comm == s->comm)) {
        s->comm = c->comm;
        return false;
    }
    s->active = true;
    view_steps_forget(v);
    diagnosis_restart(v->diagnosis);
    diagnosis_price(v->diagnosis, price_stragglers, v);
    return true;
}

void view_call(struct view *v, double now_s, const struct graph_call *c)
{
    struct view_calls *s = v->calls;
    struct caller *k;

    if (!s || c->rank >= s->n || !s->rank[c->rank].known)
        return;
    if (isnan(v->began_s))
        v->began_s = now_s;
    if (!is_active(v, c))
        return;
    k = &s->rank[c->rank];
    graph_call(s->graph, c);
    look_for_steps(v, k, c);
    if (s->anchored && !s->phased && c->rank == s->lookout) {
        look_for_phase(s, k, c);
    } else if (s->anchored && s->phased && is_anchor(k, c) &&
               c->seq % k->anchor.every == s->phase % k->anchor.every) {
        graph_step_end(s->graph, c->rank, (c->seq + k->anchor.every - 1 - s->phase) / k->anchor.every);
        judge_new(v, now_s);
    }
    k->left[k->calls++ % BEGUN_MAX] = c->leave_ns;
    k->left_ns = c->leave_ns > k->left_ns ? c->leave_ns : k->left_ns;
}

uint32_t view_calls_role(const struct view *v, uint32_t rank)
{
    return v->calls ? graph_role(v->calls->graph, rank) : GRAPH_NONE;
}

void view_call_lost(struct view *v, uint32_t rank)
{
    if (v->calls)
        graph_lost(v->calls->graph, rank);
}

void view_calls_finish(struct view *v, double now_s)
{
    graph_finish(v->calls->graph);
    judge_new(v, now_s);
}
