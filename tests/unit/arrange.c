/* What orders of nodes cost on a tree, and which one is chosen: against formulas, against all orders, and
 * against Slurm's. */
#include "topology/arrange.h"

#include <stdlib.h>
#include <time.h>

#include "model/collective.h"
#include "model/order.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "topology/exact.h"
#include "topology/topology_conf.h"

#define NODES_MAX 16384
#define RATE      12.5e9 /* of a node */
/* Messages on the busier of two cables, of four: 4/2 + z sqrt(4/2 / 2), the z of two being 1 / sqrt(pi). */
#define BUSIER (2 + M_2_SQRTPI / 2)

static struct layout_node nodes[NODES_MAX];
static char names[NODES_MAX][16];
static uint32_t order[NODES_MAX];

static uint32_t below(uint32_t n)
{
    return (uint32_t)(uniform() * n);
}

static struct topology *tree(const char *text)
{
    struct err err = { "" };
    struct topology *t = topology_conf_parse("t.conf", text, strlen(text), &err);

    if (!t)
        ok(false, "the test's tree: %s", err.text);
    return t;
}

/* A layout of the nodes n0 ... with so many ranks each, and the pattern's cost in this order. */
static struct layout *layout_of(const struct topology *t, uint32_t n, uint32_t ranks)
{
    struct err err = { "" };
    struct layout *l;

    for (uint32_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        nodes[i] = (struct layout_node){ names[i], ranks };
    }
    l = layout_new(t, nodes, n, &err);
    if (!l)
        ok(false, "the test's layout: %s", err.text);
    return l;
}

static struct pattern pattern(const char *text)
{
    struct pattern p = { .bytes = 1e9 };
    struct err err = { "" };

    if (pattern_parse(&p, text, &err) < 0)
        ok(false, "the test's pattern: %s", err.text);
    return p;
}

static double cost_of(struct layout *l, const struct pattern *p, const uint32_t *of)
{
    struct flows *f = layout_flows(l, p);
    uint32_t *slot = calloc(l->ranks, sizeof(*slot));
    struct layout_cost c;

    layout_slots(l, f, of, slot);
    layout_cost(l, f, slot, &c);
    free(slot);
    flows_free(f);
    return c.time_s;
}

/* ---- cost ---- */

/* On one switch with a rank per node, the cost is the formula's; on two, what shares the link between them is
 * counted by hand. */
