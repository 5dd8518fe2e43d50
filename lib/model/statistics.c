#include "model/statistics.h"

#include <math.h>

/* The same function for doubles and for floats. */
#define SELECT(name, type)                                               \
    type name(type *v, size_t n, size_t k)                               \
    {                                                                    \
        ptrdiff_t left = 0, right = (ptrdiff_t)n - 1, at = (ptrdiff_t)k; \
                                                                         \
        while (left < right) {                                           \
            type pivot = v[at];                                          \
            ptrdiff_t i = left, j = right;                               \
                                                                         \
            do {                                                         \
                while (v[i] < pivot)                                     \
                    i++;                                                 \
                while (pivot < v[j])                                     \
                    j--;                                                 \
                if (i <= j) {                                            \
                    type swap = v[i];                                    \
                                                                         \
                    v[i++] = v[j];                                       \
                    v[j--] = swap;                                       \
                }                                                        \
            } while (i <= j);                                            \
            if (j < at)                                                  \
                left = i;                                                \
            if (at < i)                                                  \
                right = j;                                               \
        }                                                                \
        return v[at];                                                    \
    }

SELECT(statistics_select, double)
SELECT(statistics_selectf, float)

double statistics_median(double *v, size_t n)
{
    double upper = n ? statistics_select(v, n, n / 2) : NAN;

    return n % 2 || !n ? upper : (statistics_select(v, n / 2, n / 2 - 1) + upper) / 2;
}

double statistics_medianf(float *v, size_t n)
{
    double upper = n ? statistics_selectf(v, n, n / 2) : NAN;

    return n % 2 || !n ? upper : ((double)statistics_selectf(v, n / 2, n / 2 - 1) + upper) / 2;
}

double statistics_known_medianf(const float *v, size_t n, float *scratch)
{
    size_t known = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i]))
            scratch[known++] = v[i];
    return statistics_medianf(scratch, known);
}

static size_t nearest(size_t n, double p)
{
    return (size_t)(p * (double)(n - 1) + 0.5);
}

double statistics_quantile(double *v, size_t n, double p)
{
    return n ? statistics_select(v, n, nearest(n, p)) : NAN;
}

double statistics_quantilef(float *v, size_t n, double p)
{
    return n ? statistics_selectf(v, n, nearest(n, p)) : NAN;
}

struct statistics_mean statistics_mean(const double *v, size_t n)
{
    struct statistics_mean m = { NAN, NAN, NAN };
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    if (n)
        m.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - m.mean) * (v[i] - m.mean);
    if (n > 1) {
        m.sd = sqrt(squares / (double)(n - 1));
        m.error = m.sd / sqrt((double)n);
    }
    return m;
}
