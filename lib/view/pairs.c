#include "view/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define BUCKETS    32u /* of a second each */
#define BEFORE_MIN 3u  /* with traffic */
#define SINCE_MIN  2u
#define PAIRS_MAX  8u /* of a node */
#define ADDRESSES  8u
#define NODES_MAX  65536u
#define TIME_MAX_S 1e15
#define NOISE_MIN  0.1 /* of the time for a byte from one second to the next, over its mean */
/* of the time for a byte of all traffic: error of a pair's, at the least */
#define FLOOR    0.2
#define Z_MIN    4.0
#define GREW_MIN 0.15 /* of the time for a byte */
#define REST     0.5  /* of what the place has grown by: the rest is slow, too */

struct bucket {
    float bytes, busy_s;
};

struct pair { /* from a node to an address */
    uint32_t from;
    uint64_t to;
    uint64_t newest; /* number of the newest bucket; all are of this time or before */
    struct bucket bucket[BUCKETS];
};

struct node {
    uint8_t pairs, addresses;
};

struct pairs {
    struct pair *pair;
    size_t n, cap;
    struct map at;      /* in pair, by from and to */
    struct map located; /* number of the node, by its address */
    struct node *node;
    size_t n_nodes, nodes_cap;
};

struct pairs *pairs_new(void)
{
    return xcalloc(1, sizeof(struct pairs));
}

void pairs_reset(struct pairs *t)
{
    free(t->pair);
    free(t->node);
    map_free(&t->at);
    map_free(&t->located);
    *t = (struct pairs){ 0 };
}

void pairs_free(struct pairs *t)
{
    if (!t)
        return;
    pairs_reset(t);
    free(t);
}

size_t pairs_bytes(const struct pairs *t)
{
    return t->cap * sizeof(*t->pair) + t->nodes_cap * sizeof(*t->node) +
           (t->at.size + t->located.size) * (sizeof(uint64_t) + sizeof(uint32_t));
}

/* ---- what comes ---- */

static uint64_t address_key(const uint64_t address[2])
{
    return hash_mix(address[0]) ^ address[1];
}

static uint64_t pair_key(uint32_t from, uint64_t to)
{
    return hash_mix(to) + from;
}

static struct pair *pair_add(struct pairs *t, uint32_t from, uint64_t to)
{
    uint32_t at = map_get(&t->at, pair_key(from, to));

    if (at != MAP_NONE)
        return &t->pair[at];
    if (t->node[from].pairs == PAIRS_MAX)
        return NULL;
    t->node[from].pairs++;
    t->pair = xgrow(t->pair, &t->cap, t->n + 1, sizeof(*t->pair));
    map_put(&t->at, pair_key(from, to), (uint32_t)t->n);
    t->pair[t->n] = (struct pair){ .from = from, .to = to };
    return &t->pair[t->n++];
}

static uint64_t bucket_number(double s)
{
    return (uint64_t)fmax(0, fmin(s, TIME_MAX_S)) + BUCKETS; /* fmin() and fmax() ignore NaN */
}

void pairs_take(struct pairs *t, double now_s, uint32_t node, const struct traffic_item *item)
{
    uint64_t local = address_key(item->local), newest = bucket_number(now_s);
    struct pair *p;

    if (node >= NODES_MAX)
        return;
    if (node >= t->n_nodes) {
        t->node = xgrow(t->node, &t->nodes_cap, node + 1, sizeof(*t->node));
        t->n_nodes = node + 1;
    }
    if (map_get(&t->located, local) == MAP_NONE && t->node[node].addresses < ADDRESSES) {
        t->node[node].addresses++;
        map_put(&t->located, local, node);
    }
    p = pair_add(t, node, address_key(item->remote));
    if (!p)
        return;
    if (newest >= p->newest + BUCKETS)
        memset(p->bucket, 0, sizeof(p->bucket));
    else
        for (uint64_t i = p->newest + 1; i <= newest; i++)
            p->bucket[i % BUCKETS] = (struct bucket){ 0 };
    p->newest = newest > p->newest ? newest : p->newest;
    p->bucket[p->newest % BUCKETS].bytes += (float)item->bytes;
    p->bucket[p->newest % BUCKETS].busy_s += (float)(1e-9 * (double)item->busy_ns);
}

/* ---- where it grew ---- */

struct span {
    double bytes, busy_s;
    uint32_t n;
};

static struct span sum_buckets(const struct pair *p, uint64_t first, uint64_t end)
{
    struct span s = { 0 };

    first = first + BUCKETS > p->newest ? first : p->newest + 1 - BUCKETS;
    for (uint64_t i = first; i < end && i <= p->newest; i++) {
        const struct bucket *b = &p->bucket[i % BUCKETS];

        s.bytes += b->bytes;
        s.busy_s += b->busy_s;
        s.n += b->bytes > 0;
    }
    return s;
}

/* Standard deviation of the time for a byte from bucket to bucket, over its pair's mean: of all pairs of
 * nodes together, as one has few buckets; robust, as one may have waited for a lost packet. */
static double noise_of(const struct pairs *t, uint64_t end)
{
    float *off = xcalloc(t->n * BUCKETS + 1, sizeof(*off));
    size_t n = 0;
    double noise;

    for (size_t at = 0; at < t->n; at++) {
        const struct pair *p = &t->pair[at];
        struct span all = sum_buckets(p, 0, end);

        if (map_get(&t->located, p->to) == MAP_NONE || all.n < BEFORE_MIN || !(all.busy_s > 0))
            continue;
        for (uint64_t i = p->newest + 1 - BUCKETS; i < end && i <= p->newest; i++) {
            const struct bucket *b = &p->bucket[i % BUCKETS];

            if (b->bytes > 0)
                off[n++] = (float)fabs(b->busy_s / b->bytes * all.bytes / all.busy_s - 1);
        }
    }
    noise = n ? STATISTICS_MAD_TO_SD * statistics_medianf(off, n) : 0;
    free(off);
    return fmax(NOISE_MIN, noise);
}

