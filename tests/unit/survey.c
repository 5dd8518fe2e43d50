/* What measurements between 64 nodes say: faults that were put into them are found, and nothing else is. */
#include "topology/survey.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "topology/topology_conf.h"

#define NODES 64
#define SEEDS (int)tried_of(50)
#define FOUND 256

enum fault {
    CLEAN,
    SLOW_NODE,
    ONE_WAY,
    DELAYED_NODE,
    WRONG_SWITCH,
    SWAPPED,
    SLOW_PAIR,
    DELAYED_PAIR,
    MIXED,
    SLOW_UPLINK,
    ALL
};

/* The truth: a cluster that has been measured. */
struct truth {
    uint32_t leaf[NODES]; /* where a node really is, in eighths */
    double out[NODES], in[NODES], delay_s[NODES];
    double pair_rate, pair_delay_s; /* of nodes 20 and 41, one way and both */
    double uplink[8];
    double near_s, far_s, noise, outliers, oversubscription;
};

static struct topology *declared(void)
{
    struct err err;
    char text[2000] = "";

    for (int i = 0; i < 8; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "SwitchName=leaf%d Nodes=node[%02d-%02d]\n", i, 8 * i, 8 * i + 7);
    strcat(text, "SwitchName=top Switches=leaf[0-7]\n");
    return topology_conf_parse("topology.conf", text, strlen(text), &err);
}

static struct truth healthy(void)
{
    struct truth t = { .pair_rate = 1,
                       .near_s = 12e-6,
                       .far_s = 24e-6,
                       .noise = 0.06,
                       .outliers = 0.01,
                       .oversubscription = 1 };

    for (int i = 0; i < NODES; i++) {
        t.leaf[i] = (uint32_t)i / 8;
        t.out[i] = t.in[i] = 1;
    }
    for (int i = 0; i < 8; i++)
        t.uplink[i] = 1;
    return t;
}

static double scatter(const struct truth *t)
{
    double x = 1 + t->noise * fabs(gauss());

    return uniform() < t->outliers ? x * (2 + 4 * uniform()) : x;
}

static double rate_of(const struct truth *t, int a, int b)
{
    double rate = fmin(t->out[a], t->in[b]);

    if (t->leaf[a] != t->leaf[b])
        rate = fmin(rate, fmin(t->uplink[t->leaf[a]], t->uplink[t->leaf[b]]) / t->oversubscription);
    if (a == 20 && b == 41)
        rate = fmin(rate, t->pair_rate);
    return 1.2e9 * rate / scatter(t);
}

static void measure(struct survey *s, const struct truth *t, int a, int b)
{
    double rtt_s =
        (t->leaf[a] == t->leaf[b] ? t->near_s : t->far_s) * scatter(t) + t->delay_s[a] + t->delay_s[b];

    if (a == 20 && b == 41)
        rtt_s += t->pair_delay_s;
    survey_add(s, (uint32_t)a, (uint32_t)b, rtt_s, rate_of(t, a, b), rate_of(t, b, a));
}

static struct survey *new_survey(const struct topology *topology)
{
    char name[NODES][8];
    const char *names[NODES];

    for (int i = 0; i < NODES; i++) {
        snprintf(name[i], sizeof(name[i]), "node%02d", i);
        names[i] = name[i];
    }
    return survey_new(topology, names, NODES);
}

/* As the doctor does: all rounds (or the first ones) once, and suspects again. */
static size_t survey(const struct topology *topology, const struct truth *t, double share, uint64_t seed,
                     struct survey_finding *found)
{
    struct survey_finding again[FOUND];
    struct survey *s = new_survey(topology);
    size_t n;

    random_state = seed * 7919;
    for (size_t r = 0; r < (size_t)(share * (double)survey_rounds(NODES)); r++)
        for (uint32_t a = 0; a < NODES; a++)
            if (a < survey_partner(NODES, r, a))
                measure(s, t, (int)a, (int)survey_partner(NODES, r, a));
    for (int round = 0; round < 2 * SURVEY_CONFIRMED; round++) {
        if (survey_suspects(s, again, FOUND, &n, NULL) < 0 || !n)
            break;
        for (size_t i = 0; i < n; i++) {
            uint32_t low = again[i].a < again[i].b ? again[i].a : again[i].b;

            measure(s, t, (int)low, (int)(again[i].a + again[i].b - low));
        }
    }
    if (survey_judge(s, found, FOUND, &n, NULL) < 0)
        n = 0;
    survey_free(s);
    return n;
}

