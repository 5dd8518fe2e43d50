#include "model/collective.h"

#include "tests/tap.h"

static struct collective make(enum collective_op op, enum collective_algo algo, double ranks)
{
    return (struct collective){
        .op = op,
        .algo = algo,
        .ranks = ranks,
        .link = { 10e-6, 25e9 },
        .intra = { 1e-6, 600e9 },
        .slowest_bytes_per_s = INFINITY,
        .ranks_per_node = 8,
        .rails = 1,
        .shards = 1,
        .skew = 1,
    };
}

/* A ring's rounds one by one: each sends a part of the vector and waits. */
static void counted(void)
{
    struct collective c = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_RING, 6);
    double time_s = 0;

    for (int round = 0; round < 2 * (6 - 1); round++)
        time_s += 10e-6 + 12e6 / 6 / 25e9;
    ok(near(collective_time_s(&c, 12e6), time_s, 1e-12), "cost of a ring is that of its rounds");

    c = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_HALVING, 8);
    time_s = 0;
    for (double part = 12e6 / 2; part > 12e6 / 9; part /= 2) /* half, a quarter, an eighth; and back */
        time_s += 2 * (10e-6 + part / 25e9);
    ok(near(collective_time_s(&c, 12e6), time_s, 1e-12),
       "cost of halving and doubling is that of its rounds");
    c.ranks = 9;
    ok(near(collective_time_s(&c, 12e6), time_s + 2 * (10e-6 + 12e6 / 25e9), 1e-12),
       "halving and doubling on nine ranks includes the fold of the ninth");

    c = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_HIERARCHICAL, 256);
    ok(near(collective_time_s(&c, 700e6), 14 * (1e-6 + 700e6 / 8 / 600e9) + 62 * (10e-6 + 700e6 / 32 / 25e9),
            1e-12),
       "cost of two levels with one leader per node");
    c.rails = 8;
    ok(near(collective_time_s(&c, 700e6),
            14 * (1e-6 + 700e6 / 8 / 600e9) + 62 * (10e-6 + 700e6 / 32 / 8 / 25e9), 1e-12),
       "cost of two levels with a rail per rank");
}

static void related(void)
{
    for (double n = 1; n <= 1024; n *= 4) {
        struct collective all = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_RING, n);
        struct collective gather = make(COLLECTIVE_ALLGATHER, COLLECTIVE_RING, n);
        struct collective scatter = make(COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_RING, n);
        struct collective halving = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_HALVING, n);
        struct collective broadcast = make(COLLECTIVE_BROADCAST, COLLECTIVE_TREE, n);
        struct collective tree = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_TREE, n);

        ok(near(collective_time_s(&all, 1e8),
                collective_time_s(&gather, 1e8) + collective_time_s(&scatter, 1e8), 1e-12),
           "%g ranks: all-reduce is reduce-scatter and all-gather", n);
        ok(near(collective_time_s(&tree, 1e8), 2 * collective_time_s(&broadcast, 1e8), 1e-12),
           "%g ranks: all-reduce by tree is reduce and broadcast", n);
        ok(near(collective_sent_bytes(&all, 1e8), collective_sent_bytes(&halving, 1e8), 1e-12),
           "%g ranks: ring and halving send the same", n);
        ok(collective_cost(&halving).fixed_s <= collective_cost(&all).fixed_s, "%g ranks: in fewer messages",
           n);
        ok(n > 1 || (collective_time_s(&all, 1e8) == 0 && collective_time_s(&tree, 1e8) == 0),
           "a collective of one rank takes no time");
    }
}

static void others(void)
{
    struct collective a = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_RING, 256);
    struct collective b = make(COLLECTIVE_ALLREDUCE, COLLECTIVE_TREE, 256);
    double size = collective_crossover_bytes(&a, &b);

    ok(near(collective_time_s(&a, size), collective_time_s(&b, size), 1e-9),
       "at the crossover both cost the same");
    ok(collective_time_s(&a, size / 2) > collective_time_s(&b, size / 2),
       "the tree is cheaper below the crossover");
    ok(isnan(collective_crossover_bytes(&a, &a)), "an algorithm has no crossover with itself");
    b.algo = COLLECTIVE_HALVING;
    ok(isnan(collective_crossover_bytes(&a, &b)), "there is no crossover if one algorithm is always cheaper");

    a.slowest_bytes_per_s = 1e9;
    ok(near(collective_cost(&a).s_per_byte, 2 * 255 / 256.0 / 1e9, 1e-12),
       "the slowest link determines the cost of a ring");
    a = make(COLLECTIVE_ALLTOALL, COLLECTIVE_RING, 64);
    ok(near(collective_time_s(&a, 64e6), 63 * (10e-6 + 1e6 / 25e9), 1e-12), "cost of an all-to-all");
    a.skew = 2;
    ok(near(collective_time_s(&a, 64e6), 63 * (10e-6 + 2e6 / 25e9), 1e-12),
       "the busiest rank determines the cost of a skewed all-to-all");
    a = make(COLLECTIVE_PARAMETER_SERVER, COLLECTIVE_RING, 1000);
    a.link = (struct collective_link){ 0, 100e9 };
    ok(near(collective_time_s(&a, 4e9), 80, 1e-12), "cost of one parameter server");
    a.shards = 10;
    ok(near(collective_time_s(&a, 4e9), 8, 1e-12), "cost of ten parameter servers");
    a = make(COLLECTIVE_BROADCAST, COLLECTIVE_RING, 8);
    ok(isnan(collective_time_s(&a, 1)) && isnan(collective_sent_bytes(&a, 1)),
       "an operation without the algorithm has no cost");
}

int main(void)
{
    counted();
    related();
    others();
    for (int i = 0; i < COLLECTIVE_OPS; i++)
        ok(collective_op_find(collective_ops[i]) == (enum collective_op)i, "%s is found by its name",
           collective_ops[i]);
    ok(collective_op_find("x") == COLLECTIVE_OPS, "an unknown operation is not found");
    return done_testing();
}