static void check_cost(void)
{
    static const uint32_t in_turn[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, crossed[] = { 0, 4, 1, 5, 2, 6, 3, 7 };
    struct topology *t = tree("SwitchName=s Nodes=n[0-7]\n");
    struct layout *l = layout_of(t, 8, 1);
    struct collective c = { .op = COLLECTIVE_ALLREDUCE,
                            .algo = COLLECTIVE_RING,
                            .ranks = 8,
                            .link = { 2e-6, RATE },
                            .slowest_bytes_per_s = INFINITY };
    struct pattern p = pattern("ring");

    is_near(cost_of(l, &p, in_turn), collective_time_s(&c, 1e9), 1e-9,
            "a ring on one switch costs what the formula says");
    p = pattern("halving");
    c.algo = COLLECTIVE_HALVING;
    is_near(cost_of(l, &p, in_turn), collective_time_s(&c, 1e9), 1e-9, "halving on one switch, too");
    p = pattern("groups:4");
    c.algo = COLLECTIVE_HIERARCHICAL;
    c.ranks_per_node = c.rails = 4;
    c.intra = c.link;
    /* the formula's rails: each rank of a group has its own link, of the same rate */
    is_near(cost_of(l, &p, in_turn), collective_time_s(&c, 1e9), 1e-9, "groups on one switch, too");
    layout_free(l);
    topology_free(t);

    t = tree("SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=top Switches=s[0-1]\n");
    l = layout_of(t, 8, 1);
    p = pattern("ring");
    is_near(cost_of(l, &p, in_turn), 14 * (4e-6 + 1e9 / 8 / RATE), 1e-9,
            "a ring along two switches: one message on each link, which is a node's rate");
    is_near(cost_of(l, &p, crossed), 14 * (4e-6 + BUSIER * 1e9 / 8 / RATE), 1e-5,
            "a ring that crosses at each step: four messages on a link of two cables");
    p = pattern("halving");
    is_near(cost_of(l, &p, in_turn),
            2 * (2 * 2e-6 + 4e-6) + (1 + .5) * 1e9 / RATE + .25 * 1e9 * BUSIER / RATE, 1e-5,
            "halving along two switches: the last exchange shares the link between them");
    p = pattern("pipeline:2x4");
    is_near(cost_of(l, &p, in_turn), 4e-6 + BUSIER * 1e9 / RATE + 6 * (2e-6 + 1e9 / 4 / RATE), 1e-5,
            "a stage on each switch: activations share the link between them");
    is_near(cost_of(l, &p, crossed), 2e-6 + 1e9 / RATE + 6 * (4e-6 + BUSIER * 1e9 / 4 / RATE), 1e-5,
            "half of each stage on each switch: gradients share it");
    layout_free(l);

    l = layout_of(t, 8, 2);
    p = pattern("ring");
    is_near(cost_of(l, &p, in_turn), 30 * (4e-6 + 1e9 / 16 / RATE), 1e-9,
            "two ranks per node: one of two messages leaves it");
    {
        struct flows *f = flows_new(&p, 16, 1);
        struct layout_cost cost;
        uint32_t slot[16];

        layout_cyclic(l, slot);
        layout_cost(l, f, slot, &cost);
        is_near(cost.time_s, 30 * (4e-6 + 1e9 / 16 * 2 / RATE), 1e-9, "ranks dealt in turn: both leave it");
        flows_free(f);
    }
    layout_free(l);
    topology_free(t);
}

/* The means that topology/layout.c has in a table. */
static void check_cables(void)
{
    struct topology *t =
        tree("SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=top Switches=a,b\n");
    uint32_t a = topology_find_switch(t, "a");
    unsigned wrong = 0;

    for (unsigned c = 1; c <= TOPOLOGY_CABLES_MAX; c++) {
        struct layout *l;
        double busier;

        t->a_switch[a].up.measured_bytes_per_s = c * RATE;
        topology_assume(t, &topology_usual);
        l = layout_of(t, 4, 1);
        busier = layout_link_s(&l->vertex[l->vertex[0].parent], 100.0 * c) * RATE;
        wrong += !near(busier, 100 + (c > 1 ? order_z(c, 0) : 0) * sqrt(100 * (1 - 1.0 / c)), 1e-5);
        layout_free(l);
    }
    is_int(wrong, 0, "the busiest of up to %u cables carries as much as model/order.h says",
           TOPOLOGY_CABLES_MAX);
    topology_free(t);
}

/* ---- random trees ---- */

/* So many pairs, and perhaps a node and a switch, that are slower than they should be. */
static void slow_links(struct topology *t, uint32_t pairs)
{
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t one = below((uint32_t)t->n_nodes), other = below((uint32_t)t->n_nodes - 1);

        topology_slow_pair(t, one, other + (other >= one), 1 + below(10), below(2) ? 1e-4 * below(10) : 0);
    }
    if (below(4) == 0)
        t->node[below((uint32_t)t->n_nodes)].up.slower = 1 + below(8);
    if (below(4) == 0)
        t->node[below((uint32_t)t->n_nodes)].up.delay_s = 1e-5 * below(20);
    if (below(4) == 0)
        t->a_switch[below((uint32_t)t->n_switches)].up.slower = 1 + below(8);
}

/* Switches of random sizes below each other, with n nodes whose names are scrambled; some links measured. */
static struct topology *random_tree(uint32_t n, uint32_t leaf_max, bool measured)
{
    struct topology *t = topology_new("random");
    struct topology_assumption a = topology_usual;
    uint32_t level = 0, number = 0, from = 0, *name = malloc(n * sizeof(*name));
    char *list = malloc(16 * (size_t)n + 16), one[16];
    struct err err = { "" };

