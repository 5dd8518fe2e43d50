#include "graph/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define KEPT          64u /* newest differences of a pair */
#define NEWEST_BLOCKS 3u
#define SLOPE_N       12u    /* of them, before a drift is believed whatever it explains ... */
#define LINE_N        4u     /* ... or these, if they lie much nearer to a line ... */
#define NEARER        0.3    /* ... than to one value */
#define BLOCKS        8u     /* of the bounds that messages set: the tightest one of each is kept */
#define BLOCK         32u    /* steps in a block that have a bound */
#define DRIFT_MAX     150e-6 /* quartz is good to 50 */
#define CHAIN_MAX     16u    /* pairs on the way between two nodes */
/* steps for which messages come before collectives that contradicted them */
#define TRUST 64u

struct pair {      /* by the ends of collectives */
    uint32_t a, b; /* a < b */
    uint32_t n;    /* taken */
    struct {
        double at_s, ahead_s; /* a's time since its first; b's, since its first, minus a's */
    } d[KEPT];
    double ahead_s, drift; /* the line */
    double middle_s;
    double error_s; /* of its newest end: standard deviation */
};

/* By how much b's clock is ahead of a's at the most, or at the least, at these times of a's. */
struct offset_bounds {
    uint32_t n; /* taken */
    struct {
        double at_s, ahead_s;
    } d[BLOCKS];
};

struct clock_exchange { /* by messages */
    uint32_t a, b;      /* a < b */
    struct offset_bounds upper, lower;
    bool known;
    double upper_s, lower_s, drift; /* the lines that are left, at a's first moment */
};

struct node {
    uint64_t first_ns;
    bool seen, aligned;
    uint32_t root;          /* of those that are aligned to each other */
    uint32_t over, depth;   /* the node that it is aligned by; how many there are up to the root */
    double offset_s, rate;  /* common = offset + rate * (ns - first) */
    double step_s, error_s; /* standard deviation to that node, to the root */
};

struct graph_clock {
    struct pair *pair;
    size_t n_pairs, pairs_cap;
    struct clock_exchange *exchange;
    size_t n_exchanges, exchanges_cap;
    struct map pairs, exchanges;
    uint32_t trust; /* steps for which messages come first */
    struct node *node;
    size_t nodes_cap;
};

struct graph_clock *graph_clock_new(void)
{
    return xcalloc(1, sizeof(struct graph_clock));
}

void graph_clock_free(struct graph_clock *c)
{
    if (!c)
        return;
    free(c->pair);
    free(c->exchange);
    map_free(&c->pairs);
    map_free(&c->exchanges);
    free(c->node);
    free(c);
}

static double since_first_s(struct graph_clock *c, uint32_t node, uint64_t ns)
{
    struct node *k;

    c->node = xgrow(c->node, &c->nodes_cap, node + 1, sizeof(*c->node));
    k = &c->node[node];
    if (!k->seen)
        *k = (struct node){ .first_ns = ns, .seen = true, .rate = 1 };
    return (double)(int64_t)(ns - k->first_ns) * 1e-9;
}

void graph_clock_see(struct graph_clock *c, uint32_t node, uint64_t ns)
{
    since_first_s(c, node, ns);
}

static struct pair *pair_get(struct graph_clock *c, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t at = map_get(&c->pairs, key);

    if (at != MAP_NONE)
        return &c->pair[at];
    map_put(&c->pairs, key, (uint32_t)c->n_pairs);
    c->pair = xgrow(c->pair, &c->pairs_cap, c->n_pairs + 1, sizeof(*c->pair));
    c->pair[c->n_pairs] = (struct pair){ .a = a, .b = b };
    return &c->pair[c->n_pairs++];
}

