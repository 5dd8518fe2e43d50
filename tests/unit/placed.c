/* The simulated network's opinion of orders of ranks: on oversubscribed trees of two and three levels, a job
 * in the suggested order against Slurm's block order and random ones. The switches have more than one cable
 * up, with a route for each destination, of which the model of topology/ knows nothing. */
#include <stdlib.h>

#include "network/network.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "topology/arrange.h"

#define NODES_MAX 128
#define RANDOM    5
#define BYTES     100e6
#define RATE      12.5e9
#define COMPUTE   0.2 /* of a step in the suggested order, over its communication */

struct cluster {
    const char *name;
    struct fabric_shape shape;
    struct topology_assumption links;
};

static const struct cluster clusters[] = {
    { "two levels, 4 to 1",
      { .nodes = 64,
        .ranks_per_node = 1,
        .rails = 1,
        .levels = 2,
        .level = { { 16, 1, 1e-6, RATE }, { 4, 4, 1e-6, RATE } } },
      { RATE, 1e-6, { 4 }, 1 } },
    { "two levels, 3 to 1, leaves of 12",
      { .nodes = 96,
        .ranks_per_node = 1,
        .rails = 1,
        .levels = 2,
        .level = { { 12, 1, 1e-6, RATE }, { 8, 4, 1e-6, RATE } } },
      { RATE, 1e-6, { 3 }, 1 } },
    { "three levels, 2 to 1 and 4 to 1",
      { .nodes = 128,
        .ranks_per_node = 1,
        .rails = 1,
        .levels = 3,
        .level = { { 8, 1, 1e-6, RATE }, { 4, 4, 1e-6, RATE }, { 4, 1, 1e-6, RATE } } },
      { RATE, 1e-6, { 2, 4 }, 2 } },
};

static uint32_t name_of[NODES_MAX],
    fabric_node[NODES_MAX]; /* of a node of the fabric; of one of the job, in Slurm's order */

static void shuffle(uint32_t *what, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)(uniform() * i), kept = what[i - 1];

        what[i - 1] = what[k];
        what[k] = kept;
    }
}

/* topology.conf of the fabric: leaves, pods where there are three levels, and the top. */
static struct topology *declare(const struct cluster *c)
{
    const struct fabric_shape *s = &c->shape;
    uint32_t per_leaf = s->level[0].children, per_pod = s->levels > 2 ? s->level[1].children : 0;
    uint32_t leaves = s->nodes / per_leaf;
    struct topology *t = topology_new("fabric");
    char list[2000], name[16];
    struct err err = { "" };

    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        *list = '\0';
        for (uint32_t i = leaf * per_leaf; i < (leaf + 1) * per_leaf; i++)
            snprintf(list + strlen(list), sizeof(list) - strlen(list), "%sn%03u", *list ? "," : "",
                     name_of[i]);
        snprintf(name, sizeof(name), "leaf%u", leaf);
        topology_add(t, name, list, NULL, NAN, 0, &err);
    }
    for (uint32_t pod = 0; per_pod && pod < leaves / per_pod; pod++) {
        snprintf(name, sizeof(name), "pod%u", pod);
        snprintf(list, sizeof(list), "leaf[%u-%u]", pod * per_pod, (pod + 1) * per_pod - 1);
        topology_add(t, name, NULL, list, NAN, 0, &err);
    }
    snprintf(list, sizeof(list), "%s[0-%u]", per_pod ? "pod" : "leaf",
             (per_pod ? leaves / per_pod : leaves) - 1);
    topology_add(t, "top", NULL, list, NAN, 0, &err);
    if (topology_finish(t, &err) < 0)
        ok(false, "the fabric's topology: %s", err.text);
    topology_assume(t, &c->links);
    return t;
}

/* A job on n nodes of the fabric, drawn from all, in the order of their names. */
static struct layout *allocate(const struct cluster *c, const struct topology *t, uint32_t n)
{
    static char names[NODES_MAX][8];
    struct layout_node nodes[NODES_MAX];
    uint32_t drawn[NODES_MAX], of_name[NODES_MAX], k = 0;
    bool in[NODES_MAX] = { false };
    struct err err = { "" };
    struct layout *l;