    for (uint32_t i = 0; i < n; i++)
        name[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = below(i), kept = name[i - 1];

        name[i - 1] = name[k];
        name[k] = kept;
    }
    for (uint32_t i = 0; i < n;) {
        uint32_t size = 1 + below(leaf_max);

        *list = '\0';
        for (size_t used = 0; size-- && i < n; i++)
            used += (size_t)sprintf(list + used, "%sn%u", used ? "," : "", name[i]);
        snprintf(one, sizeof(one), "s%u", number++);
        topology_add(t, one, list, NULL, NAN, 0, &err);
    }
    for (; number - from > 1; level++) { /* switches `from` to `number` are without one above */
        uint32_t until = number;

        while (from < until) {
            uint32_t size = 2 + below(3);

            if (level > 4)
                size = until - from;
            *list = '\0';
            for (size_t used = 0; size-- && from < until; from++)
                used += (size_t)sprintf(list + used, "%ss%u", used ? "," : "", from);
            snprintf(one, sizeof(one), "s%u", number++);
            topology_add(t, one, NULL, list, NAN, 0, &err);
        }
    }
    if (topology_finish(t, &err) < 0)
        ok(false, "the test's random tree: %s", err.text);
    a.oversubscription[0] = 1 + below(4);
    a.oversubscription[1] = 1 + below(3);
    a.n_oversubscription = 2;
    for (size_t i = 0; measured && i < t->n_switches; i++)
        if (below(3) == 0)
            t->a_switch[i].up.measured_bytes_per_s = 1e9 * (1 + below(20));
    for (size_t i = 0; measured && i < t->n_nodes; i++)
        if (below(6) == 0)
            t->node[i].up.measured_bytes_per_s = 1e9 * (1 + below(12));
    if (measured && n > 1)
        slow_links(t, below(3));
    topology_assume(t, &a);
    free(name);
    free(list);
    return t;
}

/* A random pattern for n nodes; *ranks: of each node. */
static struct pattern random_pattern(uint32_t n, uint32_t *ranks)
{
    struct pattern p = { .bytes = below(4) ? 1e8 : 1e4 };
    uint32_t all, divisor;

    *ranks = 1u << below(3);
    all = n * *ranks;
    do
        divisor = 1 + below(all);
    while (all % divisor);
    p.kind = (enum pattern_kind)below(PATTERN_PIPELINE + 1);
    p.group = p.replicas = divisor;
    p.stages = all / divisor;
    return p;
}

/* ---- all orders ---- */

struct every {
    struct layout *l;
    struct flows *f;
    uint32_t now[EXACT_NODES], slot[64];
    bool used[EXACT_NODES];
    double best_s;
    unsigned long n;
};

/* Nodes with the same switch, link and ranks are equal. */
static bool equal_nodes(const struct layout *l, uint32_t a, uint32_t b)
{
    return l->vertex[a].parent == l->vertex[b].parent && l->vertex[a].ranks == l->vertex[b].ranks &&
           (!l->paired || (!l->paired[a] && !l->paired[b])) &&
           near(l->vertex[a].latency_s, l->vertex[b].latency_s, 1e-12) &&
           near(l->vertex[a].s_per_byte, l->vertex[b].s_per_byte, 1e-12);
}

static void try_all(struct every *e, uint32_t at)
{
    struct layout_cost c;

    if (at == e->l->nodes) {
        layout_slots(e->l, e->f, e->now, e->slot);
        layout_cost(e->l, e->f, e->slot, &c);
        e->best_s = fmin(e->best_s, c.time_s);
        e->n++;
        return;
    }
    for (uint32_t i = 0; i < e->l->nodes; i++) {
        bool again = e->used[i];

        for (uint32_t k = 0; k < i && !again; k++)
            again = !e->used[k] && equal_nodes(e->l, i, k);
        if (again)
            continue;
        e->used[i] = true;
        e->now[at] = i;
        try_all(e, at + 1);
        e->used[i] = false;
    }
}

/* Orders that try_all() tries: n! over the factorials of equal nodes. */
static double orders(const struct layout *l)
{
    double n = 1;

    for (uint32_t i = 0; i < l->nodes; i++) {
        uint32_t equal = 1;

        for (uint32_t k = 0; k < i; k++)
            equal += equal_nodes(l, i, k);
        n *= (i + 1.0) / equal;
    }
    return n;
}

#define EXHAUSTIVE tried_of(600)
#define ORDERS_MAX 100000

