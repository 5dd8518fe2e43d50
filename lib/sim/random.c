#include "sim/random.h"

#include <math.h>

#include "model/deviate.h"

#define ROUNDS 10

struct random random_of(uint64_t seed, uint32_t job, uint32_t purpose)
{
    return (struct random){ .key = { (uint32_t)seed, (uint32_t)(seed >> 32) },
                            .stream = job << 16 | (purpose & 0xffff) };
}

void random_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;

        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* attempt: index of a draw that may need several. */
static void draw_bits(const struct random *r, uint32_t who, uint64_t when, uint32_t attempt, uint64_t out[2])
{
    uint32_t counter[4] = { who, (uint32_t)when, (uint32_t)(when >> 32 & 0xffff) | attempt << 16, r->stream };
    uint32_t block[4];

    random_block(counter, r->key, block);
    out[0] = (uint64_t)block[0] << 32 | block[1];
    out[1] = (uint64_t)block[2] << 32 | block[3];
}

/* The middle of one of 2^52 equal parts of (0, 1), so never an end. */
static double open_unit(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

uint64_t random_bits(const struct random *r, uint32_t who, uint64_t when)
{
    uint64_t bits[2];

    draw_bits(r, who, when, 0, bits);
    return bits[0];
}

double random_uniform(const struct random *r, uint32_t who, uint64_t when)
{
    return open_unit(random_bits(r, who, when));
}

double random_exponential(const struct random *r, uint32_t who, uint64_t when)
{
    return -log1p(-random_uniform(r, who, when));
}

double random_normal(const struct random *r, uint32_t who, uint64_t when)
{
    return deviate_normal(random_uniform(r, who, when));
}

double random_lognormal_of(double z, double cv)
{
    double variance = log1p(cv * cv);

    return exp(sqrt(variance) * z - variance / 2);
}

double random_gamma(const struct random *r, uint32_t who, uint64_t when, double cv)
{
    double shape = 1 / (cv * cv), boost = 1;
    uint64_t bits[2];
    double d, c;

    if (shape < 1) { /* gamma(k) is gamma(k+1) times U^(1/k) */
        draw_bits(r, who, when, 0xffff, bits);
        boost = pow(open_unit(bits[0]), 1 / shape);
        shape += 1;
    }
    d = shape - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (uint32_t attempt = 0; attempt < 0xffff; attempt++) {
        double z, v, u;

        draw_bits(r, who, when, attempt, bits);
        z = deviate_normal(open_unit(bits[0]));
        u = open_unit(bits[1]);
        v = 1 + c * z;
        v = v * v * v;
        if (v > 0 && log(u) < 0.5 * z * z + d - d * v + d * log(v))
            return d * v * boost * cv * cv;
    }
    return 1; /* unreachable in practice: fewer than one attempt in twenty is rejected */
}
