/* What simulating a network costs: one line of JSON.  One core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "common/xalloc.h"
#include "sim/network.h"

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
    return network_new(&f, 0);
}

/* 2,048 nodes of 8 ranks, each with its own NIC; the levels above have half of the ports. */
static const struct fabric_shape large = {
    .nodes = 2048,
    .ranks_per_node = 8,
    .rails = 8,
    .node_latency_s = 1e-6,
    .node_bytes_per_s = 200e9,
    .levels = 3,
    .level = { { 32, 1, 1, 1e-6, 50e9 }, { 16, 128, 1, 1e-6, 50e9 }, { 4, 64, 1, 1e-6, 50e9 } },
};

static struct network_collective *all_ranks(struct network *n, enum schedule_algorithm algorithm,
                                            double bytes)
{
    const struct fabric *f = network_fabric(n);
    struct schedule_spec spec = {
        SCHEDULE_ALLREDUCE, algorithm, f->ranks, bytes, f->shape.ranks_per_node, 0
    };
    uint32_t *rank = xcalloc(f->ranks, sizeof(*rank));
    struct network_collective *c;

    for (uint32_t i = 0; i < f->ranks; i++)
        rank[i] = i;
    c = network_collective_new(n, &spec, rank, NULL);
    free(rank);
    return c;
}

/* Collectives with noise between; processor seconds of all of them, the first solve included. */
static double run(struct network_collective *c, enum network_mode mode, int times,
                  struct network_count *count)
{
    uint32_t members = network_collective_schedule(c)->spec.members;
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
    struct network_collective *c = all_ranks(n, algorithm, 256e6);
    struct network_count first = { 0 }, count = { 0 };
    double solve_s = run(c, NETWORK_ROUNDS, 1, &first), s = run(c, NETWORK_ROUNDS, 100, &count);

    printf("\"%s_16384x100_s\": %.4g, \"%s_first_s\": %.4g, \"%s_walked_per_s\": %.4g, ", name, s, name,
           solve_s, name, (double)count.walked / s);
    network_collective_free(c);
    network_free(n);
}

static void exactly(enum schedule_algorithm algorithm, uint32_t parents, const char *name)
{
    const struct fabric_shape tree = {
        .nodes = 512,
        .ranks_per_node = 1,
        .rails = 1,
        .levels = 3,
        .level = { { 8, 1, 1, 2e-6, 10e9 }, { 8, parents, 1, 2e-6, 10e9 }, { 8, parents, 1, 2e-6, 10e9 } },
    };
    struct network *n = new_network(&tree);
    struct network_collective *c = all_ranks(n, algorithm, 512 * 204800.0);
    struct network_count count = { 0 };
    double s = run(c, NETWORK_EXACT, 1, &count);

    printf("\"%s_s\": %.4g, \"%s_events_per_s\": %.4g, ", name, s, name, (double)count.events / s);
    network_collective_free(c);
    network_free(n);
}

int main(void)
{
    struct rusage usage;

    printf("{");
    by_rounds(SCHEDULE_HALVING, "halving");
    by_rounds(SCHEDULE_HIERARCHICAL_RING, "hierarchical");
    by_rounds(SCHEDULE_HIERARCHICAL_HALVING, "hierarchical_halving");
    by_rounds(SCHEDULE_RING, "ring");
    exactly(SCHEDULE_RING, 8, "exact_ring_512");
    exactly(SCHEDULE_HALVING, 4, "exact_halving_512");
    getrusage(RUSAGE_SELF, &usage);
    printf("\"peak_bytes\": %ld}\n", usage.ru_maxrss * 1024);
    return 0;
}
