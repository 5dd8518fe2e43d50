#include "topology/survey.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/divisor.h"
#include "model/statistics.h"

#define NODES_MIN    SURVEY_NODES_MIN
#define PARTNERS_MIN 4u  /* of a node */
#define MATES_MIN    2u  /* of a node, below a switch */
#define NODE_DELAY   0.5 /* a node's round trips are this share above usual */
#define NODE_RATE    0.7 /* a node's rate is below this share of the usual one */
/* the same of a pair: it is the best of a few, not the median of many */
#define PAIR_DELAY 1.0
#define PAIR_RATE  0.5
#define NODE_SDS   6.0 /* beyond what is usual among nodes, in standard deviations */
#define PAIR_SDS   8.0
/* standard deviations are taken to be at least this share: of few values they are too small by chance */
#define FLOOR 0.05
/* ... while the nodes below the switch reach this share of the usual rate among themselves */
#define UPLINK_MATE 0.85
#define LEAVES_MIN  3u  /* of fewer it is not known which one is slow */
#define GAP         1.3 /* between two groups of rates */
#define GROUP_MIN   3u
#define GROUP_SHARE 8u /* the slower group is at least one in so many nodes */
/* of the nodes are nearest to their declared switch, or distances say nothing of switches */
#define STRUCTURE 0.75

#define FAR (TOPOLOGY_LEVELS_MAX + 2)

enum mark { PLAIN, SLOW_GROUP, UPLINK, ODD }; /* a node that needs no further reason for being slow */

/* What is usual among pairs that are as far apart. */
struct usual {
    double rtt_s, rtt_sd_s, rate_log, rate_sd;
    size_t pairs;
};

struct judging {
    const struct survey *s;
    uint8_t *far; /* n * n: how far apart they are */
    struct usual usual[FAR];
    double far_rtt_s, far_rate_log;     /* the longest and the lowest of usual */
    double *scratch, *delay, *out, *in; /* scratch: n * n; the rest: one per node */
    uint8_t *mark;
    struct survey_finding *to;
    size_t n, max;
    bool suspects, tells_switches;
};

/* ---- what to measure ---- */

/* A tournament: one node less stands on a circle if their number is even, and that one meets whoever would
 * meet himself. */
size_t survey_rounds(size_t n)
{
    return n < 2 ? 0 : n - 1 + n % 2;
}

uint32_t survey_partner(size_t n, size_t round, uint32_t a)
{
    size_t m = survey_rounds(n), step = m * 5 / 8, turn, b;

    if (!m || a >= n)
        return TOPOLOGY_NONE;
    while (divisor_common(m, step) != 1)
        step++;
    turn = round * step % m;
    if (a == m) /* twice the node that it meets is `turn` */
        return (uint32_t)(turn * ((m + 1) / 2) % m);
    b = (turn + m - a) % m;
    if (b != a)
        return (uint32_t)b;
    return n % 2 ? TOPOLOGY_NONE : (uint32_t)m;
}

/* ---- what was measured ---- */

struct survey *survey_new(const struct topology *t, const char *const *name, size_t n)
{
    struct survey *s = n <= SURVEY_NODES_MAX ? calloc(1, sizeof(*s)) : NULL;

    if (!s)
        return NULL;
    s->n = n;
    s->t = t;
    s->leaf = calloc(n + 1, sizeof(*s->leaf));
    s->cell = calloc(n * n + 1, sizeof(*s->cell));
    if (!s->leaf || !s->cell) {
        survey_free(s);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t at = t ? topology_find_node(t, name[i]) : TOPOLOGY_NONE;

        s->leaf[i] = at == TOPOLOGY_NONE ? TOPOLOGY_NONE : t->node[at].parent;
    }
    for (size_t i = 0; i < n * n; i++)
        s->cell[i] = (struct survey_cell){ NAN, NAN, 0 };
    return s;
}

void survey_free(struct survey *s)
{
    if (!s)
        return;
    free(s->leaf);
    free(s->cell);
    free(s);
}

