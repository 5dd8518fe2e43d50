#include "model/deviate.h"

#include <math.h>

double deviate_normal_share(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* PPND7 of AS 241. */
double deviate_normal(double p)
{
    double q = p - 0.5, r, z;

    if (fabs(q) <= 0.425) {
        r = 0.180625 - q * q;
        return q * (((59.10937472 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
               (((67.1875636 * r + 78.757757664) * r + 17.895169469) * r + 1);
    }
    r = sqrt(-log(q < 0 ? p : 1 - p));
    if (r <= 5) {
        r -= 1.6;
        z = (((0.17023821103 * r + 1.3067284816) * r + 2.75681539) * r + 1.4234372777) /
            ((0.12021132975 * r + 0.7370016425) * r + 1);
    } else {
        r -= 5;
        z = (((0.017337203997 * r + 0.42868294337) * r + 3.081226386) * r + 6.657905115) /
            ((0.012258202635 * r + 0.24197894225) * r + 1);
    }
    return q < 0 ? -z : z;
}

double deviate_student(double p, double df)
{
    double z, z2;

    if (df <= 1)
        return tan(M_PI * (p - 0.5));
    if (df < 2.5)
        return (2 * p - 1) * M_SQRT1_2 / sqrt(p * (1 - p));
    z = deviate_normal(p);
    z2 = z * z;
    return z + z * (z2 + 1) / (4 * df) + z * ((5 * z2 + 16) * z2 + 3) / (96 * df * df) +
           z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * df * df * df);
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

/* The k-th smallest of v[n]: Hoare's selection (1961) in Wirth's form. */
static float nth(float *v, ptrdiff_t n, ptrdiff_t k)
{
    ptrdiff_t left = 0, right = n - 1;

    while (left < right) {
        float pivot = v[k];
        ptrdiff_t i = left, j = right;

        do {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j) {
                float t = v[i];

                v[i++] = v[j];
                v[j--] = t;
            }
        } while (i <= j);
        if (j < k)
            left = i;
        if (k < i)
            right = j;
    }
    return v[k];
}

double deviate_median(float *v, size_t n)
{
    float upper, lower;

    if (!n)
        return NAN;
    upper = nth(v, (ptrdiff_t)n, (ptrdiff_t)n / 2);
    if (n % 2)
        return upper;
    lower = v[0];
    for (size_t i = 1; i < n / 2; i++)
        lower = fmaxf(lower, v[i]);
    return ((double)lower + upper) / 2;
}

double deviate_quantile(float *v, size_t n, double p)
{
    return n ? nth(v, (ptrdiff_t)n, (ptrdiff_t)(p * (double)(n - 1) + 0.5)) : NAN;
}

double deviate_draw(uint64_t *state)
{
    uint64_t x = *state ? *state : 0x9e3779b97f4a7c15u;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return ((double)((x * 2685821657736338717u) >> 11) + 0.5) / 9007199254740992.0;
}
