#include "calls/mixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/statistics.h"

/* Messages of a kind whose median shows what they take; chosen: the error of a median of 16 is a third of
 * what they vary by. */
#define FIRST 16u
/* Messages that show whether a kind is slow. Chosen: where one in USUAL_SLOW is slow by chance, a quarter of
 * 64 is slow once in 10^10 kinds. */
#define SEEN       64u
#define USUAL_SLOW 32u
#define SLOW_SHARE 0.25
/* Slow messages that no other kind that does the same has, and with fewer of which a link has healed. Chosen:
 * halfway between that share and none. */
#define OTHERS_SHARE (SLOW_SHARE / 2)
/* Times what others take: slow; a fast one is within the other of them.  BASELINE_TIMES of view/baseline.h:
 * peers on real networks differ by less than a factor of two. */
#define SLOW_TIMES 3.0
#define FAST_TIMES 2.0
/* Times what others take: no distance in a cluster makes the median of a kind so long, as BASELINE_ADAPTER.
 * Then half of it is fast, or what is so much shorter that the first ones, as far as they vary, do not come
 * near: who waits for a slow message finds the fast one behind it there, of which only an upper bound is
 * known, the longer the more he has to do. */
#define FAR_TIMES 8.0
/* Standard deviations (log) below the median: not near. Where receivers find those there that are quicker
 * than their own work, and wait for the others, the spread of the latter is a part of all messages'.  Chosen:
 * for OTHERS_SHARE of normal ones to be found there the work must be within 1.2 of the median, and 3 are
 * enough where the spread is taken for half of what it is. */
#define NEAR_Z         4.0
#define NEAR_SIGMA_MIN 0.02 /* as LOG_SIGMA_MIN of links.c */
/* other pairs of nodes that do the same, at the least: their median is not that of the slow one */
#define PAIRS_MIN 3u
/* Of the messages of a kind that are all slow.  The rest of it has no share that would be a second speed. */
#define ALL_SHARE (1 - SLOW_SHARE)
#define ENDS_MIN  2u /* nodes at the other end: with one, it may be as well to blame */
#define LOOK      8u /* steps between two looks; chosen: a look sorts all kinds */

struct kind_seen {
    union {
        float first[FIRST]; /* until it is known what is usual */
        struct {
            double slow_sum_s,
                fast_sum_s; /* of those that are slow; of `timed` that are as fast as others' */
            uint32_t timed;
        };
    };
    float usual_s;                  /* of those that do the same; 0: not known */
    float fast_s;                   /* below it a message is fast */
    uint64_t does;                  /* between which roles, and of what size */
    uint8_t n_first, n, slow, fast; /* at most SEEN */
    bool is_slow, has_fast;         /* beside others; some of it is fast */
};

struct mixed {
    struct kind_seen *kind;
    size_t cap;
    uint32_t kinds, steps;
    struct mixed_link link;
};

struct mixed *mixed_new(void)
{
    return xcalloc(1, sizeof(struct mixed));
}

void mixed_reset(struct mixed *m)
{
    free(m->kind);
    memset(m, 0, sizeof(*m));
}

void mixed_free(struct mixed *m)
{
    if (!m)
        return;
    mixed_reset(m);
    free(m);
}

const struct mixed_link *mixed_get(const struct mixed *m)
{
    return &m->link;
}

/* ---- what messages take ---- */

static void take_message(struct kind_seen *k, const struct graph_meeting *t)
{
    bool known = t->transfer_s > 0;
    double most_s = known ? t->transfer_s : t->max_s;

    if (k->n_first < FIRST) {
        if (known)
            k->first[k->n_first++] = t->transfer_s;
        return;
    }
    if (!(k->usual_s > 0) || k->n == SEEN)
        return;
    if (known && most_s < FAST_TIMES * (double)k->usual_s) {
        k->timed++;
        k->fast_sum_s += most_s;
    }
    if (most_s < (double)k->fast_s)
        k->fast++;
    else if (!known)
        return; /* nobody waited for it: slow or not */
    else if (most_s > SLOW_TIMES * (double)k->usual_s) {
        k->slow++;
        k->slow_sum_s += most_s;
    }
    k->n++;
}

static void take_step(struct mixed *m, const struct graph *g, uint32_t back)
{
    struct graph_step s = graph_step_get(g, back);

    for (size_t i = 0; i < s.n; i++) {
        const struct graph_meeting *t = s.op[i].first ? graph_meeting_get(g, s.op[i].meeting) : NULL;

        if (t && graph_kind_get(g, t->kind)->message && graph_kind_get(g, t->kind)->nodes == 2)
            take_message(&m->kind[t->kind], t);
    }
}