static const struct survey_cell *cell(const struct survey *s, size_t from, size_t to)
{
    return &s->cell[from * s->n + to];
}

void survey_add(struct survey *s, uint32_t a, uint32_t b, double rtt_s, double a_to_b, double b_to_a)
{
    struct survey_cell *there, *back;

    if (a >= s->n || b >= s->n || a == b)
        return;
    there = &s->cell[a * s->n + b];
    back = &s->cell[b * s->n + a];
    if (rtt_s > 0)
        there->rtt_s = back->rtt_s = fmin(there->rtt_s, rtt_s);
    if (a_to_b > 0)
        there->bytes_per_s = fmax(there->bytes_per_s, a_to_b);
    if (b_to_a > 0)
        back->bytes_per_s = fmax(back->bytes_per_s, b_to_a);
    there->times++;
    back->times++;
}

/* Switches up to the common one: 0 below the same leaf; TOPOLOGY_LEVELS_MAX + 1: none in common, or not
 * declared. */
static unsigned levels_apart(const struct survey *s, size_t a, size_t b)
{
    uint32_t x = s->leaf[a], y = s->leaf[b];
    unsigned up = 0;

    while (x != y && x != TOPOLOGY_NONE && y != TOPOLOGY_NONE && up <= TOPOLOGY_LEVELS_MAX) {
        uint32_t low = s->t->a_switch[x].height < s->t->a_switch[y].height ? s->t->a_switch[x].height
                                                                           : s->t->a_switch[y].height;

        if (s->t->a_switch[x].height == low)
            x = s->t->a_switch[x].parent;
        if (y != x && s->t->a_switch[y].height == low)
            y = s->t->a_switch[y].parent;
        up++;
    }
    return x == y && (x != TOPOLOGY_NONE || !s->t) && up <= TOPOLOGY_LEVELS_MAX ? up
                                                                                : TOPOLOGY_LEVELS_MAX + 1;
}

static unsigned apart(const struct judging *j, size_t a, size_t b)
{
    return j->far[a * j->s->n + b];
}

static double deviation(double *v, size_t n, double center)
{
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - center);
    return STATISTICS_MAD_TO_SD * statistics_median(v, n);
}

/* Both directions of each pair of unmarked nodes that far apart, of both metrics, at this quantile. */
static void take_usual(struct judging *j, unsigned far, double quantile_of_rate)
{
    struct usual *u = &j->usual[far];
    const struct survey *s = j->s;
    size_t rtts = 0, rates = 0;
    double *rate = j->scratch;

    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < a; b++) {
            if (j->mark[a] || j->mark[b] || apart(j, a, b) != far)
                continue;
            if (!isnan(cell(s, a, b)->rtt_s))
                j->scratch[rtts++] = cell(s, a, b)->rtt_s;
        }
    u->pairs = rtts;
    u->rtt_s = statistics_median(j->scratch, rtts);
    u->rtt_sd_s = fmax(FLOOR * u->rtt_s, deviation(j->scratch, rtts, u->rtt_s));
    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < s->n; b++)
            if (a != b && !j->mark[a] && !j->mark[b] && apart(j, a, b) == far &&
                !isnan(cell(s, a, b)->bytes_per_s))
                rate[rates++] = log(cell(s, a, b)->bytes_per_s);
    u->rate_log = quantile_of_rate == 0.5 ? statistics_median(rate, rates)
                                          : statistics_quantile(rate, rates, quantile_of_rate);
    u->rate_sd = fmax(FLOOR, deviation(rate, rates, u->rate_log));
}

static void take_all_usual(struct judging *j, double quantile_of_rate)
{
    bool there[FAR] = { false };

    for (size_t i = 0; i < j->s->n * j->s->n; i++)
        there[j->far[i]] = true;
    j->far_rtt_s = j->far_rate_log = NAN;
    for (unsigned far = 0; far < FAR; far++) {
        j->usual[far] = (struct usual){ NAN, NAN, NAN, NAN, 0 };
        if (there[far])
            take_usual(j, far, quantile_of_rate);
        j->far_rtt_s = fmax(j->far_rtt_s, j->usual[far].rtt_s);
        j->far_rate_log = fmin(j->far_rate_log, j->usual[far].rate_log);
    }
}

