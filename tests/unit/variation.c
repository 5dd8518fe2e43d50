/* Noise of ranks found from steps whose noise is known. */
#include "model/variation.h"

#include <stdlib.h>

#include "tests/random.h"
#include "tests/tap.h"

#define RANKS 96
#define STEPS 120
#define RUNS  100

struct kind {
    double common, lasting[VARIATION_LEVELS], passing[VARIATION_LEVELS];
    bool lognormal;
    double tail_rate, slow; /* slow: of rank 5, lastingly */
};

static float own_s[STEPS * RANKS];
static uint32_t node[RANKS], switch_id[RANKS];

static double rank_noise(const struct kind *k)
{
    double s2 = log1p(k->passing[VARIATION_RANK] * k->passing[VARIATION_RANK]);

    return k->lognormal ? exp(sqrt(s2) * gauss() - s2 / 2) - 1 : k->passing[VARIATION_RANK] * gauss();
}

static bool run(const struct kind *k, uint32_t ranks, uint32_t per_node, uint32_t per_switch,
                struct variation *n)
{
    double lasting[RANKS], of_leaf = 0, of_node = 0, scratch[2 * RANKS];

    for (uint32_t r = 0; r < ranks; r++) {
        node[r] = r / per_node;
        switch_id[r] = node[r] / per_switch;
        if (r % (per_node * per_switch) == 0)
            of_leaf = k->lasting[VARIATION_SWITCH] * gauss();
        if (r % per_node == 0)
            of_node = k->lasting[VARIATION_NODE] * gauss();
        lasting[r] = of_leaf + of_node + k->lasting[VARIATION_RANK] * gauss() + (r == 5 ? k->slow : 0);
    }
    for (uint32_t s = 0; s < STEPS; s++) {
        double all = 0.1 * (1 + k->common * gauss());

        for (uint32_t r = 0; r < ranks; r++) {
            if (r % (per_node * per_switch) == 0)
                of_leaf = k->passing[VARIATION_SWITCH] * gauss();
            if (r % per_node == 0)
                of_node = k->passing[VARIATION_NODE] * gauss();
            own_s[s * ranks + r] = (float)(all * (1 + lasting[r] + of_leaf + of_node + rank_noise(k)));
            if (k->tail_rate > 0 && uniform() < k->tail_rate)
                own_s[s * ranks + r] += (float)all;
        }
    }
    return variation_fit(n, own_s, STEPS, ranks, node, switch_id, scratch);
}

static bool holds(const struct variation_part *p, double sd)
{
    return p->low <= sd + 1e-4 && sd <= p->high + 1e-4;
}

/* Of all six parts: how far off on average, and how often the intervals hold the truth. */
static void parts(void)
{
    struct kind k = { .common = 0.02, .lasting = { 0.01, 0.015, 0.01 }, .passing = { 0.05, 0.03, 0.02 } };
    double lasting[VARIATION_LEVELS] = { 0 }, passing[VARIATION_LEVELS] = { 0 };
    int held[2][VARIATION_LEVELS] = { 0 };
    struct variation n;

    random_state = 3;
    for (int i = 0; i < RUNS; i++) {
        run(&k, RANKS, 4, 4, &n);
        for (int l = 0; l < VARIATION_LEVELS; l++) {
            lasting[l] += n.lasting[l].sd * n.lasting[l].sd / RUNS;
            passing[l] += n.passing[l].sd * n.passing[l].sd / RUNS;
            held[0][l] += holds(&n.lasting[l], k.lasting[l]);
            held[1][l] += holds(&n.passing[l], k.passing[l]);
        }
    }
    for (int l = 0; l < VARIATION_LEVELS; l++) {
        ok(near(sqrt(lasting[l]), k.lasting[l], 0.15) && near(sqrt(passing[l]), k.passing[l], 0.05),
           "level %d: lasting and passing noise are found\n%.4f of %.4f, %.4f of %.4f", l, sqrt(lasting[l]),
           k.lasting[l], sqrt(passing[l]), k.passing[l]);
        ok(held[0][l] >= 82 && held[1][l] >= 82, "the intervals hold them at least 82 times in 100\n%d, %d",
           held[0][l], held[1][l]);
    }
    ok(near(n.mean_s, 0.1, 0.03) && near(n.common_cv, 0.02, 0.3),
       "the mean, and by how much all together vary\n%.4f s, %.4f", n.mean_s, n.common_cv);
    ok(n.ranks_per_node == 4 && n.nodes_per_switch == 4 && n.switches == 6,
       "ranks per node, nodes per switch and switches are counted");
}

