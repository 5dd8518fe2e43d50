/* The last of many ranks: published means of the largest of n normal draws, and ranks in groups against
 * draws. */
#include "model/last.h"

#include <stdlib.h>

#include "model/deviate.h"
#include "tests/random.h"
#include "tests/tap.h"

/* Tippett 1925; Harter 1961; beyond that by quadrature of n x phi Phi^(n-1). */
static const struct {
    double n, mean, sd;
} largest[] = { { 2, 0.56419, 0.82565 },  { 4, 1.02938, 0.70122 },   { 10, 1.53875, 0.58681 },
                { 20, 1.86748, 0.52507 }, { 100, 2.50759, 0.42941 }, { 1000, 3.24144, 0.35137 } };

static double normal(void)
{
    return deviate_normal(fmax(1e-15, uniform()));
}

static double draw(const struct last *l)
{
    double x = l->rank_sd * normal();

    if (l->lognormal) {
        double s2 = log1p(l->rank_sd * l->rank_sd);

        x = exp(sqrt(s2) * normal() - s2 / 2) - 1;
    }
    if (l->tail_rate > 0 && uniform() < l->tail_rate)
        x = fmax(x, l->tail_from - l->tail_mean * log(1 - uniform()));
    return x;
}

static double drawn(const struct last *l, int times)
{
    double sum = 0;

    for (int i = 0; i < times; i++) {
        double most = -INFINITY, node = 0, leaf = 0;

        for (int r = 0; r < l->ranks; r++) {
            if (l->nodes_per_switch > 0 && r % (int)(l->ranks_per_node * l->nodes_per_switch) == 0)
                leaf = l->switch_sd * normal();
            if (r % (int)l->ranks_per_node == 0)
                node = l->node_sd * normal();
            most = fmax(most, leaf + node + draw(l));
        }
        for (unsigned k = 0; k < l->apart; k++)
            most =
                fmax(most, l->apart_mean[k] + hypot(l->rank_sd, hypot(l->node_sd, l->switch_sd)) * normal());
        sum += most;
    }
    return sum / times;
}

static const struct {
    const char *what;
    struct last l;
} grouped[] = {
    { "nodes of 8, 3 a switch",
      { .ranks = 96,
        .ranks_per_node = 8,
        .nodes_per_switch = 3,
        .rank_sd = 0.06,
        .node_sd = 0.08,
        .switch_sd = 0.05 } },
    { "what a node has in common alone",
      { .ranks = 64, .ranks_per_node = 8, .rank_sd = 0.001, .node_sd = 0.08 } },
    { "lognormal", { .ranks = 64, .ranks_per_node = 4, .rank_sd = 0.3, .lognormal = true } },
    { "rare long delays",
      { .ranks = 64,
        .ranks_per_node = 4,
        .rank_sd = 0.01,
        .tail_rate = 1e-3,
        .tail_from = 0.06,
        .tail_mean = 0.5 } },
    { "one slow rank",
      { .ranks = 15, .ranks_per_node = 1, .rank_sd = 0.05, .apart = 1, .apart_mean = { 0.2 } } },
};

/* The p-quantile of draws of the maximum with something in common. */
static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double drawn_quantile(const struct last *l, double common_sd, double p)
{
    static double v[20000];

    for (size_t i = 0; i < ARRAY_SIZE(v); i++)
        v[i] = drawn(l, 1) + common_sd * normal();
    qsort(v, ARRAY_SIZE(v), sizeof(v[0]), ascending);
    return v[(size_t)(p * ARRAY_SIZE(v))];
}

static void quantiles(void)
{
    static const double p[] = { 0.5, 0.99 };
    struct last spiky = { .ranks = 1024,
                          .ranks_per_node = 8,
                          .rank_sd = 0.01,
                          .tail_rate = 1e-4,
                          .tail_from = 0.06,
                          .tail_mean = 0.5 };
    double before;

    for (size_t i = 0; i < ARRAY_SIZE(grouped); i++)
        for (size_t k = 0; k < ARRAY_SIZE(p); k++) {
            double got = last_quantile(&grouped[i].l, 0.03, p[k]), want;

            random_state = 11;
            want = drawn_quantile(&grouped[i].l, 0.03, p[k]);
            ok(near(got, want, 0.05), "%s: the %g-quantile is the drawn one\n%.4f, drawn %.4f",
               grouped[i].what, p[k], got, want);
        }
    before = last_quantile(&spiky, 0, 0.99);
    spiky.ranks *= 16;
    ok(last_quantile(&spiky, 0, 0.5) > 0.2 && last_quantile(&spiky, 0, 0.99) > before,
       "with 16384 ranks a delay that strikes one in 10000 is in most steps\nmedian %.3f, p99 %.3f, of 1024 ranks %.3f",
       last_quantile(&spiky, 0, 0.5), last_quantile(&spiky, 0, 0.99), before);
}

int main(void)
{
    struct last one = { .ranks = 1, .ranks_per_node = 1, .rank_sd = 0.2 };
    double sd;

    for (size_t i = 0; i < ARRAY_SIZE(largest); i++) {
        struct last l = { .ranks = largest[i].n, .ranks_per_node = 1, .rank_sd = 0.1 };
        double mean = last_mean(&l, &sd);

        ok(near(mean, 0.1 * largest[i].mean, 2e-3) && near(sd, 0.1 * largest[i].sd, 0.01),
           "the largest of %g\n%.5f, spread %.5f", largest[i].n, 10 * mean, 10 * sd);
    }
    for (size_t i = 0; i < ARRAY_SIZE(grouped); i++) {
        double want, got = last_mean(&grouped[i].l, &sd);

        random_state = 7;
        want = drawn(&grouped[i].l, 20000);
        ok(near(got, want, 0.02), "%s\n%.4f, drawn %.4f", grouped[i].what, got, want);
    }
    ok(last_mean(&one, &sd) == 0 && sd == 0, "one rank has no lateness of the last");
    quantiles();
    return done_testing();
}