/* How much longer than usual, in seconds; NaN: not known. */
static double rtt_excess_s(const struct judging *j, size_t a, size_t b)
{
    return cell(j->s, a, b)->rtt_s - j->usual[apart(j, a, b)].rtt_s;
}

/* The logarithm of the rate over the usual one. */
static double rate_excess_log(const struct judging *j, size_t a, size_t b)
{
    return log(cell(j->s, a, b)->bytes_per_s) - j->usual[apart(j, a, b)].rate_log;
}

enum metric { DELAY, OUT, IN };

static double value_of(const struct judging *j, enum metric m, size_t a, size_t b)
{
    return m == DELAY ? rtt_excess_s(j, a, b)
           : m == OUT ? rate_excess_log(j, a, b)
                      : rate_excess_log(j, b, a);
}

/* Of a node with all its partners that are not marked; NaN: too few were measured. */
static double node_value(const struct judging *j, enum metric m, size_t a, double quantile)
{
    size_t n = 0;

    for (size_t b = 0; b < j->s->n; b++) {
        double v = a == b || j->mark[b] ? NAN : value_of(j, m, a, b);

        if (!isnan(v))
            j->scratch[n++] = v;
    }
    return n < PARTNERS_MIN  ? NAN
           : quantile == 0.5 ? statistics_median(j->scratch, n)
                             : statistics_quantile(j->scratch, n, quantile);
}

static void node_figures(struct judging *j, double quantile_of_rate)
{
    for (size_t a = 0; a < j->s->n; a++) {
        j->delay[a] = node_value(j, DELAY, a, 0.5);
        j->out[a] = node_value(j, OUT, a, quantile_of_rate);
        j->in[a] = node_value(j, IN, a, quantile_of_rate);
    }
}

/* The standard deviation among unmarked nodes, without the odd ones. */
static double among_nodes(const struct judging *j, const double *v)
{
    size_t n = 0;
    double center;

    for (size_t a = 0; a < j->s->n; a++)
        if (!j->mark[a] && !isnan(v[a]))
            j->scratch[n++] = v[a];
    center = statistics_median(j->scratch, n);
    return deviation(j->scratch, n, center);
}

/* The usual figures of a node's partners: of the distance that most of them have. */
static const struct usual *usual_of(const struct judging *j, size_t a)
{
    unsigned count[FAR] = { 0 }, best = 0;

    for (size_t b = 0; b < j->s->n; b++)
        if (a != b && cell(j->s, a, b)->times)
            count[apart(j, a, b)]++;
    for (unsigned far = 1; far < FAR; far++)
        if (count[far] > count[best])
            best = far;
    return &j->usual[best];
}

static size_t partners(const struct judging *j, size_t a)
{
    size_t n = 0;

    for (size_t b = 0; b < j->s->n; b++)
        n += a != b && cell(j->s, a, b)->times;
    return n;
}

/* Of a node and no switch, resting on so many pairs; its kind and values are to be set. */
static struct survey_finding finding_of(size_t a, size_t count)
{
    return (struct survey_finding){ .a = (uint32_t)a,
                                    .b = TOPOLOGY_NONE,
                                    .declared = TOPOLOGY_NONE,
                                    .measured = TOPOLOGY_NONE,
                                    .other = NAN,
                                    .count = count };
}

static void add_finding(struct judging *j, struct survey_finding f)
{
    if (j->n < j->max)
        j->to[j->n++] = f;
}

/* ---- a switch's own link ---- */

/* The median of all pairs with one node below the switch and the other one elsewhere, or (inside) below it as
 * well. */
static double of_leaf(const struct judging *j, enum metric m, uint32_t leaf, bool inside, size_t *pairs)
{
    const struct survey *s = j->s;
    size_t n = 0;

    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < s->n && s->leaf[a] == leaf; b++) {
            double v = a == b || (s->leaf[b] == leaf) != inside ? NAN : value_of(j, m, a, b);

            if (!isnan(v))
                j->scratch[n++] = v;
        }
    *pairs = n;
    return statistics_median(j->scratch, n);
}

