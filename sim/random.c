#include "sim/random.h"

#include <math.h>

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

/* attempt: for draws that may need several. */
static void draw(const struct random *r, uint32_t who, uint64_t when, uint32_t attempt, uint64_t out[2])
{
    uint32_t counter[4] = { who, (uint32_t)when, (uint32_t)(when >> 32 & 0xffff) | attempt << 16, r->stream };
    uint32_t block[4];

    random_block(counter, r->key, block);
    out[0] = (uint64_t)block[0] << 32 | block[1];
    out[1] = (uint64_t)block[2] << 32 | block[3];
}

/* The middles of 2^52 equal parts of (0, 1): neither end. */
static double open_unit(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

uint64_t random_bits(const struct random *r, uint32_t who, uint64_t when)
{
    uint64_t bits[2];

    draw(r, who, when, 0, bits);
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
    return random_normal_quantile(random_uniform(r, who, when));
}

void random_normals(const struct random *r, uint64_t when, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = random_normal(r, (uint32_t)i, when);
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
        draw(r, who, when, 0xffff, bits);
        boost = pow(open_unit(bits[0]), 1 / shape);
        shape += 1;
    }
    d = shape - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (uint32_t attempt = 0; attempt < 0xffff; attempt++) {
        double z, v, u;

        draw(r, who, when, attempt, bits);
        z = random_normal_quantile(open_unit(bits[0]));
        u = open_unit(bits[1]);
        v = 1 + c * z;
        v = v * v * v;
        if (v > 0 && log(u) < 0.5 * z * z + d - d * v + d * log(v))
            return d * v * boost * cv * cv;
    }
    return 1; /* not reached: an attempt is rejected less than once in twenty */
}

/* a[0] + a[1] x + ... */
static double polynomial(const double a[8], double x)
{
    double sum = a[7];

    for (int i = 6; i >= 0; i--)
        sum = sum * x + a[i];
    return sum;
}

double random_normal_quantile(double p)
{
    static const double a[8] = { 3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                 1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3 };
    static const double b[8] = { 1.0,
                                 4.2313330701600911252e+1,
                                 6.8718700749205790830e+2,
                                 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4,
                                 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4,
                                 5.2264952788528545610e+3 };
    static const double c[8] = { 1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4 };
    static const double d[8] = { 1.0,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9 };
    static const double e[8] = { 6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7 };
    static const double f[8] = { 1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15 };
    double q = p - 0.5, r, z;

    if (fabs(q) <= 0.425) {
        r = 0.180625 - q * q;
        return q * polynomial(a, r) / polynomial(b, r);
    }
    r = sqrt(-log(q < 0 ? p : 1 - p));
    z = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6)
               : polynomial(e, r - 5) / polynomial(f, r - 5);
    return q < 0 ? -z : z;
}