static struct clock_exchange *exchange_get(struct graph_clock *c, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t at = map_get(&c->exchanges, key);

    if (at != MAP_NONE)
        return &c->exchange[at];
    map_put(&c->exchanges, key, (uint32_t)c->n_exchanges);
    c->exchange = xgrow(c->exchange, &c->exchanges_cap, c->n_exchanges + 1, sizeof(*c->exchange));
    c->exchange[c->n_exchanges] = (struct clock_exchange){ .a = a, .b = b };
    return &c->exchange[c->n_exchanges++];
}

void graph_clock_meet(struct graph_clock *c, uint32_t a, uint64_t a_ns, uint32_t b, uint64_t b_ns)
{
    bool turned = a > b;
    uint32_t first = turned ? b : a, second = turned ? a : b;
    double first_s = since_first_s(c, first, turned ? b_ns : a_ns);
    double second_s = since_first_s(c, second, turned ? a_ns : b_ns);
    struct pair *p = pair_get(c, first, second);

    p->d[p->n % KEPT].at_s = first_s;
    p->d[p->n++ % KEPT].ahead_s = second_s - first_s;
}

double graph_clock_apart_s(struct graph_clock *c, uint32_t node, uint64_t ns, uint32_t other,
                           uint64_t other_ns)
{
    return since_first_s(c, node, ns) - since_first_s(c, other, other_ns);
}

/* sign: 1 keeps the least of a block, -1 the most. */
static void keep_bound(struct offset_bounds *k, double at_s, double ahead_s, int sign)
{
    uint32_t at = k->n / BLOCK % BLOCKS;

    if (k->n++ % BLOCK && sign * ahead_s >= sign * k->d[at].ahead_s)
        return;
    k->d[at].at_s = at_s;
    k->d[at].ahead_s = ahead_s;
}

void graph_clock_message(struct graph_clock *c, uint32_t from, uint64_t from_ns, uint32_t to, uint64_t to_ns)
{
    double sent_s = since_first_s(c, from, from_ns), received_s = since_first_s(c, to, to_ns);

    if (from < to)
        keep_bound(&exchange_get(c, from, to)->upper, sent_s, received_s - sent_s, 1);
    else
        keep_bound(&exchange_get(c, to, from)->lower, received_s, sent_s - received_s, -1);
}

bool graph_clock_comparable(const struct graph_clock *c, uint32_t a, uint32_t b)
{
    return a == b || c->node[a].root == c->node[b].root;
}

double graph_clock_error_s(const struct graph_clock *c, uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;
    double error_s = 0;

    if (!graph_clock_comparable(c, a, b))
        return INFINITY;
    /* What both are aligned by adds nothing.  It is not looked for far away: errors are then large in any
     * case. */
    for (uint32_t i = 0; i < CHAIN_MAX && x != y; i++) {
        uint32_t *up = c->node[x].depth >= c->node[y].depth ? &x : &y;

        error_s += c->node[*up].step_s;
        *up = c->node[*up].over;
    }
    return x == y ? error_s : error_s + c->node[x].error_s + c->node[y].error_s;
}

/* Of a pair's newest differences, the i-th. */
static uint32_t kept_at(const struct pair *p, uint32_t n, uint32_t i)
{
    return (p->n - n + i) % KEPT;
}

/* Median of the slopes over at least half of the span: shorter ones are mostly noise. */
static double slope_of(const struct pair *p, uint32_t n)
{
    double slope[KEPT];
    uint32_t m = 0;

    for (uint32_t i = 0; i < n - n / 2; i++) {
        uint32_t from = kept_at(p, n, i), to = kept_at(p, n, i + n / 2);
        double dt = p->d[to].at_s - p->d[from].at_s;

        if (dt > 0)
            slope[m++] = (p->d[to].ahead_s - p->d[from].ahead_s) / dt;
    }
    return m ? statistics_median(slope, m) : 0;
}

/* Lays the line of that slope through the newest `n`; returns the standard deviation about it, which single
 * late ends don't widen. */