static void judge_uplink(struct judging *j, uint32_t leaf)
{
    size_t pairs, near, first = 0;
    double out = of_leaf(j, OUT, leaf, false, &pairs), in = of_leaf(j, IN, leaf, false, &pairs),
           mates = of_leaf(j, OUT, leaf, true, &near), delay = of_leaf(j, DELAY, leaf, false, &pairs),
           mates_delay = of_leaf(j, DELAY, leaf, true, &near);
    const struct usual *u;
    struct survey_finding f;

    while (j->s->leaf[first] != leaf)
        first++;
    u = usual_of(j, first);
    f = finding_of(first, pairs);
    f.declared = leaf;
    if (!near || pairs < PARTNERS_MIN)
        return;
    if (fmin(out, in) < log(NODE_RATE) && mates > log(UPLINK_MATE)) {
        f.kind = SURVEY_UPLINK_RATE;
        f.usual = exp(u->rate_log);
        f.value = exp(u->rate_log + fmin(out, in));
        f.other = exp(u->rate_log + fmax(out, in));
        add_finding(j, f);
    } else if (delay > NODE_DELAY * u->rtt_s && mates_delay < (1 - UPLINK_MATE) * u->rtt_s) {
        f.kind = SURVEY_UPLINK_DELAY;
        f.usual = u->rtt_s;
        f.value = u->rtt_s + delay;
        add_finding(j, f);
    } else {
        return;
    }
    for (size_t a = 0; a < j->s->n; a++)
        if (j->s->leaf[a] == leaf)
            j->mark[a] = UPLINK;
}

static void judge_uplinks(struct judging *j)
{
    const struct survey *s = j->s;
    size_t leaves = 0;

    for (size_t a = 0; a < s->n; a++)
        leaves += s->leaf[a] != TOPOLOGY_NONE && (!a || s->leaf[a] != s->leaf[a - 1]);
    if (leaves < LEAVES_MIN)
        return;
    take_all_usual(j, 0.5);
    for (size_t a = 0; a < s->n; a++)
        if (s->leaf[a] != TOPOLOGY_NONE && !j->mark[a] && (!a || s->leaf[a] != s->leaf[a - 1]))
            judge_uplink(j, s->leaf[a]);
}

/* ---- a group of slower nodes ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The rate that a node reaches with a quarter of its partners, over what the fastest pairs reach: its own
 * link's. */
static double own_rate(const struct judging *j, size_t a)
{
    return fmax(j->out[a], j->in[a]);
}

static void judge_groups(struct judging *j)
{
    double *v = j->scratch, gap = 0, low, high;
    struct survey_finding f;
    size_t n = 0, at = 0, first = 0;

    take_all_usual(j, 0.85);
    node_figures(j, 0.75);
    for (size_t a = 0; a < j->s->n; a++)
        if (!j->mark[a] && !isnan(j->out[a]) && !isnan(j->in[a]))
            v[n++] = own_rate(j, a);
    if (n < 2 * GROUP_MIN)
        return;
    qsort(v, n, sizeof(*v), by_value);
    /* Fewer slow ones are nodes of which each is slow for itself. */
    for (size_t i = n / GROUP_SHARE > GROUP_MIN ? n / GROUP_SHARE : GROUP_MIN; i + GROUP_MIN <= n; i++)
        if (v[i] - v[i - 1] > gap) {
            gap = v[i] - v[i - 1];
            at = i;
        }
    /* Each of the groups is narrow in comparison: not nodes of which each is slow for itself. */
    if (!(gap > log(GAP)) || v[at - 1] - v[0] > gap / 2 || v[n - 1] - v[at] > gap / 2)
        return;
    low = v[at / 2];
    high = v[at + (n - at) / 2];
    for (size_t a = 0; a < j->s->n; a++)
        if (!j->mark[a] && own_rate(j, a) < (v[at] + v[at - 1]) / 2)
            j->mark[a] = SLOW_GROUP;
    while (first < j->s->n && j->mark[first] != SLOW_GROUP)
        first++;
    f = finding_of(first, at);
    f.kind = SURVEY_MIXED;
    f.value = exp(usual_of(j, first)->rate_log + low);
    f.usual = exp(usual_of(j, first)->rate_log + high);
    add_finding(j, f);
}

