/* What simulating a network costs: one line of JSON.  One core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "common/xalloc.h"
#include "network/network_private.h"

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct network *new_network(const struct fabric_shape *shape)
{
    struct fabric f;
    struct err err;

    if (fabric_init(&f, shape, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return network_new(&f);
}

/* 2,048 nodes of 8 ranks, each with its own NIC; the levels above have half of the ports. */
static const struct fabric_shape large = {
    .nodes = 2048,
    .ranks_per_node = 8,
    .rails = 8,
    .node_latency_s = 1e-6,
    .node_bytes_per_s = 200e9,
    .levels = 3,
    .level = { { 32, 1, 1e-6, 50e9 }, { 16, 128, 1e-6, 50e9 }, { 4, 64, 1e-6, 50e9 } },
};

static struct network_collective *all_ranks(struct network *n, enum schedule_algorithm algorithm,
                                            double bytes, bool scattered)
{
    const struct fabric *f = &n->fabric;
    struct schedule_spec spec = { algorithm, f->ranks, bytes, f->shape.ranks_per_node, 0 };
    uint32_t *rank = xcalloc(f->ranks, sizeof(*rank));
    struct network_collective *c;

    srand48(7);
    for (uint32_t i = 0; i < f->ranks; i++)
        rank[i] = i;
    for (uint32_t i = f->ranks; scattered && i > 1; i--) {
        uint32_t j = (uint32_t)(drand48() * i), swap = rank[i - 1];

        rank[i - 1] = rank[j];
        rank[j] = swap;
    }
    c = network_collective_new(n, &spec, rank);
    free(rank);
    return c;
}

/* Collectives with noise between; processor seconds of all of them, the first solve included. */
static double run(struct network_collective *c, enum network_mode mode, int times,
                  struct network_count *count)
{
    uint32_t members = c->schedule.spec.members;
    double *at = xcalloc(members, sizeof(*at)), began = now_s();

    srand48(1);
    for (int k = 0; k < times; k++) {
        for (uint32_t i = 0; i < members; i++)
            at[i] += 1e-3 * drand48();
        network_run(c, mode, at, at, count);
    }
    free(at);
    return now_s() - began;
}

static void by_rounds(enum schedule_algorithm algorithm, const char *name)
{
    struct network *n = new_network(&large);
    struct network_collective *c = all_ranks(n, algorithm, 256e6, false);
    struct network_count first = { 0 }, count = { 0 };
    double solve_s = run(c, NETWORK_ROUNDS, 1, &first), s = run(c, NETWORK_ROUNDS, 100, &count);

    printf("\"%s_16384x100_s\": %.4g, \"%s_first_s\": %.4g, \"%s_walked_per_s\": %.4g, ", name, s, name,
           solve_s, name, (double)count.walked / s);
    network_collective_free(c);
    network_free(n);
}

/* One rank a node, nodes under each leaf, leaves under each pod; every switch has `parents` cables up. */
static struct fabric_shape tree(uint32_t leaf, uint32_t pod, uint32_t pods, uint32_t parents)
{
    return (struct fabric_shape){
        .nodes = leaf * pod * pods,
        .ranks_per_node = 1,
        .rails = 1,
        .levels = 3,
        .level = { { leaf, 1, 2e-6, 10e9 }, { pod, parents, 2e-6, 10e9 }, { pods, parents, 2e-6, 10e9 } },
    };
}

/* An event is the start of a transfer, its end, or the end of a rank's compute; what changes rates is none.
 */
static void exactly(enum schedule_algorithm algorithm, uint32_t parents, bool scattered, const char *name)
{
    const struct fabric_shape shape = tree(8, 8, 8, parents);
    struct network *n = new_network(&shape);
    struct network_collective *c = all_ranks(n, algorithm, 512 * 204800.0, scattered);
    struct network_count count = { 0 };
    double s = run(c, NETWORK_EXACT, algorithm == SCHEDULE_RING ? 1 : 20, &count);

    printf("\"%s_s\": %.4g, \"%s_events_per_s\": %.4g, ", name, s, name, (double)count.events / s);
    network_collective_free(c);
    network_free(n);
}

/* 1,024 to 16,384 ranks: 100 collectives in order by rounds; one, scattered over an oversubscribed tree,
 * exactly. */
static void growth(void)
{
    printf("\"growth\": [");
    for (uint32_t ranks = 1024; ranks <= 16384; ranks *= 2) {
        const struct fabric_shape shape = tree(16, 16, ranks / 256, 8);
        struct network *n = new_network(&shape);
        struct network_collective *ordered = all_ranks(n, SCHEDULE_HALVING, 256e6, false);
        struct network_collective *scattered = all_ranks(n, SCHEDULE_HALVING, 256e6, true);
        struct network_count count = { 0 }, exact = { 0 };
        double rounds_s = run(ordered, NETWORK_ROUNDS, 100, &count);
        double exact_s = run(scattered, NETWORK_EXACT, 1, &exact);

        printf("%s{\"ranks\": %u, \"rounds_x100_s\": %.4g, \"exact_s\": %.4g, \"exact_events_per_s\": %.4g}",
               ranks > 1024 ? ", " : "", ranks, rounds_s, exact_s, (double)exact.events / exact_s);
        network_collective_free(ordered);
        network_collective_free(scattered);
        network_free(n);
    }
    printf("], ");
}

int main(void)
{
    struct rusage usage;

    printf("{");
    by_rounds(SCHEDULE_HALVING, "halving");
    by_rounds(SCHEDULE_HIERARCHICAL_RING, "hierarchical");
    by_rounds(SCHEDULE_HIERARCHICAL_HALVING, "hierarchical_halving");
    by_rounds(SCHEDULE_RING, "ring");
    exactly(SCHEDULE_RING, 8, false, "exact_ring_512");
    exactly(SCHEDULE_HALVING, 8, false, "exact_halving_512");
    exactly(SCHEDULE_RING, 8, true, "exact_ring_512_scattered");
    exactly(SCHEDULE_RING, 4, true, "exact_ring_512_scattered_half");
    exactly(SCHEDULE_HALVING, 4, true, "exact_halving_512_scattered_half");
    growth();
    getrusage(RUSAGE_SELF, &usage);
    printf("\"peak_bytes\": %ld}\n", usage.ru_maxrss * 1024);
    return 0;
}
