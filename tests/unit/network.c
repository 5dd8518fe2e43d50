/* network: a fabric's routes, collectives by rounds and exactly, several jobs at once, faults. */
#include "network/network_private.h"

#include <stdlib.h>

#include "network/ring_rounds.h"
#include "tests/tap.h"

#define LATENCY   2e-6
#define BANDWIDTH 10e9
#define MANY      64

static struct network_count ignored;

static double uniform(void)
{
    return rand() / (RAND_MAX + 1.0);
}

/* ---- fabric ---- */

/* 2 levels of 4 and 4 children, 2 spines: the leaf's 4 nodes share 2 cables. */
static void routes(void)
{
    struct fabric_shape shape;
    struct fabric f;
    struct fabric_route r;

    fabric_leafspine(&shape, 16, 4, 2, LATENCY, BANDWIDTH);
    ok(!fabric_init(&f, &shape, NULL), "a leaf-spine fabric is accepted");
    is_int(f.links, 2 * 16 + 2 * 4 * 2, "number of links, both directions counted");
    fabric_route(&f, 1, 3, &r);
    is_int(r.hops, 2, "a route under one leaf has 2 hops");
    ok(r.link[0] == fabric_nic_link(&f, 1, 0, true) && r.link[1] == fabric_nic_link(&f, 3, 0, false),
       "a route under one leaf uses the NICs of both nodes");
    fabric_route(&f, 1, 14, &r);
    is_int(r.hops, 4, "a route between leaves has 4 hops");
    ok(near(r.latency_s, 4 * LATENCY, 1e-12), "latencies of the hops of a route are summed");
    is_int(r.link[1], fabric_leaf_link(&f, 0, 0, true), "destination 14 is reached by the port 14 mod 2");
    is_int(r.link[2], fabric_leaf_link(&f, 3, 0, false), "the last switch is reached by its port 0");
    fabric_route(&f, 2, 2, &r);
    is_int(r.hops, 0, "a route of a rank to itself has no hop");
}

/* D-mod-k: on a tree that blocks nothing no shift of all nodes makes two messages meet. */
static void shifts_do_not_meet(void)
{
    struct fabric_shape shape = {
        .nodes = 64,
        .ranks_per_node = 1,
        .rails = 1,
        .levels = 3,
        .level = { { 4, 1, LATENCY, BANDWIDTH }, { 4, 4, LATENCY, BANDWIDTH }, { 4, 4, LATENCY, BANDWIDTH } }
    };
    struct fabric f;
    uint32_t met = 0;

    fabric_init(&f, &shape, NULL);
    for (uint32_t shift = 1; shift < 64; shift++) {
        uint8_t *used = calloc(f.links, 1);

        for (uint32_t a = 0; a < 64; a++) {
            struct fabric_route r;

            fabric_route(&f, a, (a + shift) % 64, &r);
            for (uint32_t h = 0; h < r.hops; h++)
                met += used[r.link[h]]++;
        }
        free(used);
    }
    ok(!met, "three levels, nothing oversubscribed: all shifts without contention\n%u met", met);
}

static void rails(void)
{
    struct fabric_shape shape;
    struct fabric f;
    struct fabric_route a, b;

    fabric_leafspine(&shape, 8, 4, 4, LATENCY, BANDWIDTH);
    shape.ranks_per_node = 4;
    shape.rails = 2;
    shape.node_latency_s = 1e-6;
    shape.node_bytes_per_s = 100e9;
    fabric_init(&f, &shape, NULL);
    fabric_route(&f, 0, 3, &a);
    ok(a.hops == 2 && a.link[0] == 0 && a.link[1] == f.ranks + 3 && near(a.latency_s, 1e-6, 1e-12),
       "a route within a node uses the ranks' own links");
    fabric_route(&f, 1, 31, &a);
    fabric_route(&f, 2, 28, &b);
    ok(a.link[0] == fabric_nic_link(&f, 0, 1, true) &&
           a.link[a.hops - 1] == fabric_nic_link(&f, 7, 1, false) &&
           b.link[0] == fabric_nic_link(&f, 0, 0, true),
       "local rank i uses NIC i mod rails");
    ok(a.link[1] != b.link[1], "routes to two NICs of one node differ");
}

