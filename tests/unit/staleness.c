#include "model/staleness.h"

#include <complex.h>

#include "model/order.h"
#include "tests/random.h"
#include "tests/tap.h"

/* Largest modulus of the roots of r^(t+1) - (1+b) r^t + b r^(t-1) + al, by Durand and Kerner's iteration:
 * another way than the module's. */
static double largest_root(int t, double b, double al)
{
    int n = t + 1;
    double coefficient[64] = { 0 }, largest = 0;
    double complex root[64];

    coefficient[0] = 1; /* of r^n */
    coefficient[1] = -(1 + b);
    coefficient[2] += b;
    coefficient[n] += al;
    for (int i = 0; i < n; i++)
        root[i] = cpow(0.4 + 0.9 * I, i);
    for (int round = 0; round < 3000; round++) {
        for (int i = 0; i < n; i++) {
            double complex p = 1, q = 1;

            for (int k = 1; k <= n; k++)
                p = p * root[i] + coefficient[k];
            for (int k = 0; k < n; k++)
                q *= k == i ? 1 : root[i] - root[k];
            root[i] -= p / q;
        }
    }
    for (int i = 0; i < n; i++)
        largest = fmax(largest, cabs(root[i]));
    return largest;
}

static void limits(void)
{
    static const struct {
        double tau, momentum, want;
    } cases[] = {
        { 0, 0, 2 },
        { 1, 0, 1 },
        { 20, 0, 0.07660546738007071 },
        { 0, 0.9, 3.8 }, /* 2 (1 + b): Polyak's heavy ball */
        { 1, 0.9, 0.1 },
        { 2, 0.5, 0.280776406402 },
        { 5, 0.9, 0.0215007064689 },
        { 20, 0.5, 0.03672552032 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(near(staleness_limit(cases[i].tau, cases[i].momentum), cases[i].want, 1e-9),
           "tau %g, momentum %g: %.10g", cases[i].tau, cases[i].momentum,
           staleness_limit(cases[i].tau, cases[i].momentum));
    for (int tau = 1; tau <= 12; tau += 3)
        for (double b = 0; b < 1; b += 0.3) {
            double al = staleness_limit(tau, b);

            ok(largest_root(tau, b, al * 0.999) < 1 && largest_root(tau, b, al * 1.001) > 1,
               "tau %d, momentum %g: roots leave the unit circle there", tau, b);
        }
    ok(near(staleness_limit(7, 1e-12), staleness_limit(7, 0), 1e-9),
       "the limit for vanishing momentum is that without");
    ok(staleness_limit(10000, 0.9) > 0, "a limit exists for a staleness of 10000");
}

struct noise {
    double sigma, slow;
};

static double lognormal(void *arg, size_t rank, size_t step)
{
    const struct noise *n = arg;
    double z = box_muller();

    (void)step;
    return exp(n->sigma * z - n->sigma * n->sigma / 2) * (rank == 0 ? n->slow : 1);
}

static double ratio(size_t ranks, size_t bound, double cv, double slow)
{
    struct noise n = { sqrt(log1p(cv * cv)), slow };
    double finish[64], gate[16];

    random_state = 11;
    return staleness_step_ratio(ranks, bound, 3000, lognormal, &n, finish, gate);
}

static void bounded(void)
{
    static const struct {
        size_t bound;
        double want;
    } cases[] = { { 0, 1.93 }, { 1, 1.22 }, { 2, 1.11 }, { 4, 1.06 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(near(ratio(64, cases[i].bound, 0.3, 1), cases[i].want, 0.02), "cv 0.3, 64 ranks, bound %zu: %.3f",
           cases[i].bound, ratio(64, cases[i].bound, 0.3, 1));
    ok(near(ratio(64, 0, 0.3, 1), order_amplification(ORDER_LOGNORMAL, 64, 0, 0.3), 0.01),
       "with bound 0 every step waits for all ranks");
    ok(near(ratio(8, 4, 0, 1.5), 1.5, 1e-9), "a rank that is always slow determines the step with any bound");
    ok(near(ratio(8, 4, 0, 1), 1, 1e-9), "without noise the step ratio is 1");
    ok(near(ratio(1, 3, 0.3, 1), 1, 0.02), "the step ratio of one rank is 1");
}

int main(void)
{
    limits();
    bounded();
    return done_testing();
}