static void check_exhaustive(void)
{
    unsigned done = 0, exact = 0, slurm_best = 0, of_ten = 0, paired = 0;
    double worst = 1, tried = 0;
    struct err err = { "" };

    random_state = 14;
    while (done < EXHAUSTIVE) {
        uint32_t n = 3 + below(8), ranks;
        struct topology *t = random_tree(n, 1 + below(5), below(2));
        struct pattern p = random_pattern(n, &ranks);
        struct layout *l = layout_of(t, n, ranks);
        struct arranged a;
        struct every e = { .l = l, .best_s = INFINITY };

        if (p.kind < PATTERN_GROUPS && below(4) == 0) { /* ranks that differ */
            layout_free(l);
            for (uint32_t i = 0; i < n; i++)
                nodes[i].ranks = 1 + below(3);
            l = e.l = layout_new(t, nodes, n, &err);
        }
        if (orders(l) <= ORDERS_MAX) {
            e.f = layout_flows(l, &p);
            try_all(&e, 0);
            if (arrange(l, &p, ARRANGE_WORK, order, &a, &err) < 0)
                ok(false, "arrange(): %s", err.text);
            if (a.chosen.time_s > worst * e.best_s)
                worst = a.chosen.time_s / e.best_s;
            if (!near(cost_of(l, &p, order), a.chosen.time_s, 1e-9))
                ok(false, "case %u: the order costs what is said of it", done);
            exact += a.exact;
            slurm_best += near(a.slurm.time_s, e.best_s, 1e-9);
            of_ten += n == 10;
            paired += l->n_pairs > 0;
            tried += (double)e.n;
            flows_free(e.f);
            done++;
        }
        layout_free(l);
        topology_free(t);
    }
    printf("# %u trees, %u of 10 nodes, %u with slow pairs, %.0f orders; Slurm's order is the best of %u\n",
           done, of_ten, paired, tried, slurm_best);
    ok(worst <= 1.02,
       "the chosen order of %u small trees costs at most 2 %% more than the best of all\n%.4f times", done,
       worst);
    is_int(exact, done, "all of these orders are known to be the best");
}

#define LARGER tried_of(10000)

static void check_larger(void)
{
    unsigned above = 0, cheaper = 0, misdealt = 0;
    double gain = 0;
    struct err err = { "" };

    random_state = 15;
    for (unsigned i = 0; i < LARGER; i++) {
        uint32_t n = i % 1000 == 999 ? 500 + below(1500) : 11 + below(40), ranks;
        struct topology *t = random_tree(n, 1 + below(16), below(2));
        struct pattern p = random_pattern(n, &ranks);
        struct layout *l = layout_of(t, n, ranks);
        struct arranged a;
        uint64_t sum = 0;

        if (arrange(l, &p, 20000, order, &a, &err) < 0)
            ok(false, "arrange(): %s", err.text);
        above += a.chosen.time_s > a.slurm.time_s;
        cheaper += a.chosen.time_s < a.slurm.time_s * .999;
        gain += a.slurm.time_s > 0 ? a.slurm.time_s / a.chosen.time_s : 1;
        for (uint32_t k = 0; k < n; k++)
            sum += order[k] + (uint64_t)order[k] * order[k];
        misdealt += sum != (uint64_t)n * (n - 1) / 2 + (uint64_t)n * (n - 1) * (2 * n - 1) / 6;
        layout_free(l);
        topology_free(t);
    }
    is_int(above, 0, "none of %u larger trees has a chosen order that costs more than Slurm's", LARGER);
    is_int(misdealt, 0, "each order has each node once");
    printf("# %u orders cost less than Slurm's, on average %.2f times\n", cheaper, gain / LARGER);
    ok(cheaper > LARGER / 2, "most cost less than Slurm's order of scrambled names");
}