static double lay_line(struct pair *p, uint32_t n, double drift)
{
    double residual[KEPT], copy[KEPT];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = kept_at(p, n, i);

        copy[i] = residual[i] = p->d[at].ahead_s - drift * (p->d[at].at_s - p->middle_s);
    }
    p->drift = drift;
    p->ahead_s = statistics_median(copy, n);
    for (uint32_t i = 0; i < n; i++)
        residual[i] = fabs(residual[i] - p->ahead_s);
    return n > 2 ? STATISTICS_MAD_TO_SD * statistics_median(residual, n) : INFINITY;
}

/* The line through what is kept of a pair. */
static void fit_pair(struct pair *p)
{
    uint32_t n = p->n < KEPT ? p->n : KEPT;
    double at[KEPT], level_s;

    for (uint32_t i = 0; i < n; i++)
        at[i] = p->d[i].at_s;
    p->middle_s = statistics_median(at, n);
    if (n >= LINE_N) {
        level_s = lay_line(p, n, 0);
        p->error_s = lay_line(p, n, slope_of(p, n));
        /* Ends that follow each other closely, as of buckets, lie on any line. */
        if (fabs(p->drift) <= DRIFT_MAX && (n >= SLOPE_N || p->error_s < NEARER * level_s)) {
            p->error_s *= 2 / sqrt(n); /* where the line ends */
            return;
        }
    }
    /* no drift yet: the newest ones are nearest to what holds now */
    p->error_s = lay_line(p, n < NEWEST_BLOCKS ? n : NEWEST_BLOCKS, 0);
}

/* The line half way between all bounds, with the drift that collectives show (NaN: none do) where such a line
 * is between all bounds, else in the middle of those that are.  False: no line is. */
static bool fit_between(struct clock_exchange *x, double drift)
{
    uint32_t n_upper = x->upper.n < BLOCK * BLOCKS ? (x->upper.n + BLOCK - 1) / BLOCK : BLOCKS;
    uint32_t n_lower = x->lower.n < BLOCK * BLOCKS ? (x->lower.n + BLOCK - 1) / BLOCK : BLOCKS;
    double slowest = -DRIFT_MAX, fastest = DRIFT_MAX;

    for (uint32_t i = 0; i < n_upper; i++)
        for (uint32_t j = 0; j < n_lower; j++) {
            double apart_s = x->upper.d[i].at_s - x->lower.d[j].at_s;
            double slope = (x->upper.d[i].ahead_s - x->lower.d[j].ahead_s) / apart_s;

            if (apart_s > 0)
                fastest = fmin(fastest, slope);
            else if (apart_s < 0)
                slowest = fmax(slowest, slope);
        }
    if (!n_upper || !n_lower || slowest > fastest)
        return false;
    x->drift = drift >= slowest && drift <= fastest ? drift : (slowest + fastest) / 2;
    x->upper_s = INFINITY;
    x->lower_s = -INFINITY;
    for (uint32_t i = 0; i < n_upper; i++)
        x->upper_s = fmin(x->upper_s, x->upper.d[i].ahead_s - x->drift * x->upper.d[i].at_s);
    for (uint32_t i = 0; i < n_lower; i++)
        x->lower_s = fmax(x->lower_s, x->lower.d[i].ahead_s - x->drift * x->lower.d[i].at_s);
    return true;
}

/* Nodes that collectives align: the error of that is no less than what lies outside of the bounds, and that
 * of messages at most half of what is between them. */
static bool contradicts(const struct graph_clock *c, const struct clock_exchange *x)
{
    const struct node *a = &c->node[x->a], *b = &c->node[x->b];
    double at_s = x->upper.d[(x->upper.n - 1) / BLOCK % BLOCKS].at_s;
    double ahead_s = (a->offset_s + a->rate * at_s - b->offset_s) / b->rate - at_s;
    double middle_s = (x->upper_s + x->lower_s) / 2 + x->drift * at_s;

    return fabs(ahead_s - middle_s) > x->upper_s - x->lower_s;
}