static void inject(struct truth *t, enum fault f)
{
    switch (f) {
    case SLOW_NODE:
        t->out[3] = t->in[3] = 0.3;
        break;
    case ONE_WAY:
        t->in[12] = 0.4;
        break;
    case DELAYED_NODE:
        t->delay_s[30] = 200e-6;
        break;
    case WRONG_SWITCH:
        t->leaf[37] = 6;
        break;
    case SWAPPED:
        t->leaf[9] = 7;
        t->leaf[60] = 1;
        break;
    case SLOW_PAIR:
        t->pair_rate = 0.2;
        break;
    case DELAYED_PAIR:
        t->pair_delay_s = 300e-6;
        break;
    case MIXED:
        for (int i = 0; i < NODES; i += 3)
            t->out[i] = t->in[i] = 0.4;
        break;
    case SLOW_UPLINK:
        t->uplink[5] = 0.3;
        break;
    default:
        break;
    }
}

static const struct {
    const char *what;
    enum survey_kind kind;
    uint32_t a, b;
    size_t n; /* findings */
} expected[] = {
    [CLEAN] = { "a clean cluster", 0, 0, 0, 0 },
    [SLOW_NODE] = { "a node's shaped link", SURVEY_NODE_RATE, 3, TOPOLOGY_NONE, 1 },
    [ONE_WAY] = { "a node that receives slowly", SURVEY_NODE_IN, 12, TOPOLOGY_NONE, 1 },
    [DELAYED_NODE] = { "a node's delayed link", SURVEY_NODE_DELAY, 30, TOPOLOGY_NONE, 1 },
    [WRONG_SWITCH] = { "a node below another switch", SURVEY_SWITCH, 37, TOPOLOGY_NONE, 1 },
    [SWAPPED] = { "two nodes below each other's switch", SURVEY_SWITCH, 9, TOPOLOGY_NONE, 2 },
    [SLOW_PAIR] = { "a pair slow one way", SURVEY_PAIR_RATE, 20, 41, 1 },
    [DELAYED_PAIR] = { "a delayed pair", SURVEY_PAIR_DELAY, 20, 41, 1 },
    [MIXED] = { "links of two rates", SURVEY_MIXED, 0, TOPOLOGY_NONE, 1 },
    [SLOW_UPLINK] = { "a switch's slow link", SURVEY_UPLINK_RATE, 40, TOPOLOGY_NONE, 1 },
};

/* Seeds of which exactly what was put in was found. */
static void check(const struct topology *topology, enum fault fault, const char *of, struct truth t,
                  double share)
{
    struct survey_finding found[FOUND];
    int good = 0, missed = 0, more = 0;

    inject(&t, fault);
    for (uint64_t seed = 1001; seed <= 1000u + tried_of(50); seed++) {
        size_t n = survey(topology, &t, share, seed, found);
        bool has = !expected[fault].n;

        for (size_t i = 0; i < n && !has; i++)
            has = found[i].kind == expected[fault].kind && found[i].a == expected[fault].a &&
                  found[i].b == expected[fault].b;
        if (n != expected[fault].n && more + missed < 3)
            for (size_t i = 0; i < n && i < 4; i++)
                printf("# seed %d: kind %d, %u %d, %g not %g, of %zu\n", (int)seed, (int)found[i].kind,
                       found[i].a, (int)found[i].b, found[i].value, found[i].usual, n);
        missed += !has && (share == 1 || !n);
        more += has && n > expected[fault].n;
        good += has && n == expected[fault].n;
    }
    /* too few of its partners are below the one switch or the other */
    if (share < 1 && fault == WRONG_SWITCH)
        is_int(more + good + missed, SEEDS, "%s, %s: missed for %d of %d seeds, and never anything else",
               expected[fault].what, of, missed, SEEDS);
    else
        ok(good == SEEDS, "%s, %s: found alone for all seeds\n%d of %d (missed %d, more %d)",
           expected[fault].what, of, good, SEEDS, missed, more);
}

/* All at once, each of which must be found; and nothing beside. */
static void check_all(const struct topology *topology)
{
    static const enum fault faults[] = { SLOW_NODE, ONE_WAY, DELAYED_NODE, WRONG_SWITCH, SLOW_PAIR };
    struct survey_finding found[FOUND];
    int good = 0;

    for (uint64_t seed = 1001; seed <= 1000u + tried_of(50); seed++) {
        struct truth t = healthy();
        size_t n, has = 0;

        for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
            inject(&t, faults[i]);
        n = survey(topology, &t, 1, seed, found);
        for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
            for (size_t k = 0; k < n; k++)
                has += found[k].kind == expected[faults[i]].kind && found[k].a == expected[faults[i]].a;
        good += has == ARRAY_SIZE(faults) && n == has;
    }
    is_int(good, SEEDS, "five faults at once: all are found, and nothing else");
}

/* Three slow nodes are no group of links: each is named. */
static void check_few(const struct topology *topology)
{
    struct survey_finding found[FOUND];
    struct truth t = healthy();
    size_t n, named = 0;

    for (int i = 3; i < NODES; i += 24)
        t.out[i] = t.in[i] = 0.1;
    n = survey(topology, &t, 1, 1001, found);
    for (size_t i = 0; i < n; i++)
        named += found[i].kind == SURVEY_NODE_RATE && found[i].a % 24 == 3;
    ok(n == 3 && named == 3, "three of 64 nodes are as slow: each is found, and nothing else");
}