/* ---- a switch ---- */

struct median {
    double value;
    size_t n;
};

/* Of a node and those below a switch; rates count as -log(rate), so that nearer is less. */
static struct median to_switch(const struct judging *j, bool rate, size_t a, uint32_t leaf)
{
    struct median m = { NAN, 0 };

    for (size_t b = 0; b < j->s->n; b++) {
        const struct survey_cell *there = cell(j->s, a, b), *back = cell(j->s, b, a);
        double v = rate ? -log(there->bytes_per_s * back->bytes_per_s) / 2 : there->rtt_s;

        if (a != b && j->s->leaf[b] == leaf && !j->mark[b] && !isnan(v))
            j->scratch[m.n++] = v;
    }
    m.value = statistics_median(j->scratch, m.n);
    return m;
}

/* How much nearer nodes below one switch are to each other than to those of the next ones. */
struct separation {
    double near, far, sd;
    bool visible;
};

static struct separation separation_of(const struct judging *j, bool rate)
{
    const struct usual *near = &j->usual[0], *far = NULL;
    struct separation s = { .visible = false };

    for (unsigned up = 1; up <= TOPOLOGY_LEVELS_MAX && !far; up++)
        if (j->usual[up].pairs >= PARTNERS_MIN)
            far = &j->usual[up];
    if (!far || near->pairs < PARTNERS_MIN)
        return s;
    s.near = rate ? -near->rate_log : near->rtt_s;
    s.far = rate ? -far->rate_log : far->rtt_s;
    s.sd = rate ? fmax(near->rate_sd, far->rate_sd) : fmax(near->rtt_sd_s, far->rtt_sd_s);
    s.visible = s.far - s.near > 2 * s.sd;
    return s;
}

struct place {
    uint32_t nearest;
    bool evident; /* it is another switch than the declared one, beyond doubt */
    size_t count;
    double own, best;
};

static const struct place nowhere = { TOPOLOGY_NONE, false, 0, NAN, NAN };

static struct place place_of(const struct judging *j, bool rate, const struct separation *sep, size_t a)
{
    struct place p = nowhere;
    struct median own = to_switch(j, rate, a, j->s->leaf[a]), best = { NAN, 0 };
    double apart_by = sep->far - sep->near;

    if (own.n < MATES_MIN)
        return p;
    for (size_t b = 0; b < j->s->n; b++) {
        struct median m;

        if (j->s->leaf[b] == TOPOLOGY_NONE || (b && j->s->leaf[b] == j->s->leaf[b - 1]))
            continue; /* nodes of a switch usually follow one another */
        m = to_switch(j, rate, a, j->s->leaf[b]);
        if (m.n < MATES_MIN || !(isnan(best.value) || m.value < best.value))
            continue;
        best = m;
        p.nearest = j->s->leaf[b];
    }
    p.own = own.value;
    p.best = best.value;
    p.count = own.n + best.n;
    p.evident = p.nearest != j->s->leaf[a] && own.value - best.value > apart_by / 2 &&
                own.value > sep->near + 0.6 * apart_by && best.value < sep->near + 0.4 * apart_by &&
                own.value - best.value > 4 * 1.25 * sep->sd * sqrt(1 / (double)own.n + 1 / (double)best.n);
    return p;
}

/* Distances by one metric; what they say counts only where they tell the declared switches of nearly all
 * nodes. */
