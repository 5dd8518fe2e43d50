/* Which all-reduce a library takes, from its source; and whether another one is surely faster, by hand on one
 * switch. */
#include "model/algorithm.h"

#include <math.h>

#include "tests/random.h"
#include "tests/tap.h"

#define A 1e-5 /* seconds of a message, and ... */
#define B 1e-9 /* ... per byte, on a network with x = y = 1 */

/* Rounds and vectors sent, of n ranks on one switch (Thakur et al. 2005; Patarasuk & Yuan 2009). */
static struct algorithm_job job_of(enum algorithm_library l, uint32_t n)
{
    double rounds = floor(log2(n)), core = exp2(rounds), fold = n > core ? 2 : 0;

    return (struct algorithm_job){ .library = l,
                                   .ranks = n,
                                   .step_s = 0.01,
                                   .slower = 10,
                                   .cost = { { (rounds + fold) * A, (rounds + fold) * B },
                                             { (2 * rounds + fold) * A, (2 * (core - 1) / core + fold) * B },
                                             { 2 * (n - 1) * A, 2 * (n - 1.0) / n * B } } };
}

static void add(struct algorithm_job *j, double bytes, double per_step, double time_s)
{
    j->size[j->n++] = (struct algorithm_size){ bytes, per_step, time_s, time_s, 0 };
}

static struct algorithm_choice choice_of(const struct algorithm_job *j, algorithm_allowed_fn *allowed)
{
    struct algorithm_choice c;

    algorithm_choose(j, allowed, &c);
    return c;
}