/* ---- what others take that do the same ---- */

static bool is_between(const struct graph_kind_info *k, const uint32_t node[2])
{
    return k->message && k->nodes == 2 && k->node[0] == node[0] && k->node[1] == node[1];
}

static bool is_at(const struct graph_kind_info *k, uint32_t node)
{
    return k->message && k->nodes == 2 && (k->node[0] == node || k->node[1] == node);
}

/* Of a link, or of a node, whose second one is GRAPH_NONE. */
static bool is_through(const struct graph_kind_info *k, const uint32_t place[2])
{
    return place[1] == GRAPH_NONE ? is_at(k, place[0]) : is_between(k, place);
}

struct doing { /* a kind in the order of what it does */
    uint64_t does;
    uint32_t kind;
};

static int by_doing(const void *a, const void *b)
{
    const struct doing *x = a, *y = b;

    if (x->does != y->does)
        return x->does < y->does ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Kinds whose first messages were seen, those that do the same together; returns how many. The caller frees.
 */
static size_t order_kinds(struct mixed *m, const struct graph *g, struct doing **list)
{
    size_t n = 0;

    *list = xcalloc(m->kinds + 1, sizeof(**list));
    for (uint32_t i = 0; i < m->kinds; i++) {
        const struct graph_kind_info *k = graph_kind_get(g, i);

        m->kind[i].does =
            (uint64_t)graph_role(g, k->from) << 36 | (uint64_t)graph_role(g, k->to) << 8 | k->size;
        if (m->kind[i].n_first == FIRST)
            (*list)[n++] = (struct doing){ m->kind[i].does, i };
    }
    qsort(*list, n, sizeof(**list), by_doing);
    return n;
}

/* Distinct pairs of nodes, up to PAIRS_MIN + 1, beside a link or a node (NULL: none is left out), of kinds of
 * which so much was seen. */
static uint32_t pairs_beside(const struct mixed *m, const struct graph *g, const struct doing *list, size_t n,
                             const uint32_t *beside, uint32_t seen)
{
    uint32_t pair[PAIRS_MIN + 1][2], pairs = 0;

    for (size_t i = 0; i < n && pairs <= PAIRS_MIN; i++) {
        const struct graph_kind_info *k = graph_kind_get(g, list[i].kind);
        bool is_new = m->kind[list[i].kind].n >= seen && !(beside && is_through(k, beside));

        for (uint32_t p = 0; p < pairs; p++)
            is_new = is_new && !is_between(k, pair[p]);
        if (is_new)
            memcpy(pair[pairs++], k->node, sizeof(pair[0]));
    }
    return pairs;
}

/* Of a kind that takes so long, what is fast: v[FIRST] is what the first ones took. */
static double fast_of_far(float v[FIRST], double own_s)
{
    double sigma;

    for (uint32_t i = 0; i < FIRST; i++)
        v[i] = (float)fabs(log((double)v[i] / own_s));
    sigma = fmax(NEAR_SIGMA_MIN, STATISTICS_MAD_TO_SD * statistics_medianf(v, FIRST));
    return own_s * fmax(0.5, exp(-NEAR_Z * sigma));
}

static void learn_usual(struct mixed *m, const struct graph *g, const struct doing *list, size_t n)
{
    float *median = xcalloc(n + 1, sizeof(*median)), usual_s = 0, v[FIRST];

    for (size_t i = 0; i < n; i++)
        usual_s = fmaxf(usual_s, m->kind[list[i].kind].usual_s);
    if (!(usual_s > 0) && pairs_beside(m, g, list, n, NULL, 0) > PAIRS_MIN) {
        for (size_t i = 0; i < n; i++) {
            memcpy(v, m->kind[list[i].kind].first, sizeof(v));
            median[i] = (float)statistics_medianf(v, FIRST);
        }
        usual_s = (float)statistics_medianf(median, n);
    }
    for (size_t i = 0; i < n && usual_s > 0; i++) {
        struct kind_seen *k = &m->kind[list[i].kind];
        double own_s;

        if (k->usual_s > 0)
            continue;
        memcpy(v, k->first, sizeof(v));
        own_s = statistics_medianf(v, FIRST);
        k->slow_sum_s = k->fast_sum_s = k->timed = 0;
        k->usual_s = usual_s;
        k->fast_s = (float)(own_s > FAR_TIMES * (double)usual_s ? fast_of_far(v, own_s)
                                                                : FAST_TIMES * (double)usual_s);
    }
    free(median);
}

/* Is a part of the messages of that kind slow, or all, and are those of the other pairs of nodes that do the
 * same not? */
static bool is_apart(const struct mixed *m, const struct graph *g, const struct doing *list, size_t n,
                     uint32_t kind)
{
    const struct kind_seen *k = &m->kind[kind];
    const uint32_t node[2] = { graph_kind_get(g, kind)->node[0], graph_kind_get(g, kind)->node[1] };
    uint32_t slow = 0, seen = 0;

    if (k->n < SEEN || k->slow < SLOW_SHARE * k->n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct kind_seen *o = &m->kind[list[i].kind];

        if (is_between(graph_kind_get(g, list[i].kind), node))
            continue;
        if (o->n >= FIRST && o->slow >= OTHERS_SHARE * o->n)
            return false;
        slow += o->slow;
        seen += o->n;
    }
    return slow * USUAL_SLOW <= seen && pairs_beside(m, g, list, n, node, SEEN) >= PAIRS_MIN;
}

static bool is_far(const struct kind_seen *k)
{
    return (double)k->fast_s > 1.01 * FAST_TIMES * (double)k->usual_s;
}

/* Of one that takes longer than any distance explains, a few fast messages show that the others are slow:
 * those of which only a bound is known that says nothing may be fast, too. */
static void find_slow(struct mixed *m, const struct graph *g, const struct doing *list, size_t n,
                      uint32_t kind)
{
    struct kind_seen *k = &m->kind[kind];

    k->is_slow = is_apart(m, g, list, n, kind);
    k->has_fast = k->is_slow && k->fast >= (is_far(k) ? OTHERS_SHARE : SLOW_SHARE) * k->n;
}

/* ---- the link ---- */

/* What its messages should take. */
static double fast_mean_s(const struct kind_seen *k)
{
    return k->timed ? k->fast_sum_s / k->timed : (double)k->usual_s;
}

/* The pair of nodes that all slow kinds are between, and none that is not slow.  Of some only the slow
 * messages are known: the fast ones behind them were there before they were waited for. */
static void find_link(struct mixed *m, const struct graph *g)
{
    uint32_t node[2] = { 0, 0 }, n = 0, slow = 0;
    double times = 0;
    bool any = false;

    for (uint32_t i = 0; i < m->kinds; i++)
        if (m->kind[i].has_fast && !any) {
            memcpy(node, graph_kind_get(g, i)->node, sizeof(node));
            any = true;
        }
    for (uint32_t i = 0; i < m->kinds; i++) {
        const struct kind_seen *k = &m->kind[i];

        if (k->is_slow != (any && k->n_first == FIRST && is_between(graph_kind_get(g, i), node)))
            return;
        if (!k->has_fast)
            continue;
        n += k->n;
        slow += k->slow;
        times += k->slow_sum_s / fast_mean_s(k);
    }
    if (any)
        m->link = (struct mixed_link){ true, { node[0], node[1] }, (double)slow / n, times / slow };
}

/* ---- the node ---- */

/* Are all messages from and to the node slow, as far as that was seen, and none of those that others exchange
 * that do the same? */
static bool is_slow_node(const struct mixed *m, const struct graph *g, const struct doing *list, size_t n,
                         uint32_t node)
{
    const uint32_t place[2] = { node, GRAPH_NONE };
    uint32_t end = GRAPH_NONE, ends = 0, slow = 0, seen = 0;

    for (size_t i = 0, first = 0, last = 0; i < n; i++) {
        const struct kind_seen *k = &m->kind[list[i].kind];
        const struct graph_kind_info *info = graph_kind_get(g, list[i].kind);
        uint32_t other = info->node[info->node[0] == node];

        if (i == last) /* those that do the same */
            for (first = i; last < n && list[last].does == list[i].does; last++)
                ;
        if (!is_at(info, node)) {
            if (k->n >= FIRST && k->slow >= OTHERS_SHARE * k->n)
                return false;
            slow += k->slow;
            seen += k->n;
            continue;
        }
        if (k->slow < ALL_SHARE * k->n)
            return false;
        if (k->n < SEEN || pairs_beside(m, g, list + first, last - first, place, SEEN) < PAIRS_MIN)
            continue;
        ends += other != end && ends < ENDS_MIN;
        end = ends == 1 ? other : end;
    }
    return ends >= ENDS_MIN && slow * USUAL_SLOW <= seen;
}

/* What passes through the node is slow, also what is seldom waited for, because other slow messages are: it
 * takes what those usually take that do the same. */
static void take_unseen(struct kind_seen *k, const struct kind_seen *like)
{
    k->n_first = FIRST;
    k->slow_sum_s = k->fast_sum_s = k->timed = 0;
    k->usual_s = like->usual_s;
    k->fast_s = (float)(FAST_TIMES * (double)like->usual_s);
    k->is_slow = true;
}

static void take_node(struct mixed *m, const struct graph *g, const struct doing *list, size_t n_list,
                      uint32_t node)
{
    double times = 0;
    uint32_t n = 0, slow = 0;

    for (uint32_t i = 0; i < m->kinds; i++) {
        struct kind_seen *k = &m->kind[i];

        k->is_slow = is_at(graph_kind_get(g, i), node) && k->usual_s > 0;
        if (!k->is_slow || k->n < SEEN)
            continue;
        n += k->n;
        slow += k->slow;
        times += k->slow_sum_s / (double)k->usual_s;
    }
    for (uint32_t i = 0; i < m->kinds; i++)
        for (size_t like = 0; like < n_list && is_at(graph_kind_get(g, i), node) && !m->kind[i].is_slow;
             like++)
            if (list[like].does == m->kind[i].does && m->kind[list[like].kind].is_slow)
                take_unseen(&m->kind[i], &m->kind[list[like].kind]);
    m->link = (struct mixed_link){ true, { node, GRAPH_NONE }, (double)slow / n, times / slow };
}

/* At one of the ends of any kind that is slow. */
static void find_node(struct mixed *m, const struct graph *g, const struct doing *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct kind_seen *k = &m->kind[list[i].kind];

        if (k->n < SEEN || k->slow < ALL_SHARE * k->n)
            continue;
        for (uint32_t end = 0; end < 2 && !m->link.standing; end++) {
            uint32_t node = graph_kind_get(g, list[i].kind)->node[end];

            if (is_slow_node(m, g, list, n, node))
                take_node(m, g, list, n, node);
        }
        return;
    }
}