static void fit_exchanges(struct graph_clock *c)
{
    bool any = false;

    for (size_t i = 0; i < c->n_exchanges; i++) {
        struct clock_exchange *x = &c->exchange[i];
        bool both = c->node[x->a].root == c->node[x->b].root;

        x->known = fit_between(x, both ? c->node[x->a].rate / c->node[x->b].rate - 1 : NAN);
        if (!x->known && x->upper.n && x->lower.n) /* a clock was set */
            x->upper.n = x->lower.n = 0;
        any = any || (x->known && both && contradicts(c, x));
    }
    if (any)
        c->trust = TRUST;
    else if (c->trust)
        c->trust--;
}

/* b's clock shows ahead + drift a more than a's: b = a + that, so a = (b - ahead) / (1 + drift).  false: it
 * is not one of the two that is aligned so far. */
static bool align_over(struct graph_clock *c, uint32_t a, uint32_t b, double ahead_s, double drift,
                       double error_s, uint32_t root)
{
    bool to_b = c->node[a].aligned;
    struct node *from = &c->node[to_b ? a : b], *to = &c->node[to_b ? b : a];

    if (c->node[b].aligned == to_b)
        return false;
    if (to_b) { /* common = offset_a + rate_a * (b - ahead) / (1 + drift) */
        to->rate = from->rate / (1 + drift);
        to->offset_s = from->offset_s - to->rate * ahead_s;
    } else { /* common = offset_b + rate_b * (a (1 + drift) + ahead) */
        to->rate = from->rate * (1 + drift);
        to->offset_s = from->offset_s + from->rate * ahead_s;
    }
    to->aligned = true;
    to->root = root;
    to->over = to_b ? a : b;
    to->depth = from->depth + 1;
    to->step_s = error_s;
    to->error_s = from->error_s + error_s;
    return true;
}

/* Align to the root what collectives, or messages, reach from what is aligned, as long as more is reached. */
static bool spread_collectives(struct graph_clock *c, uint32_t root)
{
    bool any = false, more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < c->n_pairs; i++) {
            const struct pair *p = &c->pair[i];

            more |=
                align_over(c, p->a, p->b, p->ahead_s - p->drift * p->middle_s, p->drift, p->error_s, root);
        }
        any |= more;
    }
    return any;
}

static bool spread_messages(struct graph_clock *c, uint32_t root)
{
    bool any = false, more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < c->n_exchanges; i++) {
            const struct clock_exchange *x = &c->exchange[i];

            if (x->known) /* anywhere between the bounds */
                more |= align_over(c, x->a, x->b, (x->upper_s + x->lower_s) / 2, x->drift,
                                   (x->upper_s - x->lower_s) / sqrt(12), root);
        }
        any |= more;
    }
    return any;
}

static void spread_all(struct graph_clock *c, uint32_t nodes, bool messages)
{
    for (uint32_t i = 0; i < nodes; i++)
        c->node[i].aligned = false;
    for (uint32_t root = 0; root < nodes; root++) {
        if (c->node[root].aligned)
            continue;
        c->node[root].aligned = true;
        c->node[root].offset_s = 0;
        c->node[root].rate = 1;
        c->node[root].error_s = 0;
        c->node[root].depth = 0;
        c->node[root].root = root;
        if (messages && c->trust)
            spread_messages(c, root);
        do
            spread_collectives(c, root);
        while (messages && spread_messages(c, root));
    }
}

void graph_clock_align(struct graph_clock *c, uint32_t nodes)
{
    c->node = xgrow(c->node, &c->nodes_cap, nodes, sizeof(*c->node));
    for (size_t i = 0; i < c->n_pairs; i++)
        fit_pair(&c->pair[i]);
    spread_all(c, nodes, false);
    if (!c->n_exchanges)
        return;
    fit_exchanges(c);
    spread_all(c, nodes, true);
}

double graph_clock_s(const struct graph_clock *c, uint32_t node, uint64_t ns)
{
    const struct node *k = &c->node[node];

    return k->offset_s + k->rate * (double)(int64_t)(ns - k->first_ns) * 1e-9;
}