    for (uint32_t i = 0; i < c->shape.nodes; i++) {
        drawn[i] = i;
        of_name[name_of[i]] = i;
    }
    shuffle(drawn, c->shape.nodes);
    for (uint32_t i = 0; i < n; i++)
        in[name_of[drawn[i]]] = true;
    for (uint32_t name = 0; name < c->shape.nodes; name++) {
        if (!in[name])
            continue;
        snprintf(names[k], sizeof(names[k]), "n%03u", name);
        nodes[k] = (struct layout_node){ names[k], 1 };
        fabric_node[k++] = of_name[name];
    }
    l = layout_new(t, nodes, n, &err);
    if (!l)
        ok(false, "the job's layout: %s", err.text);
    return l;
}

/* Seconds of the all-reduce in this order of the job's nodes. */
static double simulate(const struct cluster *c, const struct pattern *p, uint32_t n, const uint32_t *order)
{
    static const enum schedule_algorithm algorithms[] = { [PATTERN_RING] = SCHEDULE_RING,
                                                          [PATTERN_HALVING] = SCHEDULE_HALVING,
                                                          [PATTERN_DOUBLING] = SCHEDULE_DOUBLING,
                                                          [PATTERN_GROUPS] = SCHEDULE_HIERARCHICAL_RING };
    struct schedule_spec spec = {
        .algorithm = algorithms[p->kind], .members = n, .bytes = p->bytes, .group = p->group
    };
    uint32_t rank[NODES_MAX];
    double at_s[NODES_MAX] = { 0 }, last_s = 0;
    struct network_count count = { 0 };
    struct network_collective *collective;
    struct network *network;
    struct fabric f;
    struct err err;

    if (fabric_init(&f, &c->shape, &err) < 0) {
        ok(false, "the fabric: %s", err.text);
        return NAN;
    }
    for (uint32_t i = 0; i < n; i++)
        rank[i] = fabric_node[order[i]];
    network = network_new(&f);
    collective = network_collective_new(network, &spec, rank);
    network_run(collective, NETWORK_EXACT, at_s, at_s, &count);
    for (uint32_t i = 0; i < n; i++)
        last_s = fmax(last_s, at_s[i]);
    network_collective_free(collective);
    network_free(network);
    return last_s;
}

static void compare(const struct cluster *c, const char *pattern, uint32_t n, bool scrambled)
{
    uint32_t chosen[NODES_MAX], block[NODES_MAX], random[NODES_MAX];
    struct pattern p = { .bytes = BYTES };
    struct topology *t;
    struct layout *l;
    struct arranged a;
    struct err err;
    double chosen_s, block_s, random_s = 0, compute_s, better;

    for (uint32_t i = 0; i < c->shape.nodes; i++)
        name_of[i] = block[i] = random[i] = i;
    if (scrambled)
        shuffle(name_of, c->shape.nodes);
    t = declare(c);
    l = allocate(c, t, n);
    if (pattern_parse(&p, pattern, &err) < 0 || arrange(l, &p, 1000000, chosen, &a, &err) < 0)
        ok(false, "%s: %s", pattern, err.text);
    chosen_s = simulate(c, &p, n, chosen);
    block_s = simulate(c, &p, n, block);
    for (int i = 0; i < RANDOM; i++) {
        shuffle(random, n);
        random_s += simulate(c, &p, n, random) / RANDOM;
    }
    compute_s = COMPUTE * chosen_s;
    better = (compute_s + random_s) / (compute_s + chosen_s);
    ok(better >= 1.3, "%s, %s on %u nodes: a step is 1.3 times faster than in random order\n%.2f", c->name,
       pattern, n, better);
    ok(chosen_s <= block_s * 1.001,
       "%s, %s on %u nodes with %s names: not slower than Slurm's block order\n%.2f times faster", c->name,
       pattern, n, scrambled ? "scrambled" : "regular", block_s / chosen_s);
    printf("# model: block over suggested %.2f\n", a.slurm.time_s / a.chosen.time_s);
    layout_free(l);
    topology_free(t);
}

int main(void)
{
    static const char *const patterns[] = { "ring", "halving", "groups:8" };

    random_state = 5;
    for (size_t i = 0; i < ARRAY_SIZE(clusters); i++)
        for (size_t k = 0; k < ARRAY_SIZE(patterns); k++) {
            compare(&clusters[i], patterns[k], clusters[i].shape.nodes, false);
            compare(&clusters[i], patterns[k], clusters[i].shape.nodes / 2, true);
        }
    return done_testing();
}