static void shapes(void)
{
    struct kind k = { .passing = { 0.15 } };
    int right = 0, wrong = 0;
    struct variation n;

    random_state = 4;
    for (int i = 0; i < RUNS; i++) {
        k.lognormal = i % 2;
        run(&k, 32, 4, 8, &n);
        right += n.shape == (k.lognormal ? VARIATION_LOGNORMAL : VARIATION_NORMAL);
        wrong += n.shape == (k.lognormal ? VARIATION_NORMAL : VARIATION_LOGNORMAL);
    }
    ok(right >= 95 && wrong == 0, "normal and lognormal are distinguished\n%d right, %d wrong", right, wrong);
    k = (struct kind){ .passing = { 0.004 } };
    wrong = 0;
    for (int i = 0; i < RUNS; i++) {
        run(&k, 8, 4, 8, &n);
        wrong += n.shape == VARIATION_LOGNORMAL;
    }
    ok(wrong <= 8, "shapes that do not differ are not distinguished\n%d", wrong);
}

static void set_apart(void)
{
    struct kind k = { .passing = { 0.03 }, .lasting = { 0.005 }, .slow = 0.2, .tail_rate = 1e-3 };
    struct variation_sample d;
    struct variation n;
    struct last l;

    random_state = 5;
    run(&k, 64, 4, 4, &n);
    ok(n.apart == 1 && n.apart_rank[0] == 5 && near(n.apart_mean[0], 0.2, 0.1),
       "a slow rank is listed separately\n%u, %.3f", n.apart, n.apart ? n.apart_mean[0] : 0);
    ok(near(n.lasting[VARIATION_RANK].sd, 0.005, 0.5), "the slow rank is not part of the lasting noise\n%.4f",
       n.lasting[VARIATION_RANK].sd);
    ok(n.tail_n >= 3 && n.tail_n <= 16 && near(n.tail_from + n.tail_mean, 1, 0.25) &&
           near(n.passing[VARIATION_RANK].sd, 0.03, 0.1),
       "rare long delays are not part of the passing noise\n%u of about 8, %.2f long", n.tail_n,
       n.tail_from + n.tail_mean);
    variation_estimate(&n, &d);
    l = variation_last(&n, &d, 2, false);
    ok(l.ranks == 127 && l.apart == 1, "a projection to twice the ranks still has one slow rank");
}

static void unknown(void)
{
    struct kind k = { .passing = { 0.05 } };
    double scratch[2 * RANKS];
    struct variation_sample d;
    struct variation n;
    struct last l;

    random_state = 6;
    ok(run(&k, 16, 1, 16, &n) && isnan(n.passing[VARIATION_RANK].sd) &&
           isnan(n.passing[VARIATION_SWITCH].sd) && near(n.passing[VARIATION_NODE].sd, 0.05, 0.1),
       "one rank per node, one switch: noise is the node's, that of ranks and switches is unknown");
    variation_estimate(&n, &d);
    l = variation_last(&n, &d, 1, false);
    ok(near(l.rank_sd, 0.05, 0.1) && l.node_sd == 0,
       "a projection treats the noise of one-rank nodes as that of ranks");
    for (size_t i = 0; i < STEPS * 8; i++)
        own_s[i] = 0.1f;
    for (uint32_t r = 0; r < 8; r++)
        node[r] = switch_id[r] = 0;
    ok(variation_fit(&n, own_s, STEPS, 8, node, switch_id, scratch) && n.cv < 1e-5 && n.behind == 0,
       "without noise the variation is 0");
    ok(!variation_fit(&n, own_s, VARIATION_STEPS_MIN - 1, 8, node, switch_id, scratch) &&
           !variation_fit(&n, own_s, STEPS, 1, node, switch_id, scratch),
       "a fit of too few steps or of one rank is rejected");
    for (size_t i = 0; i < STEPS * 8; i++)
        own_s[i] = i % 8 == 2 ? NAN : (float)(0.1 * (1 + 0.05 * gauss()));
    variation_fit(&n, own_s, STEPS, 8, node, switch_id, scratch);
    ok(near(n.passing[VARIATION_RANK].sd, 0.05, 0.15), "a rank that tells nothing is passed over\n%.4f",
       n.passing[VARIATION_RANK].sd);
}

int main(void)
{
    parts();
    shapes();
    set_apart();
    unknown();
    return done_testing();
}