static void look(struct mixed *m, const struct graph *g)
{
    struct doing *list;
    size_t n = order_kinds(m, g, &list);

    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && list[end].does == list[i].does; end++)
            ;
        learn_usual(m, g, list + i, end - i);
        for (size_t k = i; k < end; k++)
            find_slow(m, g, list + i, end - i, list[k].kind);
    }
    find_link(m, g);
    if (!m->link.standing)
        find_node(m, g, list, n);
    free(list);
}

/* While the place stands: is each of its kinds, when as many messages were seen again, still slow? */
static void follow_place(struct mixed *m)
{
    for (uint32_t i = 0; i < m->kinds; i++) {
        struct kind_seen *k = &m->kind[i];

        if (!k->is_slow || k->n < SEEN)
            continue;
        if (k->slow < OTHERS_SHARE * k->n)
            m->link.standing = false;
        k->n = k->slow = k->fast = 0;
        k->slow_sum_s = 0;
    }
}

void mixed_step(struct mixed *m, const struct graph *g, uint32_t back)
{
    if (m->steps > MIXED_STEPS && !m->link.standing) {
        free(m->kind);
        m->kind = NULL;
        m->kinds = m->cap = 0;
        return;
    }
    m->kind = xgrow(m->kind, &m->cap, graph_kinds(g), sizeof(*m->kind));
    m->kinds = graph_kinds(g);
    take_step(m, g, back);
    if (m->link.standing)
        follow_place(m);
    else if (++m->steps % LOOK == 0 && graph_roles(g)) /* else it is not known who does the same */
        look(m, g);
}

void mixed_instead(const struct mixed *m, struct price_slow *slow, uint32_t kinds)
{
    double above = m->link.node[1] == GRAPH_NONE ? FAST_TIMES : SLOW_TIMES;

    for (uint32_t i = 0; i < kinds; i++) {
        const struct kind_seen *k = i < m->kinds ? &m->kind[i] : NULL;

        slow[i] = k && k->is_slow
                      ? (struct price_slow){ (float)(above * (double)k->usual_s), (float)fast_mean_s(k) }
                      : (struct price_slow){ 0, 0 };
    }
}