/* 16,384 ranks, one per node, on leaves of 24 and three levels, all names scrambled. */
static void check_size(void)
{
    static const char *const patterns[] = { "ring", "halving", "groups:16", "pipeline:64x256" };
    static const char *const fewer[] = { "ring", "halving", "groups:16", "pipeline:64x32" };
    uint32_t ranks = tried_in_part() ? NODES_MAX / 8 : NODES_MAX;

    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        struct topology *t;
        struct layout *l;
        struct pattern p = pattern(tried_in_part() ? fewer[i] : patterns[i]);
        struct arranged a;
        struct err err = { "" };
        clock_t from;

        random_state = 16;
        t = random_tree(ranks, 48, true);
        l = layout_of(t, ranks, 1);
        from = clock();
        if (arrange(l, &p, ARRANGE_WORK, order, &a, &err) < 0)
            ok(false, "arrange(): %s", err.text);
        printf("# arranged in %.2f s\n", (double)(clock() - from) / CLOCKS_PER_SEC);
        ok(a.chosen.time_s < a.slurm.time_s, "%s over %u ranks: the chosen order costs less than Slurm's",
           patterns[i], ranks);
        printf("# %.3f s instead of %.3f s\n", a.chosen.time_s, a.slurm.time_s);
        layout_free(l);
        topology_free(t);
    }
}

/* ---- errors ---- */

static void check_errors(void)
{
    static const struct {
        const char *pattern, *reason;
    } cases[] = {
        { "rings",
          "pattern 'rings' is not accepted: ring, halving, doubling, groups:G or pipeline:SxR, as in" },
        { "ring:2", "pattern 'ring:2' is not accepted" },
        { "groups", "pattern 'groups' is not accepted" },
        { "groups:0", "pattern 'groups:0' is not accepted" },
        { "groups:8x", "pattern 'groups:8x' is not accepted" },
        { "groups:99999999999", "pattern 'groups:99999999999' is not accepted" },
        { "pipeline:8", "pattern 'pipeline:8' is not accepted" },
        { "pipeline:8x", "pattern 'pipeline:8x' is not accepted" },
        { "groups:3", "groups:3: 8 ranks cannot be divided into such groups" },
        { "pipeline=3x3", "pipeline:3x3 has 9 ranks, and there are 8" },
    };
    struct topology *t = tree("SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=m[0-3]\n");
    struct layout_node two[] = { { "n1", 1 }, { "m1", 1 } }, same[] = { { "n1", 1 }, { "n1", 1 } },
                       unknown[] = { { "n1", 1 }, { "n9", 1 } },
                       many[] = { { "n1", PATTERN_RANKS_MAX }, { "n2", 1 } };
    struct err err = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct pattern p = { 0 };
        int rc = pattern_parse(&p, cases[i].pattern, &err);

        if (rc == 0)
            rc = pattern_check(&p, 8, &err);
        ok(rc < 0 && !strncmp(err.text, cases[i].reason, strlen(cases[i].reason)), "rejected: %s", err.text);
    }
    ok(!layout_new(t, two, 2, &err) && strstr(err.text, "t.conf: nodes n1 and m1 have no switch in common"),
       "nodes below two roots are rejected: %s", err.text);
    ok(!layout_new(t, same, 2, &err) && strstr(err.text, "node n1 is given twice"), "a node twice: %s",
       err.text);
    ok(!layout_new(t, unknown, 2, &err) && strstr(err.text, "t.conf: node n9 is below no switch"),
       "a missing node: %s", err.text);
    ok(!layout_new(t, many, 2, &err) && strstr(err.text, "node n2 has 1 ranks: "), "too many ranks: %s",
       err.text);
    ok(!layout_new(t, two, 0, &err), "no node at all: %s", err.text);
    topology_free(t);
}

static void check_hosts(void)
{
    struct topology *t = tree("SwitchName=a Nodes=n[0-2]\n");
    struct layout_node uneven[] = { { "n0", 2 }, { "n1", 1 }, { "n2", 3 } };
    static const uint32_t turned[] = { 2, 0, 1 };
    struct err err = { "" };
    struct layout *l = layout_new(t, uneven, 3, &err);
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    layout_write_hosts(l, turned, f);
    fclose(f);
    is_str(text, "n2\nn2\nn2\nn0\nn0\nn1\n", "a host file has a line per rank");
    free(text);
    layout_free(l);
    topology_free(t);
}

int main(void)
{
    check_cost();
    check_cables();
    check_errors();
    check_hosts();
    check_exhaustive();
    check_larger();
    check_size();
    return done_testing();
}