static void test_usual(void)
{
    static const struct {
        enum algorithm_library library;
        uint32_t ranks;
        double bytes;
        enum algorithm usual;
    } cases[] = {
        { ALGORITHM_OPENMPI, 2, 8, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 2, 4, ALGORITHM_DOUBLING }, /* a ring, of fewer elements than ranks */
        { ALGORITHM_OPENMPI, 3, 4096, ALGORITHM_RING },
        { ALGORITHM_OPENMPI, 3, 8192, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 2, 65536, ALGORITHM_RING }, /* segmented, without segments */
        { ALGORITHM_OPENMPI, 3, 262144, ALGORITHM_RABENSEIFNER },
        { ALGORITHM_OPENMPI, 4, 8, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 7, 8191, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 8, 8192, ALGORITHM_RABENSEIFNER },
        { ALGORITHM_OPENMPI, 16, 8, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 31, 4095, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 31, 4096, ALGORITHM_RABENSEIFNER },
        { ALGORITHM_OPENMPI, 32, 128, ALGORITHMS }, /* 8 elements of 16 bytes, or 32 of 4 */
        { ALGORITHM_OPENMPI, 32, 512, ALGORITHM_RABENSEIFNER },
        { ALGORITHM_OPENMPI, 64, 262143, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 128, 8, ALGORITHMS },
        { ALGORITHM_OPENMPI, 128, 131072, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 1024, 2048, ALGORITHM_DOUBLING },
        { ALGORITHM_OPENMPI, 5000, 1e9, ALGORITHM_RABENSEIFNER },
        { ALGORITHM_MPICH, 4, 8, ALGORITHM_DOUBLING },
        { ALGORITHM_MPICH, 4, 16, ALGORITHMS },
        { ALGORITHM_MPICH, 4, 64, ALGORITHM_RABENSEIFNER },
        { ALGORITHM_MPICH, 1024, 2048, ALGORITHM_DOUBLING }, /* fewer elements than ranks */
        { ALGORITHM_MPICH, 1024, 1e6, ALGORITHM_RABENSEIFNER },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(algorithm_name(algorithm_usual(cases[i].library, cases[i].ranks, cases[i].bytes)),
               algorithm_name(cases[i].usual), "library %d, %u ranks, %.0f bytes: its own choice",
               (int)cases[i].library, cases[i].ranks, cases[i].bytes);
}

/* 4 ranks, MPICH, 2 KiB: Rabenseifner's has 4 rounds, recursive doubling 2. */
static void test_latency(void)
{
    struct algorithm_job j = job_of(ALGORITHM_MPICH, 4);
    double bytes = 2048, most_s;
    struct algorithm_choice c;

    add(&j, bytes, 1, 4e-3);
    c = choice_of(&j, NULL);
    /* Most by doubling: all latency but for what the slowest rate takes; 1.5 of the vector are sent, or 2. */
    most_s = ALGORITHM_ERROR * ((4e-3 * ALGORITHM_ERROR - 1.5 * B * bytes * 10) / 2 + 2 * B * bytes * 10);
    ok(c.result == ALGORITHM_FASTER && c.algorithm == ALGORITHM_DOUBLING,
       "on slow messages recursive doubling is surely faster");
    is_near(c.usual_s, 4e-3, 1e-9, "the time as it was");
    is_near(c.most_s, most_s, 1e-6, "the most that it takes");
    j.step_s = 1;
    ok(choice_of(&j, NULL).result == ALGORITHM_LITTLE, "of a long step too little is gained");
    j.step_s = 0.01;
    j.slower = 1e6;
    ok(choice_of(&j, NULL).result == ALGORITHM_UNSURE,
       "if a rate may be as low as one likes, it may be slower");
    add(&j, 1e6, 0.01, 1e-3 * 4 + 1.5e-3);
    ok(choice_of(&j, NULL).result == ALGORITHM_FASTER,
       "a large size, done once in 100 steps, shows how low it is");
    j.slower = 10;
    j.n = 1;
    j.size[0].stay_s = 8e-3;
    ok(choice_of(&j, NULL).result == ALGORITHM_UNSURE,
       "where the mean stay is twice the shortest, it is not known how long it took");
    j.size[0].stay_s = 4e-3;
    j.size[0].time_error = 0.5;
    ok(choice_of(&j, NULL).result == ALGORITHM_UNSURE, "nor where the times scatter");
    j.size[0].time_error = 0;
    j.size[0].bytes = 16384;
    ok(choice_of(&j, NULL).result == ALGORITHM_UNSURE, "a larger message may have to ask first");
}

static void test_same(void)
{
    struct algorithm_job j = job_of(ALGORITHM_MPICH, 4);
    struct algorithm_choice c;

    add(&j, 8, 3, 2e-3);
    ok(choice_of(&j, NULL).result == ALGORITHM_UNSURE,
       "one number: the library takes recursive doubling by itself");
    add(&j, 2048, 1, 4e-3);
    c = choice_of(&j, NULL);
    ok(c.result == ALGORITHM_FASTER && c.algorithm == ALGORITHM_DOUBLING,
       "with a larger size, that is faster");
    is_near(c.usual_s, 10e-3, 1e-9, "both count as often as they are in a step");
    ok(c.most_s > 6e-3 + 2e-3 && c.most_s < 6e-3 + 2.7e-3,
       "those that stay as they are count as they were\n%.3g s", c.most_s);
}

static void test_unknown(void)
{
    struct algorithm_job j = job_of(ALGORITHM_MPICH, 4);

    ok(choice_of(&j, NULL).result == ALGORITHM_UNKNOWN, "no sizes: not known");
    add(&j, 8, 1, 1);
    add(&j, 2048, 1, 1e-3);
    ok(choice_of(&j, NULL).result == ALGORITHM_STRANGE,
       "a small one that takes longer than a large one: no network explains it");
    j.size[0].time_s = NAN;
    ok(choice_of(&j, NULL).result == ALGORITHM_UNKNOWN, "a time that is not known");
    j = job_of(ALGORITHM_OPENMPI, 128);
    add(&j, 1000, 1, 1e-3);
    ok(choice_of(&j, NULL).result == ALGORITHM_UNKNOWN, "an algorithm of Open MPI that has no model");
    j = job_of(ALGORITHM_MPICH, 4);
    add(&j, 2048, 1, 4e-3);
    j.cost[ALGORITHM_RING].fixed_s = 0;
    ok(choice_of(&j, NULL).result == ALGORITHM_UNKNOWN, "a cost that is not known");
}

/* 6 ranks, Open MPI, 10 MB: Rabenseifner's folds two ranks, so that 3.5 vectors are sent, a ring sends 1.67.
 */
static void test_ring(void)
{
    struct algorithm_job j = job_of(ALGORITHM_OPENMPI, 6);
    struct algorithm_choice c;

    add(&j, 8, 1, 4 * A);
    add(&j, 1e7, 1, 6 * A + 3.5e-2);
    j.step_s = 0.1;
    c = choice_of(&j, NULL);
    ok(c.result == ALGORITHM_FASTER && c.algorithm == ALGORITHM_RING,
       "where ranks are no power of two, a ring is surely faster for large sizes");
    ok(c.most_s > 1.15 * 1.66e-2 && c.most_s < 2.4e-2, "within the model's errors\n%.3g s instead of %.3g s",
       c.most_s, c.usual_s);
    ok(choice_of(&j, algorithm_keeps_order).result == ALGORITHM_UNSURE,
       "where it must be right for all operations, none is");
    ok(!algorithm_can(ALGORITHM_MPICH, ALGORITHM_RING) && algorithm_can(ALGORITHM_OPENMPI, ALGORITHM_RING),
       "not all releases of MPICH have a ring");
}

/* 64 ranks, Open MPI: recursive doubling up to 256 KiB, where Rabenseifner's sends a third. One number is
 * then done by one rank. */
static void test_bandwidth(void)
{
    struct algorithm_job j = job_of(ALGORITHM_OPENMPI, 64);
    struct algorithm_choice c;

    j.slower = 2000;
    add(&j, 8, 1, 6 * A + 6e-9 * 8 * 1000);
    add(&j, 1e5, 1, 6 * A + 0.6);
    c = choice_of(&j, algorithm_keeps_order);
    ok(c.result == ALGORITHM_FASTER && c.algorithm == ALGORITHM_RABENSEIFNER,
       "on slow links Rabenseifner's is surely faster");
    ok(c.most_s > 0.197 * 1.15 && c.most_s < 0.3, "within the model's errors\n%.3g s instead of %.3g s",
       c.most_s, c.usual_s);
    j.size[0].per_step = 300;
    ok(choice_of(&j, algorithm_keeps_order).result == ALGORITHM_UNSURE,
       "not with so many sums of one number");
}

/* On random networks, with times that differ from the model's as much as it may: what is surely faster is. */
static void test_sure(void)
{
    unsigned faster = 0, wrong = 0;

    for (unsigned run = 0; run < tried_of(20000); run++) {
        struct algorithm_job j =
            job_of(run % 2 ? ALGORITHM_MPICH : ALGORITHM_OPENMPI, 2 + (uint32_t)(uniform() * 100));
        double x = exp(8 * uniform()), y = exp(7 * uniform()), usual_s = 0, chosen_s = 0;
        struct algorithm_choice c;
        enum algorithm a;

        j.slower = 1250;
        for (unsigned i = 0; i < 1 + run % 3; i++) {
            double bytes = 16 * j.ranks * floor(exp2(14 * uniform())),
                   error = exp((2 * uniform() - 1) * log(ALGORITHM_ERROR));

            a = algorithm_usual(j.library, j.ranks, bytes);
            if (a < ALGORITHMS)
                add(&j, bytes, 1, error * (x * j.cost[a].fixed_s + y * j.cost[a].s_per_byte * bytes));
        }
        c = choice_of(&j, NULL);
        if (c.result != ALGORITHM_FASTER && c.result != ALGORITHM_LITTLE)
            continue;
        for (size_t i = 0; i < j.n; i++) {
            const struct algorithm_cost *cost = &j.cost[c.algorithm];
            bool same = algorithm_usual(j.library, j.ranks, j.size[i].bytes) == c.algorithm;

            usual_s += j.size[i].time_s;
            chosen_s += same ? j.size[i].time_s
                             : ALGORITHM_ERROR * (x * cost->fixed_s + y * cost->s_per_byte * j.size[i].bytes);
        }
        faster++;
        wrong += chosen_s > usual_s * (1 + 1e-6);
    }
    ok(faster > tried_of(20000) / 100 && !wrong,
       "on random networks no job that is surely faster is not\n%u are, %u of them are not", faster, wrong);
}

int main(void)
{
    test_usual();
    test_latency();
    test_same();
    test_unknown();
    test_ring();
    test_bandwidth();
    test_sure();
    return done_testing();
}