struct growth { /* of a pair of nodes */
    uint32_t node[2];
    double before, since; /* seconds a byte */
    double weight;        /* 1 over the variance of their difference */
};

/* How uncertain a pair's mean time for a byte is. */
struct error {
    double noise;   /* of one bucket, over the mean */
    double floor_s; /* at the least: a pair that sends fast is disturbed as much as one that sends slowly */
};

/* How the pair's time for a byte has grown since that bucket, which is left out itself; weight 0: not known.
 */
static struct growth growth_of(const struct pairs *t, const struct pair *p, uint64_t onset, uint64_t now,
                               const struct error *e)
{
    struct span before = sum_buckets(p, 0, onset), since = sum_buckets(p, onset + 1, now);
    uint32_t to = map_get(&t->located, p->to);
    struct growth g = { .node = { p->from, to } };
    double noise, variance;

    if (to == MAP_NONE || to == p->from || before.n < BEFORE_MIN || since.n < SINCE_MIN ||
        !(before.busy_s > 0))
        return g;
    g.before = before.busy_s / before.bytes;
    g.since = since.busy_s / since.bytes;
    noise = e->noise * fmax(g.since, g.before);
    variance = noise * noise * (1. / before.n + 1. / since.n) + e->floor_s * e->floor_s;
    g.weight = 1 / variance;
    return g;
}

struct fit { /* sums, all but the first with their weights */
    double weight, before, since;
};

static void fit_add(struct fit *f, const struct growth *g)
{
    f->weight += g->weight;
    f->before += g->weight * g->before;
    f->since += g->weight * g->since;
}

static double grew(const struct fit *f)
{
    return f->since - f->before;
}

static double explained(const struct fit *f)
{
    return f->weight > 0 && grew(f) > 0 ? grew(f) * grew(f) / f->weight : 0;
}

struct places { /* that some pair goes through */
    struct fit *node;
    struct link {
        uint32_t node[2];
        struct fit fit;
    } * link;
    size_t links;
    struct map at; /* in link, by its nodes */
    struct fit all;
};

static void places_add(struct places *s, const struct growth *g)
{
    uint32_t a = g->node[0] < g->node[1] ? g->node[0] : g->node[1], b = g->node[0] + g->node[1] - a;
    uint32_t at = map_get(&s->at, (uint64_t)a << 32 | b);

    if (at == MAP_NONE) {
        at = (uint32_t)s->links++;
        map_put(&s->at, (uint64_t)a << 32 | b, at);
        s->link[at] = (struct link){ .node = { a, b } };
    }
    fit_add(&s->link[at].fit, g);
    fit_add(&s->node[a], g);
    fit_add(&s->node[b], g);
    fit_add(&s->all, g);
}

/* The place that explains most; of a link and an adapter that explain the same, the link. */
static struct fit best_of(const struct pairs *t, const struct places *s, struct pairs_place *place)
{
    struct fit best = { 0 };

    for (size_t i = 0; i < s->links; i++)
        if (explained(&s->link[i].fit) > explained(&best)) {
            best = s->link[i].fit;
            *place = (struct pairs_place){ .nodes = 2, .node = { s->link[i].node[0], s->link[i].node[1] } };
        }
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (explained(&s->node[i]) > 1.0001 * explained(&best)) {
            best = s->node[i];
            *place = (struct pairs_place){ .nodes = 1, .node = { i } };
        }
    return best;
}

/* The time for a byte of all traffic before the onset. */
static double usual_s(const struct pairs *t, uint64_t onset)
{
    double bytes = 0, busy_s = 0;

    for (size_t i = 0; i < t->n; i++) {
        struct span before = sum_buckets(&t->pair[i], 0, onset);

        bytes += before.bytes;
        busy_s += before.busy_s;
    }
    return bytes > 0 ? busy_s / bytes : 0;
}

static bool is_there(const struct fit *best, const struct fit *all, struct pairs_place *place)
{
    struct fit others = { all->weight - best->weight, all->before - best->before, all->since - best->since };

    if (!(best->weight > 0) || grew(best) < GREW_MIN * best->before ||
        grew(best) / sqrt(best->weight) < Z_MIN)
        return false;
    place->times = best->since / best->before;
    place->others = NAN;
    if (!(others.weight > 1e-9 * best->weight)) /* no other pair */
        return true;
    place->others = others.since / others.before;
    return grew(&others) / others.weight < REST * grew(best) / best->weight;
}

bool pairs_find(const struct pairs *t, double now_s, double since_s, struct pairs_place *out)
{
    uint64_t now = bucket_number(now_s), onset = bucket_number(since_s);
    struct places s = { .node = xcalloc(t->n_nodes + 1, sizeof(*s.node)),
                        .link = xcalloc(t->n + 1, sizeof(*s.link)) };
    struct error e = { noise_of(t, onset), FLOOR * usual_s(t, onset) };
    struct fit best;

    for (size_t i = 0; i < t->n; i++) {
        struct growth g = growth_of(t, &t->pair[i], onset, now, &e);

        if (g.weight > 0)
            places_add(&s, &g);
    }
    best = best_of(t, &s, out);
    free(s.node);
    free(s.link);
    map_free(&s.at);
    return is_there(&best, &s.all, out);
}
