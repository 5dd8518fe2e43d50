#include "model/failure.h"

#include <math.h>

double failure_mtbf_s(double nodes, double rate_per_node_s)
{
    return rate_per_node_s > 0 ? 1 / (nodes * rate_per_node_s) : INFINITY;
}

double failure_none(double duration_s, double mtbf_s)
{
    return isinf(mtbf_s) ? 1 : exp(-duration_s / mtbf_s);
}

struct failure_rate failure_rate_unknown(void)
{
    return (struct failure_rate){ 0.5, 0 };
}

double failure_rate_mean(const struct failure_rate *r)
{
    return r->node_s > 0 ? r->failures / r->node_s : NAN;
}

static double gamma_series(double shape, double x)
{
    double term = 1 / shape, sum = term;

    for (double k = shape + 1; term > 1e-17 * sum && k < shape + 1e6; k++) {
        term *= x / k;
        sum += term;
    }
    return sum * exp(shape * log(x) - x - lgamma(shape));
}

/* The upper function, by Lentz's method. */
static double gamma_fraction(double shape, double x)
{
    double b = x + 1 - shape, c = 1e300, d = 1 / b, h = d;

    for (int i = 1; i < 1000000; i++) {
        double a = i * (shape - i), delta;

        b += 2;
        d = 1 / (fabs(a * d + b) < 1e-300 ? 1e-300 : a * d + b);
        c = fabs(b + a / c) < 1e-300 ? 1e-300 : b + a / c;
        delta = c * d;
        h *= delta;
        if (fabs(delta - 1) < 1e-16)
            break;
    }
    return h * exp(shape * log(x) - x - lgamma(shape));
}

double failure_gamma_p(double shape, double x)
{
    if (!(x > 0))
        return 0;
    return x < shape + 1 ? gamma_series(shape, x) : 1 - gamma_fraction(shape, x);
}

double failure_rate_quantile(const struct failure_rate *r, double p)
{
    double low = -700, high = log(r->failures + 1) + 20; /* of log x */

    if (!(r->node_s > 0))
        return NAN;
    while (high - low > 1e-13 * fmax(1, fabs(low))) {
        double middle = (low + high) / 2;

        if (failure_gamma_p(r->failures, exp(middle)) < p)
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2) / r->node_s;
}
