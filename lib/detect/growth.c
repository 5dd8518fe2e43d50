#include "detect/growth.h"

#include <math.h>

#include "detect/onset.h"
#include "model/deviate.h"

#define VALUES_MIN 5u  /* of which the memory is estimated */
#define MEMORY_MAX 0.8 /* of the correlation from one value to the next */

struct fit {
    uint32_t n; /* known values */
    double rise, mean, slope;
    double square; /* sum of the squares of the shape, without its mean */
};

static struct fit fit_shape(const float *y, uint32_t a, uint32_t b, struct growth_shape shape)
{
    struct fit f = { 0 };
    double together = 0;

    for (uint32_t i = a; i < b; i++)
        if (!isnan(y[i])) {
            f.rise += onset_rise(shape.from, shape.to, i);
            f.mean += y[i];
            f.n++;
        }
    if (!f.n)
        return f;
    f.rise /= f.n;
    f.mean /= f.n;
    for (uint32_t i = a; i < b; i++)
        if (!isnan(y[i])) {
            double up = onset_rise(shape.from, shape.to, i) - f.rise;

            f.square += up * up;
            together += up * (y[i] - f.mean);
        }
    if (!(f.square > 1e-9))
        return (struct fit){ 0 };
    f.slope = together / f.square;
    return f;
}

/* Standard error of the slope.  The memory of the residuals is that of few, whose mean and slope were taken
 * away: their correlation is too low by 2 / n, and so is what it is taken to be by 4 / n of itself (Marriott
 * & Pope, "Bias in the estimation of autocorrelations", Biometrika 41, 1954). */
static double slope_error(const struct fit *f, const float *y, uint32_t a, uint32_t b,
                          struct growth_shape shape)
{
    double n = f->n, sum = 0, next = 0, before = 0, rho;

    for (uint32_t i = a; i < b; i++) {
        double off = y[i] - f->mean - f->slope * (onset_rise(shape.from, shape.to, i) - f->rise);

        if (isnan(off))
            continue;
        sum += off * off;
        next += off * before;
        before = off;
    }
    rho = sum > 0 ? fmin(MEMORY_MAX, fmax(0, (n * next / sum + 2) / (n - 4))) : 0;
    return sqrt(sum / (n - 2) * (1 + rho) / (1 - rho) / f->square);
}

bool growth_is_sure(const float *y, uint32_t a, uint32_t b, struct growth_shape shape, double probability)
{
    struct fit f = fit_shape(y, a, b, shape);

    return f.n >= VALUES_MIN &&
           f.slope > deviate_student(probability, f.n - 2) * slope_error(&f, y, a, b, shape);
}
