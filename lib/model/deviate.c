#include "model/deviate.h"

#include <math.h>

double deviate_normal_share(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* a[0] + a[1] x + ... */
static double polynomial(const double a[8], double x)
{
    double sum = a[7];

    for (int i = 6; i >= 0; i--)
        sum = sum * x + a[i];
    return sum;
}

double deviate_normal(double p)
{
    static const double a[8] = { 3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                 1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3 };
    static const double b[8] = { 1.0000000000000000000e0,  4.2313330701600911252e+1, 6.8718700749205790830e+2,
                                 5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4, 5.2264952788528545610e+3 };
    static const double c[8] = { 1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4 };
    static const double d[8] = { 1.0000000000000000000e0,   2.05319162663775882187e0,
                                 1.67638483018380384940e0,  6.89767334985100004550e-1,
                                 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4, 1.05075007164441684324e-9 };
    static const double e[8] = { 6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7 };
    static const double f[8] = { 1.0000000000000000000e0,   5.99832206555887937690e-1,
                                 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7, 2.04426310338993978564e-15 };
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

double deviate_student_of_normal(double z, double df)
{
    double z2 = z * z;

    return z + z * (z2 + 1) / (4 * df) + z * ((5 * z2 + 16) * z2 + 3) / (96 * df * df) +
           z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * df * df * df);
}

double deviate_student(double p, double df)
{
    if (df <= 1)
        return tan(M_PI * (p - 0.5));
    if (df < 2.5)
        return (2 * p - 1) * M_SQRT1_2 / sqrt(p * (1 - p));
    return deviate_student_of_normal(deviate_normal(p), df);
}

double deviate_chi2_ratio(double p, double df)
{
    double c = 2 / (9 * df), root;

    if (df == 2)
        return -log(1 - p);
    if (df < 1.5) {
        double z = deviate_normal((1 + p) / 2);

        return z * z;
    }
    root = 1 - c + deviate_normal(p) * sqrt(c);
    return root > 0 ? root * root * root : 0;
}

/* The continued fraction of the incomplete Beta function (DLMF 8.17.22) by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), h;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    h = d;
    for (int m = 1; m <= 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-12)
            break;
    }
    return h;
}

static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

double deviate_beta_share(double a, double b, double x)
{
    double front;

    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    /* The fraction converges fast on x's side of the mean. */
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double deviate_binomial_tail(double n, double k, double q)
{
    return k > 0 ? deviate_beta_share(k, n - k + 1, q) : 1;
}

double deviate_spent(double i)
{
    return 1 / (i * (i + 1));
}

double deviate_uniform(uint64_t *state)
{
    uint64_t x = *state ? *state : 0x9e3779b97f4a7c15u;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return ((double)((x * 2685821657736338717u) >> 11) + 0.5) / 9007199254740992.0;
}
