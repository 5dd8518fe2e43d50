#include "sim/spread.h"

#include <math.h>

#define LOWEST 1e-9
#define FINE   256.0 /* classes of a factor of two */

void spread_add(struct spread *s, double value)
{
    double off = value - s->mean, at = value > LOWEST ? FINE * log2(value / LOWEST) : 0;

    s->min = s->n ? fmin(s->min, value) : value;
    s->max = s->n ? fmax(s->max, value) : value;
    s->n++;
    s->mean += off / (double)s->n;
    s->squares += off * (value - s->mean);
    s->count[at < SPREAD_CLASSES - 1 ? (uint32_t)at : SPREAD_CLASSES - 1]++;
}

double spread_quantile(const struct spread *s, double p)
{
    uint64_t want = (uint64_t)ceil(p * (double)s->n), seen = 0;
    uint32_t k = 0;

    if (s->n == 0)
        return NAN;
    for (; k + 1 < SPREAD_CLASSES; k++) {
        seen += s->count[k];
        if (seen >= want && seen > 0)
            break;
    }
    return fmin(fmax(LOWEST * exp2((k + 0.5) / FINE), s->min), s->max);
}

double spread_cv(const struct spread *s)
{
    return s->n > 1 && s->mean > 0 ? sqrt(s->squares / (double)(s->n - 1)) / s->mean : NAN;
}