static void judge_places(struct judging *j, bool rate, struct place *place)
{
    struct separation sep = separation_of(j, rate);
    size_t right = 0, known = 0;

    for (size_t a = 0; a < j->s->n; a++) {
        place[a] = nowhere;
        if (!sep.visible || j->s->leaf[a] == TOPOLOGY_NONE)
            continue;
        place[a] = place_of(j, rate, &sep, a);
        known += place[a].nearest != TOPOLOGY_NONE;
        right += place[a].nearest == j->s->leaf[a];
    }
    if (known && (double)right >= STRUCTURE * (double)known) {
        j->tells_switches = true;
        return;
    }
    for (size_t a = 0; a < j->s->n; a++)
        place[a] = nowhere;
}

static int judge_switches(struct judging *j)
{
    const struct survey *s = j->s;
    struct place *by_delay = calloc(2 * s->n + 1, sizeof(*by_delay)), *by_rate = by_delay + s->n;

    if (!by_delay)
        return -1;
    judge_places(j, false, by_delay);
    judge_places(j, true, by_rate);
    for (size_t a = 0; a < s->n; a++) {
        const struct place *p = by_delay[a].evident ? &by_delay[a] : &by_rate[a],
                           *q = p == by_delay + a ? &by_rate[a] : &by_delay[a];
        struct survey_finding f;

        /* The other metric may know nothing, but must not say otherwise. */
        if (!p->evident ||
            (q->nearest != TOPOLOGY_NONE && q->nearest != p->nearest && (q->evident || p != by_delay + a)))
            continue;
        j->mark[a] = ODD;
        f = finding_of(a, p->count);
        f.kind = SURVEY_SWITCH;
        f.declared = s->leaf[a];
        f.measured = p->nearest;
        f.value = p == by_delay + a ? p->own : exp(-p->own);
        f.usual = p == by_delay + a ? p->best : exp(-p->best);
        f.other = p == by_delay + a ? 0 : 1;
        add_finding(j, f);
    }
    free(by_delay);
    return 0;
}

/* ---- nodes and pairs ---- */

static void judge_nodes(struct judging *j)
{
    double delay_sd, out_sd, in_sd;

    take_all_usual(j, 0.5);
    node_figures(j, 0.5);
    delay_sd = among_nodes(j, j->delay);
    out_sd = fmax(FLOOR, among_nodes(j, j->out));
    in_sd = fmax(FLOOR, among_nodes(j, j->in));
    for (size_t a = 0; a < j->s->n; a++) {
        const struct usual *u = usual_of(j, a);
        bool out = j->out[a] < log(NODE_RATE) && j->out[a] < -NODE_SDS * out_sd,
             in = j->in[a] < log(NODE_RATE) && j->in[a] < -NODE_SDS * in_sd;
        bool delayed =
            j->delay[a] > NODE_DELAY * u->rtt_s && j->delay[a] > NODE_SDS * fmax(FLOOR * u->rtt_s, delay_sd);
        struct survey_finding f = finding_of(a, partners(j, a));

        if (j->mark[a] == UPLINK)
            continue;
        if (delayed) {
            f.kind = SURVEY_NODE_DELAY;
            f.value = u->rtt_s + j->delay[a];
            f.usual = u->rtt_s;
            add_finding(j, f);
            j->mark[a] = ODD;
        }
        /* One connection is the slower, the longer its round trips are: that says nothing further. */
        if ((!out && !in) || j->mark[a] == SLOW_GROUP || delayed)
            continue;
        f.usual = exp(u->rate_log);
        if (out && in) {
            f.kind = SURVEY_NODE_RATE;
            f.value = exp(u->rate_log + fmax(j->out[a], j->in[a]));
        } else {
            double slow = out ? j->out[a] : j->in[a], fast = out ? j->in[a] : j->out[a];

            if (isnan(fast))
                continue;
            f.kind = out ? SURVEY_NODE_OUT : SURVEY_NODE_IN;
            f.value = exp(u->rate_log + slow);
            f.other = exp(u->rate_log + fast);
        }
        add_finding(j, f);
        j->mark[a] = ODD;
    }
}