static void bad_shapes(void)
{
    static const struct {
        struct fabric_shape shape;
        const char *why;
    } bad[] = {
        { { .nodes = 1u << 16, .ranks_per_node = 64, .rails = 1 },
          "65536 nodes of 64 ranks: at most 1048576 ranks are accepted" },
        { { .nodes = 1u << 16,
            .ranks_per_node = 1,
            .rails = 1,
            .levels = 2,
            .level = { { 1, 1, 0, 1 }, { 1u << 16, 4096, 0, 1 } } },
          "level 1: more than 16777216 links" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct fabric f;
        struct err err = { "" };

        ok(fabric_init(&f, &bad[i].shape, &err) < 0, "an invalid shape is rejected, case %zu", i);
        is_str(err.text, bad[i].why, "the reason for the rejected shape");
    }
}

/* ---- rings at once ---- */

static bool same_times(const double *a, const double *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!near(a[i], b[i], 1e-11))
            return false;
    return true;
}

static void closed_rings(void)
{
    int closed = 0, wrong = 0, tried = 0;

    srand(7);
    for (int i = 0; i < 4000; i++) {
        uint32_t n = 2 + (uint32_t)rand() % 20;
        uint64_t rounds = (uint64_t)(rand() % 2 ? n - 1 : 2 * (n - 1)) + (i % 7 == 0 ? 30 : 0);
        int kinds = 1 + rand() % 4;
        double spread = pow(10, 3 * uniform() - 1), cost[32], at[32], walked[32],
               scratch[32 * RING_ROUNDS_SCRATCH];

        for (uint32_t j = 0; j < n; j++) {
            cost[j] = i % 3 ? 1 + rand() % kinds : 0.5 + uniform();
            at[j] = walked[j] = spread * uniform();
        }
        ring_rounds_walk(n, rounds, cost, walked, scratch);
        tried++;
        if (!ring_rounds_closed(n, rounds, cost, at, at, scratch))
            continue;
        closed++;
        wrong += !same_times(at, walked, n);
    }
    ok(!wrong, "rings in closed form end as rings walked message by message\n%d wrong of %d", wrong, closed);
    ok(closed > tried / 2, "most random rings have a closed form\n%d of %d", closed, tried);
}

/* ---- collectives ---- */

static const uint32_t in_order[MANY] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

static struct network *flat(uint32_t nodes)
{
    struct fabric_shape shape;
    struct fabric f;

    fabric_flat(&shape, nodes, LATENCY, BANDWIDTH);
    fabric_init(&f, &shape, NULL);
    return network_new(&f);
}

static double last(const double *leave, uint32_t n)
{
    double most = 0;

    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, leave[i]);
    return most;
}

