/* In how many steps before its onset a rank was slow: jobs of one collective a step, with known work. */
#include "calls/already.h"

#include <math.h>

#include "ring/ring.h"
#include "tests/calls.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS 8u
#define STEPS 60u
#define FROM  20u
#define SLOW  3u

static double at_first = 1; /* share of the excess that it has before step FROM */

/* Rank SLOW takes by the excess longer from that step on; all take half longer in the first eight. */
static struct graph *play(uint32_t slow_from, double excess, double noise)
{
    struct graph *g = graph_new();
    uint64_t now_ns = 5000000000, enter_ns[RANKS];

    for (uint32_t r = 0; r < RANKS; r++)
        graph_rank(g, r, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t end_ns = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            double work_s = 0.1 * (1 + noise * box_muller()) * (i < 8 ? 1.5 : 1);
            double slow = r == SLOW && i >= slow_from ? excess * (i < FROM ? at_first : 1) : 0;

            enter_ns[r] = now_ns + (uint64_t)(1e9 * work_s * (1 + slow));
            end_ns = enter_ns[r] > end_ns ? enter_ns[r] : end_ns;
        }
        now_ns = end_ns + 10000;
        for (uint32_t r = 0; r < RANKS; r++) {
            give_allreduce(g, r, 1, i, enter_ns[r], now_ns);
            graph_step_end(g, r, i + 1);
        }
    }
    graph_finish(g);
    return g;
}

static bool is_slow(uint32_t rank, const void *arg)
{
    (void)arg;
    return rank == SLOW;
}

static double steps_before(uint32_t from, uint32_t slow_from, double excess, double said, double noise)
{
    struct graph *g = play(slow_from, excess, noise);
    double steps = already_steps(g, from + 1, said, RANKS, is_slow, NULL);

    graph_free(g);
    return steps;
}

static double steps_of(uint32_t slow_from, double excess, double said, double noise)
{
    return steps_before(FROM, slow_from, excess, said, noise);
}

int main(void)
{
    double always, never, some, noisy, more;

    random_state = 3;
    always = steps_of(0, 0.2, 0.2, 0.01);
    never = steps_of(FROM, 0.2, 0.2, 0.01);
    some = steps_of(FROM - 4, 0.2, 0.2, 0.01);
    noisy = steps_of(FROM, 0.05, 0.05, 0.1);
    more = steps_of(FROM, 0.9, 0.5, 0.01);
    ok(isinf(always), "a rank that was as slow in all steps before was so in those that are forgotten\n%g",
       always);
    ok(never < 1, "a rank that was as fast as the others was slow in none, whatever all did more of\n%g",
       never);
    ok(fabs(some - 4) < 1, "of a rank that became slow four steps earlier they are four\n%g", some);
    ok(isnan(noisy), "where work varies by more than the excess nothing is known\n%g", noisy);
    ok(isnan(more), "nor is it where the rank became slower by more than is said\n%g", more);
    /* the first step of all is not known: nobody knows when its work began */
    never = steps_before(3, 3, 0.2, 0.2, 0.01);
    always = steps_before(3, 0, 0.2, 0.2, 0.01);
    noisy = steps_before(3, 3, 0.2, 0.2, 0.1);
    ok(never < 0.5, "two steps before say that it was not slow in them\n%g", never);
    ok(isnan(always), "two in which it was say nothing of those before them\n%g", always);
    ok(isnan(noisy), "but not where each may vary by as much as the steps since do\n%g", noisy);
    ok(isnan(steps_before(2, 2, 0.2, 0.2, 0.01)), "one does not: it may be an odd one");
    at_first = 0.8; /* the rest is a warm-up's */
    always = steps_of(0, 0.2, 0.2, 0.001);
    some = steps_of(FROM - 4, 0.2, 0.2, 0.001);
    ok(isinf(always), "a rank that had most of the excess in each step before was slow in all\n%g", always);
    ok(fabs(some - 3.2) < 1, "and in four, where it was in four alone\n%g", some);
    return done_testing();
}
