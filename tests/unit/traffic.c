/* Which algorithm a job's collectives are by, from times that each algorithm would make. */
#include "model/traffic.h"

#include "tests/tap.h"

#define HOP_S 6e-6
#define RATE  12.5e9
#define MIB   1048576.0
#define SIZES 3

static double time_of(enum traffic_algorithm a, double n, double g, double bytes)
{
    double nodes = n / g;

    switch (a) {
    case TRAFFIC_HALVING:
        return 2 * log2(n) * HOP_S + 2 * (n - 1) / n * bytes / RATE;
    case TRAFFIC_TREE:
        return 2 * log2(nodes) * (HOP_S + bytes / RATE);
    case TRAFFIC_TWO_LEVEL:
        return 2 * (nodes - 1) * (HOP_S + bytes / nodes / RATE);
    default:
        return 2 * (n - 1) * (HOP_S + bytes / n / RATE);
    }
}

static double hops_of(enum traffic_algorithm a, double n, double g)
{
    return a == TRAFFIC_HALVING     ? 2 * log2(n)
           : a == TRAFFIC_TREE      ? 2 * log2(n / g)
           : a == TRAFFIC_TWO_LEVEL ? 2 * (n / g - 1)
                                    : 2 * (n - 1);
}

/* All-reduces of some sizes, each once a step; of one size only the sum is known. */
static void make(struct traffic *t, enum traffic_algorithm a, double n, double g, int sizes)
{
    memset(t, 0, sizeof(*t));
    t->ranks = n;
    t->ranks_per_node = g;
    t->nodes = n / g;
    for (int i = 0; i < sizes; i++) {
        double bytes = 4 * MIB * (1 << 3 * i), fixed_s = hops_of(a, n, g) * HOP_S;

        t->link[t->n_links++] = (struct traffic_link){ .op = COLLECTIVE_ALLREDUCE,
                                                       .ranks = n,
                                                       .grows = true,
                                                       .per_step = 1,
                                                       .bytes = bytes,
                                                       .time_s = time_of(a, n, g, bytes),
                                                       .time_error = 0.01,
                                                       .fixed_s = sizes > 1 ? fixed_s : NAN,
                                                       .fixed_sd_s = sizes > 1 ? 0.1 * fixed_s : NAN };
    }
}

static void add_earlier(struct traffic *t, enum traffic_algorithm a, double n, double g)
{
    for (size_t l = 0; l < t->n_links; l++)
        t->earlier[t->n_earlier++] = (struct traffic_earlier){ .op = COLLECTIVE_ALLREDUCE,
                                                               .ranks = n,
                                                               .ranks_per_node = g,
                                                               .bytes = t->link[l].bytes,
                                                               .time_s = time_of(a, n, g, t->link[l].bytes),
                                                               .time_error = 0.01 };
}

static double total(const struct traffic *t)
{
    double sum = 0;

    for (int a = 0; a < TRAFFIC_ALGORITHMS; a++)
        sum += t->weight[a];
    return sum;
}

static void adapters(void)
{
    struct traffic t;
    double before;

    make(&t, TRAFFIC_TREE, 16, 1, SIZES);
    ok(traffic_weigh(&t) && near(total(&t), 1, 1e-9), "weights of the algorithms sum to 1");
    before = t.weight[TRAFFIC_TREE];
    t.adapter = (struct traffic_adapter){ RATE, 1 };
    traffic_weigh(&t);
    ok(before < 0.6 && t.weight[TRAFFIC_TREE] > 0.75, "a tree on an adapter of known rate\n%.2f, else %.2f",
       t.weight[TRAFFIC_TREE], before);
    before = t.weight[TRAFFIC_TREE];
    t.adapter = (struct traffic_adapter){ RATE / 4, 4 };
    traffic_weigh(&t);
    ok(t.weight[TRAFFIC_TREE] < before && t.weight[TRAFFIC_RING] > 0.1,
       "of four adapters of a fourth, a ring on one would do as well\ntree %.2f, ring %.2f",
       t.weight[TRAFFIC_TREE], t.weight[TRAFFIC_RING]);
    make(&t, TRAFFIC_RING, 16, 1, SIZES);
    t.adapter = (struct traffic_adapter){ RATE, 1 };
    traffic_weigh(&t);
    ok(t.weight[TRAFFIC_TREE] < 0.02, "a ring is no tree: that would pass the adapter's rate\n%.3f",
       t.weight[TRAFFIC_TREE]);
    make(&t, TRAFFIC_TREE, 16, 1, 1);
    t.adapter = (struct traffic_adapter){ RATE, 1 };
    traffic_weigh(&t);
    ok(t.weight[TRAFFIC_TREE] > 0.6, "messages of one size identify the tree\n%.2f", t.weight[TRAFFIC_TREE]);
}

/* Mean of what the hypotheses say of so many ranks. */
static double grown(struct traffic *t, double n)
{
    double sum = 0;

    traffic_weigh(t);
    for (int i = 0; i < 99; i++)
        sum += traffic_grown_s(t, traffic_algorithm_at(t, (i + 0.5) / 99), n, (37 * i % 99 + 0.5) / 99) / 99;
    return sum;
}

/* Over few ranks a ring's hops are as many as a tree's. */
static void earlier(void)
{
    static const enum traffic_algorithm kinds[] = { TRAFFIC_RING, TRAFFIC_HALVING, TRAFFIC_TREE };
    struct traffic t;

    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        for (int sizes = 1; sizes <= SIZES; sizes += SIZES - 1) {
            enum traffic_algorithm a = kinds[k];
            double then = 0, alone, seen;

            make(&t, a, 64, 1, sizes);
            for (size_t l = 0; l < t.n_links; l++)
                then += time_of(a, 1024, 1, t.link[l].bytes);
            alone = fabs(log(grown(&t, 1024) / then));
            add_earlier(&t, a, 16, 1);
            add_earlier(&t, a, 32, 1);
            seen = fabs(log(grown(&t, 1024) / then));
            ok(seen <= alone && (sizes == 1 || seen < 0.05),
               "%s of %d sizes, seen over 16 and 32, too: over 1024 ranks off by no more than else\nby %.2f, else by %.2f",
               traffic_algorithm_name(a), sizes, seen, alone);
        }
}

static void bounds(void)
{
    struct traffic t;

    make(&t, TRAFFIC_RING, 16, 4, SIZES);
    traffic_weigh(&t);
    for (int a = 0; a < TRAFFIC_ALGORITHMS; a++) {
        double sum = 0;

        for (size_t l = 0; l < t.n_links; l++)
            sum += t.link[l].time_s;
        if (a != TRAFFIC_QUICKEST)
            ok(near(traffic_grown_s(&t, a, 16, 0.3), sum, 1e-6), "over as many ranks it is as it was: %s",
               traffic_algorithm_name(a));
    }
    make(&t, TRAFFIC_RING, 16, 1, SIZES);
    traffic_weigh(&t);
    ok(t.weight[TRAFFIC_TWO_LEVEL] == 0, "with one rank per node the weight of two levels is 0");
    for (size_t l = 0; l < t.n_links; l++)
        t.link[l].grows = false;
    ok(!traffic_weigh(&t) && traffic_steady_s(&t) > 0,
       "traffic that does not grow is steady, without weights");
    memset(&t, 0, sizeof(t));
    ok(!traffic_weigh(&t) && traffic_steady_s(&t) == 0, "no traffic takes no time");
}

int main(void)
{
    adapters();
    earlier();
    bounds();
    return done_testing();
}