static void check_bounds(const struct topology *t)
{
    const char *few[] = { "node00", "node01", "node08" };
    struct survey *s = survey_new(t, few, 3);
    struct survey_finding f[4];
    size_t n = 9;

    is_int(survey_judge(s, f, 4, &n, NULL), 0, "three nodes are judged");
    is_int((long long)n, 0, "three nodes say nothing");
    survey_add(s, 0, 7, 1, 1, 1);
    survey_add(s, 1, 1, 1, 1, 1);
    is_int(s->cell[0].times, 0, "a pair of unknown nodes, or of one, is not counted");
    survey_free(s);
    ok(!survey_new(t, few, SURVEY_NODES_MAX + 1), "too many nodes are refused");
}

/* Every pair once, and no node twice in a round; the first third of the rounds is spread over all distances.
 */
static void check_rounds(size_t n)
{
    unsigned char *met = xcalloc(n * n, 1);
    size_t wrong = 0, near = 0;

    for (size_t r = 0; r < survey_rounds(n); r++)
        for (uint32_t a = 0; a < n; a++) {
            uint32_t b = survey_partner(n, r, a);

            if (b == TOPOLOGY_NONE)
                continue;
            wrong += b >= n || b == a || survey_partner(n, r, b) != a || met[a * n + b]++;
            near += r < survey_rounds(n) / 3 && b / 8 == a / 8;
        }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            wrong += met[a * n + b] != (a != b);
    is_int((long long)wrong, 0, "%zu nodes meet in %zu rounds, each pair once", n, survey_rounds(n));
    if (n >= 16)
        ok(near > 0 && near < n * survey_rounds(n) / 9,
           "%zu nodes: the first third of the rounds has neighbours and others", n);
    free(met);
}

static void check_summary(const struct topology *topology)
{
    struct survey_summary to;
    struct truth t = healthy();
    struct survey *s = new_survey(topology);

    is_int(survey_summarize(s, &to, NULL), 0, "nothing measured is summarized");
    ok(!to.pairs && isnan(to.rtt_s) && !to.tells_switches,
       "nothing measured: nothing is usual, and no switch is seen");
    random_state = 5;
    for (int a = 0; a < NODES; a++)
        for (int b = a + 1; b < NODES; b++)
            measure(s, &t, a, b);
    survey_summarize(s, &to, NULL);
    ok(to.pairs == NODES * (NODES - 1) / 2 && to.tells_switches && to.rtt_s > t.far_s &&
           to.rtt_s < 1.2 * t.far_s,
       "all pairs: the median, and switches are told apart");
    survey_free(s);
    s = new_survey(topology);
    t.near_s = t.far_s;
    for (int a = 0; a < NODES; a++)
        for (int b = a + 1; b < NODES; b++)
            measure(s, &t, a, b);
    survey_summarize(s, &to, NULL);
    ok(!to.tells_switches, "as near to all: switches are not told apart");
    survey_free(s);
}

int main(void)
{
    static const size_t counts[] = { 1, 2, 3, 6, 7, 12, 64, 65, 100 };
    struct topology *t = declared();
    struct truth flat = healthy(), over = healthy(), noisy = healthy(), moved = healthy();

    for (enum fault f = CLEAN; f < ALL; f++)
        check(t, f, "all pairs", healthy(), 1);
    for (enum fault f = CLEAN; f < SWAPPED; f++)
        check(t, f, "a third of the pairs", healthy(), 0.35);
    over.oversubscription = 4;
    for (enum fault f = CLEAN; f < SLOW_PAIR; f++)
        if (f != SLOW_NODE && f != ONE_WAY) /* 0.3 of a link is more than a quarter of it */
            check(t, f, "rates through the top a quarter", over, 1);
    noisy.noise = 0.25;
    check(t, CLEAN, "noise of 25 %", noisy, 1);
    flat.far_s = flat.near_s;
    check(t, CLEAN, "switches that cannot be told apart", flat, 1);
    flat.leaf[37] = 6;
    check(t, CLEAN, "nor a node below another one of them", flat, 1);
    for (int i = 0; i < NODES; i++)
        moved.leaf[i] = (uint32_t)i % 8;
    check(t, CLEAN, "a file of which nothing is true names no node", moved, 1);
    check(NULL, SLOW_NODE, "no switches declared", healthy(), 1);
    check(NULL, CLEAN, "no switches declared", healthy(), 1);
    check_all(t);
    check_few(t);
    check_bounds(t);
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
        check_rounds(counts[i]);
    check_summary(t);
    topology_free(t);
    return done_testing();
}
