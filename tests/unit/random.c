#include "sim/random.h"

#include <stdlib.h>

#include "tests/tap.h"

/* Random123's own known answers (kat_vectors: philox4x32 10). */
static const struct {
    uint32_t counter[4], key[2], want[4];
} blocks[] = {
    { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
      { 0xffffffff, 0xffffffff },
      { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
      { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

static void test_blocks(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
        uint32_t out[4];

        random_block(blocks[i].counter, blocks[i].key, out);
        ok(!memcmp(out, blocks[i].want, sizeof(out)), "Philox4x32-10 gives the published answer %zu", i);
    }
}

enum { NORMAL, LOGNORMAL, EXPONENTIAL, UNIFORM, GAMMA, GAMMA_WIDE };

static double draw(int what, const struct random *r, uint32_t who, uint64_t when)
{
    switch (what) {
    case NORMAL:
        return random_normal(r, who, when);
    case LOGNORMAL:
        return random_lognormal_of(random_normal(r, who, when), 0.3);
    case EXPONENTIAL:
        return random_exponential(r, who, when);
    case UNIFORM:
        return random_uniform(r, who, when);
    case GAMMA:
        return random_gamma(r, who, when, 0.3);
    default:
        return random_gamma(r, who, when, 1.5);
    }
}

static void test_moments(void)
{
    static const struct {
        const char *name;
        double mean, deviation;
    } want[] = {
        [NORMAL] = { "normal", 0, 1 },           [LOGNORMAL] = { "lognormal", 1, 0.3 },
        [EXPONENTIAL] = { "exponential", 1, 1 }, [UNIFORM] = { "uniform", 0.5, 0.288675 },
        [GAMMA] = { "gamma", 1, 0.3 },           [GAMMA_WIDE] = { "wide gamma", 1, 1.5 },
    };
    const int n = 200000;

    for (int what = 0; what < (int)ARRAY_SIZE(want); what++) {
        struct random r = random_of(7, 3, (uint32_t)what);
        double sum = 0, squares = 0, mean, deviation;

        for (int i = 0; i < n; i++) {
            double x = draw(what, &r, (uint32_t)i % 1000, (uint64_t)i / 1000);

            sum += x;
            squares += x * x;
        }
        mean = sum / n;
        deviation = sqrt(squares / n - mean * mean);
        ok(fabs(mean - want[what].mean) < 4 * want[what].deviation / sqrt(n), "%s: mean\n%.4f",
           want[what].name, mean);
        ok(near(deviation, want[what].deviation, 0.02), "%s: deviation\n%.4f", want[what].name, deviation);
    }
}

static void test_addresses(void)
{
    struct random a = random_of(1, 0, 0), b = random_of(1, 0, 1), c = random_of(1, 1, 0),
                  d = random_of(2, 0, 0);
    double forth[64], back[64];

    for (uint32_t i = 0; i < 64; i++)
        forth[i] = random_normal(&a, i, 5);
    for (uint32_t i = 64; i-- > 0;)
        back[i] = random_normal(&a, i, 5);
    ok(!memcmp(forth, back, sizeof(forth)), "samples do not depend on the order of calls");
    ok(random_bits(&a, 0, 0) != random_bits(&b, 0, 0) && random_bits(&a, 0, 0) != random_bits(&c, 0, 0) &&
           random_bits(&a, 0, 0) != random_bits(&d, 0, 0),
       "purpose, job and seed each change the sample");
    ok(random_bits(&a, 1, 0) != random_bits(&a, 0, 1) &&
           random_bits(&a, 0, 1ull << 40) != random_bits(&a, 0, 0),
       "index and step each change the sample, beyond 32 bits");
}

int main(void)
{
    test_blocks();
    test_moments();
    test_addresses();
    return done_testing();
}