/* Times of the textbook (doc of model/): all arrive together, a message takes 2 hops. */
static void known_times(void)
{
    const double a = 2 * LATENCY, b = 1 / BANDWIDTH, m = 8e6;
    const struct {
        enum schedule_algorithm algorithm;
        uint32_t n, shards;
        double want;
    } cases[] = {
        { SCHEDULE_RING, 8, 0, 14 * (a + m / 8 * b) },
        { SCHEDULE_RING, 11, 0, 20 * (a + m / 11 * b) },
        { SCHEDULE_TREE, 8, 0, 6 * (a + m * b) },
        { SCHEDULE_DOUBLING, 16, 0, 4 * (a + m * b) },
        { SCHEDULE_HALVING, 16, 0, 8 * a + 2 * m * b * 15 / 16 },
        /* Seven others send half the buffer to each of two servers, and get it back. */
        { SCHEDULE_SERVER, 8, 2, 2 * (a + 7 * m / 2 * b) },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (enum network_mode mode = NETWORK_ROUNDS; mode <= NETWORK_EXACT; mode++) {
            struct schedule_spec spec = { cases[i].algorithm, cases[i].n, m, 0, cases[i].shards };
            struct network *n = flat(cases[i].n);
            struct network_collective *c = network_collective_new(n, &spec, in_order);
            struct network_count count = { 0 };
            double at[MANY] = { 0 };

            network_run(c, mode, at, at, &count);
            ok(near(last(at, cases[i].n), cases[i].want, 1e-9) && count.mode == mode &&
                   count.messages == c->schedule.messages,
               "%s of %u by %s: %g s", schedule_algorithms[cases[i].algorithm], cases[i].n,
               network_modes[mode], cases[i].want);
            network_collective_free(c);
            network_free(n);
        }
}

static void compare_modes(struct network *n, const struct schedule_spec *spec, const char *what)
{
    struct network_collective *c = network_collective_new(n, spec, in_order);
    int wrong = 0;

    for (int i = 0; i < 20; i++) {
        double arrive[MANY], rounds[MANY], exact[MANY], spread = pow(10, 4 * uniform() - 6);

        for (uint32_t m = 0; m < spec->members; m++)
            arrive[m] = 5 + spread * uniform();
        network_run(c, NETWORK_ROUNDS, arrive, rounds, &ignored);
        network_run(c, NETWORK_EXACT, arrive, exact, &ignored);
        wrong += !same_times(rounds, exact, spec->members);
    }
    ok(network_rounds_exact(c) && !wrong, "%s of %u, %s: by rounds is exact\n%d of 20 differ",
       schedule_algorithms[spec->algorithm], spec->members, what, wrong);
    network_collective_free(c);
}

/* On a switch that blocks nothing, one rank a NIC, no link is shared, whoever comes late. */
static void rounds_equal_exact(void)
{
    static const struct schedule_spec specs[] = {
        { SCHEDULE_RING, 24, 1e6, 0, 0 },
        { SCHEDULE_TREE, 21, 1e6, 0, 0 },
        { SCHEDULE_DOUBLING, 22, 1e6, 0, 0 },
        { SCHEDULE_HALVING, 32, 1e6, 0, 0 },
        { SCHEDULE_HALVING, 27, 1e6, 0, 0 },
        { SCHEDULE_HIERARCHICAL_RING, 24, 1e6, 4, 0 },
        { SCHEDULE_HIERARCHICAL_HALVING, 48, 1e6, 4, 0 },
    };
    struct network *n = flat(48);

    srand(3);
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
        compare_modes(n, &specs[i], "healthy");
    network_set_link(n, fabric_nic_link(&n->fabric, 5, 0, true), 3, 1e-5);
    compare_modes(n, &specs[0], "a slow link");
    compare_modes(n, &specs[4], "a slow link");
    network_free(n);
}

/* Leaf-spine with one spine for four nodes: a ring in which every message leaves its leaf. */
static void sharing(void)
{
    struct schedule_spec spec = { SCHEDULE_RING, 16, 16e6, 0, 0 };
    uint32_t scattered[16];
    struct fabric_shape shape;
    struct fabric f;
    struct network_count count = { 0 };
    double at[16] = { 0 }, exact[16], want = 30 * (4 * LATENCY + 1e6 / (BANDWIDTH / 4));

    for (uint32_t i = 0; i < 16; i++)
        scattered[i] = i % 4 * 4 + i / 4;
    fabric_leafspine(&shape, 16, 4, 1, LATENCY, BANDWIDTH);
    fabric_init(&f, &shape, NULL);
    struct network *n = network_new(&f);
    struct network_collective *ordered = network_collective_new(n, &spec, in_order);
    struct network_collective *c = network_collective_new(n, &spec, scattered);

    ok(network_rounds_exact(ordered), "a ring in order shares no cable");
    network_run(c, NETWORK_EXACT, at, exact, &count);
    ok(near(last(exact, 16), want, 1e-9) && count.shared, "a shuffled ring has a quarter of each cable");
    network_run(c, NETWORK_ROUNDS, at, at, &count);
    ok(near(last(at, 16), want, 1e-9) && count.shared,
       "a shuffled ring by rounds takes the same, and is reported as shared");
    at[3] = 1e-3;
    network_run(c, NETWORK_AUTO, at, exact, &count);
    is_int(count.mode, NETWORK_SAMPLED, "mode auto samples a shuffled ring");
    network_run(ordered, NETWORK_AUTO, at, exact, &count);
    is_int(count.mode, NETWORK_ROUNDS, "mode auto uses rounds for a ring in order");
    network_collective_free(ordered);
    network_collective_free(c);
    network_free(n);
}

/* Steps of noisy computes on an oversubscribed tree, in scattered order: their whole time. */
static double steps_s(struct network_collective *c, enum network_mode mode, struct network_count *count)
{
    double at[MANY] = { 0 };
    uint32_t n = c->schedule.spec.members;

    srand(5);
    for (int step = 0; step < 20; step++) {
        for (uint32_t i = 0; i < n; i++)
            at[i] += 2e-3 * uniform();
        network_run(c, mode, at, at, count);
    }
    return last(at, n);
}

static void samples(void)
{
    static const enum schedule_algorithm algorithms[] = { SCHEDULE_RING, SCHEDULE_DOUBLING, SCHEDULE_HALVING,
                                                          SCHEDULE_TREE };
    uint32_t scattered[MANY];
    struct fabric_shape shape;
    struct fabric f;

    for (uint32_t i = 0; i < MANY; i++)
        scattered[i] = i * 37 % MANY;
    fabric_leafspine(&shape, MANY, 8, 2, LATENCY, BANDWIDTH);
    fabric_init(&f, &shape, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(algorithms); i++) {
        struct schedule_spec spec = { algorithms[i], MANY, 20e6, 0, 0 };
        struct network *n = network_new(&f);
        struct network_collective *c = network_collective_new(n, &spec, scattered);
        struct network_count count = { 0 }, more;
        double exact = steps_s(c, NETWORK_EXACT, &ignored), sampled = steps_s(c, NETWORK_SAMPLED, &count);

        ok(near(sampled, exact, 0.05) && count.mode == NETWORK_SAMPLED && count.shared,
           "%s: sampled steps end within 5 %% of exact ones", schedule_algorithms[algorithms[i]]);
        if (!near(sampled, exact, 0.05))
            printf("#   sampled %g s, exact %g s\n", sampled, exact);
        ok(count.samples > 0 && count.messages == 20 * c->schedule.messages,
           "the number of samples is counted");
        more = count;
        steps_s(c, NETWORK_SAMPLED, &more);
        is_int((long long)more.samples, (long long)count.samples, "a known collective is not sampled again");
        network_set_link(n, fabric_nic_link(&f, 3, 0, true), 4, 0);
        steps_s(c, NETWORK_SAMPLED, &more);
        ok(more.samples > count.samples, "a fault is sampled again");
        network_heal(n);
        count = more;
        steps_s(c, NETWORK_SAMPLED, &more);
        is_int((long long)more.samples, (long long)count.samples,
               "after the fault the earlier samples are used again");
        network_collective_free(c);
        network_free(n);
    }
}

/* Two messages to one node, from its own leaf and from another: by latency, 4 hops get half of what 2 get. */
static void latency_weighs(void)
{
    struct schedule_spec spec = { SCHEDULE_SERVER, 3, 30e6, 0, 1 };
    const uint32_t rank[] = { 0, 1, 4 };
    double zero[3] = { 0 }, equal[3], weighed[3];
    struct fabric_shape shape;
    struct fabric f;

    fabric_leafspine(&shape, 8, 4, 4, LATENCY, BANDWIDTH);
    fabric_init(&f, &shape, NULL);
    struct network *n = network_new(&f);
    struct network_collective *c = network_collective_new(n, &spec, rank);

    network_run(c, NETWORK_ROUNDS, zero, equal, &ignored);
    network_weigh_latency(n, true);
    network_run(c, NETWORK_ROUNDS, zero, weighed, &ignored);
    ok(near(equal[2], 2 * (4 * LATENCY + 30e6 / BANDWIDTH * 2), 1e-9) &&
           near(weighed[2], 2 * (4 * LATENCY + 30e6 / BANDWIDTH * 3), 1e-9),
       "links are shared equally, or by latency if the fabric weighs it");
    network_collective_free(c);
    network_free(n);
}

static void faults(void)
{
    struct schedule_spec spec = { SCHEDULE_RING, 8, 8e6, 0, 0 };
    struct network *n = flat(8);
    struct network_collective *c = network_collective_new(n, &spec, in_order);
    double zero[8] = { 0 }, well[8], ill[8], healed[8], cost = 2 * LATENCY + 1e6 / BANDWIDTH;

    network_run(c, NETWORK_ROUNDS, zero, well, &ignored);
    network_set_link(n, fabric_nic_link(&n->fabric, 2, 0, true), 4, 0);
    network_run(c, NETWORK_ROUNDS, zero, ill, &ignored);
    ok(near(last(ill, 8), 14 * (cost + 3e6 / BANDWIDTH), 1e-9),
       "one slow link determines the time of a ring");
    network_heal(n);
    network_run(c, NETWORK_ROUNDS, zero, healed, &ignored);
    ok(same_times(well, healed, 8), "after a fault times are as before");
    network_set_link(n, fabric_nic_link(&n->fabric, 2, 0, true), 1, cost);
    network_run(c, NETWORK_EXACT, zero, ill, &ignored);
    ok(near(last(ill, 8), 14 * 2 * cost, 1e-9), "one link with more latency determines the time of a ring");
    network_collective_free(c);
    network_free(n);
}

/* A server is there before the member on its node is, and waits with the sum for that one's part. */
static void server_waits(void)
{
    struct schedule_spec spec = { SCHEDULE_SERVER, 8, 8e6, 0, 1 };
    struct network *n = flat(8);
    struct network_collective *c = network_collective_new(n, &spec, in_order);
    double late[8] = { 1 }, exact[8], rounds[8], one = 8e6 / BANDWIDTH, way = 2 * LATENCY;

    network_run(c, NETWORK_EXACT, late, exact, &ignored);
    network_run(c, NETWORK_ROUNDS, late, rounds, &ignored);
    ok(near(exact[0], 1, 1e-9) && near(exact[1], 1 + way + 7 * one, 1e-9),
       "a server receives messages before the member on its node enters");
    ok(same_times(exact, rounds, 8), "a server by rounds ends as message by message");
    network_collective_free(c);
    network_free(n);
}

/* Seven members send to the eighth, and take back. */
static void gates(void)
{
    struct schedule_spec spec = { SCHEDULE_SERVER, 8, 8e6, 0, 1 };
    struct network *n = flat(8);
    struct network_collective *c = network_collective_new(n, &spec, in_order);
    uint32_t in = fabric_nic_link(&n->fabric, 0, 0, false);
    uint32_t out = fabric_nic_link(&n->fabric, 0, 0, true);
    double zero[8] = { 0 }, leave[8], one = 8e6 / BANDWIDTH, way = 2 * LATENCY;
    struct network_count count = { 0 };

    network_run(c, NETWORK_EXACT, zero, leave, &ignored);
    ok(near(last(leave, 8), 2 * (way + 7 * one), 1e-9) && near(leave[1], leave[7], 1e-9),
       "without a gate all messages to a server share its link and end together");
    network_set_gate(n, in, 1, 0);
    network_set_gate(n, out, 1, 0);
    network_run(c, NETWORK_AUTO, zero, leave, &count);
    ok(near(last(leave, 8), 2 * 7 * (way + one), 1e-9),
       "a gate of 1: messages follow one another, each with its latency");
    ok(count.mode == NETWORK_EXACT && !count.shared,
       "a collective with a gate is simulated exactly, without shared links");
    ok(near(leave[1], 8 * (way + one), 1e-9) && near(leave[4], 11 * (way + one), 1e-9),
       "with a gate the first rank gets its answer long before the last");
    ok(near(leave[0], 7 * (way + one), 1e-9),
       "the rank on the server's node does not wait for the others' answers");
    network_set_gate(n, in, 2, 0);
    network_set_gate(n, out, 0, 0);
    network_run(c, NETWORK_AUTO, zero, leave, &ignored);
    ok(near(last(leave, 8), 3 * (way + 2 * one) + way + one + way + 7 * one, 1e-9),
       "a gate of 2 on the way in");
    network_set_gate(n, in, 0, 10 * one);
    network_run(c, NETWORK_AUTO, zero, leave, &ignored);
    ok(near(last(leave, 8), 6 * 10 * one + way + one + way + 7 * one, 1e-9),
       "a gap between admitted messages");
    network_collective_free(c);
    network_free(n);
}

static bool enters(struct gate_queues *g, uint32_t id, double now_s, double *again_s)
{
    return gate_queues_enter(g, &(uint32_t){ 0 }, 1, id, now_s, again_s);
}

static void queue_at_gate(void)
{
    const uint32_t link = 0;
    struct gate_queues *g = gate_queues_new(1);
    uint32_t id = 0;
    double again_s;

    gate_queues_set(g, link, 2, 0);
    ok(enters(g, 1, -3, &again_s) && enters(g, 2, 1, &again_s), "a gate of 2 admits two messages at once");
    ok(!enters(g, 3, 2, &again_s) && isinf(again_s), "a third message waits until one has left");
    ok(!gate_queues_next(g, &link, 1, 2, &id), "a full gate calls no message");
    gate_queues_leave(g, &link, 1);
    ok(gate_queues_next(g, &link, 1, 2, &id) && id == 3,
       "after one has left the gate calls the waiting message");
    gate_queues_set(g, link, 0, 0.5);
    ok(enters(g, 1, 1, &again_s), "an empty gate with a gap opens at once");
    ok(!enters(g, 2, 1.25, &again_s) && near(again_s, 1.5, 1e-12),
       "a gate with a gap opens half a second after the last entry");
    ok(enters(g, 2, 4, &again_s), "a gate whose gap is over opens at once");
    gate_queues_set(g, link, 1, 0.5);
    ok(enters(g, 1, 1, &again_s) && !enters(g, 2, 9, &again_s) && isinf(again_s),
       "a gate that is full does not open after its gap");
    gate_queues_free(g);
}

static void incast(void)
{
    struct schedule_spec spec = { SCHEDULE_SERVER, 8, 8e6, 0, 1 };
    struct network *n = flat(8);
    struct network_collective *c = network_collective_new(n, &spec, in_order);
    uint32_t in = fabric_nic_link(&n->fabric, 0, 0, false);
    double zero[8] = { 0 }, leave[8], well[8], one = 8e6 / BANDWIDTH, way = 2 * LATENCY;

    network_run(c, NETWORK_EXACT, zero, well, &ignored);
    network_set_incast(n, 3, 0.5);
    network_run(c, NETWORK_EXACT, zero, leave, &ignored);
    ok(near(last(leave, 8), 2 * (way + 7 * one) + 0.5 * 4 * one, 1e-9),
       "four messages beyond the buffer: half of each is sent again, none on the way back");
    network_run(c, NETWORK_ROUNDS, zero, leave, &ignored);
    ok(near(last(leave, 8), 2 * (way + 7 * one) + 0.5 * 4 * one, 1e-9),
       "losses by rounds take as long as message by message");
    network_set_gate(n, in, 3, 0);
    network_run(c, NETWORK_AUTO, zero, leave, &ignored);
    ok(near(last(leave, 8), 3 * way + 7 * one + way + 7 * one, 1e-9),
       "a gate that admits one message at a time avoids losses");
    network_set_gate(n, in, 0, 0);
    network_set_link(n, in, 2, 0);
    network_run(c, NETWORK_EXACT, zero, leave, &ignored);
    ok(near(last(leave, 8), 2 * way + 2 * (7 + 0.5 * 4) * one + 7 * one, 1e-9),
       "loss on a slow link is scaled with it");
    network_heal(n);
    network_set_incast(n, 3, 0);
    network_run(c, NETWORK_ROUNDS, zero, leave, &ignored);
    ok(same_times(well, leave, 8), "with loss 0 times are as before");
    network_collective_free(c);
    network_free(n);
}

/* ---- jobs ---- */

/* Each rank: compute, collective, so many times. */
struct looper {
    struct network_collective *c;
    uint32_t ranks, steps;
    double compute_s[MANY], ended_s[MANY];
    uint32_t asked[MANY];
};

static void looper_next(void *arg, uint32_t rank, double now_s, struct network_op *op)
{
    struct looper *l = arg;
    uint32_t n = l->asked[rank]++;

    l->ended_s[rank] = now_s;
    if (n == 2 * l->steps)
        op->kind = NETWORK_END;
    else if (n % 2)
        *op = (struct network_op){ .kind = NETWORK_ENTER, .collective = l->c, .member = rank };
    else
        *op = (struct network_op){ .kind = NETWORK_COMPUTE, .seconds = l->compute_s[rank] };
}

static void jobs_share_links(void)
{
    /* Two rings over the same two leaves, whose spine has room for one message each way. */
    struct schedule_spec spec = { SCHEDULE_RING, 2, 20e6, 0, 0 };
    const uint32_t one[] = { 0, 4 }, two[] = { 1, 5 };
    struct fabric_shape shape;
    struct fabric f;
    struct network_count count = { 0 };

    fabric_leafspine(&shape, 8, 4, 1, LATENCY, BANDWIDTH);
    fabric_init(&f, &shape, NULL);
    struct network *n = network_new(&f);
    struct looper a = { .ranks = 2, .steps = 3 }, b = { .ranks = 2, .steps = 3 };
    struct network_job jobs[] = { { 2, looper_next, &a }, { 2, looper_next, &b } };

    a.c = network_collective_new(n, &spec, one);
    b.c = network_collective_new(n, &spec, two);
    network_play(n, jobs, 1, &count);
    double alone = 3 * 2 * (4 * LATENCY + 10e6 / BANDWIDTH);

    ok(near(a.ended_s[0], alone, 1e-9), "a job alone ends at the computed time");
    is_int((long long)count.messages, 3 * 4, "messages of a job are counted");
    memset(a.asked, 0, sizeof(a.asked));
    network_play(n, jobs, 2, &ignored);
    ok(near(a.ended_s[0], 3 * 2 * (4 * LATENCY + 20e6 / BANDWIDTH), 1e-9) &&
           near(b.ended_s[1], a.ended_s[0], 1e-9),
       "two jobs that start together have half of the spine each");
    memset(a.asked, 0, sizeof(a.asked));
    memset(b.asked, 0, sizeof(b.asked));
    b.compute_s[0] = b.compute_s[1] = 1;
    network_play(n, jobs, 2, &ignored);
    ok(near(a.ended_s[0], alone, 1e-9), "a job that computes does not slow down the other");
    memset(a.asked, 0, sizeof(a.asked));
    network_play(n, (struct network_job[]){ { 1, looper_next, &a } }, 1, &count);
    is_int(a.asked[0], 2, "a rank whose partner never enters stays in its collective");
    network_collective_free(a.c);
    network_collective_free(b.c);
    network_free(n);
}

/* Random computes between: steps chained by rounds are the jobs of the event loop, and a run repeats to the
 * bit. */
static void steps_chain(void)
{
    struct schedule_spec spec = { SCHEDULE_HALVING, 16, 4e6, 0, 0 };
    struct network *n = flat(16);
    struct looper l = { .ranks = 16, .steps = 10 }, again;
    struct network_job job = { 16, looper_next, &l };
    double at[16] = { 0 };

    l.c = network_collective_new(n, &spec, in_order);
    for (int i = 0; i < 16; i++)
        l.compute_s[i] = 1e-3 * (1 + uniform());
    again = l;
    network_play(n, &job, 1, &ignored);
    for (uint32_t k = 0; k < l.steps; k++) {
        for (int i = 0; i < 16; i++)
            at[i] += l.compute_s[i];
        network_run(l.c, NETWORK_ROUNDS, at, at, &ignored);
    }
    ok(same_times(at, l.ended_s, 16), "ten steps by rounds end as in the event loop");
    job.arg = &again;
    network_play(n, &job, 1, &ignored);
    ok(!memcmp(again.ended_s, l.ended_s, sizeof(l.ended_s)), "a repeated run has identical times");
    network_collective_free(l.c);
    network_free(n);
}

int main(void)
{
    routes();
    shifts_do_not_meet();
    rails();
    bad_shapes();
    closed_rings();
    known_times();
    rounds_equal_exact();
    sharing();
    samples();
    latency_weighs();
    faults();
    server_waits();
    gates();
    queue_at_gate();
    incast();
    jobs_share_links();
    steps_chain();
    return done_testing();
}
