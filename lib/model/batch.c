#include "model/batch.h"

#include <math.h>

#define LIKENESS_MAX 0.95

struct batch_mean batch_mean(const double *v, size_t n)
{
    double sum = 0, square = 0, cross = 0, before = NAN, likeness;
    struct batch_mean m = { NAN, NAN, 0, 0 };

    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i])) {
            sum += v[i];
            m.known++;
        }
    if (!m.known)
        return m;
    m.n = (double)m.known;
    m.value = sum / m.n;
    if (m.known < 2)
        return m;
    for (size_t i = 0; i < n; i++) {
        double d = v[i] - m.value;

        if (isnan(d))
            continue;
        square += d * d;
        cross += isnan(before) ? 0 : d * before;
        before = d;
    }
    likeness = square > 0 ? fmin(LIKENESS_MAX, fmax(0, cross / square)) : 0;
    m.variance = square / (m.n - 1);
    m.n = fmax(2, m.n * (1 - likeness) / (1 + likeness));
    m.variance /= m.n;
    return m;
}