static void judge_pairs(struct judging *j)
{
    const struct survey *s = j->s;

    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < s->n; b++) {
            const struct survey_cell *c = cell(s, a, b);
            const struct usual *u = &j->usual[apart(j, a, b)];
            double more_s = rtt_excess_s(j, a, b), rate = rate_excess_log(j, a, b);
            struct survey_finding f = finding_of(a, c->times);

            f.b = (uint32_t)b;
            if (a == b || j->mark[a] || j->mark[b] || u->pairs < PARTNERS_MIN ||
                (c->times < SURVEY_CONFIRMED) != j->suspects)
                continue;
            /* Slower than pairs at any distance: a node elsewhere than declared makes no pair slow. */
            if (a < b && c->rtt_s > (1 + PAIR_DELAY) * j->far_rtt_s && more_s > PAIR_SDS * u->rtt_sd_s) {
                f.kind = SURVEY_PAIR_DELAY;
                f.value = c->rtt_s;
                f.usual = u->rtt_s;
                add_finding(j, f);
            }
            if (log(c->bytes_per_s) < log(PAIR_RATE) + j->far_rate_log && rate < -PAIR_SDS * u->rate_sd) {
                f.kind = SURVEY_PAIR_RATE;
                f.value = c->bytes_per_s;
                f.usual = exp(u->rate_log);
                f.other = cell(s, b, a)->bytes_per_s;
                add_finding(j, f);
            }
        }
}

static int judge_all(const struct survey *s, bool suspects, struct survey_finding *out, size_t max, size_t *n,
                     bool *tells_switches, struct err *err)
{
    struct judging j = { .s = s, .to = out, .max = max, .suspects = suspects };
    int rc = 0;

    *n = 0;
    if (tells_switches)
        *tells_switches = false;
    if (s->n < NODES_MIN)
        return 0;
    j.scratch = calloc(s->n * s->n, sizeof(*j.scratch));
    j.delay = calloc(3 * s->n, sizeof(*j.delay));
    j.mark = calloc(s->n, 1);
    j.far = calloc(s->n, s->n);
    if (j.scratch && j.delay && j.mark && j.far) {
        for (size_t a = 0; a < s->n; a++)
            for (size_t b = 0; b < s->n; b++)
                j.far[a * s->n + b] = a == b ? 0 : (uint8_t)levels_apart(s, a, b);
        j.out = j.delay + s->n;
        j.in = j.out + s->n;
        judge_uplinks(&j);
        judge_groups(&j);
        take_all_usual(&j, 0.5);
        if (s->t && judge_switches(&j) < 0)
            rc = err_set(err, "out of memory");
        judge_nodes(&j);
        if (suspects)
            j.n = 0;
        judge_pairs(&j);
    } else {
        rc = err_set(err, "out of memory");
    }
    *n = rc < 0 ? 0 : j.n;
    if (tells_switches)
        *tells_switches = j.tells_switches;
    free(j.scratch);
    free(j.delay);
    free(j.mark);
    free(j.far);
    return rc;
}

int survey_judge(const struct survey *s, struct survey_finding *out, size_t max, size_t *n, struct err *err)
{
    return judge_all(s, false, out, max, n, NULL, err);
}

int survey_suspects(const struct survey *s, struct survey_finding *out, size_t max, size_t *n,
                    struct err *err)
{
    return judge_all(s, true, out, max, n, NULL, err);
}

int survey_summarize(const struct survey *s, struct survey_summary *to, struct err *err)
{
    double *rtt = calloc(2 * s->n * s->n + 1, sizeof(*rtt)), *rate = rtt + s->n * s->n;
    size_t rtts = 0, rates = 0, n;

    *to = (struct survey_summary){ 0, NAN, NAN, false };
    if (!rtt)
        return err_set(err, "out of memory");
    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < s->n; b++) {
            const struct survey_cell *c = cell(s, a, b);

            if (a < b && !isnan(c->rtt_s))
                rtt[rtts++] = c->rtt_s;
            if (!isnan(c->bytes_per_s))
                rate[rates++] = c->bytes_per_s;
        }
    to->pairs = rtts;
    to->rtt_s = statistics_median(rtt, rtts);
    to->bytes_per_s = statistics_median(rate, rates);
    free(rtt);
    return judge_all(s, false, NULL, 0, &n, &to->tells_switches, err);
}
